#include "phy/files/receive/block_trial.hpp"

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "phy/coding/transport_encoder.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/mapper/mapper.hpp"
#include "phy/numerics/elementary.hpp"

namespace phy::detail {
namespace {

/// Gaussian noise.
cf32 noise_of(std::mt19937& random, double variance) {
    const double uniform = (static_cast<double>(random()) + 0.5) * 0x1p-32;
    const double turns = static_cast<double>(random()) * 0x1p-32;
    return cf32(std::sqrt(-variance * elementary::log(uniform)) * elementary::turn(turns));
}

}  // namespace

bool block_decodes(const Host& host, const TransportDecoderStage::Config& decode, const LlrConfig& llr,
                   double noise_variance) {
    const TransportBlockConfig& block = decode.decoder.block;
    std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same block for the same link
    std::vector<std::uint8_t> payload(block.size / 8);
    for (std::uint8_t& byte : payload)
        byte = static_cast<std::uint8_t>(random());
    std::vector<std::uint8_t> codeword(block.coded_bits);
    TransportEncoder encode(host, block);
    encode(payload, decode.redundancy_version, codeword);
    std::vector<cf32> symbols(block.coded_bits / bits_per_symbol(block.modulation));
    Mapper(host, {.modulation = block.modulation})(codeword, symbols);
    for (cf32& symbol : symbols)
        symbol += noise_of(random, noise_variance);
    const SoftBitFormat format = decode.decoder.format;
    std::vector<std::byte> soft_bits(block.coded_bits * size_of(format));
    SoftDemapper demap(host, {.modulation = block.modulation, .llr = llr});
    demap(symbols, static_cast<float>(noise_variance), SoftBitSpan(format, soft_bits));
    DecodedBlock decoded;
    TransportDecoder decoder(host, decode.decoder);
    decoder(SoftBitView(format, soft_bits), decode.redundancy_version, payload, {&decoded, 1});
    return decoded.crc == 1;
}

}  // namespace phy::detail
