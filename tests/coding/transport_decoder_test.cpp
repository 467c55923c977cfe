#include "phy/coding/transport_decoder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "coding/coding_cases.hpp"
#include "coding/decoder_outputs.hpp"
#include "demapper/signals.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::DecodedBlock;
using phy::TransportBlockConfig;
using phy::TransportDecoder;
using phy::TransportEncoder;

constexpr TransportBlockConfig one_code_block = {.size = 5120 - 24,
                                                 .code_rate = 0.75,
                                                 .coded_bits = 6804,
                                                 .modulation = phy::Modulation::qam16,
                                                 .layers = 1};

class TransportDecoderTest : public testing::Test {
protected:
    std::vector<std::uint8_t> encode(const TransportBlockConfig& config,
                                     std::span<const std::uint8_t> payload, int version = 0) {
        std::vector<std::uint8_t> codeword(config.coded_bits);
        TransportEncoder(host_, config)(payload, version, codeword);
        return codeword;
    }

    std::vector<std::uint8_t> random_payload(const TransportBlockConfig& config) {
        return payload_of(config.size, static_cast<std::uint32_t>(random_()));
    }

    unsigned seed_ = random_seed();
    testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
    std::mt19937 random_{seed_};
    phy::Host host_;
};

TEST_F(TransportDecoderTest, FindsWhatWasSent) {
    for ([[maybe_unused]] const std::uint64_t trial : fewer_indices(100)) {
        const TransportBlockConfig config = random_block(random_);
        // Of shorter codewords of version 3, and of a limited buffer, some bits are not sent.
        const bool is_whole = 2 * config.size < config.coded_bits && !config.limited_buffer;
        if (config.size < 100 ||
            1.1 * static_cast<double>(config.size + 24) > static_cast<double>(config.coded_bits))
            continue;
        const int version = is_whole && random_int(random_, 0, 1) == 0 ? 3 : 0;
        const std::vector<std::uint8_t> payload = random_payload(config);
        const double margin = std::uniform_real_distribution<>(8.0, 40.0)(random_);
        const std::vector<float> llr =
            received(encode(config, payload, version), n0_for(config, margin), random_);
        std::vector<std::uint8_t> decoded(payload.size());
        DecodedBlock result;
        TransportDecoder(host_, {.block = config, .format = phy::SoftBitFormat::float32})(
            llr, version, decoded, std::span(&result, 1));
        EXPECT_EQ(result.crc, 1U) << text_of(config) << ", version " << version;
        EXPECT_EQ(result.failed_blocks, 0U);
        EXPECT_GE(result.iterations, phy::code_blocks(config).count);
        EXPECT_TRUE(decoded == payload) << text_of(config);
    }
}

/// At noise where some code blocks fail.
TEST_F(TransportDecoderTest, EveryBackendAndNumberOfThreadsGivesTheSameBytes) {
    for ([[maybe_unused]] const std::uint64_t trial : fewer_indices(15)) {
        const DecoderCase decoded = random_case(random_);
        TransportDecoder scalar(host_of(phy::Backend::scalar(), 1), decoded.decoder);
        const DecoderOutputs expected = decode_thrice(scalar, decoded);
        for (const phy::Backend& backend : host_backends()) {
            TransportDecoder decode(host_of(backend, random_int(random_, 1, 4)), decoded.decoder);
            ASSERT_TRUE(decode_thrice(decode, decoded) == expected)
                << backend.name() << ", " << text_of(decoded.decoder.block);
        }
    }
}

/// Of blocks that decode, soft bits that were erased too. What belongs to a bit that is sent several times
/// adds up to the same.
TEST_F(TransportDecoderTest, ExtrinsicLlrsAreWhatOtherSoftBitsSay) {
    const int blocks = fewer_times(40);
    int right = 0;
    for (int trial = 0; right < blocks && trial < 10 * blocks; ++trial) {
        const TransportBlockConfig config = random_block(random_);
        if (config.size < 100) continue;
        const std::vector<std::uint8_t> payload = random_payload(config);
        const std::vector<std::uint8_t> codeword = encode(config, payload);
        std::vector<std::int8_t> llr = in_steps(received(codeword, n0_for(config, 10.0), random_));
        for (std::size_t i = static_cast<std::size_t>(random_int(random_, 0, 40)); i < llr.size(); i += 41)
            llr[i] = 0;
        std::vector<std::uint8_t> decoded(payload.size());
        std::vector<std::int8_t> extrinsic(llr.size(), 99);
        DecodedBlock result;
        TransportDecoder(host_, {.block = config})(llr, 0, decoded, std::span(&result, 1), {}, extrinsic);
        if (result.crc == 0) continue;
        ++right;
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < llr.size(); ++i) {
            const int all = extrinsic[i] + std::clamp<int>(llr[i], -60, 60);
            wrong += (all < 0) != (codeword[i] != 0) ? 1U : 0U;
        }
        EXPECT_EQ(wrong, 0U) << text_of(config);
        EXPECT_TRUE(phy::code_blocks(config).count > 1 || decoded == payload);
    }
    EXPECT_EQ(right, blocks) << "too few decode";
}

/// Base graph 2 with Z = 20 (TS 38.212 clause 5.2.2): 1000 bits are sent, then the first of them again.
TEST_F(TransportDecoderTest, ExtrinsicLlrsOfRepeatedBitsDifferByTheirSoftBits) {
    const TransportBlockConfig config = {
        .size = 104, .code_rate = 0.1, .coded_bits = 2000, .modulation = phy::Modulation::qam16, .layers = 1};
    ASSERT_EQ(phy::code_blocks(config).buffer_size, 1000U);
    ASSERT_EQ(phy::code_blocks(config).information_bits, 200U);
    const std::size_t usable = 1000 - (200 - phy::code_blocks(config).bits);
    const std::size_t columns = config.coded_bits / 4;
    const auto index_of = [&](std::size_t selected) { return selected % columns * 4 + selected / columns; };
    for (const int version : {0, 2}) {
        const std::vector<std::uint8_t> codeword = encode(config, random_payload(config), version);
        const std::vector<std::int8_t> llr = in_steps(received(codeword, 12.0, random_));
        std::vector<std::uint8_t> decoded(config.size / 8);
        std::vector<std::int8_t> extrinsic(llr.size());
        DecodedBlock result;
        // One iteration, so that few LLRs are at their limit.
        TransportDecoder(host_, {.block = config, .iterations = 1})(llr, version, decoded,
                                                                    std::span(&result, 1), {}, extrinsic);
        std::size_t compared = 0;
        for (std::size_t k = 0; k + usable < llr.size(); ++k) {
            const std::size_t one = index_of(k);
            const std::size_t other = index_of(k + usable);
            const auto is_limited = [&](std::size_t i) { return std::abs(extrinsic[i]) == 127; };
            if (is_limited(one) || is_limited(other)) continue;
            ++compared;
            ASSERT_EQ(extrinsic[one] + std::clamp<int>(llr[one], -60, 60),
                      extrinsic[other] + std::clamp<int>(llr[other], -60, 60))
                << k << ", version " << version;
        }
        EXPECT_GT(compared, 500U);
    }
}

TEST_F(TransportDecoderTest, DecodesWhatHasFailedAlone) {
    const TransportBlockConfig& config = one_code_block;
    const std::vector<std::uint8_t> payload = random_payload(config);
    const std::vector<std::int8_t> clean =
        in_steps(received(encode(config, payload), n0_for(config, 8.0), random_));
    const std::vector<std::int8_t> noise = in_steps(received(encode(config, payload), 100.0, random_));
    const auto both = [](std::vector<std::int8_t> first, const std::vector<std::int8_t>& second) {
        first.insert(first.end(), second.begin(), second.end());
        return first;
    };
    TransportDecoder decode(host_, {.block = config});
    std::vector<std::uint8_t> decoded(2 * payload.size());
    std::vector<std::int8_t> extrinsic(2 * clean.size());
    std::vector<DecodedBlock> results(2);
    decode(both(clean, noise), 0, decoded, results, {}, extrinsic);
    ASSERT_EQ(results[0].crc, 1U);
    ASSERT_EQ(results[1].crc, 0U);
    EXPECT_EQ(results[1].repeats, 0U);
    const DecodedBlock right = results[0];
    const std::vector<std::int8_t> of_right(extrinsic.begin(),
                                            extrinsic.begin() + static_cast<std::ptrdiff_t>(clean.size()));
    // The first block stays what it is, whatever its soft bits are now.
    for (const auto& [second, crc] : {std::pair(&noise, 0U), std::pair(&clean, 1U), std::pair(&noise, 1U)}) {
        decode.decode_failed(both(noise, *second), 0, decoded, results, extrinsic);
        EXPECT_TRUE(results[0] == right);
        EXPECT_TRUE(std::equal(payload.begin(), payload.end(), decoded.begin()));
        EXPECT_TRUE(std::equal(of_right.begin(), of_right.end(), extrinsic.begin()));
        EXPECT_EQ(results[1].crc, crc);
    }
    EXPECT_EQ(results[1].repeats, 2U);
    EXPECT_EQ(results[1].failed_blocks, 0U);
    EXPECT_GT(results[1].iterations, 40U);
    EXPECT_TRUE(std::equal(payload.rbegin(), payload.rend(), decoded.rbegin()));
    EXPECT_THROW(decode(both(clean, noise), 0, decoded, results, {}, std::span(extrinsic).first(5)),
                 phy::ArgumentError);
    EXPECT_THROW(decode.decode_failed(clean, 0, decoded, results), phy::ArgumentError);
}

/// Transmissions that fail alone hold together.
TEST_F(TransportDecoderTest, CombinesRetransmissions) {
    const TransportBlockConfig& config = one_code_block;
    const std::vector<std::uint8_t> payload = random_payload(config);
    const double n0 = n0_for(config, -2.0);
    TransportDecoder decode(host_, {.block = config});
    std::vector<std::int8_t> buffer(decode.soft_buffer_size());
    std::vector<std::uint8_t> decoded(payload.size());
    DecodedBlock alone;
    DecodedBlock together;
    for (const int version : {0, 2, 3, 1}) {
        const std::vector<std::int8_t> llr =
            in_steps(received(encode(config, payload, version), n0, random_));
        decode(llr, version, decoded, std::span(&alone, 1));
        EXPECT_EQ(alone.crc, 0U) << version;
        EXPECT_EQ(alone.failed_blocks, 1U);
        decode(llr, version, decoded, std::span(&together, 1), buffer);
    }
    EXPECT_EQ(together.crc, 1U);
    EXPECT_TRUE(decoded == payload);
}

/// Soft bits without knowledge, and those of a broken receiver.
TEST_F(TransportDecoderTest, DamagedSoftBitsNeverHold) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    for ([[maybe_unused]] const std::uint64_t trial : fewer_indices(16)) {
        const TransportBlockConfig config = random_block(random_, 10'000);
        TransportDecoder decode(host_, {.block = config, .format = phy::SoftBitFormat::float32});
        std::vector<std::uint8_t> payload(config.size / 8);
        DecodedBlock result;
        const auto expect_failure = [&](const auto& make) {
            std::vector<float> llr(config.coded_bits);
            for (float& value : llr)
                value = make();
            decode(llr, 0, payload, std::span(&result, 1));
            EXPECT_EQ(result.crc, 0U) << text_of(config);
            EXPECT_GT(result.failed_blocks, 0U);
        };
        for (const float value : {0.0F, -0.0F, nan, infinity, -infinity, 1e30F, -1e30F, 1.0F, -1.0F})
            expect_failure([=] { return value; });
        expect_failure([&] { return random_() % 2 == 0 ? 1e30F : -1e30F; });
        expect_failure([&] { return random_() % 2 == 0 ? nan : std::normal_distribution<float>()(random_); });
    }
}

/// A NaN counts as an erasure, which a code bears.
TEST_F(TransportDecoderTest, SomeSoftBitsMayBeMissing) {
    const TransportBlockConfig config = {
        .size = 2024, .code_rate = 0.5, .coded_bits = 4080, .modulation = phy::Modulation::qpsk, .layers = 1};
    const std::vector<std::uint8_t> payload = random_payload(config);
    std::vector<float> llr = received(encode(config, payload), n0_for(config, 6.0), random_);
    for (float& value : llr)
        if (random_() % 10 == 0) value = std::numeric_limits<float>::quiet_NaN();
    std::vector<std::uint8_t> decoded(payload.size());
    DecodedBlock result;
    TransportDecoder(host_, {.block = config, .format = phy::SoftBitFormat::float32})(llr, 0, decoded,
                                                                                      std::span(&result, 1));
    EXPECT_EQ(result.crc, 1U);
    EXPECT_TRUE(decoded == payload);
}

/// At most the CRC's own chance: none of so few.
TEST_F(TransportDecoderTest, NoiseAloneNeverHolds) {
    const TransportBlockConfig config = {
        .size = 3848, .code_rate = 0.8, .coded_bits = 4840, .modulation = phy::Modulation::qpsk, .layers = 1};
    TransportDecoder decode(host_, {.block = config});
    std::vector<std::uint8_t> decoded(config.size / 8);
    for ([[maybe_unused]] const std::uint64_t trial : fewer_indices(100)) {
        std::vector<std::int8_t> llr(config.coded_bits);
        for (std::int8_t& value : llr)
            value = static_cast<std::int8_t>(random_());
        DecodedBlock result;
        decode(llr, 0, decoded, std::span(&result, 1));
        EXPECT_EQ(result.crc, 0U);
    }
}

/// From all of an LLR to its sign.
TEST_F(TransportDecoderTest, TakesSoftBitsOfAnyScaleAndLimit) {
    for ([[maybe_unused]] const std::uint64_t trial : fewer_indices(100)) {
        TransportBlockConfig config = random_block(random_);
        config.limited_buffer.reset();
        if (config.size < 100 ||
            1.2 * static_cast<double>(config.size + 24) > static_cast<double>(config.coded_bits))
            continue;
        const std::vector<std::uint8_t> payload = random_payload(config);
        const float scale = std::exp(std::uniform_real_distribution<float>(1.8F, std::log(4096.0F))(random_));
        const int clip = random_int(random_, 0, 1) == 0 ? 127 : random_int(random_, 1, 127);
        std::vector<std::int8_t> llr;
        for (const float nats : received(encode(config, payload), n0_for(config, 12.0), random_))
            llr.push_back(static_cast<std::int8_t>(std::clamp(
                std::nearbyint(scale * nats), static_cast<float>(-clip), static_cast<float>(clip))));
        std::vector<std::uint8_t> decoded(payload.size());
        DecodedBlock result;
        TransportDecoder(host_, {.block = config, .scale = scale, .clip = clip})(llr, 0, decoded,
                                                                                 std::span(&result, 1));
        EXPECT_EQ(result.crc, 1U) << text_of(config) << ", scale " << scale << ", clip " << clip;
    }
}

TEST_F(TransportDecoderTest, AHugeLimitedBufferIsNoLimit) {
    TransportBlockConfig config = {.size = 2024, .code_rate = 0.5, .coded_bits = 4080};
    const phy::CodeBlocks unlimited = phy::code_blocks(config);
    for (const std::size_t limit :
         {std::size_t{1} << 32U, std::size_t{6148914691236517206}, std::numeric_limits<std::size_t>::max()}) {
        config.limited_buffer = limit;
        EXPECT_EQ(phy::code_blocks(config), unlimited) << limit;
    }
}

TEST_F(TransportDecoderTest, BadArgumentsAreErrors) {
    const TransportBlockConfig good = {.size = 2024, .code_rate = 0.5, .coded_bits = 4080};
    const auto expect_error = [&](auto change) {
        TransportBlockConfig config = good;
        change(config);
        EXPECT_THROW(static_cast<void>(phy::code_blocks(config)), phy::ArgumentError);
        EXPECT_THROW(TransportDecoder(host_, {.block = config}), phy::ArgumentError);
        EXPECT_THROW(TransportEncoder(host_, config), phy::ArgumentError);
    };
    expect_error([](auto& config) { config.size = 0; });
    expect_error([](auto& config) { config.size = 2025; });
    expect_error([](auto& config) { config.size = std::size_t{1} << 25U; });
    expect_error([](auto& config) { config.size = 8456 * 2; });
    expect_error([](auto& config) { config.code_rate = 0.0; });
    expect_error([](auto& config) { config.code_rate = 1.01; });
    expect_error([](auto& config) { config.code_rate = std::numeric_limits<double>::quiet_NaN(); });
    expect_error([](auto& config) { config.coded_bits = 0; });
    expect_error([](auto& config) { config.coded_bits = 4081; });
    expect_error([](auto& config) { config.coded_bits = std::size_t{1} << 32U; });
    expect_error([](auto& config) { config.layers = 0; });
    expect_error([](auto& config) { config.layers = 9; });
    expect_error([](auto& config) { config.limited_buffer = 100; });
    for (const int iterations : {0, 256})
        EXPECT_THROW(TransportDecoder(host_, {.block = good, .iterations = iterations}), phy::ArgumentError);
    EXPECT_THROW(TransportDecoder(host_, {.block = good, .scale = 0.0F}), phy::ArgumentError);
    for (const int clip : {0, 128})
        EXPECT_THROW(TransportDecoder(host_, {.block = good, .clip = clip}), phy::ArgumentError);

    TransportDecoder decode(host_, {.block = good});
    std::vector<std::int8_t> llr(4080);
    std::vector<std::uint8_t> payload(253);
    std::vector<std::int8_t> buffer(decode.soft_buffer_size());
    DecodedBlock result;
    const std::span results(&result, 1);
    EXPECT_NO_THROW(decode(llr, 0, payload, results, buffer));
    EXPECT_THROW(decode(llr, 4, payload, results), phy::ArgumentError);
    EXPECT_THROW(decode(llr, -1, payload, results), phy::ArgumentError);
    EXPECT_THROW(decode(std::span(llr).first(4079), 0, payload, results), phy::ArgumentError);
    EXPECT_THROW(decode(std::vector<float>(4080), 0, payload, results), phy::ArgumentError);
    EXPECT_THROW(decode(llr, 0, std::span(payload).first(252), results), phy::ArgumentError);
    EXPECT_THROW(decode(llr, 0, payload, {}), phy::ArgumentError);
    EXPECT_THROW(decode(llr, 0, payload, results, std::span(buffer).first(1)), phy::ArgumentError);
}

}  // namespace
