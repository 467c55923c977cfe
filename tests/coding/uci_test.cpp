#include "phy/coding/uci.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "coding/uci_transcript.hpp"
#include "phy/coding/uci_demultiplexer.hpp"
#include "phy/core/error.hpp"
#include "phy/core/half.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_seed.hpp"
#include "support/unnamed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::UciConfig;
using phy::UciElements;
using phy::UciMap;
using phy::UciPart;

constexpr UciPart all_parts[] = {UciPart::ul_sch, UciPart::ack, UciPart::csi1, UciPart::csi2};

std::string text_of(const UciNumbers& n) {
    std::string text = "ack " + std::to_string(n.ack_bits) + " csi1 " + std::to_string(n.csi1_bits) +
                       " csi2 " + std::to_string(n.csi2_bits) + " offsets/8 " + std::to_string(n.ack_offset) +
                       ' ' + std::to_string(n.csi1_offset) + ' ' + std::to_string(n.csi2_offset) + " alpha " +
                       std::to_string(n.scaling) + " K " + std::to_string(n.code_block_bits) + " R*1024 " +
                       std::to_string(n.code_rate) + " Qm " + std::to_string(n.per_symbol) + " layers " +
                       std::to_string(n.layers) + " symbols";
    for (std::size_t l = 0; l < n.elements.size(); ++l)
        text += ' ' + std::to_string(n.elements[l]) + (n.has_dmrs[l] ? "D" : "");
    return text;
}

UciConfig config_of(const UciNumbers& n) {
    constexpr phy::Modulation modulations[] = {phy::Modulation::pi2_bpsk, phy::Modulation::qpsk,
                                               phy::Modulation::qam16, phy::Modulation::qam64,
                                               phy::Modulation::qam256};
    UciConfig config = {.ack_bits = static_cast<std::size_t>(n.ack_bits),
                        .csi1_bits = static_cast<std::size_t>(n.csi1_bits),
                        .csi2_bits = static_cast<std::size_t>(n.csi2_bits),
                        .ack_offset = static_cast<double>(n.ack_offset) / 8,
                        .csi1_offset = static_cast<double>(n.csi1_offset) / 8,
                        .csi2_offset = static_cast<double>(n.csi2_offset) / 8,
                        .scaling = static_cast<double>(n.scaling) / 100,
                        .code_block_bits = static_cast<std::size_t>(n.code_block_bits),
                        .code_rate = static_cast<double>(n.code_rate) / 1024,
                        .modulation = modulations[n.per_symbol / 2],
                        .layers = static_cast<int>(n.layers)};
    for (std::size_t l = 0; l < n.elements.size(); ++l)
        config.symbols.push_back({static_cast<std::size_t>(n.elements[l]), n.has_dmrs[l]});
    return config;
}

/// PUSCH with 2 resource blocks, DM-RS in symbol 2.
UciConfig small_config() {
    UciConfig config = {.ack_bits = 2, .csi1_bits = 4, .code_block_bits = 400};
    config.symbols.resize(14, {.elements = 24});
    config.symbols[2] = {.elements = 0, .has_dmrs = true};
    return config;
}

class UciTest : public testing::Test {
protected:
    void SetUp() override { RecordProperty("seed", std::to_string(seed_)); }

    std::int64_t from(std::int64_t first, std::int64_t last) {
        return std::uniform_int_distribution<std::int64_t>(first, last)(random_);
    }

    /// Small numbers half of the time, and 0 often.
    std::int64_t uci_bits(std::int64_t last) {
        const std::int64_t limit = from(0, 3) == 0 ? last : from(0, 2) == 0 ? 2 : 12;
        return from(0, limit);
    }

    UciNumbers random_numbers() {
        UciNumbers n;
        n.ack_bits = uci_bits(500);
        n.csi1_bits = uci_bits(100);
        n.csi2_bits = n.csi1_bits > 0 ? uci_bits(300) : 0;
        n.ack_offset = from(8, 160);
        n.csi1_offset = from(8, 160);
        n.csi2_offset = from(8, 160);
        n.scaling = std::array{50, 65, 80, 100}[static_cast<std::size_t>(from(0, 3))];
        n.code_block_bits = n.csi1_bits > 0 && from(0, 3) == 0 ? 0 : from(30, 8448);
        n.code_rate = from(30, 948);
        n.per_symbol = std::array{1, 2, 4, 6, 8}[static_cast<std::size_t>(from(0, 4))];
        n.layers = from(1, 4);
        const std::int64_t subcarriers = 12 * from(1, 20);
        const std::int64_t in_dmrs = from(0, 1) * subcarriers / 2;
        const std::int64_t symbols = from(1, 14);
        const std::int64_t first = from(0, std::min<std::int64_t>(3, symbols - 1));
        for (std::int64_t l = 0; l < symbols; ++l) {
            n.has_dmrs.push_back(l == first || from(0, 5) == 0);
            const std::int64_t pt_rs = from(0, 2) == 0 ? subcarriers / 12 : 0;
            n.elements.push_back(n.has_dmrs.back() ? in_dmrs : subcarriers - pt_rs);
        }
        return n;
    }

    /// Calls work(numbers, config) for random PUSCH.
    template <typename Work>
    void with_numbers(int times, Work work) {
        for (int i = 0; i < fewer_times(times); ++i) {
            const UciNumbers numbers = random_numbers();
            SCOPED_TRACE(text_of(numbers) + ", seed " + std::to_string(seed_));
            work(numbers, config_of(numbers));
        }
    }

    std::uint32_t seed_ = random_seed();
    std::mt19937 random_{seed_};
};

TEST_F(UciTest, AddsTheCrcOfTheSize) {
    const std::pair<std::size_t, std::size_t> cases[] = {{0, 0},   {1, 0},    {11, 0},   {12, 6},   {19, 6},
                                                         {20, 11}, {359, 11}, {360, 11}, {1706, 11}};
    for (const auto& [bits, crc] : cases)
        EXPECT_EQ(phy::uci_crc_length(bits), crc) << bits;
}

TEST_F(UciTest, CountsElementsAsAPersonDoes) {
    UciConfig config = small_config();
    // 312 elements, 264 of them after the DM-RS: ceil(2 * 312 / 400) and ceil(4 * 312 / 400).
    EXPECT_EQ(uci_elements(config), (UciElements{.ack = 2, .reserved = 2, .csi1 = 4}));
    config.ack_bits = 1;
    EXPECT_EQ(uci_elements(config), (UciElements{.ack = 1, .reserved = 2, .csi1 = 4}));
    config.ack_bits = 12;  // with 6 bits of CRC: ceil(18 * 20 * 312 / 400) = 281, at most ceil(0.65 * 264)
    config.ack_offset = 20.0;
    config.scaling = 0.65;
    EXPECT_EQ(uci_elements(config), (UciElements{.ack = 172, .csi1 = 4}));
    config.csi1_offset = 20.0;  // ceil(0.65 * 312) - 172
    EXPECT_EQ(uci_elements(config), (UciElements{.ack = 172, .csi1 = 31}));

    config = small_config();
    config.code_block_bits = 0;
    config.code_rate = 0.25;  // 2 / (0.25 * 2), and all the others
    EXPECT_EQ(uci_elements(config), (UciElements{.ack = 4, .reserved = 4, .csi1 = 308}));
    config.ack_bits = 0;  // zeros are appended
    EXPECT_EQ(phy::encoded_ack_bits(config), 2U);
    EXPECT_EQ(uci_elements(config), (UciElements{.ack = 4, .reserved = 4, .csi1 = 308}));
    config.csi2_bits = 5;
    EXPECT_EQ(phy::encoded_ack_bits(config), 0U);
    EXPECT_EQ(uci_elements(config), (UciElements{.ack = 0, .reserved = 4, .csi1 = 8, .csi2 = 304}));
}

TEST_F(UciTest, PlacesElementsAsAPersonDoes) {
    const UciMap map{small_config()};
    ASSERT_EQ(map.elements().size(), 312U);
    std::set<std::size_t> ack;
    std::set<std::size_t> csi1;
    for (std::size_t e = 0; e < map.elements().size(); ++e) {
        if (map.elements()[e].part == UciPart::ack) ack.insert(e);
        if (map.elements()[e].part == UciPart::csi1) csi1.insert(e);
    }
    // In symbol 3, the third with elements, at distance 24 / 2; in symbol 0 at distance 24 / 4.
    EXPECT_EQ(ack, (std::set<std::size_t>{48, 60}));
    EXPECT_EQ(csi1, (std::set<std::size_t>{0, 6, 12, 18}));
    EXPECT_EQ(map.coded_bits(UciPart::ul_sch), 2 * 308U);
    EXPECT_EQ(map.elements()[48].covered, UciPart::ul_sch);
}

TEST_F(UciTest, CountsElementsAsTheSpecification) {
    with_numbers(3000, [](const UciNumbers& numbers, const UciConfig& config) {
        const TranscribedSizes sizes = transcribed_sizes(numbers);
        const UciElements elements = uci_elements(config);
        EXPECT_EQ(static_cast<std::int64_t>(elements.ack), sizes.ack);
        EXPECT_EQ(static_cast<std::int64_t>(elements.reserved), sizes.reserved);
        EXPECT_EQ(static_cast<std::int64_t>(elements.csi1), sizes.csi1);
        EXPECT_EQ(static_cast<std::int64_t>(elements.csi2), sizes.csi2);
    });
}

/// All coded bits are numbers of their own; the transcript writes them where clause 6.2.7 says.
TEST_F(UciTest, MultiplexesAsTheSpecification) {
    with_numbers(600, [](const UciNumbers& numbers, const UciConfig& config) {
        const UciMap map(config);
        const Transcript transcript = transcribe(numbers);
        ASSERT_EQ(transcript.codeword.size(), map.coded_bits());
        std::int64_t next[4] = {};
        for (std::size_t i = 0; i < transcript.codeword.size(); ++i) {
            const phy::UciElement& element = map.elements()[i / map.bits_per_element()];
            const auto part = static_cast<std::size_t>(element.part);
            const TranscribedBit expected = {static_cast<int>(part), next[part]++};
            // Without UL-SCH nothing is written to elements of no part.
            const bool is_empty = numbers.code_block_bits == 0 && part == 0;
            ASSERT_EQ(transcript.codeword[i], is_empty ? TranscribedBit() : expected) << i;
            if (element.covered != element.part) ++next[static_cast<std::size_t>(element.covered)];
        }
        for (const UciPart part : all_parts)
            EXPECT_EQ(static_cast<std::int64_t>(map.coded_bits(part)), next[static_cast<std::size_t>(part)]);
        EXPECT_EQ(static_cast<std::int64_t>(map.coded_bits(UciPart::csi2)), transcript.coded_bits[3]);
        const std::int64_t ul_sch = numbers.code_block_bits > 0 ? next[0] : 0;
        EXPECT_EQ(ul_sch, transcript.coded_bits[0]);
    });
}

TEST_F(UciTest, KeepsUciOffSymbolsWithDmrsAndCsiPart1OffReservedElements) {
    with_numbers(600, [](const UciNumbers& numbers, const UciConfig& config) {
        const UciMap map(config);
        std::size_t element = 0;
        const auto dmrs = std::ranges::find(numbers.has_dmrs, true) - numbers.has_dmrs.begin();
        for (std::size_t l = 0; l < numbers.elements.size(); ++l) {
            for (std::int64_t k = 0; k < numbers.elements[l]; ++k, ++element) {
                const phy::UciElement& e = map.elements()[element];
                const bool is_before_dmrs = static_cast<std::ptrdiff_t>(l) < dmrs;
                EXPECT_FALSE(numbers.has_dmrs[l] && e.part != UciPart::ul_sch);
                EXPECT_FALSE(is_before_dmrs && e.part == UciPart::ack);
                EXPECT_EQ(e.covered == UciPart::csi1, e.part == UciPart::csi1);
            }
        }
    });
}

template <typename T>
void expect_split_inverts_join(const UciMap& map, std::mt19937& random) {
    std::vector<std::uint8_t> sent[4];
    for (const UciPart part : all_parts) {
        auto& bits = sent[static_cast<std::size_t>(part)];
        bits.resize(map.coded_bits(part));
        std::ranges::generate(bits, [&] { return static_cast<std::uint8_t>(random() % 100 + 1); });
    }
    std::vector<std::uint8_t> codeword(map.coded_bits());
    map.join({sent[0], sent[1], sent[2], sent[3]}, codeword);
    std::vector<T> llr;
    for (const std::uint8_t bit : codeword)
        llr.push_back(static_cast<T>(static_cast<float>(bit)));
    std::vector<T> got[4];
    for (std::size_t part = 0; part < 4; ++part)
        got[part].assign(sent[part].size(), static_cast<T>(-1.0F));
    map.split(llr, {got[0], got[1], got[2], got[3]});

    std::size_t punctured = 0;
    for (std::size_t part = 0; part < 4; ++part) {
        for (std::size_t i = 0; i < sent[part].size(); ++i) {
            const auto value = static_cast<float>(got[part][i]);
            if (value == 0.0F)
                ++punctured;
            else
                ASSERT_EQ(value, static_cast<float>(sent[part][i])) << part << ' ' << i;
        }
    }
    const auto is_covered = [](const phy::UciElement& e) { return e.part != e.covered; };
    const auto covered = static_cast<std::size_t>(std::ranges::count_if(map.elements(), is_covered));
    EXPECT_EQ(punctured, covered * map.bits_per_element());
    EXPECT_EQ(sent[0].size() + sent[1].size() + sent[2].size() + sent[3].size(), codeword.size() + punctured);
}

TEST_F(UciTest, SplitsWhatItJoined) {
    with_numbers(200, [&](const UciNumbers& /*numbers*/, const UciConfig& config) {
        const UciMap map(config);
        expect_split_inverts_join<std::int8_t>(map, random_);
        expect_split_inverts_join<phy::half>(map, random_);
        expect_split_inverts_join<float>(map, random_);
    });
}

TEST_F(UciTest, PlacesTheFirstTwoPartsWithoutTheSizeOfTheThird) {
    with_numbers(200, [&](const UciNumbers& numbers, UciConfig config) {
        if (numbers.csi2_bits == 0) return;
        const UciMap map(config);
        config.csi2_bits = static_cast<std::size_t>(from(1, 1706));
        const UciMap other(config);
        for (std::size_t e = 0; e < map.elements().size(); ++e) {
            for (const UciPart part : {UciPart::ack, UciPart::csi1})
                ASSERT_EQ(map.elements()[e].part == part, other.elements()[e].part == part) << e;
        }
    });
}

TEST_F(UciTest, RejectsWhatIsOutOfRange) {
    const auto expect_rejected = [](auto change) {
        UciConfig config = small_config();
        change(config);
        EXPECT_THROW((void)uci_elements(config), phy::ArgumentError);
        EXPECT_THROW((void)UciMap(config), phy::ArgumentError);
    };
    expect_rejected([](UciConfig& c) { c.frequency_hopping = true; });
    expect_rejected([](UciConfig& c) { c.ack_bits = 1707; });
    expect_rejected([](UciConfig& c) { c.csi1_bits = std::size_t(-1); });
    expect_rejected([](UciConfig& c) { c = {.csi2_bits = 1, .code_block_bits = 9, .symbols = c.symbols}; });
    expect_rejected([](UciConfig& c) { c.ack_offset = 0.0; });
    expect_rejected([](UciConfig& c) { c.csi1_offset = 127.0; });
    expect_rejected([](UciConfig& c) { c.csi2_offset = std::numeric_limits<double>::quiet_NaN(); });
    expect_rejected([](UciConfig& c) { c.scaling = 0.7; });
    expect_rejected([](UciConfig& c) { c.code_block_bits = 0; });
    expect_rejected([](UciConfig& c) { c = {.code_rate = 0.5, .symbols = c.symbols}; });
    expect_rejected([](UciConfig& c) { c.layers = 5; });
    expect_rejected([](UciConfig& c) { c.symbols.resize(15); });
    expect_rejected([](UciConfig& c) { c.symbols.clear(); });
    expect_rejected([](UciConfig& c) { c.symbols[2].has_dmrs = false; });
    expect_rejected([](UciConfig& c) { c.symbols[0].elements = 3301; });
    expect_unnamed("modulation", 7, 6, [] {
        UciConfig config = small_config();
        config.modulation = static_cast<phy::Modulation>(7);
        (void)uci_elements(config);
    });
}

TEST_F(UciTest, RejectsOtherSizesAndFormats) {
    const UciMap map{small_config()};
    std::vector<float> llr(map.coded_bits());
    std::vector<float> ul_sch(map.coded_bits(UciPart::ul_sch));
    std::vector<float> ack(map.coded_bits(UciPart::ack));
    std::vector<float> csi1(map.coded_bits(UciPart::csi1));
    std::vector<std::int8_t> steps(csi1.size());
    map.split(llr, {ul_sch, ack, csi1, {}});
    EXPECT_THROW(map.split(llr, {ul_sch, ack, {}, csi1}), phy::ArgumentError);
    EXPECT_THROW(map.split(llr, {ul_sch, ack, steps, {}}), phy::ArgumentError);
    EXPECT_THROW(map.split(std::span(llr).first(7), {ul_sch, ack, csi1, {}}), phy::ArgumentError);
    std::vector<std::uint8_t> codeword(map.coded_bits());
    EXPECT_THROW(map.join({codeword, {}, {}, {}}, codeword), phy::ArgumentError);
    EXPECT_THROW((void)map.coded_bits(static_cast<UciPart>(4)), phy::ArgumentError);
}

TEST_F(UciTest, SplitsManyCodewords) {
    const phy::UciDemultiplexer split(phy::Host({.threads = 2}), small_config());
    const UciMap& map = split.map();
    constexpr std::size_t codewords = 5;
    std::vector<float> llr(codewords * map.coded_bits());
    std::ranges::generate(llr, [&] { return static_cast<float>(random_()); });
    std::vector<float> parts[4];
    std::vector<float> expected[4];
    for (const UciPart part : all_parts) {
        parts[static_cast<std::size_t>(part)].resize(codewords * map.coded_bits(part));
        expected[static_cast<std::size_t>(part)].resize(codewords * map.coded_bits(part));
    }
    split(llr, {parts[0], parts[1], parts[2], parts[3]});
    for (std::size_t codeword = 0; codeword < codewords; ++codeword) {
        const auto row = [&](std::vector<float>& all) {
            const std::size_t size = all.size() / codewords;
            return std::span(all).subspan(codeword * size, size);
        };
        map.split(row(llr), {row(expected[0]), row(expected[1]), row(expected[2]), row(expected[3])});
    }
    for (std::size_t part = 0; part < 4; ++part)
        EXPECT_EQ(parts[part], expected[part]);
    llr.pop_back();
    EXPECT_THROW(split(llr, {parts[0], parts[1], parts[2], parts[3]}), phy::ArgumentError);
    split(std::vector<float>(), {});
    UciConfig empty = small_config();
    for (phy::UciSymbol& symbol : empty.symbols)
        symbol.elements = 0;
    EXPECT_THROW(phy::UciDemultiplexer(phy::Host(), empty)(std::vector<float>(), {}), phy::ArgumentError);
}

}  // namespace
