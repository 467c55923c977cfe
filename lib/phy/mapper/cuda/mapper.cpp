#include "phy/mapper/mapper.hpp"

#include <bit>
#include <type_traits>

#include "phy/mapper/cuda/launch.hpp"
#include "phy/mapper/points.hpp"

namespace phy::gpu {
namespace {

using detail::AxisValues;
using phy::detail::points;

std::uint32_t word_of(float value) {
    return std::bit_cast<std::uint32_t>(value);
}
std::uint32_t word_of(half value) {
    return value.bits * 0x10001U;
}
std::uint32_t word_of(std::int16_t value) {
    return static_cast<std::uint16_t>(value) * 0x10001U;
}

std::uint32_t q_of(cf32 point) {
    return word_of(point.imag());
}
template <typename Point>
std::uint32_t q_of(Point point) {
    return word_of(point.im);
}

/// From the points of symbols with even index.
template <unsigned qm, typename Points>
AxisValues axis_values(const Points& points) {
    AxisValues values{};
    for (unsigned label = 0; label < 1U << qm; ++label)
        detail::set_axis_value(values, qm, label, q_of(points[label]));
    return values;
}

}  // namespace

Mapper::Mapper(const Device& device, const Config& config) : device_(device), config_(config) {
    phy::detail::check_config(config);
    multiprocessors_ = device.multiprocessors();
    with_constant(config.modulation, [&](auto modulation) {
        constexpr unsigned qm = bits_per_symbol(modulation());
        for (const SampleFormat of_symbols : all_sample_formats) {
            with_constant(of_symbols, [&](auto format) {
                using Point = SampleOf<format()>;
                AxisValues& values = axis_values_[static_cast<std::size_t>(format())];
                if constexpr (std::is_same_v<Point, ci16>) {
                    if (config.full_scale)
                        values = axis_values<qm>(
                            phy::detail::make_integer_points(config.modulation, *config.full_scale));
                } else if constexpr (!std::is_same_v<Point, ci8>) {
                    values = axis_values<qm>(points<Point, modulation()>);
                }
            });
        }
    });
}

void Mapper::operator()(DeviceSpan<const std::uint8_t> bits, SymbolSpan symbols, cudaStream_t stream,
                        std::uint64_t first_symbol) const {
    phy::detail::check_call(config_, bits.size(), symbols.format(), symbols.size());
    if (symbols.size() == 0) return;
    const std::size_t bytes_of_symbol = size_of(symbols.format());
    const CurrentDevice current(device_);
    detail::launch({.values = axis_values_.at(static_cast<std::size_t>(symbols.format())),
                    .bits = bits.data(),
                    .bits_bytes = bits.size(),
                    .symbols = symbols.data(),
                    .symbols_bytes = symbols.size() * bytes_of_symbol,
                    .modulation = config_.modulation,
                    .bytes_of_symbol = static_cast<unsigned>(bytes_of_symbol),
                    .packed = config_.packing == BitPacking::packed,
                    .odd = first_symbol % 2 != 0},
                   multiprocessors_, stream);
}

}  // namespace phy::gpu
