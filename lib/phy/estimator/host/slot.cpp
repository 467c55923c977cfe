#include "phy/estimator/host/slot.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "phy/estimator/math/statistics-inl.h"
#include "phy/reduce/lanes.hpp"

namespace phy::detail {
namespace {

using scalar::Ops;

std::size_t size(int count) {
    return static_cast<std::size_t>(count);
}

}  // namespace

SlotEstimator::SlotEstimator(const EstimatorPlan& plan, const EstimatorKernels& kernels,
                             const ArrayKernels& arrays, const FftKernels& fft, int parts)
    : plan_(plan),
      kernels_(kernels),
      arrays_(arrays),
      fft_(fft),
      fft_work_(1, 2 * size(plan.profile.bins) * fft.lanes, 0),
      scratch_(size(parts)) {
    const EstimatorLayout& layout = plan.layout;
    const std::size_t row = layout.row_floats();
    const std::size_t groups = layout.groups.size();
    const auto subcarriers = size(layout.subcarriers);
    pilots_.assign(size(layout.symbols) * row, 0.0F);
    rows_.assign(size(layout.rows) * row, 0.0F);
    row_sums_.resize(size(layout.rows) * estimator_row_sums);
    cross_sums_.resize(size(layout.rows) * 2);
    ramps_.assign(groups * row + 2 * subcarriers, 0.0F);
    streams_.assign(size(layout.stream_rows) * row, 0.0F);
    for (const int group : layout.groups)
        for (const std::int32_t subcarrier : layout.subcarrier_of)
            index_.push_back(subcarrier < 0 ? 0.0F : static_cast<float>(subcarrier + group));
    for (std::size_t k = 0; k < subcarriers; ++k)
        index_.push_back(static_cast<float>(k));

    const EstimatorSizes& largest = plan.largest;
    const EstimatorProfile& profile = plan.profile;
    taper_.assign(profile.taper.begin(), profile.taper.end());
    taper_.resize(2 * taper_.size(), 0.0F);
    tapered_.assign(size(layout.antennas) * layout.streams.size() * row, 0.0F);
    bins_.resize(size(profile.bins * estimator_transform_lanes));
    powers_.resize(5 * size(profile.bins));
    const std::size_t in_vectors = size(round_up(profile.extent, estimator_lanes)) + 8 * estimator_lanes;
    measured_.resize(in_vectors);
    expected_.resize(in_vectors);
    guess_.assign(in_vectors + 2 * size(profile.reach), 0.0F);
    ratios_.assign(in_vectors + 2 * size(profile.reach), 0.0F);
    modes_.resize(largest.modes);
    tile_sums_.resize(size(largest.jobs) * layout.streams.size() * 2);
    products_.assign(size(plan.subbands.count * layout.antennas * layout.antennas) * 2, 0.0F);
    mix_.resize(plan.filters.size() * 2 * largest.mix);
    errors_.resize(plan.filters.size() * 2);
    const std::size_t in_group = size(plan.group_columns());
    const std::size_t matrix = size(largest.rows_of_matrix);
    for (Scratch& scratch : scratch_) {
        scratch.samples.resize(2 * subcarriers + padding);
        scratch.gathered.assign(row, 0.0F);
        scratch.columns.assign(largest.columns, 0.0F);
        scratch.mixed.resize(4 * in_group * size(largest.tile_width));
        scratch.tile.resize(4 * in_group * 2 * size(largest.half_width));
        scratch.placed.resize(2 * size(plan.subbands.subcarriers));
        scratch.residuals.resize(2 * size(layout.antennas * layout.symbols * plan.subbands.subcarriers));
        scratch.subcarriers.resize(8 * size(largest.half_width));
        scratch.matrix.assign(matrix * size(largest.columns_of_matrix), 0.0);
        scratch.weighted.resize(matrix * size(std::max(2 * largest.delays, largest.columns_of_matrix)));
        scratch.of_delays.resize(2 * size(largest.delays));
        scratch.powers.resize(2 * size(largest.delays));
        const std::size_t width = size(largest.likelihood_width);
        scratch.modes.resize(2 * size(largest.likelihood_columns) * width);
        scratch.correlation.resize(width * width);
        scratch.paths.resize(size(largest.likelihood_delays) * width);
        scratch.products.resize(size(largest.likelihood_delays) * width);
        scratch.known.resize(size(largest.columns_of_matrix));
    }
}

void SlotEstimator::operator()(const EstimatorSlot& slot, ThreadPool* pool) noexcept {
    slot_ = slot;
    pool_ = pool;
    const EstimatorLayout& layout = plan_.layout;
    for (std::size_t symbol = 0; symbol < size(layout.symbols); ++symbol)
        gather_pilots(symbol);
    each(size(layout.rows), [&](Scratch& scratch, std::size_t row) noexcept { estimate_row(scratch, row); });
    if (plan_.constants.pairs > 0)
        each(size(layout.rows), [&](Scratch&, std::size_t row) noexcept { correlate_dmrs(row); });
    join_sums();
    measure_profile();
    rotate_ramps();
    each(size(layout.stream_rows), [&](Scratch&, std::size_t row) noexcept { form_stream(row); });
    each(plan_.jobs.size(), [&](Scratch& scratch, std::size_t job) noexcept { project(scratch, job); });
    measure_noise();
    deconvolve();
    measure_delays();
    each(2 * plan_.filters.size(), [&](Scratch& scratch, std::size_t index) noexcept {
        if (plan_.columns(index % 2 == 1) > 0) make_filter(scratch, index / 2, index % 2 == 1);
    });
    write_estimate();
    each(plan_.jobs.size(), [&](Scratch& scratch, std::size_t job) noexcept { synthesize(scratch, job); });
    if (slot_.covariance == nullptr) return;
    each(size(plan_.subbands.count), [&](Scratch& scratch, std::size_t subband) noexcept {
        correlate_residuals(scratch, static_cast<int>(subband));
    });
    write_covariance();
}

float* SlotEstimator::row_of(AlignedVector<float>& rows, std::size_t row, int comb) const {
    return rows.data() + row * plan_.layout.row_floats() + 2 * size(comb) * size(plan_.layout.comb_stride);
}

void SlotEstimator::gather_pilots(std::size_t symbol) noexcept {
    const auto stride = size(plan_.layout.comb_stride);
    const cf32* const from = slot_.pilots + symbol * size(plan_.layout.pilots);
    for (int comb = 0; comb < 2; ++comb) {
        float* const to = row_of(pilots_, symbol, comb);
        const std::int32_t* const pilot_of = &plan_.layout.pilot_of[size(comb) * stride];
        for (std::size_t m = 0; m < stride; ++m) {
            if (pilot_of[m] < 0) continue;
            to[m] = from[pilot_of[m]].real();
            to[stride + m] = from[pilot_of[m]].imag();
        }
    }
}

void SlotEstimator::estimate_row(Scratch& scratch, std::size_t row) noexcept {
    const EstimatorLayout& layout = plan_.layout;
    const auto stride = size(layout.comb_stride);
    const std::size_t symbol = row % size(layout.symbols);
    const std::size_t group = row / size(layout.symbols) % layout.groups.size();
    const std::size_t antenna = row / size(layout.symbols) / layout.groups.size();
    const std::size_t at =
        (antenna * symbols_per_slot + size(layout.dmrs_symbols[symbol])) * size(layout.subcarriers);
    arrays_.widen[static_cast<std::size_t>(slot_.format)](slot_.grid + at * size_of(slot_.format),
                                                          scratch.samples.data(),
                                                          2 * size(layout.subcarriers), slot_.unit);
    const std::size_t shift = 2 * size(layout.groups[group]);
    for (int comb = 0; comb < 2; ++comb) {
        float* const gathered = scratch.gathered.data();
        const std::int32_t* const subcarrier_of = &layout.subcarrier_of[size(comb) * stride];
        for (std::size_t m = 0; m < size(layout.comb_size); ++m) {
            if (subcarrier_of[m] < 0) continue;
            const float* const sample = &scratch.samples[2 * size(subcarrier_of[m]) + shift];
            gathered[m] = sample[0];
            gathered[stride + m] = sample[1];
        }
        // An erased sample may be no number, and spoils nothing.
        for (const EstimatorFill& fill : layout.fills)
            if (size(fill.group) == group && fill.comb == comb)
                gathered[fill.at] = gathered[stride + size(fill.at)] = 0.0F;
        const float* const pilots = row_of(pilots_, symbol, comb);
        float* const out = row_of(rows_, row, comb);
        const bool is_usable =
            kernels_.least_squares({gathered, gathered + stride}, {pilots, pilots + stride}, layout.scale,
                                   {out, out + stride}, layout.comb_size);
        if (!is_usable) scratch.is_spoiled = true;
    }
    fill_erased(row_of(rows_, row, 0), static_cast<int>(group), &EstimatorFill::of_rows);
    alignas(64) float lanes[estimator_row_sums * estimator_lanes] = {};
    for (int comb = 0; comb < 2; ++comb) {
        const float* const out = row_of(rows_, row, comb);
        kernels_.row_sums({out, out + stride}, layout.comb_size, lanes);
    }
    for (std::size_t i = 0; i < estimator_row_sums; ++i)
        row_sums_[row * estimator_row_sums + i] = sum_of_lanes<estimator_lanes>(lanes + i * estimator_lanes);
}

void SlotEstimator::correlate_dmrs(std::size_t row) noexcept {
    const EstimatorLayout& layout = plan_.layout;
    const auto stride = size(layout.comb_stride);
    const auto length = size(layout.length);
    if (row % size(layout.symbols) + length >= size(layout.symbols)) return;
    alignas(64) float lanes[2 * estimator_lanes] = {};
    for (int comb = 0; comb < 2; ++comb) {
        const float* const x = row_of(rows_, row, comb);
        const float* const y = row_of(rows_, row + length, comb);
        kernels_.correlate({x, x + stride}, {y, y + stride}, layout.comb_size, lanes);
    }
    cross_sums_[2 * row] = sum_of_lanes<estimator_lanes>(lanes);
    cross_sums_[2 * row + 1] = sum_of_lanes<estimator_lanes>(lanes + estimator_lanes);
}

void SlotEstimator::join_sums() noexcept {
    const EstimatorLayout& layout = plan_.layout;
    const auto symbols = size(layout.symbols);
    std::array<float, estimator_slot_sums> sums{};
    for (std::size_t row = 0; row < size(layout.rows); ++row) {
        for (std::size_t i = 0; i < estimator_row_sums; ++i)
            sums[i] += row_sums_[row * estimator_row_sums + i];
        const std::size_t pair = row % symbols / size(layout.length);
        const std::size_t pairs = size(plan_.constants.pairs);
        sums[estimator_row_sums + 2 * pairs + pair] += row_sums_[row * estimator_row_sums];
        if (pair >= pairs) continue;
        sums[estimator_row_sums + 2 * pair] += cross_sums_[2 * row];
        sums[estimator_row_sums + 2 * pair + 1] += cross_sums_[2 * row + 1];
    }
    scalar::set_offsets<Ops>(plan_.constants, sums.data(), state_);
    for (Scratch& scratch : scratch_)
        if (std::exchange(scratch.is_spoiled, false)) state_.is_spoiled = 1;
}

void SlotEstimator::rotate_ramps() noexcept {
    const EstimatorLayout& layout = plan_.layout;
    const auto stride = size(layout.comb_stride);
    const std::size_t combs = 2 * layout.groups.size();
    for (std::size_t comb = 0; comb < combs; ++comb) {
        float* const to = &ramps_[comb * 2 * stride];
        kernels_.rotate(&index_[comb * stride], state_.step, {to, to + stride}, layout.comb_size);
    }
    float* const to = &ramps_[combs * 2 * stride];
    kernels_.rotate(&index_[combs * stride], state_.step, {to, to + layout.subcarriers}, layout.subcarriers);
}

SplitComplex SlotEstimator::ramp_of(int group, int comb) const {
    const auto stride = size(plan_.layout.comb_stride);
    const float* const re = &ramps_[size(2 * group + comb) * 2 * stride];
    return {re, re + stride};
}

void SlotEstimator::form_stream(std::size_t row) noexcept {
    const EstimatorLayout& layout = plan_.layout;
    const std::size_t estimate = row % size(layout.estimates);
    const std::size_t antenna_stream = row / size(layout.estimates);
    const EstimatorStream& stream = layout.streams[antenna_stream % layout.streams.size()];
    const auto averaged = size(layout.symbols_averaged);
    for (int comb = 0; comb < 2; ++comb)
        combine_symbols(antenna_stream, comb, estimate * averaged, averaged, ramp_of(stream.group, comb),
                        row_of(streams_, row, comb));
    fill_erased(row_of(streams_, row, 0), stream.group, &EstimatorFill::of_streams);
}

void SlotEstimator::fill_erased(float* row, int group,
                                EstimatorFillWeights EstimatorFill::*weights) const noexcept {
    const int stride = plan_.layout.comb_stride;
    for (const EstimatorFill& fill : plan_.layout.fills) {
        if (fill.group != group) continue;
        float* const of_comb = row + 2 * fill.comb * stride;
        const scalar::ComplexOf<Ops> x =
            scalar::filled_pilot<Ops>(of_comb + fill.first, stride, fill.*weights, fill.count);
        of_comb[fill.at] = x.re;
        of_comb[stride + fill.at] = x.im;
    }
}

/// row: (antennas, streams). Averages some DM-RS symbols.
void SlotEstimator::combine_symbols(std::size_t row, int comb, std::size_t first, std::size_t count,
                                    SplitComplex ramp, float* out) const noexcept {
    const EstimatorLayout& layout = plan_.layout;
    const auto stride = size(layout.comb_stride);
    const EstimatorStream& stream = layout.streams[row % layout.streams.size()];
    const std::size_t antenna = row / layout.streams.size();
    const bool is_negative = comb == 1 && stream.layer[0] < 0;
    std::array<SplitComplex, symbols_per_slot> rows;
    std::array<SplitComplex, symbols_per_slot> weights;
    std::array<std::array<float, 2>, symbols_per_slot> numbers;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t symbol = first + i;
        const std::size_t from =
            (antenna * layout.groups.size() + size(stream.group)) * size(layout.symbols) + symbol;
        const float* const pilots = &rows_[from * layout.row_floats() + 2 * size(comb) * stride];
        rows[i] = {pilots, pilots + stride};
        const float sign = stream.in_time[symbol % size(layout.length)] * (is_negative ? -1.0F : 1.0F);
        const float share = sign / static_cast<float>(count);
        const auto l = size(layout.dmrs_symbols[symbol]);
        numbers[i] = {share * state_.phase_re[l], -share * state_.phase_im[l]};
        weights[i] = {&numbers[i][0], &numbers[i][1]};
    }
    kernels_.combine(rows.data(), weights.data(), static_cast<int>(count), ramp, {out, out + stride},
                     layout.comb_size);
}

}  // namespace phy::detail
