#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "phy/core/constellation.hpp"
#include "phy/mapper/mapper.hpp"

/// What the mappers of all backends share: the points in every format, and the checks of arguments.
namespace phy::detail {

/// Number of symbols after which the points of a label repeat.
constexpr std::size_t period(Modulation modulation) {
    return modulation == Modulation::pi2_bpsk ? 2 : 1;
}

constexpr std::size_t point_count(Modulation modulation) {
    return period(modulation) << bits_per_symbol(modulation);
}

constexpr unsigned label_of(Modulation modulation, std::size_t n) {
    return static_cast<unsigned>(n) & ((1U << bits_per_symbol(modulation)) - 1U);
}

constexpr std::size_t symbol_index_of(Modulation modulation, std::size_t n) {
    return n >> bits_per_symbol(modulation);
}

constexpr void convert(cf32 point, cf32& out) {
    out = point;
}
constexpr void convert(cf32 point, cf16& out) {
    out = {half(point.real()), half(point.imag())};
}

/// The points of a modulation at [symbol_index % period][label].
template <typename Point, Modulation modulation>
constexpr auto points = [] {
    std::array<Point, point_count(modulation)> table{};
    for (std::size_t n = 0; n < table.size(); ++n) {
        const cf32 point =
            constellation_point(modulation, label_of(modulation, n), symbol_index_of(modulation, n));
        convert(point, table[n]);
    }
    return table;
}();

/// The same in ci16.
std::vector<ci16> make_integer_points(Modulation modulation, FullScale full_scale);

/// Throws ArgumentError for a configuration that no mapper accepts.
void check_config(const Mapper::Config& config);

/// Throws ArgumentError unless a mapper can write this many symbols of the format from `bits` bytes.
void check_call(const Mapper::Config& config, std::size_t bits, SampleFormat format, std::size_t symbols);

constexpr std::size_t packed_size(std::size_t bits) {
    return bits / 8 + (bits % 8 != 0 ? 1 : 0);
}

}  // namespace phy::detail
