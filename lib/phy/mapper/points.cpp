#include "phy/mapper/points.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "phy/core/check.hpp"
#include "phy/core/equations.hpp"
#include "phy/core/error.hpp"

namespace phy::detail {
namespace {

std::int16_t quantise(double value) {
    return static_cast<std::int16_t>(std::nearbyint(std::clamp(value, -32767.0, 32767.0)));
}

}  // namespace

std::vector<ci16> make_integer_points(Modulation modulation, FullScale full_scale) {
    const double unit = axis_unit(modulation) * double{full_scale.value_for(SampleFormat::ci16)};
    std::vector<ci16> table(point_count(modulation));
    for (std::size_t n = 0; n < table.size(); ++n) {
        const PointLevels levels =
            point_levels(modulation, label_of(modulation, n), symbol_index_of(modulation, n));
        table[n] = {quantise(levels.i * unit), quantise(levels.q * unit)};
    }
    return table;
}

void check_config(const Mapper::Config& config) {
    check_enum("modulation", config.modulation, all_modulations.back());
    check_enum("bit packing", config.packing, BitPacking::packed);
}

void check_call(const Mapper::Config& config, std::size_t bits, SampleFormat format, std::size_t symbols) {
    check_enum("sample format", format, all_sample_formats.back());
    const std::size_t bit_count = symbols * bits_per_symbol(config.modulation);
    check_size("mapper: bits", bits,
               config.packing == BitPacking::packed ? packed_size(bit_count) : bit_count);
    if (format == SampleFormat::ci8) {
        throw ArgumentError("mapper: cannot write ci8 symbols: expected cf32, cf16 or ci16");
    }
    if (format == SampleFormat::ci16 && !config.full_scale) {
        throw ArgumentError(
            "mapper: ci16 symbols need a full_scale: expected the integer that stands for 1.0, such as "
            "8192, and the same for the demapper");
    }
}

}  // namespace phy::detail
