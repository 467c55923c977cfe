#include "phy/estimator/math/layout.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/numerics/elementary.hpp"
#include "phy/numerics/matrix.hpp"

namespace phy::detail {
namespace {

struct Range {
    double min;
    double max;
};

void check_number(const char* what, double value, const Range& range, const char* expected) {
    if (value >= range.min && value <= range.max) return;
    throw ArgumentError(std::string(what) + " " + number_text(value) + ": expected " + expected);
}

/// Joins neighbours in the list only: ranges in the order of subcarriers would move pilots.
std::vector<EstimatorRange> joined(const std::vector<ResourceBlocks>& listed) {
    std::vector<EstimatorRange> ranges;
    for (const ResourceBlocks& range : listed) {
        if (!ranges.empty() && ranges.back().first + ranges.back().blocks == range.first)
            ranges.back().blocks += range.count;
        else
            ranges.push_back({.first = range.first, .blocks = range.count});
    }
    return ranges;
}

void add_layer(EstimatorLayout& layout, int type, int port, int layer) {
    const DmrsPort facts = dmrs_port(type, port);
    const int first = pilot_subcarrier(type, facts.cdm_group, 0);
    auto group = std::find(layout.groups.begin(), layout.groups.end(), first);
    if (group == layout.groups.end()) group = layout.groups.insert(group, first);
    const int index = static_cast<int>(group - layout.groups.begin());
    const std::array<float, 2> in_time = {static_cast<float>(facts.in_time[0]),
                                          static_cast<float>(facts.in_time[1])};
    const auto fits = [&](const EstimatorStream& stream) {
        return stream.group == index && stream.in_time == in_time;
    };
    auto stream = std::find_if(layout.streams.begin(), layout.streams.end(), fits);
    if (stream == layout.streams.end())
        stream = layout.streams.insert(stream, {.group = index, .in_time = in_time});
    stream->layer[facts.in_frequency[1] > 0 ? 0 : 1] = layer;
}

/// Sets groups and streams, and the sizes that follow from them.
void add_streams(EstimatorLayout& layout, const DmrsConfig& dmrs) {
    for (int layer = 0; layer < layout.layers; ++layer)
        add_layer(layout, dmrs.type, dmrs.ports[static_cast<std::size_t>(layer)], layer);
    layout.groups_count = static_cast<int>(layout.groups.size());
    layout.streams_count = static_cast<int>(layout.streams.size());
    layout.rows = layout.antennas * layout.groups_count * layout.symbols;
    layout.stream_rows = layout.antennas * layout.streams_count * layout.estimates;
    for (std::size_t s = 0; s < layout.streams.size(); ++s)
        layout.index_in_kind[s] = layout.kind_streams[layout.streams[s].joint() ? 1 : 0]++;
    for (const std::size_t kind : {0U, 1U})
        layout.columns[kind] =
            layout.kind_streams[kind] * (kind == 1 ? 4 : 2) * layout.antennas * layout.estimates;
}

/// Delays that interpolated pilots hold, in cyclic prefixes, and noise over power.
constexpr double fill_prefixes = 1.5;
constexpr double fill_noise = 0.01;

/// The middle of delays before their offset is taken out.
constexpr double row_prefixes = 0.4;
constexpr double prefix = 144.0 / 2048.0;

/// Wiener weights for a flat profile.
EstimatorFill make_fill(const std::vector<bool>& is_erased, int m, int spacing) {
    const int count = static_cast<int>(is_erased.size());
    const int first =
        std::clamp(m - estimator_fill_pilots / 2, 0, std::max(count - estimator_fill_pilots, 0));
    EstimatorFill fill = {.at = m, .first = first, .count = std::min(count, estimator_fill_pilots)};
    std::vector<int> from;
    for (int i = first; i < first + fill.count; ++i)
        if (!is_erased[static_cast<std::size_t>(i)]) from.push_back(i);
    const auto correlation = [&](int distance) {
        if (distance == 0) return 1.0;
        constexpr double pi = 3.14159265358979323846;
        const double turns = 0.5 * fill_prefixes * prefix * spacing * std::abs(distance);
        return elementary::turn(turns - std::floor(turns)).imag() / (2.0 * pi * turns);
    };
    Matrix a(from.size(), from.size());
    std::vector<double> b;
    for (std::size_t i = 0; i < from.size(); ++i) {
        b.push_back(correlation(from[i] - m));
        for (std::size_t k = 0; k < from.size(); ++k)
            a(i, k) = correlation(from[i] - from[k]) + (i == k ? fill_noise : 0.0);
    }
    const std::vector<double> weights = solved(std::move(a), std::move(b));
    for (std::size_t i = 0; i < from.size(); ++i) {
        const auto at = static_cast<std::size_t>(from[i] - first);
        const double turns = row_prefixes * prefix * spacing * (from[i] - m);
        const auto rotation = elementary::turn(turns - std::floor(turns));
        fill.of_streams[0][at] = static_cast<float>(weights[i]);
        fill.of_rows[0][at] = static_cast<float>(weights[i] * rotation.real());
        fill.of_rows[1][at] = static_cast<float>(weights[i] * rotation.imag());
    }
    return fill;
}

void add_fills(EstimatorLayout& layout, const EstimatorRange& range, int group, int comb) {
    const int count = range.blocks * layout.comb_pilots;
    const auto first = static_cast<std::size_t>(comb * layout.comb_stride + range.offset);
    std::vector<bool> is_erased;
    for (std::size_t m = 0; m < static_cast<std::size_t>(count); ++m)
        is_erased.push_back(std::ranges::binary_search(
            layout.erased, layout.subcarrier_of[first + m] + layout.groups[static_cast<std::size_t>(group)]));
    for (int m = 0; m < count; ++m) {
        if (!is_erased[static_cast<std::size_t>(m)]) continue;
        EstimatorFill fill = make_fill(is_erased, m, layout.spacing);
        fill.group = group;
        fill.comb = comb;
        fill.at += range.offset;
        fill.first += range.offset;
        layout.fills.push_back(fill);
    }
}

void add_erased(EstimatorLayout& layout, const std::vector<int>& subcarriers) {
    const auto is_used = [&](int subcarrier) {
        const int block = subcarrier / subcarriers_per_resource_block;
        return std::ranges::any_of(layout.ranges, [&](const EstimatorRange& range) {
            return block >= range.first && block < range.first + range.blocks;
        });
    };
    std::ranges::copy_if(subcarriers, std::back_inserter(layout.erased), is_used);
    std::ranges::sort(layout.erased);
    for (const EstimatorRange& range : layout.ranges)
        for (int group = 0; group < layout.groups_count; ++group)
            for (const int comb : {0, 1})
                add_fills(layout, range, group, comb);
}

}  // namespace

void check_config(const ChannelEstimatorConfig& config) {
    check(config.allocation);
    if (config.antennas < 1 || config.antennas > max_antennas)
        throw ArgumentError("antennas " + std::to_string(config.antennas) + ": expected 1 to 16");
    if (!(config.subcarrier_spacing >= 1e3 && config.subcarrier_spacing <= 1e7))
        throw ArgumentError("subcarrier_spacing " + number_text(config.subcarrier_spacing) +
                            ": expected a number of Hz from 1e3 to 1e7");
    if (config.delay_spread)
        check_number("delay_spread", double{*config.delay_spread},
                     {1e-5 / config.subcarrier_spacing, 0.1 / config.subcarrier_spacing},
                     "seconds, from 1e-5 to 0.1 of a symbol");
    if (config.noise_variance)
        check_number("noise_variance", double{*config.noise_variance},
                     {std::numeric_limits<float>::denorm_min(), 0x1p80}, "a positive number up to 2^80");
    check_enum("time", config.time, TimeInterpolation::wiener);
    const bool is_wiener = config.time == TimeInterpolation::wiener;
    if (!is_wiener && config.doppler_spread)
        throw ArgumentError("doppler_spread " + number_text(*config.doppler_spread) +
                            ": expected none without TimeInterpolation::wiener");
    if (config.doppler_spread)
        check_number("doppler_spread", double{*config.doppler_spread},
                     {std::numeric_limits<float>::denorm_min(), config.subcarrier_spacing},
                     "Hz above 0, up to the subcarrier spacing");
}

EstimatorLayout::EstimatorLayout(const ChannelEstimatorConfig& config)
    : EstimatorShape(),
      dmrs_symbols(config.allocation.dmrs.symbols),
      ranges(joined(config.allocation.resource_blocks)) {
    const DmrsConfig& dmrs = config.allocation.dmrs;
    antennas = config.antennas;
    layers = config.allocation.layers();
    subcarriers = config.allocation.subcarriers();
    symbols = static_cast<int>(dmrs.symbols.size());
    length = dmrs.length;
    estimates = config.time == TimeInterpolation::average ? 1 : symbols / length;
    symbols_averaged = symbols / estimates;
    amplitude = dmrs_amplitude(dmrs);
    scale = 1.0F / amplitude;
    add_streams(*this, dmrs);
    comb_pilots = pilots_per_resource_block(dmrs.type) / 2;
    spacing = subcarriers_per_resource_block / comb_pilots;
    comb_shift = pilot_subcarrier(dmrs.type, 0, 1);
    for (EstimatorRange& range : ranges) {
        range.offset = comb_size;
        comb_size += round_up(range.blocks * comb_pilots + 1, estimator_lanes);
        pilots += 2 * range.blocks * comb_pilots;
    }
    comb_stride = comb_size + estimator_lanes;
    const auto stride = static_cast<std::size_t>(comb_stride);
    subcarrier_of.assign(2 * stride, -1);
    pilot_of.assign(2 * stride, -1);
    int pilot = 0;
    for (const EstimatorRange& range : ranges) {
        for (int m = 0; m < range.blocks * comb_pilots; ++m) {
            for (int comb = 0; comb < 2; ++comb) {
                const auto at =
                    static_cast<std::size_t>(comb) * stride + static_cast<std::size_t>(range.offset + m);
                subcarrier_of[at] =
                    range.first * subcarriers_per_resource_block + m * spacing + comb * comb_shift;
                pilot_of[at] = pilot++;
            }
        }
    }
    add_erased(*this, config.allocation.erased_subcarriers);
}

int EstimatorLayout::longest_range() const {
    int longest = 0;
    for (const EstimatorRange& range : ranges)
        longest = std::max(longest, range.blocks);
    return longest;
}

bool EstimatorLayout::shows_delays() const {
    return longest_range() * comb_pilots > 2 || kind_streams[1] == 0 || symbols > length;
}

}  // namespace phy::detail
