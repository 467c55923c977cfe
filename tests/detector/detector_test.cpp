#include "phy/detector/detector.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "detector/detector_cases.hpp"
#include "phy/core/error.hpp"
#include "phy/scrambling/gold_sequence.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::JointDetector;
using phy::JointDetectorConfig;
using phy::Modulation;
using phy::SoftBitFormat;

/// Elements whose pairs of points can be tried in a test's time.
std::size_t elements_of(Modulation modulation) {
    switch (bits_per_symbol(modulation)) {
        case 2:
        case 4:
            return 400;
        case 6:
            return 100;
        case 8:
            return 10;
        default:
            return 2;
    }
}

/// Calls visit(modulation, element, number of the element) for elements of every kind.
template <typename Visitor>
void for_each_element(unsigned seed, const Visitor& visit) {
    for (const Modulation modulation : two_layer_modulations) {
        for (const Columns columns :
             {Columns::apart, Columns::alike, Columns::parallel, Columns::one_missing}) {
            RandomElements elements(modulation, seed);
            for (std::size_t i = 0; i < elements_of(modulation); ++i) {
                SCOPED_TRACE(std::string(to_string(modulation)) + ", element " + std::to_string(i));
                visit(modulation, elements.next(columns), i);
                if (testing::Test::HasFatalFailure()) return;
            }
        }
    }
}

TEST(JointDetector, GivesTheLlrsOfItsDefinition) {
    for_each_element(random_seed(), [](Modulation modulation, const ReceivedElement& element, std::size_t) {
        const std::vector<LayerPair> pair = {element.pair()};
        const std::vector<double> expected = joint_llrs(modulation, element);
        const JointDetectorConfig config = {.modulation = modulation};
        const Bytes floats = detect(phy::Host(), config, pair, SoftBitFormat::float32);
        const Bytes bytes = detect(phy::Host(), config, pair, SoftBitFormat::int8);
        for (std::size_t b = 0; b < expected.size(); ++b) {
            ASSERT_NEAR(soft_bit(SoftBitFormat::float32, floats, b), expected[b],
                        2e-6 * (1.0 + element.largest()))
                << "bit " << b;
            ASSERT_NEAR(soft_bit(SoftBitFormat::int8, bytes, b), std::clamp(6.0 * expected[b], -127.0, 127.0),
                        1.0)
                << "bit " << b;
        }
    });
}

TEST(JointDetector, PriorsCountAsTheirDefinitionSays) {
    const unsigned seed = random_seed();
    for_each_element(seed, [&](Modulation modulation, const ReceivedElement& element, std::size_t i) {
        const std::vector<LayerPair> pair = {element.pair()};
        const std::vector<std::int8_t> priors =
            random_priors(2 * bits_per_symbol(modulation), seed + static_cast<unsigned>(i));
        std::vector<double> in_nats;
        for (const std::int8_t prior : priors)
            in_nats.push_back(prior / 6.0);
        const std::vector<double> expected = llrs_with_priors(modulation, element, in_nats);
        const Bytes floats =
            detect(phy::Host(), {.modulation = modulation}, pair, SoftBitFormat::float32, {}, priors);
        for (std::size_t b = 0; b < expected.size(); ++b)
            ASSERT_NEAR(soft_bit(SoftBitFormat::float32, floats, b), expected[b],
                        4e-6 * (30.0 + element.largest()))
                << "bit " << b;
    });
}

TEST(JointDetector, ExtremeScalesAndClipsAreExact) {
    const unsigned seed = random_seed();
    for (const float scale : {1.0F / 64, 4096.0F}) {
        for (const int clip : {1, 127}) {
            RandomElements elements(Modulation::qam16, seed);
            const JointDetectorConfig config = {.modulation = Modulation::qam16,
                                                .llr = {.scale = scale, .clip = clip}};
            for (int i = 0; i < 200; ++i) {
                const ReceivedElement element = elements.next(Columns::apart);
                const std::vector<LayerPair> pair = {element.pair()};
                const std::vector<double> expected = joint_llrs(config.modulation, element);
                const Bytes bytes = detect(phy::Host(), config, pair, SoftBitFormat::int8);
                const double error = 2e-6 * (1.0 + element.largest());
                const auto limited = [&](double llr) { return std::clamp<double>(scale * llr, -clip, clip); };
                for (std::size_t b = 0; b < expected.size(); ++b) {
                    const double found = soft_bit(SoftBitFormat::int8, bytes, b);
                    ASSERT_GE(found, limited(expected[b] - error) - 0.5)
                        << "scale " << scale << ", bit " << b;
                    ASSERT_LE(found, limited(expected[b] + error) + 0.5)
                        << "scale " << scale << ", bit " << b;
                }
            }
        }
    }
}

TEST(JointDetector, EveryBackendAndSplitGivesTheSameBytes) {
    const unsigned seed = random_seed();
    for (const Modulation modulation : two_layer_modulations) {
        const std::vector<LayerPair> pairs = awkward_pairs(modulation, 301, seed);
        const JointDetectorConfig config = {.modulation = modulation, .llr = {.scale = 3.0F, .clip = 100}};
        for (const SoftBitFormat format : phy::all_soft_bit_formats) {
            const Bytes expected = detect(scalar_host(), config, pairs, format);
            for (const phy::Backend& backend : host_backends())
                for (const int threads : {1, 3})
                    EXPECT_TRUE(detect(host_of(backend, threads), config, pairs, format) == expected)
                        << to_string(modulation) << ", " << backend.name() << ", " << threads << " threads";
            const std::size_t cut = 5;
            Bytes parts = detect(phy::Host(), config, std::span(pairs).first(cut), format);
            const Bytes rest = detect(phy::Host(), config, std::span(pairs).subspan(cut), format);
            parts.insert(parts.end(), rest.begin(), rest.end());
            EXPECT_TRUE(parts == expected) << to_string(modulation);
            const std::size_t bits = 2 * pairs.size() * bits_per_symbol(modulation);
            const std::vector<std::int8_t> priors = random_priors(bits, seed);
            std::vector<std::uint32_t> signs((bits + 31) / 32);
            phy::gold_sequence(4711, 0, signs);
            const Bytes with_priors = detect(scalar_host(), config, pairs, format, signs, priors);
            EXPECT_FALSE(with_priors == detect(scalar_host(), config, pairs, format, signs));
            for (const phy::Backend& backend : host_backends())
                for (const int threads : {1, 3})
                    EXPECT_TRUE(detect(host_of(backend, threads), config, pairs, format, signs, priors) ==
                                with_priors)
                        << to_string(modulation) << ", " << backend.name() << ", " << threads << " threads";
        }
    }
}

TEST(JointDetector, PairsThatAreNotFiniteAreErased) {
    for (const Modulation modulation : two_layer_modulations) {
        const std::vector<LayerPair> pairs = awkward_pairs(modulation, 600, 7);
        const Bytes llr = detect(phy::Host(), {.modulation = modulation}, pairs, SoftBitFormat::float32);
        const std::size_t bits = 2 * bits_per_symbol(modulation);
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const auto* const numbers = reinterpret_cast<const float*>(&pairs[i]);
            const bool is_finite =
                std::all_of(numbers, numbers + 8, [](float x) { return std::isfinite(x); });
            const bool is_usual = i % 3 != 2;
            double sum = 0.0;
            for (std::size_t b = 0; b < bits; ++b) {
                const double soft = soft_bit(SoftBitFormat::float32, llr, i * bits + b);
                sum += std::abs(soft);
                ASSERT_TRUE(std::isfinite(soft)) << i;
                ASSERT_TRUE(is_finite || soft == 0.0) << i;
            }
            ASSERT_TRUE(!is_usual || sum > 0.0) << i;
        }
    }
}

/// Without noise N0 may be tiny: soft bits saturate with the signs that a small N0 gives.
TEST(JointDetector, TinyNoiseSaturates) {
    const JointDetectorConfig config = {.modulation = Modulation::qam16};
    RandomElements elements(config.modulation, 3);
    for (int i = 0; i < 50; ++i) {
        std::vector<LayerPair> pairs(2, elements.next(Columns::apart).pair());
        auto* const numbers = reinterpret_cast<float*>(pairs.data());
        for (std::size_t n = 0; n < 8; ++n) {
            numbers[n] *= 0x1p20F;
            numbers[8 + n] *= 0x1p100F;
        }
        const Bytes llr = detect(phy::Host(), config, pairs, SoftBitFormat::int8);
        for (std::size_t b = 0; b < 8; ++b) {
            EXPECT_EQ(std::abs(soft_bit(SoftBitFormat::int8, llr, b)), 127.0) << i;
            EXPECT_EQ(soft_bit(SoftBitFormat::int8, llr, b), soft_bit(SoftBitFormat::int8, llr, 8 + b)) << i;
        }
    }
}

TEST(JointDetector, SignsNegate) {
    const std::vector<LayerPair> pairs = awkward_pairs(Modulation::qam64, 333, 5);
    const std::size_t bits = 12 * pairs.size();
    std::vector<std::uint32_t> signs((bits + 31) / 32);
    phy::gold_sequence(4711, 0, signs);
    for (const SoftBitFormat format : phy::all_soft_bit_formats) {
        const JointDetectorConfig config = {.modulation = Modulation::qam64};
        const Bytes plain = detect(phy::Host(), config, pairs, format);
        const Bytes signed_bytes = detect(host_of(phy::Host().backend(), 3), config, pairs, format, signs);
        for (std::size_t b = 0; b < bits; ++b) {
            const double sign = (signs[b / 32] >> (b % 32) & 1U) != 0 ? -1.0 : 1.0;
            ASSERT_EQ(soft_bit(format, signed_bytes, b), sign * soft_bit(format, plain, b)) << b;
        }
    }
}

/// Scrambled bits have the soft bits and priors of their opposites.
TEST(JointDetector, SignsNegatePriorsToo) {
    const std::vector<LayerPair> pairs = awkward_pairs(Modulation::qam16, 333, 5);
    const std::size_t bits = 8 * pairs.size();
    std::vector<std::int8_t> priors = random_priors(bits, 6);
    std::ranges::replace(priors, std::int8_t{-128}, std::int8_t{-127});
    std::vector<std::uint32_t> signs((bits + 31) / 32);
    phy::gold_sequence(4711, 0, signs);
    const auto sign = [&](std::size_t b) { return (signs[b / 32] >> (b % 32) & 1U) != 0 ? -1 : 1; };
    std::vector<std::int8_t> opposite(bits);
    for (std::size_t b = 0; b < bits; ++b)
        opposite[b] = static_cast<std::int8_t>(sign(b) * priors[b]);
    const JointDetectorConfig config = {.modulation = Modulation::qam16};
    const Bytes plain = detect(phy::Host(), config, pairs, SoftBitFormat::float32, {}, priors);
    const Bytes changed = detect(phy::Host(), config, pairs, SoftBitFormat::float32, signs, opposite);
    for (std::size_t b = 0; b < bits; ++b)
        ASSERT_EQ(soft_bit(SoftBitFormat::float32, changed, b),
                  sign(b) * soft_bit(SoftBitFormat::float32, plain, b))
            << b;
}

TEST(JointDetector, SoftBitsNeedNoAlignment) {
    constexpr std::byte filler{99};
    const JointDetectorConfig config = {.modulation = Modulation::qam64};
    const std::vector<LayerPair> pairs = awkward_pairs(config.modulation, 333, 5);
    const std::size_t bits = 12 * pairs.size();
    std::vector<std::uint32_t> signs((bits + 31) / 32);
    phy::gold_sequence(4711, 0, signs);
    for (const phy::Backend& backend : host_backends()) {
        JointDetector detector(host_of(backend, 3), config);
        for (const SoftBitFormat format : phy::all_soft_bit_formats) {
            const Bytes expected = detect(scalar_host(), config, pairs, format, signs);
            for (const std::size_t shift : {1U, 2U, 3U}) {
                Bytes memory(shift + expected.size() + 1, filler);
                const std::span<std::byte> llr = std::span(memory).subspan(shift, expected.size());
                detector(pairs, {format, llr}, signs);
                EXPECT_TRUE(std::ranges::equal(llr, expected)) << backend.name() << ", shift " << shift;
                EXPECT_EQ(memory[shift - 1], filler);
                EXPECT_EQ(memory.back(), filler);
            }
        }
    }
}

TEST(JointDetector, RefusesWhatItCannotDo) {
    const phy::Host host;
    EXPECT_THROW(JointDetector(host, {.modulation = Modulation::bpsk}), phy::ArgumentError);
    EXPECT_THROW(JointDetector(host, {.modulation = Modulation::pi2_bpsk}), phy::ArgumentError);
    EXPECT_THROW(JointDetector(host, {.llr = {.method = phy::Method::log_map}}), phy::ArgumentError);
    EXPECT_THROW(JointDetector(host, {.llr = {.scale = 0.0F}}), phy::ArgumentError);
    JointDetector detector(host, {.modulation = Modulation::qam16});
    const std::vector<LayerPair> pairs(3);
    std::vector<std::int8_t> llr(24, 99);
    std::vector<std::uint32_t> signs(2);
    EXPECT_THROW(detector(pairs, std::span(llr).first(23)), phy::ArgumentError);
    EXPECT_THROW(detector(pairs, llr, signs), phy::ArgumentError);
    EXPECT_THROW(detector(pairs, llr, {}, std::vector<std::int8_t>(23)), phy::ArgumentError);
    EXPECT_EQ(std::ranges::count(llr, 99), 24);
}

}  // namespace
