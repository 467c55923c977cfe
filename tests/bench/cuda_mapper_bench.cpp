// Bits to symbols on a GPU.

#include <cstdint>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "bench/cuda_suite.hpp"
#include "common/repeat.hpp"
#include "common/signal.hpp"

namespace phy::bench {
namespace {

using apps::random_bits;
using apps::signal_stretch;

void measure(Suite& suite, Modulation modulation, SampleFormat output, BitPacking packing) {
    const bool packed = packing == BitPacking::packed;
    const auto name = fmt::format("map/{}/{}/{}", to_string(modulation), to_string(output),
                                  packed ? "packed" : "one_per_byte");
    if (!suite.wants(name)) return;
    const std::size_t qm = bits_per_symbol(modulation);
    const std::size_t symbols = suite.symbols_for(qm + size_of(output));
    const auto bytes_for = [&](std::size_t count) { return packed ? count * qm / 8 : count * qm; };

    std::vector<std::uint8_t> some = random_bits(signal_stretch * qm);
    if (packed) {
        std::vector<std::uint8_t> bytes(bytes_for(signal_stretch));
        pack_bits(some, bytes);
        some.swap(bytes);
    }
    const gpu::Device& device = suite.device();
    gpu::DeviceBuffer<std::uint8_t> bits(device, bytes_for(symbols));
    gpu::DeviceBuffer<std::byte> mapped(device, symbols * size_of(output));
    apps::fill_repeating(device, bits.span(), std::span<const std::uint8_t>(some));
    const gpu::Mapper map(device, {.modulation = modulation, .packing = packing, .full_scale = 8192.0F});
    const auto work = [&](cudaStream_t stream) { map(bits, {output, mapped.span()}, stream); };
    suite.record(name, {.symbols = symbols,
                        .moves = {{bits.data(), bits.size_bytes(), mapped.data(), mapped.size_bytes()}},
                        .work = work});
}

}  // namespace

void mapper_benchmarks(Suite& suite) {
    for (const Modulation modulation : all_modulations) {
        for (const SampleFormat output : {SampleFormat::cf32, SampleFormat::cf16, SampleFormat::ci16}) {
            for (const BitPacking packing : {BitPacking::one_per_byte, BitPacking::packed})
                measure(suite, modulation, output, packing);
        }
    }
}

}  // namespace phy::bench
