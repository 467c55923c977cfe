#include <benchmark/benchmark.h>

#include <fmt/format.h>

#include "bench/paired.hpp"
#include "common/signal.hpp"

namespace phy::bench {
namespace {

using apps::random_bits;

template <typename Symbol>
void add(Modulation modulation, BitPacking packing) {
    constexpr std::size_t symbols = 38880;
    const auto name = fmt::format("map/{}/{}/{}", to_string(modulation), to_string(sample_format_of<Symbol>),
                                  packing == BitPacking::packed ? "packed" : "one_per_byte");
    benchmark::RegisterBenchmark(
        name.c_str(),
        [=](benchmark::State& state) {
            std::vector<std::uint8_t> bits = random_bits(symbols * bits_per_symbol(modulation));
            if (packing == BitPacking::packed) {
                std::vector<std::uint8_t> packed((bits.size() + 7) / 8);
                pack_bits(bits, packed);
                bits.swap(packed);
            }
            std::vector<Symbol> mapped(symbols);
            const Mapper map(Host(), {.modulation = modulation, .packing = packing, .full_scale = 8192.0F});
            run_paired(state, {symbols, bits.size(), symbols * sizeof(Symbol)}, [&] { map(bits, mapped); });
        })
        ->UseManualTime()
        ->Iterations(rounds_for(symbols));
}

const bool registered = [] {
    for (const Modulation modulation : all_modulations) {
        add<cf32>(modulation, BitPacking::one_per_byte);
        add<cf32>(modulation, BitPacking::packed);
        add<ci16>(modulation, BitPacking::packed);
    }
    return true;
}();

}  // namespace
}  // namespace phy::bench
