#include "phy/demapper/math/table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <utility>

#include "phy/demapper/math/axis.hpp"
#include "phy/numerics/elementary.hpp"

namespace phy::detail {
namespace {

using Llrs = std::array<double, max_axis_bits>;

/// Bits of an axis that fit into every other byte of an 8-byte word.
constexpr std::size_t spread_bits = 4;

// Here the unit of the axis is A: levels are odd integers.
struct AxisShape {
    double amplitude;  ///< A
    double nats;       ///< of one unit: 4 A^2 / N0
    int levels;
};

AxisShape shape_of(const TableKey& key) {
    const auto n = static_cast<double>(inverse_power(static_cast<std::size_t>(key.bits)));
    const double noise = std::clamp(key.noise, smallest_noise, largest_noise);
    return {1.0 / std::sqrt(n), 4.0 / (n * noise), 1 << key.bits};
}

/// By level.
using OfLevels = std::array<double, std::size_t{1} << max_axis_bits>;

/// Likelihoods of the levels for one axis value.
struct Likelihoods {
    OfLevels metrics;  ///< ln of exp(-(x - level)^2 nats / 4)
    double nearest;    ///< the largest of them
    OfLevels powers;   ///< log-MAP: exp(metric - nearest)
};

Likelihoods likelihoods_at(const TableKey& key, const AxisShape& shape, double x) {
    Likelihoods of{.metrics = {}, .nearest = -std::numeric_limits<double>::infinity(), .powers = {}};
    const auto levels = static_cast<std::size_t>(shape.levels);
    for (std::size_t i = 0; i < levels; ++i) {
        const double offset = x - (2.0 * static_cast<double>(i) - (shape.levels - 1));
        of.metrics[i] = -0.25 * shape.nats * offset * offset;
        of.nearest = std::max(of.nearest, of.metrics[i]);
    }
    if (key.method == Method::max_log) return of;
    for (std::size_t i = 0; i < levels; ++i)
        of.powers[i] = elementary::exp(of.metrics[i] - of.nearest);
    return of;
}

/// ln of the likelihood of the levels with this label, or of the largest term of its sum.
double log_likelihood(const TableKey& key, const Likelihoods& of, int k, int label) {
    const auto is_member = [&](std::size_t i) {
        return axis_label_bit(key.bits, static_cast<int>(i), k) == label;
    };
    const std::size_t levels = std::size_t{1} << key.bits;
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < levels; ++i)
        if (is_member(i)) largest = std::max(largest, of.metrics[i]);
    if (key.method == Method::max_log) return largest;
    // Relative to the nearest level, far ones have no digits left.
    constexpr double far = 600.0;
    const bool is_far = of.nearest - largest > far;
    double sum = 0.0;
    for (std::size_t i = 0; i < levels; ++i)
        if (is_member(i)) sum += is_far ? elementary::exp(of.metrics[i] - largest) : of.powers[i];
    return (is_far ? largest : of.nearest) + elementary::log(sum);
}

Llrs llrs_at(const TableKey& key, const AxisShape& shape, double x) {
    const Likelihoods of = likelihoods_at(key, shape, x);
    Llrs llrs{};
    for (int k = 0; k < key.bits; ++k)
        llrs[static_cast<std::size_t>(k)] = log_likelihood(key, of, k, 0) - log_likelihood(key, of, k, 1);
    return llrs;
}

/// Positions of the entries in units of A: multiples of step up to reach.
struct Layout {
    double step;
    double reach;
};

// Half a step changes an unsaturated soft bit by at most half a least significant bit: the slope of segment n
// is n + 1, and the segment begins at the distance n (n + 1).
Layout layout_int8(const TableKey& key, const AxisShape& shape) {
    const double unit = shape.nats * static_cast<double>(key.llr_scale);
    const double beyond_max_log = key.method == Method::log_map ? (key.bits - 1) * std::numbers::ln2 : 0.0;
    const double saturation = (key.llr_clip + 1 + beyond_max_log * static_cast<double>(key.llr_scale)) / unit;
    int segment = 0;
    while (segment + 1 < shape.levels / 2 && (segment + 1) * (segment + 2) < saturation)
        ++segment;
    const double reach = shape.levels - 2 + saturation;
    constexpr double min_steps = 512;
    return {std::min(1.0 / ((segment + 1) * unit), reach / min_steps), reach};
}

// Max-log is linear between even numbers. The curvature of log-MAP is nats^2 / 4 times the variance of the
// level in one group less that in the other, at most the mean square of the outer half of the levels. The
// error of a line is curvature * step^2 / 8. From 14 nats beyond the last breakpoint on, log-MAP is linear.
Layout layout_float(const TableKey& key, const AxisShape& shape) {
    if (key.method == Method::max_log) return {2.0, static_cast<double>(shape.levels)};
    constexpr double tolerance = 0.006;
    double mean_square = 0.0;
    for (int level = shape.levels / 2 + 1; level < shape.levels; level += 2)
        mean_square += level * level;
    mean_square /= 0.25 * shape.levels;
    const double step = std::sqrt(32.0 * tolerance / mean_square) / shape.nats;
    return {step, shape.levels - 2 + 14.0 / shape.nats};
}

Layout layout_of(const TableKey& key) {
    const AxisShape shape = shape_of(key);
    return key.format == SoftBitFormat::int8 ? layout_int8(key, shape) : layout_float(key, shape);
}

}  // namespace

double entries_needed(const TableKey& key) {
    const Layout layout = layout_of(key);
    const double half = std::ceil(layout.reach / layout.step);
    return key.format == SoftBitFormat::int8 ? 2.0 * half + 1.0 : half;
}

// Within the distance f of a boundary, the second nearest level of the same group is farther than the nearest
// by 2 - f or more (in nats: times shape.nats). It adds at most its likelihood to L.
bool max_log_is_log_map(const TableKey& key) {
    const AxisShape shape = shape_of(key);
    const double scale = static_cast<double>(key.llr_scale);
    const double saturation = (key.llr_clip + 1) / (shape.nats * scale);
    return saturation < 2.0 && scale * shape.levels * elementary::exp(-shape.nats * (2.0 - saturation)) < 0.5;
}

LlrTable::LlrTable(const TableKey& key) : key_(key) {
    const Layout layout = layout_of(key);
    const AxisShape shape = shape_of(key);
    const auto entries = static_cast<std::size_t>(entries_needed(key));
    scale_.per_unit = static_cast<float>(1.0 / (shape.amplitude * layout.step));
    scale_.last = static_cast<float>(entries - 1);
    if (key.format == SoftBitFormat::int8) {
        const double half = 0.5 * static_cast<double>(entries - 1);
        scale_.centre = static_cast<float>(half);
        fill_int8(entries, -half * layout.step, layout.step);
    } else {
        fill_float(entries, layout.step);
    }
}

void LlrTable::fill_int8(std::size_t entries, double first, double step) {
    const AxisShape shape = shape_of(key_);
    spread_.assign(entries + 1, 0);
    if (static_cast<std::size_t>(key_.bits) > spread_bits) rest_.assign(entries + 1, 0);
    for (std::size_t i = 0; i < entries; ++i) {
        const Llrs llrs = llrs_at(key_, shape, first + static_cast<double>(i) * step);
        for (std::size_t k = 0; k < static_cast<std::size_t>(key_.bits); ++k) {
            const double limit = key_.llr_clip;
            const double rounded = std::nearbyint(llrs[k] * static_cast<double>(key_.llr_scale));
            const auto byte = static_cast<std::uint8_t>(static_cast<int>(std::clamp(rounded, -limit, limit)));
            if (k < spread_bits) {
                spread_[i] |= static_cast<std::uint64_t>(byte) << (16 * k);
            } else {
                rest_[i] |= static_cast<std::uint32_t>(byte) << (16 * (k - spread_bits));
            }
        }
    }
}

void LlrTable::fill_float(std::size_t entries, double step) {
    const AxisShape shape = shape_of(key_);
    const auto bits = static_cast<std::size_t>(key_.bits);
    lines_.assign((entries + 1) * 2 * bits, 0.0F);
    Llrs here = llrs_at(key_, shape, 0.0);
    here[0] = 0.0;  // exactly 0 because it is odd; the sums are rounded
    for (std::size_t i = 0; i < entries; ++i) {
        const Llrs next = llrs_at(key_, shape, static_cast<double>(i + 1) * step);
        for (std::size_t k = 0; k < bits; ++k) {
            lines_[(2 * i) * bits + k] = static_cast<float>(here[k]);
            lines_[(2 * i + 1) * bits + k] = static_cast<float>(next[k] - here[k]);
        }
        here = next;
    }
}

std::vector<std::byte> LlrTable::packed_bytes() const {
    const auto bits = static_cast<std::size_t>(key_.bits);
    const std::size_t of_entry = (bits + 3) / 4 * 4;
    std::vector<std::byte> bytes(spread_.size() * of_entry);
    for (std::size_t i = 0; i < spread_.size(); ++i) {
        for (std::size_t k = 0; k < bits; ++k) {
            const bool is_spread = k < spread_bits;
            const std::uint64_t pieces =
                is_spread ? spread_[i] >> (16 * k) : rest_[i] >> (16 * (k - spread_bits));
            bytes[i * of_entry + k] = static_cast<std::byte>(pieces & 0xFFU);
        }
    }
    return bytes;
}

namespace {

template <std::size_t bits>
void gather_int8(const std::uint64_t* spread, const std::uint32_t* rest, const std::uint32_t* entry,
                 std::size_t symbols, std::int8_t* out) {
    constexpr std::size_t in_word = 2 * std::min(bits, spread_bits);
    for (std::size_t s = 0; s < symbols; ++s, entry += 2, out += 2 * bits) {
        const std::uint64_t word = spread[entry[0]] | spread[entry[1]] << 8;
        std::memcpy(out, &word, in_word);
        if constexpr (bits > spread_bits) {
            const std::uint32_t others = rest[entry[0]] | rest[entry[1]] << 8;
            std::memcpy(out + in_word, &others, 2 * (bits - spread_bits));
        }
    }
}

template <std::size_t bits>
void gather_lines(const float* lines, float limit, const std::uint32_t* entry, const float* fraction,
                  std::size_t symbols, std::byte* out) {
    for (std::size_t s = 0; s < symbols; ++s, out += 2 * bits * sizeof(float)) {
        float llrs[2 * bits];
        for (std::size_t axis = 0; axis < 2; ++axis) {
            const float* value = lines + static_cast<std::size_t>(entry[2 * s + axis]) * 2 * bits;
            const float* slope = value + bits;
            const float way = std::abs(fraction[2 * s + axis]);
            for (std::size_t k = 0; k < bits; ++k) {
                const float llr = value[k] + slope[k] * way;
                llrs[2 * k + axis] = std::max(-limit, std::min(llr, limit));
            }
            llrs[axis] *= std::copysign(1.0F, fraction[2 * s + axis]);
        }
        for (float& llr : llrs)
            llr += 0.0F;
        std::memcpy(out, llrs, sizeof llrs);
    }
}

/// By bits per axis, from 2 on.
template <std::size_t... i>
constexpr auto all_gather_int8(std::index_sequence<i...>) {
    return std::array{&gather_int8<i + 2>...};
}
template <std::size_t... i>
constexpr auto all_gather_lines(std::index_sequence<i...>) {
    return std::array{&gather_lines<i + 2>...};
}
using FromTwoBits = std::make_index_sequence<max_axis_bits - 1>;

}  // namespace

void LlrTable::look_up(const std::uint32_t* entry, std::size_t symbols, std::int8_t* out) const {
    static constexpr auto gather = all_gather_int8(FromTwoBits());
    gather.at(static_cast<std::size_t>(key_.bits) - 2)(spread_.data(), rest_.data(), entry, symbols, out);
}

void LlrTable::look_up(const std::uint32_t* entry, const float* fraction, std::size_t symbols,
                       std::byte* out) const {
    static constexpr auto gather = all_gather_lines(FromTwoBits());
    const float limit = soft_bit_format_facts[static_cast<std::size_t>(key_.format)].largest;
    gather.at(static_cast<std::size_t>(key_.bits) - 2)(lines_.data(), limit, entry, fraction, symbols, out);
}

}  // namespace phy::detail
