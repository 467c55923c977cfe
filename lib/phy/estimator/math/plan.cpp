#include "phy/estimator/math/plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <string>
#include <utility>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"

namespace phy::detail {
namespace {

int blocks_of(const EstimatorLayout& layout) {
    int blocks = 0;
    for (const EstimatorRange& range : layout.ranges)
        blocks += range.blocks;
    return blocks;
}

EstimatorConstants make_constants(const ChannelEstimatorConfig& config, const EstimatorLayout& layout,
                                  const EstimatorTimeSets& time) {
    EstimatorConstants c{};
    c.subcarrier_spacing = static_cast<float>(config.subcarrier_spacing);
    const auto observations = static_cast<double>(layout.rows);
    c.energy_share = static_cast<float>(1.0 / (observations * layout.pilots));
    int neighbours = 0;
    for (const EstimatorRange& range : layout.ranges)
        neighbours += 2 * (range.blocks * layout.comb_pilots - 1);
    if (neighbours > 0) c.neighbour_share = static_cast<float>(1.0 / (observations * neighbours));
    c.noise_variance = config.noise_variance.value_or(0.0F);
    c.corrects_timing = config.corrects_timing ? 1 : 0;
    const int dmrs = layout.symbols / layout.length;
    c.corrects_frequency = config.corrects_frequency ? 1 : 0;
    c.time = time;
    c.pairs = config.corrects_frequency || time.changes > 1 ? dmrs - 1 : 0;
    if (c.pairs > 0) c.change_share = static_cast<float>(dmrs / (observations * layout.pilots * c.pairs));
    c.symbols_averaged = static_cast<float>(layout.symbols_averaged);
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
    c.streams = layout.streams_count;
    for (std::size_t s = 0; s < layout.streams.size(); ++s) {
        c.joint[s] = layout.streams[s].joint() ? 1 : 0;
        c.ports[s] = static_cast<float>(layout.streams[s].ports());
    }
    return c;
}

/// Erased pilots in a tile's window, the mean over the streams of a kind.
double erased_pilots(const EstimatorPlan& plan, const EstimatorFilter& filter, const EstimatorTileJob& job,
                     bool joint) {
    const EstimatorLayout& layout = plan.layout;
    const int first =
        layout.ranges[static_cast<std::size_t>(job.range)].offset + job.tile.window * layout.comb_pilots;
    const int end = first + filter.window_blocks * layout.comb_pilots;
    int count = 0;
    for (const EstimatorStream& stream : layout.streams)
        for (const EstimatorFill& fill : layout.fills)
            if (stream.joint() == joint && fill.group == stream.group && fill.at >= first && fill.at < end)
                ++count;
    return static_cast<double>(count) / layout.kind_streams[joint ? 1 : 0];
}

/// An interpolated pilot has about the noise of a pilot, but its neighbours', which the modes hold.
void add_facts(EstimatorPlan& plan, const EstimatorFilter& filter, const EstimatorTileJob& job) {
    for (const bool joint : {false, true}) {
        if (plan.columns(joint) == 0) continue;
        const std::size_t kind = joint ? 1 : 0;
        const EstimatorKind& of_kind = filter.of(joint);
        const int columns = plan.group_columns() * (joint ? 2 : 1);
        const double lost = 2.0 * plan.group_columns() * erased_pilots(plan, filter, job, joint) *
                            of_kind.noise_modes / of_kind.pilots;
        const double freedom = columns * (of_kind.pilots - of_kind.noise_modes);
        plan.facts.pilots[kind] += static_cast<float>(columns * of_kind.pilots);
        plan.facts.freedom[kind] += static_cast<float>(std::max(freedom - lost, 0.5 * freedom));
    }
}

/// A measured over the true noise power of so many complex numbers, so many deviations off (Wilson and
/// Hilferty, 1931).
double by_chance(double freedom, double deviations) {
    const double variance = 1.0 / (9.0 * freedom);
    const double root = std::max(1.0 - variance + deviations * std::sqrt(variance), 0.1);
    return root * root * root;
}

/// Few resource blocks have few pilots beside their modes, and the strongest of these are not enough at high
/// SNR: what DM-RS have in common shows the noise too.
void add_noise_of_changes(EstimatorPlan& plan) {
    constexpr int max_blocks = 4;
    const EstimatorLayout& layout = plan.layout;
    const int pairs = plan.constants.pairs;
    const bool is_long =
        std::ranges::any_of(layout.ranges, [](const auto& r) { return r.blocks > max_blocks; });
    if (pairs == 0 || is_long) return;
    double of_residuals = 0.0;
    for (const std::size_t kind : {0U, 1U})
        of_residuals += static_cast<double>(plan.facts.freedom[kind]) * layout.kind_streams[kind];
    // Neighbouring pairs share a DM-RS.
    const double shared = pairs == 1 ? 1.0 : 2.0 / 3.0;
    const double of_changes =
        shared * pairs * layout.rows * layout.pilots * layout.length / static_cast<double>(layout.symbols);
    plan.facts.change_weight = static_cast<float>(of_changes / (of_changes + of_residuals));
    plan.facts.max_residual = static_cast<float>(by_chance(of_residuals, 2.0) / by_chance(of_changes, -2.0));
}

/// Makes the filter of a range's windows if no range before has one.
std::size_t filter_of(EstimatorPlan& plan, const EstimatorRange& range) {
    const int window = estimator_window_blocks(range.blocks);
    std::size_t index = 0;
    while (index < plan.filters.size() && plan.filters[index].window_blocks != window)
        ++index;
    if (index < plan.filters.size()) return index;
    int longest = 0;
    for (const EstimatorRange& each : plan.layout.ranges)
        if (estimator_window_blocks(each.blocks) == window) longest = std::max(longest, each.blocks);
    plan.filters.push_back(make_estimator_filter(plan.layout, plan.profile, longest, plan.extent));
    plan.shares.push_back(0.0F);
    return index;
}

void add_jobs(EstimatorPlan& plan) {
    const int all = blocks_of(plan.layout);
    for (std::size_t r = 0; r < plan.layout.ranges.size(); ++r) {
        const EstimatorRange& range = plan.layout.ranges[r];
        const std::size_t index = filter_of(plan, range);
        plan.shares[index] += static_cast<float>(range.blocks) / static_cast<float>(all);
        EstimatorFilter& filter = plan.filters[index];
        for (const EstimatorTile& tile : estimator_tiles(range.blocks)) {
            ++filter.tiles;
            plan.jobs.push_back({.range = static_cast<int>(r),
                                 .filter = static_cast<int>(index),
                                 .tile = tile,
                                 .modes_at = plan.largest.modes});
            plan.largest.modes +=
                static_cast<std::size_t>(plan.columns(true) * filter.of(true).modes.width() +
                                         plan.columns(false) * filter.of(false).modes.width());
            add_facts(plan, filter, plan.jobs.back());
        }
    }
}

void set_largest(EstimatorPlan& plan) {
    EstimatorSizes& largest = plan.largest;
    largest.jobs = static_cast<int>(plan.jobs.size());
    largest.filters = static_cast<int>(plan.filters.size());
    for (const EstimatorFilter& filter : plan.filters) {
        largest.delays = std::max(largest.delays, filter.delays);
        for (const bool joint : {false, true}) {
            const EstimatorKind& kind = filter.of(joint);
            largest.width = std::max(largest.width, kind.modes.width());
            largest.columns_of_matrix = std::max(largest.columns_of_matrix, kind.modes.columns());
            largest.rows_of_matrix = std::max(largest.rows_of_matrix, kind.all_rows());
            if (filter.likelihood_steps > 0) {
                const int delays = 2 * filter.delays;
                largest.rows_of_matrix = std::max(largest.rows_of_matrix, kind.modes.modes() + delays);
                largest.likelihood_delays = std::max(largest.likelihood_delays, delays);
                largest.likelihood_width = std::max(largest.likelihood_width, kind.modes.columns());
                largest.likelihood_columns =
                    std::max(largest.likelihood_columns, filter.tiles * plan.columns(joint));
            }
            largest.columns = std::max(largest.columns,
                                       static_cast<std::size_t>(plan.columns(joint) * kind.column_stride()));
            std::size_t mix = 0;
            for (const EstimatorTileShape& shape : kind.shapes) {
                largest.tile_width = std::max(largest.tile_width, shape.modes.width());
                largest.half_width = std::max(largest.half_width, shape.half_width);
                mix += static_cast<std::size_t>(kind.modes.modes() * shape.modes.width());
            }
            largest.mix = std::max(largest.mix, mix);
        }
    }
}

ChannelEstimatorConfig checked(const ChannelEstimatorConfig& config) {
    check_config(config);
    return config;
}

}  // namespace

EstimatorPlan::EstimatorPlan(const ChannelEstimatorConfig& unchecked)
    : config(checked(unchecked)),
      layout(config),
      subbands(layout),
      extent(estimator_extent(config, layout)),
      profile(layout, extent),
      transform(static_cast<std::size_t>(profile.bins), FactorOrder::pairs),
      time(make_estimator_time(config, layout)),
      constants(make_constants(config, layout, time.sets)) {
    add_jobs(*this);
    add_noise_of_changes(*this);
    set_largest(*this);
}

std::shared_ptr<const EstimatorPlan> estimator_plan(const ChannelEstimatorConfig& config) {
    static std::mutex mutex;
    static std::array<std::shared_ptr<const EstimatorPlan>, 2> kept;  // the last one first
    {
        const std::lock_guard lock(mutex);
        const auto same = std::ranges::find_if(
            kept, [&](const auto& plan) { return plan != nullptr && plan->config == config; });
        if (same != kept.end()) {
            std::swap(*same, kept.front());
            return kept.front();
        }
    }
    auto plan = std::make_shared<const EstimatorPlan>(config);
    const std::lock_guard lock(mutex);
    if (kept.front() != nullptr && kept.front()->config == config) return kept.front();
    kept = {plan, std::move(kept.front())};
    return plan;
}

EstimatorCallSizes EstimatorPlan::slot_sizes() const {
    const auto antennas = static_cast<std::size_t>(layout.antennas);
    const auto subcarriers = static_cast<std::size_t>(layout.subcarriers);
    return {.grid = antennas * symbols_per_slot * subcarriers,
            .pilots = static_cast<std::size_t>(layout.symbols) * static_cast<std::size_t>(layout.pilots),
            .channel = 2 * static_cast<std::size_t>(group_columns()) *
                       static_cast<std::size_t>(layout.layers) * subcarriers,
            .slots = 1,
            .covariance = antennas * antennas * static_cast<std::size_t>(subbands.count)};
}

void EstimatorPlan::check_call(const EstimatorCallSizes& call) const {
    const EstimatorCallSizes slot = slot_sizes();
    check_slots(call.slots, "grid", call.grid);
    check_size("grid", call.grid, call.slots * slot.grid);
    check_size("pilots", call.pilots, call.slots * slot.pilots);
    check_size("channel", call.channel, call.slots * slot.channel);
    const std::size_t matrix = slot.covariance / static_cast<std::size_t>(subbands.count);
    if (call.covariance != 0)
        check_size("covariance", call.covariance,
                   call.slots * matrix * static_cast<std::size_t>(matrices(call.slots, call.covariance)));
}

int EstimatorPlan::matrices(std::size_t slots, std::size_t covariance) const {
    const bool is_one =
        covariance * static_cast<std::size_t>(subbands.count) == slots * slot_sizes().covariance;
    return is_one ? 1 : subbands.count;
}

float EstimatorPlan::unit_of(SampleFormat format) const {
    check_enum("sample format", format, all_sample_formats.back());
    return 1.0F / config.full_scale.value_for(format);
}

}  // namespace phy::detail
