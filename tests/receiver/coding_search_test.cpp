#include "phy/receiver/acquisition/coding_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "coding/coding_cases.hpp"
#include "phy/receiver/link/mcs.hpp"
#include "phy/scrambling/scrambler.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Link;

constexpr std::size_t slots = 3;
constexpr float scale = 6.0F;

bool can_be_coded(const Link& link) {
    try {
        static_cast<void>(code_blocks(transport_block_config(link)));
        return true;
    } catch (const phy::ArgumentError&) {
        return false;
    }
}

class FindCodingTest : public testing::Test {
protected:
    FindCodingTest() {
        link_.allocation.carrier_resource_blocks = 25;
        link_.allocation.resource_blocks = {{.first = 0, .count = 25}};
        link_.scrambling = {.rnti = 17921, .id = 441};
        link_.coding = {.code_rate = 0.6};
    }

    /// Codewords of random transport blocks as they are sent, received in noise and descrambled for the link.
    std::vector<std::int8_t> received_with(const Link& sent, double margin_db) {
        const phy::TransportBlockConfig block = phy::transport_block_config(sent);
        phy::TransportEncoder encode(host_, block);
        const phy::Scrambler scramble(host_);
        std::vector<std::int8_t> all;
        std::vector<std::uint8_t> bits(block.coded_bits);
        for (std::size_t slot = 0; slot < slots; ++slot) {
            encode(payload_of(block.size, static_cast<std::uint32_t>(random_())),
                   sent.coding->redundancy_version, bits);
            scramble(sent.scrambling.c_init(), bits, bits);
            scramble(link_.scrambling.c_init(), bits, bits);
            const std::vector<std::int8_t> llr =
                in_steps(received(bits, n0_for(block, margin_db), random_), scale);
            all.insert(all.end(), llr.begin(), llr.end());
        }
        return all;
    }

    void expect_found(const Link& sent) {
        SCOPED_TRACE(to_json(sent));
        const auto found = phy::find_coding(host_, link_, received_with(sent, 8.0), scale);
        ASSERT_TRUE(found.has_value());
        EXPECT_EQ(found->scrambling, sent.scrambling);
        EXPECT_TRUE(found->codings.front() == *link_.coding ||
                    std::ranges::find(found->codings, *sent.coding) != found->codings.end());
        for (const phy::LinkCoding& coding : found->codings) {
            Link same = sent;
            same.coding = coding;
            EXPECT_EQ(code_blocks(transport_block_config(same)), code_blocks(transport_block_config(sent)));
        }
        EXPECT_EQ(found->proofs, static_cast<int>(slots));
        EXPECT_EQ(found->codewords, static_cast<int>(slots));
    }

    /// A rate of the tables of any modulation.
    double draw_rate() {
        const auto mcs = phy::detail::mcs_indices(link_);
        return mcs[random_() % mcs.size()].code_rate;
    }

    /// Any use of MCS tables.
    void draw_link() {
        do {
            link_.direction = random_() % 2 == 0 ? phy::Direction::uplink : phy::Direction::downlink;
            link_.allocation.dmrs.transform_precoding = random_() % 2 == 0;
            link_.modulation = phy::all_modulations[random_() % std::size(phy::all_modulations)];
        } while (phy::detail::mcs_indices(link_).empty());
        link_.allocation.resource_blocks = {{.first = 0, .count = random_int(random_, 4, 25)}};
        link_.coding = {.code_rate = draw_rate()};
    }

    unsigned seed_ = random_seed();
    testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
    std::mt19937 random_{seed_};
    phy::Host host_{{.threads = 2}};
    Link link_;
};

TEST_F(FindCodingTest, ARightLink) {
    expect_found(link_);
    const auto found = phy::find_coding(host_, link_, received_with(link_, 8.0), scale);
    EXPECT_EQ(found->codings, std::vector{*link_.coding});
}

TEST_F(FindCodingTest, AnyRnti) {
    Link sent = link_;
    sent.scrambling.rnti =
        static_cast<std::uint32_t>(random_int(random_, 0, takes_fewer_cases() ? 1000 : 65519));
    expect_found(sent);
}

TEST_F(FindCodingTest, AnyIdentity) {
    Link sent = link_;
    sent.scrambling.id = static_cast<std::uint32_t>(random_int(random_, 0, 1023));
    expect_found(sent);
}

TEST_F(FindCodingTest, CodewordAndRedundancyVersion) {
    link_.direction = phy::Direction::downlink;
    Link sent = link_;
    sent.scrambling.codeword = 1;
    link_.coding->redundancy_version = 1;
    expect_found(sent);
}

TEST_F(FindCodingTest, ManyCodeBlocks) {
    link_.modulation = phy::Modulation::qam256;
    link_.coding = {.code_rate = 0.7};
    ASSERT_GT(phy::code_blocks(phy::transport_block_config(link_)).count, 1U);
    Link sent = link_;
    sent.scrambling.rnti = 3;
    expect_found(sent);
}

TEST_F(FindCodingTest, AnyMcsOfTheModulation) {
    for (int trial = 0; trial < (takes_fewer_cases() ? 4 : 30); ++trial) {
        draw_link();
        Link sent = link_;
        sent.coding->code_rate = draw_rate();
        expect_found(sent);
    }
}

TEST_F(FindCodingTest, AnyOverheadAndAWrongSize) {
    for (int trial = 0; trial < (takes_fewer_cases() ? 4 : 15); ++trial) {
        draw_link();
        Link sent = link_;
        sent.coding->overhead = 6 * random_int(random_, 0, 3);
        expect_found(sent);
        // The size is right, and the rate of another base graph or without a table is not.
        const std::size_t size = phy::transport_block_config(sent).size;
        sent.coding->transport_block_size = size;
        link_.coding = sent.coding;
        link_.coding->code_rate = draw_rate();
        expect_found(sent);
        sent.coding->transport_block_size.reset();
        link_.coding = sent.coding;
        link_.coding->transport_block_size = size + 8;
        if (can_be_coded(link_)) expect_found(sent);
    }
}

TEST_F(FindCodingTest, AnMcsWithAnotherRedundancyVersion) {
    draw_link();
    Link sent = link_;
    sent.coding->code_rate = draw_rate();
    link_.coding->redundancy_version = random_int(random_, 1, 3);
    expect_found(sent);
}

TEST_F(FindCodingTest, NoiseHasNone) {
    link_.allocation.resource_blocks = {{.first = 0, .count = 4}};
    std::vector<std::int8_t> llr(phy::transport_block_config(link_).coded_bits);
    for (std::int8_t& value : llr)
        value = static_cast<std::int8_t>(random_());
    if (!takes_fewer_cases()) {
        EXPECT_FALSE(phy::find_coding(host_, link_, llr, scale).has_value());
    }
    std::ranges::fill(llr, std::int8_t{0});
    EXPECT_FALSE(phy::find_coding(host_, link_, llr, scale).has_value());
}

TEST_F(FindCodingTest, BadArgumentsAreErrors) {
    std::vector<std::int8_t> llr(phy::transport_block_config(link_).coded_bits - 1);
    EXPECT_THROW(static_cast<void>(phy::find_coding(host_, link_, llr, scale)), phy::ArgumentError);
    EXPECT_THROW(static_cast<void>(phy::find_coding(host_, link_, {}, scale)), phy::ArgumentError);
    link_.coding.reset();
    EXPECT_THROW(static_cast<void>(phy::find_coding(host_, link_, llr, scale)), phy::ArgumentError);
}

}  // namespace
