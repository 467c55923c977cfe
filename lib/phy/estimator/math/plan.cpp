#include "phy/estimator/math/plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"

namespace phy::detail {
namespace {

/// Measured spreads get a margin of 1.2 or more, and then the next longer filter (set_delays).
constexpr double margin_of_measured = 1.5;

/// The shortest delay spread that is measured, over that of the first table.
constexpr double shortest_of_first = 0.25;

int blocks_of(const EstimatorLayout& layout) {
    int blocks = 0;
    for (const EstimatorRange& range : layout.ranges)
        blocks += range.blocks;
    return blocks;
}

/// Pairs of a comb's pilots in a range, at a lag.
int pairs_of(const EstimatorLayout& layout, const EstimatorRange& range, std::size_t lag) {
    return std::max(range.blocks * layout.comb_pilots - estimator_lags[lag], 0);
}

EstimatorConstants make_constants(const ChannelEstimatorConfig& config, const EstimatorLayout& layout) {
    EstimatorConstants c{};
    c.subcarrier_spacing = static_cast<float>(config.subcarrier_spacing);
    const auto observations = static_cast<double>(layout.rows);
    c.energy_share = static_cast<float>(1.0 / (observations * layout.pilots));
    for (std::size_t lag = 0; lag < estimator_lags.size(); ++lag) {
        int pairs = 0;
        for (const EstimatorRange& range : layout.ranges)
            pairs += 2 * pairs_of(layout, range, lag);
        if (pairs > 0) c.pair_share[lag] = static_cast<float>(1.0 / (observations * pairs));
    }
    c.spacing = static_cast<float>(layout.spacing);
    c.delay_spread =
        static_cast<float>(double{config.delay_spread.value_or(0.0F)} * config.subcarrier_spacing);
    c.noise_variance = config.noise_variance.value_or(0.0F);
    c.corrects_timing = config.corrects_timing && c.pair_share[0] > 0.0F ? 1 : 0;
    const int dmrs = layout.symbols / layout.length;
    c.pairs = config.corrects_frequency ? dmrs - 1 : 0;
    for (int i = 0; i + 1 < dmrs; ++i) {
        const auto at = static_cast<std::size_t>(i * layout.length);
        c.gaps[static_cast<std::size_t>(i)] = static_cast<float>(
            symbol_time(layout.dmrs_symbols[at + static_cast<std::size_t>(layout.length)]) -
            symbol_time(layout.dmrs_symbols[at]));
    }
    for (int l = 0; l < symbols_per_slot; ++l)
        c.times[static_cast<std::size_t>(l)] = static_cast<float>(symbol_time(l));
    const double amplitude = static_cast<double>(dmrs_amplitude(config.allocation.dmrs));
    c.noise_scale = static_cast<float>(amplitude * amplitude * layout.symbols_averaged);
    c.freedom = static_cast<float>(layout.antennas * layout.layers);
    c.band = static_cast<float>(blocks_of(layout) * subcarriers_per_resource_block);
    c.streams = layout.streams_count;
    for (std::size_t s = 0; s < layout.streams.size(); ++s) {
        c.joint[s] = layout.streams[s].joint() ? 1 : 0;
        c.ports[s] = static_cast<float>(layout.streams[s].ports());
    }
    return c;
}

void set_facts(const EstimatorPlan& plan, EstimatorTables& tables) {
    std::array<double, 2> tail{};
    for (const EstimatorTileJob& job : tables.jobs) {
        const EstimatorFilter& filter = tables.filters[static_cast<std::size_t>(job.filter)];
        for (const bool joint : {false, true}) {
            const std::size_t kind = joint ? 1 : 0;
            const EstimatorModes& modes = filter.of(joint);
            const int columns = plan.group_columns() * (joint ? 2 : 1);
            const int freedom = columns * (modes.pilots - modes.noise_modes);
            tables.facts.pilots[kind] += static_cast<float>(columns * modes.pilots);
            tables.facts.freedom[kind] += static_cast<float>(freedom);
            tail[kind] += static_cast<double>(modes.tail) * freedom;
        }
    }
    for (const std::size_t kind : {0U, 1U}) {
        if (tables.facts.freedom[kind] > 0.0F)
            tables.facts.tail[kind] =
                static_cast<float>(tail[kind] / static_cast<double>(tables.facts.freedom[kind]));
    }
}

EstimatorTables make_tables(const EstimatorPlan& plan, double delay_spread, double likely_spread) {
    EstimatorTables tables;
    std::vector<int> lengths;
    const int all = blocks_of(plan.layout);
    for (std::size_t r = 0; r < plan.layout.ranges.size(); ++r) {
        const int blocks = plan.layout.ranges[r].blocks;
        const auto found = std::find(lengths.begin(), lengths.end(), blocks);
        const auto index = static_cast<std::size_t>(found - lengths.begin());
        if (found == lengths.end()) {
            lengths.push_back(blocks);
            tables.filters.push_back(make_estimator_filter(plan.layout, blocks, delay_spread, likely_spread));
            tables.shares.push_back(0.0F);
        }
        tables.shares[index] += static_cast<float>(blocks) / static_cast<float>(all);
        const EstimatorFilter& filter = tables.filters[index];
        for (std::size_t t = 0; t < filter.tiles.size(); ++t) {
            tables.jobs.push_back({.range = static_cast<int>(r),
                                   .filter = static_cast<int>(index),
                                   .tile = static_cast<int>(t),
                                   .modes_at = tables.modes_size});
            tables.modes_size += static_cast<std::size_t>(plan.columns(true) * filter.of(true).width +
                                                          plan.columns(false) * filter.of(false).width);
        }
    }
    set_facts(plan, tables);
    return tables;
}

/// The delay spread that ranges of different lengths may hide, in units of the reciprocal of the subcarrier
/// spacing; 0 for one range. Such ranges have different shares of the pairs at two lags. If the channel
/// fades, one range is stronger than another, and the mean correlation falls more or less than delays make it
/// fall.
double hidden_delay_spread(const EstimatorLayout& layout) {
    std::array<double, estimator_lags.size()> pairs{};
    for (std::size_t lag = 0; lag < pairs.size(); ++lag)
        for (const EstimatorRange& range : layout.ranges)
            pairs[lag] += pairs_of(layout, range, lag);
    double least = 1.0;
    for (std::size_t lag = 1; lag < pairs.size() && pairs[lag] > 0.0; ++lag) {
        double difference = 0.0;
        for (const EstimatorRange& range : layout.ranges)
            difference += 0.5 * std::abs(pairs_of(layout, range, lag) / pairs[lag] -
                                         pairs_of(layout, range, 0) / pairs[0]);
        // Half of it covers the fading of a channel at a few antennas.
        const double hidden_fall = 0.5 * difference;
        const double squared_x = hidden_fall / (estimator_lags[lag] * estimator_lags[lag] - 1);
        least = std::min(least, std::sqrt(squared_x) / (2.0 * std::numbers::pi * layout.spacing));
    }
    return least;
}

EstimatorSizes largest_of(const EstimatorPlan& plan) {
    EstimatorSizes largest;
    for (const EstimatorTables& tables : plan.tables) {
        largest.jobs = std::max(largest.jobs, static_cast<int>(tables.jobs.size()));
        largest.filters = std::max(largest.filters, static_cast<int>(tables.filters.size()));
        largest.modes = std::max(largest.modes, tables.modes_size);
        for (const EstimatorFilter& filter : tables.filters) {
            largest.mix_width = std::max(largest.mix_width, filter.mix_width);
            largest.tile_width = std::max(largest.tile_width, filter.tile_width);
            for (const bool joint : {false, true}) {
                const EstimatorModes& modes = filter.of(joint);
                largest.width = std::max(largest.width, modes.width);
                largest.columns = std::max(
                    largest.columns, static_cast<std::size_t>(plan.columns(joint) * modes.column_stride()));
            }
        }
    }
    return largest;
}

void check_what_is_measured(const EstimatorPlan& plan) {
    if (!plan.config.delay_spread && plan.constants.pair_share[1] == 0.0F)
        throw ArgumentError(
            "delay_spread: expected a positive number of seconds, as measuring it takes a range of at "
            "least two resource blocks");
    if (!plan.measures_noise()) return;
    if (!plan.has_freedom(plan.tables.front()))
        throw ArgumentError(
            "noise_variance: expected a positive number, as the allocation has too few "
            "pilots to measure it along with the channel");
}

ChannelEstimatorConfig checked(const ChannelEstimatorConfig& config) {
    check_config(config);
    return config;
}

}  // namespace

EstimatorPlan::EstimatorPlan(const ChannelEstimatorConfig& unchecked)
    : config(checked(unchecked)), layout(config), constants(make_constants(config, layout)) {
    time_weights = estimator_time_weights(config, layout.estimates);
    std::vector<double> measured = estimator_delay_spreads();
    const double hidden = hidden_delay_spread(layout);
    // A profile that is too long costs little; one that is too short cuts off paths.
    while (measured.size() > 1 && measured.front() < hidden)
        measured.erase(measured.begin());
    const bool is_given = config.delay_spread.has_value();
    const double given = double{config.delay_spread.value_or(0.0F)} * config.subcarrier_spacing;
    const std::vector<double> from_given = {given, std::numbers::sqrt2 * given, 2.0 * given};
    for (const double spread : is_given ? from_given : measured) {
        tables.push_back(make_tables(*this, spread, is_given ? given : spread / margin_of_measured));
        const bool is_usable = !measures_noise() || has_freedom(tables.back());
        if (tables.size() == 1 || is_usable) continue;
        tables.pop_back();
        break;
    }
    constants.first_delay_spread = static_cast<float>(is_given ? given : measured.front());
    constants.shortest_delay_spread = static_cast<float>(shortest_of_first * measured.front());
    constants.max_delay_spread = static_cast<float>(measured.back());
    constants.tables = static_cast<int>(tables.size());
    largest = largest_of(*this);
    check_what_is_measured(*this);
}

bool EstimatorPlan::has_freedom(const EstimatorTables& of_spread) const {
    return (layout.kind_streams[0] > 0 && of_spread.facts.freedom[0] > 0.0F) ||
           (layout.kind_streams[1] > 0 && of_spread.facts.freedom[1] > 0.0F);
}

EstimatorCallSizes EstimatorPlan::slot_sizes() const {
    const auto antennas = static_cast<std::size_t>(layout.antennas);
    const auto subcarriers = static_cast<std::size_t>(layout.subcarriers);
    return {.grid = antennas * symbols_per_slot * subcarriers,
            .pilots = static_cast<std::size_t>(layout.symbols) * static_cast<std::size_t>(layout.pilots),
            .channel = 2 * static_cast<std::size_t>(group_columns()) *
                       static_cast<std::size_t>(layout.layers) * subcarriers,
            .slots = 1,
            .covariance = antennas * antennas};
}

void EstimatorPlan::check_call(const EstimatorCallSizes& call) const {
    const EstimatorCallSizes slot = slot_sizes();
    check_slots(call.slots, "grid", call.grid);
    check_size("grid", call.grid, call.slots * slot.grid);
    check_size("pilots", call.pilots, call.slots * slot.pilots);
    check_size("channel", call.channel, call.slots * slot.channel);
    if (call.covariance == 0) return;
    check_size("covariance", call.covariance, call.slots * slot.covariance);
    for (const EstimatorTables& of_spread : tables) {
        if (!has_freedom(of_spread))
            throw ArgumentError(
                "covariance: the allocation has too few pilots to measure it along with the channel");
    }
}

float EstimatorPlan::unit_of(SampleFormat format) const {
    check_enum("sample format", format, all_sample_formats.back());
    return 1.0F / config.full_scale.value_for(format);
}

}  // namespace phy::detail
