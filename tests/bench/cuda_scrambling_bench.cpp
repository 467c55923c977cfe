// Gold sequences on a GPU, and descrambling in the demapper's stores.

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "bench/cuda_suite.hpp"
#include "common/repeat.hpp"
#include "common/signal.hpp"

namespace phy::bench {
namespace {

/// Of a slot of 273 resource blocks, 12 OFDM symbols, of 256QAM.
constexpr std::size_t slot_symbols = 273 * 12 * 12;
constexpr std::size_t slot_bits = 8 * slot_symbols;

/// One c_init a slot.
gpu::DeviceBuffer<std::uint32_t> beginnings(const gpu::Device& device, std::size_t slots) {
    std::mt19937 random(38211);
    std::vector<std::uint32_t> numbers(slots);
    for (std::uint32_t& number : numbers)
        number = static_cast<std::uint32_t>(random()) & largest_c_init;
    gpu::DeviceBuffer<std::uint32_t> buffer(device, slots);
    const gpu::Stream stream(device);
    gpu::copy_async(buffer, numbers, stream);
    stream.synchronize();
    return buffer;
}

std::size_t many_slots(const Suite& suite, std::size_t bytes_a_symbol) {
    return std::max<std::size_t>(1, suite.symbols_for(bytes_a_symbol) / slot_symbols);
}

/// "symbols" are bits. The c_init are next to nothing beside what is written, so the limit is to write that.
void measure_gold(Suite& suite, std::size_t slots) {
    const auto name = fmt::format("gold/{}", slots == 0 ? "many_slots" : fmt::format("{}_slots", slots));
    if (!suite.wants(name)) return;
    const bool graph = slots != 0;
    if (slots == 0) slots = many_slots(suite, 1);
    const gpu::Device& device = suite.device();
    const gpu::DeviceBuffer<std::uint32_t> c_init = beginnings(device, slots);
    gpu::DeviceBuffer<std::uint32_t> words(device, slots * slot_bits / 32);
    suite.record(name,
                 {.symbols = 32 * words.size(),
                  .moves = {{nullptr, 0, words.data(), words.size_bytes()}},
                  .work = [&](cudaStream_t stream) { gpu::gold_sequence(device, c_init, 0, words, stream); },
                  .graph = graph});
}

/// Demapping with signs; those are made anew each time, or not.
enum class Way { plain, signs_given, signs_made };

void measure_demapper(Suite& suite, SoftBitFormat format, Way way) {
    const char* const names[] = {"plain", "signs_given", "signs_made"};
    const auto name = fmt::format("demap_and_descramble/256qam/cf32/{}/{}", to_string(format),
                                  names[static_cast<std::size_t>(way)]);
    if (!suite.wants(name)) return;
    const std::size_t of_symbol = 8 * size_of(format);
    const std::size_t slots = many_slots(suite, sizeof(cf32) + of_symbol);
    const std::size_t symbols = slots * slot_symbols;
    const gpu::Device& device = suite.device();
    const gpu::DeviceBuffer<std::uint32_t> c_init = beginnings(device, slots);
    gpu::DeviceBuffer<std::uint32_t> words(device, slots * slot_bits / 32);
    gpu::DeviceBuffer<std::byte> in(device, symbols * sizeof(cf32));
    gpu::DeviceBuffer<std::byte> out(device, symbols * of_symbol);
    const apps::Signal signal(Modulation::qam256, SampleFormat::cf32, 25.0, apps::signal_stretch);
    apps::fill_repeating(device, in.span(), std::span(signal.samples));
    const gpu::SoftDemapper demap(device, {.modulation = Modulation::qam256});
    const gpu::SoftBitSpan llr(format, out.span());
    const gpu::Stream stream(device);
    gpu::gold_sequence(device, c_init, 0, words, stream);
    stream.synchronize();
    suite.record(name, {.symbols = symbols,
                        .moves = {{in.data(), in.size(), out.data(), out.size()}},
                        .work = [&](cudaStream_t on) {
                            if (way == Way::signs_made) gpu::gold_sequence(device, c_init, 0, words, on);
                            demap({SampleFormat::cf32, in.span()}, signal.noise_variance, llr, on, 0, {},
                                  way == Way::plain ? gpu::DeviceSpan<std::uint32_t>() : words.span());
                        }});
}

}  // namespace

void scrambling_benchmarks(Suite& suite) {
    for (const std::size_t slots : {1, 64, 0})
        measure_gold(suite, slots);
    for (const SoftBitFormat format : all_soft_bit_formats)
        for (const Way way : {Way::plain, Way::signs_given, Way::signs_made})
            measure_demapper(suite, format, way);
}

}  // namespace phy::bench
