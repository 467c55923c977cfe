#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "coding/decoder_outputs.hpp"
#include "digests/section.hpp"

/// The lines transport/ of digests.txt: codewords, and what decoders make of them in noise.
namespace phy_test {

struct CodedCase {
    const char* name;
    phy::TransportBlockConfig block;
    int mean;       ///< of the LLRs' magnitudes, in sixths of a nat
    int deviation;  ///< of their noise
};

/// Some blocks of each hold and some do not.
inline const CodedCase coded_cases[] = {
    {"bg1-two-code-blocks",
     {.size = 16824,
      .code_rate = 0.75,
      .coded_bits = 22560,
      .modulation = phy::Modulation::qam16,
      .layers = 2},
     32,
     20},
    {"bg1-low-rate",
     {.size = 5120 - 24,
      .code_rate = 0.35,
      .coded_bits = 14400,
      .modulation = phy::Modulation::qpsk,
      .layers = 3},
     10,
     11},
    {"bg2-limited-buffer",
     {.size = 2024,
      .code_rate = 0.4,
      .coded_bits = 5040,
      .modulation = phy::Modulation::qam64,
      .layers = 4,
      .limited_buffer = 2100},
     26,
     18},
    {"bg2-repeated",
     {.size = 104, .code_rate = 0.1, .coded_bits = 2400, .modulation = phy::Modulation::qam256, .layers = 1},
     3,
     7}};

/// Noise of integers: no function of a C library has a part in it.
class IntegerNoise {
public:
    /// Of the variance deviation^2, nearly Gaussian.
    int operator()(int deviation) {
        int sum = 0;
        for (int n = 0; n < 4; ++n) {
            state_ = state_ * 1664525 + 1013904223;
            sum += static_cast<int>(state_ >> 24U) - 128;
        }
        return sum * deviation / 148;
    }

private:
    std::uint32_t state_ = 38212;
};

/// Three blocks, of which each has more noise than the one before.
inline DecoderCase noisy_case(const CodedCase& coded, phy::SoftBitFormat format) {
    DecoderCase result;
    result.decoder = {.block = coded.block, .format = format, .iterations = 12};
    phy::TransportEncoder encode(phy::Host(), coded.block);
    std::vector<std::uint8_t> codeword(coded.block.coded_bits);
    IntegerNoise noise;
    for (std::size_t block = 0; block < result.blocks; ++block) {
        encode(payload_of(coded.block.size, static_cast<std::uint32_t>(block)), 0, codeword);
        for (const std::uint8_t bit : codeword) {
            const int llr = (bit != 0 ? -coded.mean : coded.mean) +
                            noise(coded.deviation * (static_cast<int>(block) + 4) / 4);
            result.steps.push_back(static_cast<std::int8_t>(std::clamp(llr, -127, 127)));
            result.floats.push_back(static_cast<float>(llr) / 8.0F);
            result.halves.emplace_back(result.floats.back());
        }
    }
    return result;
}

inline void add_codewords(Section& section, const CodedCase& coded, const phy::Host& host,
                          const std::string& way) {
    phy::TransportEncoder encode(host, coded.block);
    for (int version = 0; version < phy::redundancy_versions; ++version) {
        std::vector<std::uint8_t> codeword(coded.block.coded_bits);
        encode(payload_of(coded.block.size, 1), version, codeword);
        section.add(std::string("transport/") + coded.name + "/codeword/" + std::to_string(version),
                    bytes_of(codeword), way);
    }
}

inline void add_decoded(Section& section, const CodedCase& coded, phy::SoftBitFormat format,
                        const DecoderOutputs& outputs, const std::string& way) {
    const std::string name =
        std::string("transport/") + coded.name + "/" + std::string(to_string(format)) + "/";
    section.add(name + "payload", bytes_of(outputs.payload), way);
    std::vector<std::uint32_t> results;
    for (const phy::DecodedBlock& block : outputs.results)
        results.insert(results.end(), {block.crc, block.failed_blocks, block.iterations});
    section.add(name + "results", bytes_of(results), way);
    section.add(name + "soft-buffers", bytes_of(outputs.soft_buffers), way);
}

}  // namespace phy_test
