#include "phy/files/measure/gain.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/files/common.hpp"
#include "phy/files/spread_blocks.hpp"

namespace phy::detail {
namespace {

constexpr std::uint64_t block = 4096;
constexpr std::uint64_t blocks = 256;

/// Reads blocks at equal distances, or all of a shorter capture.
std::vector<std::byte> spread_symbols(CaptureReader& capture) {
    const CaptureDescription& description = capture.description();
    const std::size_t bytes = size_of(description.format);
    const bool all = description.symbols <= block * blocks;
    const std::uint64_t piece = all ? description.symbols : block;
    std::vector<std::byte> symbols((all ? piece : block * blocks) * bytes);
    const std::uint64_t last = description.symbols - piece;
    for (std::uint64_t n = 0; n * piece * bytes < symbols.size(); ++n) {
        // Even, so that pi/2-BPSK continues as if blocks were neighbours.
        const std::uint64_t first = evenly_spaced(n, blocks, last) / 2 * 2;
        capture.read(first, {description.format, symbols.data() + n * piece * bytes, piece});
    }
    return symbols;
}

double root_mean_square(const Host& host, SymbolMeterConfig meter, SymbolView symbols) {
    meter.gain = 1.0F;
    return std::sqrt(measurement_of(SymbolMeter(host, meter)(symbols), meter, symbols.format()).mean_power);
}

}  // namespace

CaptureGain measure_gain(CaptureReader& capture, const SymbolMeterConfig& meter, SymbolReference reference,
                         const std::vector<Place>& places) {
    const std::vector<std::byte> symbols = spread_symbols(capture);
    const SymbolView view(capture.description().format, symbols);
    const std::string failed = name_of(capture.description()) + ": the gain cannot be measured: ";
    const Host host = host_among(places);
    const double amplitude = root_mean_square(host, meter, view);
    if (!(amplitude > 0.0)) return {.failure = failed + "no symbol is finite and nonzero"};
    if (!(amplitude >= 0x1p-40 && amplitude <= 0x1p40))
        return {.failure = failed + "the root mean square of the symbols is " +
                           number_text(static_cast<float>(amplitude)) + ", expected 2^-40 to 2^40"};
    if (reference == SymbolReference::sent) return {.gain = static_cast<float>(amplitude)};
    try {
        return {.gain = static_cast<float>(estimate_gain(host, meter, view).gain)};
    } catch (const ArgumentError&) {
        return {.failure = failed + "it is outside 2^-40 to 2^40"};
    }
}

}  // namespace phy::detail
