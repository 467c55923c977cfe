#include "phy/files/demodulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/mapper/mapper.hpp"
#include "support/hdf5_file.hpp"
#include "support/temporary_directory.hpp"

namespace {

using phy::demodulate_file;
using phy::DemodulateOptions;

constexpr std::size_t symbols = 20'011;
constexpr float noise_variance = 0.01F;

class Demodulate : public testing::Test {
protected:
    Demodulate() {
        std::mt19937 random(38211);
        for (std::uint8_t& bit : bits_)
            bit = static_cast<std::uint8_t>(random() & 1U);
        const phy::Mapper map(host_, {.modulation = phy::Modulation::qam64});
        map(bits_, iq_);
        std::normal_distribution<float> noise(0.0F, 0.07F);
        for (phy::cf32& sample : iq_)
            sample += phy::cf32(noise(random), noise(random));
    }

    void write(phy::CaptureWriter::Config config) const {
        config.symbols = symbols;
        config.modulation = phy::Modulation::qam64;
        config.overwrite = true;
        phy::CaptureWriter writer(capture_, config);
        writer.append(iq_);
        if (config.bits) writer.append_bits(bits_);
        writer.commit();
    }

    [[nodiscard]] std::uint64_t bit_errors() const {
        phy::SoftDemapper demap(host_, {.modulation = phy::Modulation::qam64});
        std::vector<float> llr(bits_.size());
        demap(iq_, noise_variance, llr);
        std::uint64_t errors = 0;
        for (std::size_t n = 0; n < llr.size(); ++n)
            errors += (llr[n] < 0.0F ? 1U : 0U) != bits_[n] ? 1U : 0U;
        return errors;
    }

    static DemodulateOptions in_chunks() {
        DemodulateOptions options;
        options.places = {phy::Host()};
        options.format = phy::SoftBitFormat::float32;
        options.pipeline.chunk = 1000;
        return options;
    }

    phy::Host host_ = phy::Host({.backend = phy::Backend::scalar()});
    std::vector<std::uint8_t> bits_ = std::vector<std::uint8_t>(6 * symbols);
    std::vector<phy::cf32> iq_ = std::vector<phy::cf32>(symbols);
    phy_test::TemporaryDirectory directory_;
    const std::filesystem::path capture_ = directory_ / "c.h5";
    const std::filesystem::path soft_bits_ = directory_ / "s.h5";
};

using Names = std::vector<std::string>;

TEST_F(Demodulate, SaysWhatItDid) {
    write({.noise_variance = noise_variance, .bits = true});
    const phy::Demodulation done = demodulate_file(capture_, soft_bits_, in_chunks());
    EXPECT_TRUE(std::filesystem::exists(soft_bits_));
    EXPECT_EQ(done.symbols, symbols);
    EXPECT_EQ(done.soft_bits, bits_.size());
    EXPECT_EQ(done.capture.dataset, "/iq");
    EXPECT_EQ(done.demapper.modulation, phy::Modulation::qam64);
    EXPECT_EQ(done.noise_variance, noise_variance);
    EXPECT_EQ(done.bit_errors, bit_errors());
    EXPECT_EQ(done.compared_bits, bits_.size());
    EXPECT_EQ(done.counters, phy::DemapCounters());
    EXPECT_EQ(done.places.size(), 1U);
    EXPECT_EQ(done.pipeline.chunks, 21U);
    EXPECT_FALSE(done.cancelled);
    EXPECT_GT(done.seconds, 0.0);
    EXPECT_EQ(done.warnings, Names());
}

TEST_F(Demodulate, WritesNothingWithoutAName) {
    write({.noise_variance = noise_variance});
    const phy::Demodulation done = demodulate_file(capture_, "");
    EXPECT_EQ(done.symbols, symbols);
    EXPECT_EQ(done.bit_errors, std::nullopt);
    EXPECT_EQ(directory_.names(), Names{"c.h5"});
}

TEST_F(Demodulate, DoesNotOverwriteWhatItReads) {
    write({.noise_variance = noise_variance});
    DemodulateOptions options = in_chunks();
    options.overwrite = true;
    EXPECT_THROW(demodulate_file(capture_, capture_, options), phy::ArgumentError);
    const std::filesystem::path linked = directory_ / "linked.h5";
    std::filesystem::create_hard_link(capture_, linked);
    EXPECT_THROW(demodulate_file(capture_, linked, options), phy::ArgumentError);
    EXPECT_EQ(demodulate_file(capture_, "").symbols, symbols);
}

TEST_F(Demodulate, LeavesTwoProcessorsForTheFiles) {
    write({.noise_variance = noise_variance});
    const phy::Demodulation done = demodulate_file(capture_, "");
    ASSERT_EQ(done.places.size(), 1U);
    EXPECT_EQ(done.places[0].host().threads(), phy::demodulation_threads());
    EXPECT_EQ(phy::demodulation_threads(), std::max(1, phy::Host::processors() - 2));
}

TEST_F(Demodulate, ProgressCountsToTheEnd) {
    write({.noise_variance = noise_variance});
    std::vector<std::uint64_t> steps;
    DemodulateOptions options = in_chunks();
    options.progress = [&](std::uint64_t done, std::uint64_t all) {
        EXPECT_EQ(all, symbols);
        steps.push_back(done);
    };
    demodulate_file(capture_, soft_bits_, options);
    ASSERT_EQ(steps.size(), 21U);
    for (std::size_t n = 0; n < 20; ++n)
        EXPECT_EQ(steps[n], 1000 * (n + 1));
    EXPECT_EQ(steps.back(), symbols);
}

TEST_F(Demodulate, WhatCallbacksThrowLeavesNoFile) {
    write({.noise_variance = noise_variance});
    struct Refusal {};
    DemodulateOptions options = in_chunks();
    options.progress = [](std::uint64_t done, std::uint64_t /*all*/) {
        if (done > 5000) throw Refusal();
    };
    EXPECT_THROW(demodulate_file(capture_, soft_bits_, options), Refusal);
    EXPECT_EQ(directory_.names(), Names{"c.h5"});
    options.progress = {};
    options.before_commit = [this](const phy::PipelineReport& report) {
        EXPECT_EQ(report.items, symbols);
        EXPECT_FALSE(std::filesystem::exists(soft_bits_));
        throw Refusal();
    };
    EXPECT_THROW(demodulate_file(capture_, soft_bits_, options), Refusal);
    EXPECT_EQ(directory_.names(), Names{"c.h5"});
}

TEST_F(Demodulate, ARequestToStopIsNoErrorAndLeavesNoFile) {
    write({.noise_variance = noise_variance, .bits = true});
    std::stop_source stop;
    DemodulateOptions options = in_chunks();
    options.stop = stop.get_token();
    options.progress = [&](std::uint64_t done, std::uint64_t /*all*/) {
        if (done == 3000) stop.request_stop();
    };
    options.before_commit = [](const phy::PipelineReport& /*report*/) {
        ADD_FAILURE() << "nothing to commit";
    };
    const phy::Demodulation done = demodulate_file(capture_, soft_bits_, options);
    EXPECT_TRUE(done.cancelled);
    EXPECT_GE(done.symbols, 3000U);
    EXPECT_LT(done.symbols, symbols);
    EXPECT_EQ(directory_.names(), Names{"c.h5"});
}

TEST_F(Demodulate, TellsWhatACaptureDoesNotSay) {
    write({});
    EXPECT_THROW(demodulate_file(capture_, soft_bits_), phy::DescriptionError);
    DemodulateOptions options;
    options.capture.noise_variance = noise_variance;
    EXPECT_EQ(demodulate_file(capture_, soft_bits_, options).noise_variance, noise_variance);
    EXPECT_THROW(demodulate_file(directory_ / "missing.h5", soft_bits_), phy::FileError);
}

phy::Link link_of(phy::Modulation modulation) {
    phy::Link link;
    link.allocation.carrier_resource_blocks = 3;
    link.allocation.resource_blocks = {{0, 3}};
    link.allocation.dmrs.ports = {0, 1};
    link.scrambling = {.rnti = 4711, .id = 77};
    link.modulation = modulation;
    return link;
}

TEST_F(Demodulate, TheLinkOfTheCaptureIsAsOneThatIsGiven) {
    const auto demodulated = [&](const DemodulateOptions& options) {
        DemodulateOptions how = options;
        how.overwrite = true;
        const phy::Demodulation done = demodulate_file(capture_, soft_bits_, how);
        EXPECT_EQ(done.soft_bits, symbols * phy::bits_per_symbol(*done.capture.modulation));
        return phy::test::read_dataset(soft_bits_, "/llr");
    };
    const phy::Link link = link_of(phy::Modulation::qam16);
    write({.noise_variance = noise_variance});
    DemodulateOptions by_hand = in_chunks();
    by_hand.capture.modulation = phy::Modulation::qam16;
    by_hand.descramble = link.scrambling;
    const std::vector<std::byte> one_codeword = demodulated(by_hand);
    by_hand.codeword_symbols = 2 * (3 * 12 * 12);  // layers x resource elements: two symbols are of DM-RS
    const std::vector<std::byte> expected = demodulated(by_hand);
    EXPECT_TRUE(expected != one_codeword);
    DemodulateOptions given = in_chunks();
    given.link = link;
    EXPECT_TRUE(demodulated(given) == expected);

    write({.noise_variance = noise_variance, .link = to_json(link)});
    EXPECT_TRUE(demodulated(in_chunks()) == expected);
    DemodulateOptions cut = in_chunks();
    cut.codeword_symbols = symbols;
    EXPECT_TRUE(demodulated(cut) == one_codeword) << "only the identity is taken from the link";
    // What is given goes before the attribute: another link, or a part of what it says.
    given.link->scrambling.id = 78;
    EXPECT_TRUE(demodulated(given) != expected);
    DemodulateOptions part = in_chunks();
    part.descramble = link.scrambling;
    EXPECT_TRUE(demodulated(part) == one_codeword);
    part = in_chunks();
    part.capture.modulation = phy::Modulation::qpsk;
    EXPECT_EQ(demodulated(part).size(), 2 * symbols * sizeof(float));
}

TEST_F(Demodulate, ALinkThatCannotBeIsNamed) {
    write({.noise_variance = noise_variance, .link = R"({"direction": "up"})"});
    try {
        demodulate_file(capture_, soft_bits_);
        ADD_FAILURE() << "it was demodulated";
    } catch (const phy::FileError& error) {
        EXPECT_EQ(std::string(error.what()).find(capture_.string() + ": /iq: attribute link: "), 0U)
            << error.what();
    }
    DemodulateOptions given;
    given.link = link_of(phy::Modulation::qam64);
    EXPECT_EQ(demodulate_file(capture_, "", given).symbols, symbols) << "the attribute is not looked at";
    DemodulateOptions both;
    both.capture.modulation = phy::Modulation::qam64;
    both.descramble = given.link->scrambling;
    EXPECT_EQ(demodulate_file(capture_, "", both).symbols, symbols) << "nothing is asked of it";
    both.gain.reset();
    EXPECT_EQ(demodulate_file(capture_, "", both).symbols, symbols) << "and not in the pass before";
    given.link->allocation.carrier_resource_blocks = 0;
    EXPECT_THROW(demodulate_file(capture_, "", given), phy::ArgumentError);
}

TEST_F(Demodulate, RefusesWhatHasNotBeenReceivedYet) {
    const auto refusal = [&] {
        try {
            demodulate_file(capture_, soft_bits_);
        } catch (const phy::FileError& error) {
            return std::string(error.what());
        }
        return std::string("it was demodulated");
    };
    write({.noise_variance = noise_variance, .kind = phy::CaptureKind::samples});
    EXPECT_EQ(refusal(), capture_.string() + ": /samples holds samples: expected symbols");
    write({.noise_variance = noise_variance, .kind = phy::CaptureKind::grid, .shape = {1, symbols}});
    EXPECT_EQ(refusal(), capture_.string() + ": /grid holds a grid: expected symbols");
    EXPECT_EQ(directory_.names(), Names{"c.h5"});

    DemodulateOptions options = in_chunks();
    options.capture = {.kind = phy::CaptureKind::symbols,
                       .modulation = phy::Modulation::qam64,
                       .noise_variance = noise_variance};
    EXPECT_EQ(demodulate_file(capture_, "", options).symbols, symbols) << "unless they are symbols after all";
}

TEST_F(Demodulate, ComparesWhatIsAskedFor) {
    // Each block of 2^15 symbols has other errors: QPSK whose sign is wrong in so many symbols of the block.
    constexpr std::uint64_t block = 1U << 15U;
    constexpr std::uint64_t blocks = 35;
    constexpr std::uint64_t count = blocks * block + 5;
    const auto wrong_in = [](std::uint64_t of_block) { return 3 * of_block + 1; };
    {
        phy::CaptureWriter writer(
            capture_, {.symbols = count, .noise_variance = noise_variance, .bits = true, .overwrite = true});
        const float a = std::sqrt(0.5F);
        std::vector<phy::cf32> iq(block, phy::cf32(a, a));
        for (std::uint64_t first = 0; first < count; first += block) {
            iq.resize(std::min(block, count - first));
            std::vector<std::uint8_t> bits(2 * iq.size());
            for (std::uint64_t n = 0; n < std::min<std::uint64_t>(wrong_in(first / block), iq.size()); ++n)
                bits[2 * n] = 1;
            writer.append(iq);
            writer.append_bits(bits);
        }
        writer.commit();
    }
    std::uint64_t all = 5;  // in the last block, which is shorter
    for (std::uint64_t n = 0; n < blocks; ++n)
        all += wrong_in(n);
    std::uint64_t spread = 5;
    for (std::uint64_t n = 0; n < 7; ++n)
        spread += wrong_in(n * blocks / 7);
    for (const std::size_t chunk : {std::size_t{10'007}, std::size_t{1} << 20U}) {
        DemodulateOptions options = in_chunks();
        options.pipeline.chunk = chunk;
        const phy::Demodulation some = demodulate_file(capture_, "", options);
        EXPECT_EQ(some.compared_bits, 2 * (7 * block + 5));
        EXPECT_EQ(some.bit_errors, spread);
        options.count_all_errors = true;
        const phy::Demodulation whole = demodulate_file(capture_, "", options);
        EXPECT_EQ(whole.compared_bits, 2 * count);
        EXPECT_EQ(whole.bit_errors, all);
    }
}

TEST_F(Demodulate, WarnsOfBitsThatFitNoSymbol) {
    write({.noise_variance = noise_variance, .bits = true});
    DemodulateOptions options;
    options.capture.modulation = phy::Modulation::qpsk;
    const phy::Demodulation done = demodulate_file(capture_, "", options);
    EXPECT_EQ(done.bit_errors, std::nullopt);
    ASSERT_EQ(done.warnings.size(), 1U);
    EXPECT_NE(done.warnings[0].find("bit errors are not counted"), std::string::npos);
}

/// Erased bits are 0, whatever they were scrambled with.
TEST_F(Demodulate, DecidesErasedBitsAsZero) {
    for (std::size_t n = 0; n < symbols; n += 3)
        iq_[n] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::quiet_NaN()};
    write({.noise_variance = noise_variance});
    for (const phy::SoftBitFormat format : phy::all_soft_bit_formats) {
        DemodulateOptions options = in_chunks();
        options.format = format;
        options.descramble = phy::ScramblingIdentity{.rnti = 4711, .id = 77};
        options.hard = true;
        options.overwrite = true;
        demodulate_file(capture_, soft_bits_, options);
        const std::vector<std::byte> bits = phy::test::read_dataset(soft_bits_, "/bits");
        ASSERT_EQ(bits.size(), bits_.size());
        std::size_t ones = 0;
        for (std::size_t n = 0; n < bits.size(); ++n)
            if (n / 6 % 3 == 0) ones += bits[n] == std::byte{0} ? 0 : 1;
        EXPECT_EQ(ones, 0U) << to_string(format);
    }
}

}  // namespace
