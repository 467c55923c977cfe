// Block floating point on a GPU.

#include <algorithm>
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
    // The arrays with what the limit takes besides; none of both is much longer than what is written.
    const std::size_t blocks = suite.symbols_for(3 * size_of(format)) / elements_per_block;
    const apps::Signal signal(Modulation::qam256, SampleFormat::ci16, 30.0, apps::signal_stretch);
    const std::size_t stretch = signal.symbols / elements_per_block;
    std::vector<std::byte> compressed(stretch * bytes_per_block(config));
    BlockFloatCompressor(Host(), config)(signal.view().subspan(0, stretch * elements_per_block), compressed);

    const gpu::Device& device = suite.device();
    const std::size_t bytes_in = blocks * bytes_per_block(config);
    const std::size_t bytes_out = blocks * elements_per_block * size_of(format);
    // No copy kernel has ratios such as 7:24, so the limit is a copy of as many bytes in all, in equal parts.
    const std::size_t of_limit = evened_bytes(bytes_in, bytes_out);
    gpu::DeviceBuffer<std::byte> in(device, std::max(bytes_in, of_limit));
    gpu::DeviceBuffer<std::byte> out(device, std::max(bytes_out, of_limit));
    apps::fill_repeating(device, in.span(), std::span<const std::byte>(compressed));
    const gpu::BlockFloatDecompressor operate(device, config);
    suite.record(name, {.symbols = blocks * elements_per_block,
                        .moves = {evened({in.data(), bytes_in, out.data(), bytes_out})},
                        .work = [&](cudaStream_t stream) {
                            operate(in.first(bytes_in), {format, out.first(bytes_out)}, stream);
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
