#include "phy/detector/detector.hpp"

#include <gtest/gtest.h>

#include "detector/detector_cases.hpp"
#include "phy/core/error.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Modulation;
using phy::SoftDetector;

std::vector<std::byte> detected(const phy::Host& host, const SoftDetectorConfig& config, const Slots& slots,
                                phy::SymbolView grid, SoftBitFormat format,
                                const std::vector<std::uint32_t>& signs) {
    SoftDetector detect(host, config);
    const std::size_t count = slots.count * detect.soft_bits_per_slot();
    std::vector<std::byte> llr(count * size_of(format));
    detect(grid, slots.channel, slots.estimates, {format, llr.data(), count}, signs, slots.covariance);
    return llr;
}

void expect_same_as_parts(const SoftDetectorConfig& config, const Slots& slots, SoftBitFormat format) {
    const SoftDetector detect(phy::Host(), config);
    const std::vector<std::uint32_t> words = random_words(slots.count * detect.sign_words_per_slot());
    for (const auto& signs : {std::vector<std::uint32_t>(), words}) {
        const auto expected = detected_by_parts(config, slots, slots.grid, format, signs);
        for (const phy::Backend& backend : host_backends())
            for (const int threads : {1, 3})
                EXPECT_TRUE(detected(host_of(backend, threads), config, slots, slots.grid, format, signs) ==
                            expected)
                    << backend.name() << ", " << threads << " threads, " << to_string(format);
    }
}

TEST(SoftDetectorTest, EqualsItsParts) {
    for (const Modulation modulation : phy::all_modulations) {
        for (int layers = 1; layers <= 4; ++layers) {
            const SoftDetectorConfig config = {scattered_config(layers, 4), {.modulation = modulation}};
            SCOPED_TRACE(name_of(config));
            expect_same_as_parts(config, slots_to_detect(config.equalizer, 2), SoftBitFormat::int8);
        }
    }
}

TEST(SoftDetectorTest, EveryFormatAndMethod) {
    for (const SoftBitFormat format : phy::all_soft_bit_formats) {
        for (const phy::Method method : {phy::Method::max_log, phy::Method::log_map}) {
            for (const bool with_covariance : {false, true}) {
                const SoftDetectorConfig config = {plain_config(2, 3, 3),
                                                   {.modulation = Modulation::qam64, .method = method}};
                SCOPED_TRACE(name_of(config));
                expect_same_as_parts(config, slots_to_detect(config.equalizer, 2, with_covariance), format);
            }
        }
    }
}

TEST(SoftDetectorTest, ErasuresAreSoftBitsOfZero) {
    const SoftDetectorConfig config = {plain_config(2, 2, 1), {.modulation = Modulation::qam256}};
    Slots slots = random_slots(config.equalizer, 1, equalizer_seed);
    std::ranges::fill(slots.channel, 0.0F);
    for (const SoftBitFormat format : phy::all_soft_bit_formats)
        for (const std::byte byte : detected(phy::Host(), config, slots, slots.grid, format, {}))
            ASSERT_EQ(byte, std::byte{0});
}

TEST(SoftDetectorTest, WrongArgumentsThrow) {
    const SoftDetectorConfig good = {plain_config(2, 2, 1), {.modulation = Modulation::qam16}};
    SoftDetectorConfig bad = good;
    bad.equalizer.antennas = 1;
    EXPECT_THROW(SoftDetector(phy::Host(), bad), phy::ArgumentError);
    bad = good;
    bad.demapper.llr_clip = 0;
    EXPECT_THROW(SoftDetector(phy::Host(), bad), phy::ArgumentError);

    SoftDetector detect(phy::Host(), good);
    Slots slots = random_slots(good.equalizer, 1, equalizer_seed);
    std::vector<std::int8_t> llr(detect.soft_bits_per_slot());
    std::vector<std::uint32_t> signs(detect.sign_words_per_slot());
    const auto call = [&] { detect(slots.grid, slots.channel, slots.estimates, llr, signs); };
    EXPECT_NO_THROW(call());
    signs.push_back(0);
    EXPECT_THROW(call(), phy::ArgumentError);
    signs.clear();
    llr.pop_back();
    EXPECT_THROW(call(), phy::ArgumentError);
    llr.push_back(0);
    slots.estimates[0].noise_variance = 0.0F;
    EXPECT_THROW(call(), phy::ArgumentError);
    slots.estimates[0].noise_variance = 1.0F;
    slots.grid.pop_back();
    EXPECT_THROW(call(), phy::ArgumentError);
}

}  // namespace
