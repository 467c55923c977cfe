// Decodes transport blocks of BPSK for tests/coding/sionna_decoders.py. Reads int8 soft bits from stdin, one
// row per block. Writes payload bytes and a byte that is 1 if the CRC holds, one row per block.
// Arguments: size, code rate, coded bits.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "phy/coding/transport_decoder.hpp"

int main(int count, char** arguments) {
    if (count != 4) {
        std::fputs("decode_soft_bits SIZE CODE_RATE CODED_BITS < SOFT_BITS > PAYLOADS\n", stderr);
        return 2;
    }
    const phy::TransportBlockConfig block = {.size = std::strtoull(arguments[1], nullptr, 10),
                                             .code_rate = std::strtod(arguments[2], nullptr),
                                             .coded_bits = std::strtoull(arguments[3], nullptr, 10),
                                             .modulation = phy::Modulation::bpsk};
    phy::TransportDecoder decode(phy::Host({.threads = 1}), {.block = block});
    std::vector<std::int8_t> llr(block.coded_bits);
    std::vector<std::uint8_t> row(block.size / 8 + 1);
    while (std::fread(llr.data(), 1, llr.size(), stdin) == llr.size()) {
        phy::DecodedBlock result;
        decode(phy::SoftBitView(llr), 0, std::span(row).first(block.size / 8), std::span(&result, 1));
        row.back() = static_cast<std::uint8_t>(result.crc);
        if (std::fwrite(row.data(), 1, row.size(), stdout) != row.size()) return 1;
    }
    return 0;
}
