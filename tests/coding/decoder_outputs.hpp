#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "coding/coding_cases.hpp"

namespace phy_test {

/// Received transport blocks, some too noisy to decode.
struct DecoderCase {
    phy::TransportDecoderConfig decoder;
    std::size_t blocks = 3;
    std::vector<float> floats;
    std::vector<std::int8_t> steps;
    std::vector<phy::half> halves;

    [[nodiscard]] phy::SoftBitView llr() const {
        if (decoder.format == phy::SoftBitFormat::int8) return steps;
        if (decoder.format == phy::SoftBitFormat::float16) return halves;
        return floats;
    }
};

inline DecoderCase random_case(std::mt19937& random) {
    DecoderCase result;
    const phy::TransportBlockConfig config = random_block(random, 20'000);
    phy::TransportEncoder encode(phy::Host(), config);
    std::vector<std::uint8_t> codeword(config.coded_bits);
    for (std::size_t block = 0; block < result.blocks; ++block) {
        encode(payload_of(config.size, static_cast<std::uint32_t>(random())), 0, codeword);
        const double margin = std::uniform_real_distribution<>(-1.0, 5.0)(random);
        const std::vector<float> llr = received(codeword, n0_for(config, margin), random);
        result.floats.insert(result.floats.end(), llr.begin(), llr.end());
    }
    result.floats.front() = std::numeric_limits<float>::quiet_NaN();
    const float scale = random_int(random, 0, 1) == 0 ? 6.0F : 3.7F;
    result.steps = in_steps(result.floats, scale);
    for (std::int8_t& step : result.steps)
        if (step == -127 || random_int(random, 0, 99) == 0) step = -128;
    for (const float value : result.floats)
        result.halves.emplace_back(value);
    result.decoder = {.block = config,
                      .format = phy::all_soft_bit_formats[static_cast<std::size_t>(random_int(random, 0, 2))],
                      .scale = scale,
                      .iterations = random_int(random, 1, 20),
                      .early_end = random_int(random, 0, 3) != 0};
    return result;
}

/// All that a decoder gives.
struct DecoderOutputs {
    std::vector<std::uint8_t> payload;
    std::vector<phy::DecodedBlock> results;
    std::vector<std::int8_t> soft_buffers;
    std::vector<std::int8_t> extrinsic;
    std::vector<phy::DecodedBlock> repeated;  ///< of decode_failed()
    std::vector<std::uint8_t> repeated_payload;

    friend bool operator==(const DecoderOutputs&, const DecoderOutputs&) = default;
};

/// Calls decode(redundancy version, again, payload, results, soft buffers, extrinsic) for two transmissions
/// that are combined and one that is not, and again for what fails then.
template <typename Decode>
DecoderOutputs decode_thrice(const DecoderCase& decoded, std::size_t soft_buffer_size, const Decode& decode) {
    DecoderOutputs all;
    all.soft_buffers.resize(decoded.blocks * soft_buffer_size);
    for (const int version : {0, 2, 3}) {
        std::vector<std::uint8_t> payload(decoded.blocks * decoded.decoder.block.size / 8);
        std::vector<phy::DecodedBlock> results(decoded.blocks);
        std::vector<std::int8_t> extrinsic(decoded.llr().size());
        std::vector<std::int8_t> none;
        auto& soft_buffers = version == 3 ? none : all.soft_buffers;
        decode(version, false, payload, results, soft_buffers, extrinsic);
        all.extrinsic.insert(all.extrinsic.end(), extrinsic.begin(), extrinsic.end());
        all.payload.insert(all.payload.end(), payload.begin(), payload.end());
        all.results.insert(all.results.end(), results.begin(), results.end());
        if (version != 3) continue;
        decode(version, true, payload, results, soft_buffers, extrinsic);
        all.repeated = results;
        all.repeated_payload = payload;
        all.extrinsic.insert(all.extrinsic.end(), extrinsic.begin(), extrinsic.end());
    }
    return all;
}

inline DecoderOutputs decode_thrice(phy::TransportDecoder& decode, const DecoderCase& decoded) {
    return decode_thrice(
        decoded, decode.soft_buffer_size(),
        [&](int version, bool again, auto& payload, auto& results, auto& soft_buffers, auto& extrinsic) {
            if (again)
                decode.decode_failed(decoded.llr(), version, payload, results, extrinsic);
            else
                decode(decoded.llr(), version, payload, results, soft_buffers, extrinsic);
        });
}

}  // namespace phy_test
