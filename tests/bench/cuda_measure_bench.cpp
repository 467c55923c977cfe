// Sums over symbols on a GPU, against a read of the same bytes by CUB.

#include <cstdint>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "bench/cuda_suite.hpp"
#include "common/cub_sums.hpp"
#include "common/repeat.hpp"
#include "common/signal.hpp"

namespace phy::bench {
namespace {

/// Rows of whole captures, of a slot of 273 resource blocks without pilots, and of an OFDM symbol.
constexpr std::size_t all_symbols = 0;
constexpr std::size_t slot_symbols = 45'864;
constexpr std::size_t ofdm_symbol = 3276;

void measure(Suite& suite, Modulation modulation, SampleFormat format, std::size_t row) {
    const auto name = fmt::format("measure/{}/{}/{}", to_string(modulation), to_string(format),
                                  row == all_symbols ? "one_row" : fmt::format("rows_of_{}", row));
    if (!suite.wants(name)) return;
    const std::size_t length = row == all_symbols ? suite.symbols_for(size_of(format)) : row;
    const std::size_t symbols = suite.symbols_for(size_of(format)) / length * length;
    const std::size_t rows = symbols / length;
    const apps::Signal signal(modulation, format, apps::working_snr(modulation) + 6.0, apps::signal_stretch);

    const gpu::Device& device = suite.device();
    gpu::DeviceBuffer<std::int32_t> words(device, symbols * size_of(format) / sizeof(std::int32_t));
    gpu::DeviceBuffer<SymbolSums> sums(device, rows);
    gpu::DeviceBuffer<std::byte> workspace(device, gpu::SymbolMeter::workspace_bytes(symbols, length));
    const auto bytes = as_bytes(words.span());
    apps::fill_repeating(device, bytes, std::span<const std::byte>(signal.samples));
    const gpu::SymbolMeter meter(device, {.modulation = modulation, .full_scale = signal.full_scale});
    apps::CubSum<std::int32_t> cub(device, words.span(), 1);
    suite.record(name, {.symbols = symbols,
                        .moves = {{words.data(), words.size_bytes(), sums.data(), sums.size_bytes()}},
                        .work =
                            [&](cudaStream_t stream) {
                                meter({format, bytes}, length, sums, workspace, stream);
                            },
                        .read = [&](cudaStream_t stream) { cub(stream); }});
}

}  // namespace

void measure_benchmarks(Suite& suite) {
    for (const SampleFormat format :
         {SampleFormat::cf32, SampleFormat::cf16, SampleFormat::ci16, SampleFormat::ci8})
        measure(suite, Modulation::qam256, format, all_symbols);
    for (const Modulation modulation : {Modulation::bpsk, Modulation::qpsk, Modulation::qam1024})
        measure(suite, modulation, SampleFormat::cf32, all_symbols);
    for (const std::size_t row : {slot_symbols, ofdm_symbol})
        measure(suite, Modulation::qam256, SampleFormat::cf32, row);
}

}  // namespace phy::bench
