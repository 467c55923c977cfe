// Gold sequences, and descrambling in the demapper's blocks.

#include <benchmark/benchmark.h>

#include <cstring>
#include <span>

#include <fmt/format.h>

#include "bench/paired.hpp"
#include "common/signal.hpp"

namespace phy::bench {
namespace {

constexpr std::uint32_t c_init = 0x1234567;

/// Of a slot of 4 layers of 256QAM, and more than caches hold.
constexpr std::size_t slot_bits = 273 * 12 * 12 * 8 * 4;
constexpr std::size_t many_bits = std::size_t{1} << 26U;

void add_gold(std::size_t bits) {
    benchmark::RegisterBenchmark(fmt::format("gold/{}", bits).c_str(),
                                 [=](benchmark::State& state) {
                                     std::vector<std::uint32_t> words(bits / 32);
                                     const Host host;
                                     run_paired(state, {bits, words.size() * 4, words.size() * 4},
                                                [&] { gold_sequence(host, c_init, 0, words); });
                                 })
        ->UseManualTime()
        ->Iterations(rounds_for(bits));
}

/// of_plain: the time without signs over that with them.
void add_fused(SoftBitFormat format) {
    benchmark::RegisterBenchmark(
        fmt::format("demap_and_descramble/256qam/cf32/{}", to_string(format)).c_str(),
        [=](benchmark::State& state) {
            constexpr std::size_t symbols = slot_bits / 8;
            const apps::Signal signal(Modulation::qam256, SampleFormat::cf32, 25.0, symbols);
            std::vector<std::uint32_t> signs(slot_bits / 32);
            gold_sequence(Host(), c_init, 0, signs);
            std::vector<std::byte> llr(slot_bits * size_of(format));
            SoftDemapper demap(Host(), {.modulation = Modulation::qam256});
            const SoftBitSpan out(format, llr);
            const auto with = [&](std::span<const std::uint32_t> some) {
                demap(signal.view(), signal.noise_variance, out, 0, nullptr, some);
            };
            run_paired_with(
                state, {symbols, symbols * sizeof(cf32), llr.size()}, "of_plain", [&] { with({}); },
                [&] { with(signs); });
        })
        ->UseManualTime()
        ->Iterations(rounds_for(slot_bits));
}

const bool registered = [] {
    for (const std::size_t bits : {slot_bits, many_bits})
        add_gold(bits);
    for (const SoftBitFormat format : all_soft_bit_formats)
        add_fused(format);
    return true;
}();

}  // namespace
}  // namespace phy::bench
