// Block floating point on a GPU.

#include <span>

#include <fmt/format.h>

#include "bench/cuda_suite.hpp"
#include "common/repeat.hpp"
#include "common/signal.hpp"

namespace phy::bench {
namespace {

void decompress(Suite& suite, int width, SampleFormat format) {
    const auto name = fmt::format("decompress/{}_bits/{}", width, to_string(format));
    if (!suite.wants(name)) return;
    const BlockFloatConfig config = {.width = width};
    const std::size_t blocks = suite.symbols_for(size_of(format)) / elements_per_block;
    const apps::Signal signal(Modulation::qam256, SampleFormat::ci16, 30.0, apps::signal_stretch);
    const std::size_t stretch = signal.symbols / elements_per_block;
    std::vector<std::byte> compressed(stretch * bytes_per_block(config));
    BlockFloatCompressor(Host(), config)(signal.view().subspan(0, stretch * elements_per_block), compressed);

    const gpu::Device& device = suite.device();
    gpu::DeviceBuffer<std::byte> in(device, blocks * bytes_per_block(config));
    gpu::DeviceBuffer<std::byte> out(device, blocks * elements_per_block * size_of(format));
    apps::fill_repeating(device, in.span(), std::span<const std::byte>(compressed));
    const gpu::BlockFloatDecompressor operate(device, config);
    suite.record(name, {.symbols = blocks * elements_per_block,
                        .moves = {{in.data(), in.size_bytes(), out.data(), out.size_bytes()}},
                        .work = [&](cudaStream_t stream) {
                            operate(in.span(), {format, out.span()}, stream);
                        }});
}

}  // namespace

void compression_benchmarks(Suite& suite) {
    for (const int width : {9, 14, 16}) {
        for (const SampleFormat format : {SampleFormat::ci16, SampleFormat::cf32})
            decompress(suite, width, format);
    }
}

}  // namespace phy::bench
