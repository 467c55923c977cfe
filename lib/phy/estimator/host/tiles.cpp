// A slot estimator's work on tiles: pilots to modes, modes to coefficients.

#include <algorithm>
#include <array>

#include "phy/estimator/host/slot.hpp"
#include "phy/estimator/math/statistics-inl.h"
#include "phy/reduce/lanes.hpp"

namespace phy::detail {
namespace {

using scalar::Ops;

std::size_t size(int count) {
    return static_cast<std::size_t>(count);
}

}  // namespace

void SlotEstimator::project(Scratch& scratch, std::size_t index) noexcept {
    const EstimatorTileJob& job = plan_.jobs[index];
    const EstimatorFilter& filter = plan_.filters[size(job.filter)];
    float* modes = &modes_[job.modes_at];
    for (const bool joint : {true, false}) {
        const EstimatorKind& of_kind = filter.of(joint);
        if (plan_.columns(joint) == 0) continue;
        project_kind(scratch, job, joint, modes);
        residuals(of_kind, joint, scratch.columns.data(), modes, index);
        modes += size(plan_.columns(joint) * of_kind.modes.width());
    }
}

void SlotEstimator::project_kind(Scratch& scratch, const EstimatorTileJob& job, bool joint,
                                 float* modes) noexcept {
    const EstimatorLayout& layout = plan_.layout;
    const EstimatorFilter& filter = plan_.filters[size(job.filter)];
    const EstimatorKind& of_kind = filter.of(joint);
    const auto stride = size(of_kind.column_stride());
    const auto in_group = size(plan_.group_columns());
    std::size_t group = 0;
    for (std::size_t s = 0; s < layout.streams.size(); ++s) {
        if (layout.streams[s].joint() != joint) continue;
        for (int comb = 0; comb < (joint ? 2 : 1); ++comb, group += 2) {
            for (std::size_t i = 0; i < in_group; ++i) {
                const std::size_t antenna = i / size(layout.estimates);
                const std::size_t estimate = i % size(layout.estimates);
                const std::size_t row =
                    (antenna * layout.streams.size() + s) * size(layout.estimates) + estimate;
                float* const re = &scratch.columns[(group * in_group + i) * stride];
                fold_column(job, of_kind, row_of(streams_, row, 0), joint ? comb : -1, re,
                            re + in_group * stride);
            }
        }
    }
    // Even modes have sums alone, odd ones differences.
    const int width = of_kind.modes.width();
    const int even = of_kind.modes.part(0);
    const int sums = (of_kind.pilots + 1) / 2;
    kernels_.multiply(of_kind.project.data(), width, sums, scratch.columns.data(), static_cast<int>(stride),
                      modes, width, plan_.columns(joint), even, false);
    kernels_.multiply(&of_kind.project[size(sums * width + even)], width, of_kind.pilots - sums,
                      &scratch.columns[size(sums)], static_cast<int>(stride), modes + even, width,
                      plan_.columns(joint), of_kind.modes.part(1), false);
}

void SlotEstimator::fold_column(const EstimatorTileJob& job, const EstimatorKind& kind, const float* row,
                                int comb, float* re, float* im) const noexcept {
    const EstimatorLayout& layout = plan_.layout;
    const EstimatorFilter& filter = plan_.filters[size(job.filter)];
    const auto stride = size(layout.comb_stride);
    const std::size_t first =
        size(layout.ranges[size(job.range)].offset + job.tile.window * layout.comb_pilots);
    const std::size_t last = first + size(filter.window_blocks * layout.comb_pilots) - 1;
    const float* const x = row + (comb == 1 ? 2 * stride : 0);
    const float* const mirror = row + (comb == 0 ? 0 : 2 * stride);
    const int half = kind.pilots / 2;
    kernels_.fold({x + first, x + stride + first}, {mirror + last, mirror + stride + last}, half, {re, im},
                  kind.pilots - half);
    if (kind.pilots % 2 != 0) {
        const std::size_t middle = first + size(half);
        const auto folded = scalar::folded_middle<Ops>({x[middle], x[stride + middle]});
        re[half] = folded.re;
        im[half] = folded.im;
    }
    const auto left = size(kind.column_stride() - kind.pilots);
    std::fill_n(re + kind.pilots, left, 0.0F);
    std::fill_n(im + kind.pilots, left, 0.0F);
}

void SlotEstimator::residuals(const EstimatorKind& kind, bool joint, const float* columns,
                              const float* projected, std::size_t job) noexcept {
    const EstimatorLayout& layout = plan_.layout;
    const auto stride = size(kind.column_stride());
    const auto of_stream = size(plan_.group_columns() * (joint ? 4 : 2));
    const int width = kind.modes.width();
    for (std::size_t s = 0; s < layout.streams.size(); ++s) {
        if (layout.streams[s].joint() != joint) continue;
        float energy = 0.0F;
        float residual = 0.0F;
        for (std::size_t i = 0; i < of_stream; ++i, columns += stride, projected += width) {
            alignas(64) float lanes[2 * estimator_lanes] = {};
            kernels_.dot(columns, columns, nullptr, static_cast<int>(stride), lanes);
            kernels_.dot(projected, projected, kind.keep.data(), width, lanes + estimator_lanes);
            const float of_column = Ops::mul(0.5F, sum_of_lanes<estimator_lanes>(lanes));
            const float of_modes = sum_of_lanes<estimator_lanes>(lanes + estimator_lanes);
            energy = Ops::add(energy, of_column);
            residual = Ops::add(residual, Ops::sub(of_column, of_modes));
        }
        float* const sums = &tile_sums_[(job * layout.streams.size() + s) * 2];
        sums[0] = energy;
        sums[1] = residual;
    }
}

void SlotEstimator::measure_noise() noexcept {
    const std::size_t streams = plan_.layout.streams.size();
    std::array<float, max_streams> energies{};
    std::array<float, max_streams> residuals{};
    for (std::size_t job = 0; job < plan_.jobs.size(); ++job) {
        for (std::size_t s = 0; s < streams; ++s) {
            const float* const sums = &tile_sums_[(job * streams + s) * 2];
            energies[s] = Ops::add(energies[s], sums[0]);
            residuals[s] = Ops::add(residuals[s], sums[1]);
        }
    }
    scalar::set_noise<Ops>(plan_.constants, plan_.facts, energies.data(), residuals.data(), state_);
}

void SlotEstimator::write_estimate() noexcept {
    SlotEstimate& out = *slot_.estimate;
    scalar::set_estimate<Ops>(plan_.constants, state_, static_cast<int>(plan_.filters.size()),
                              plan_.shares.data(), errors_.data(), out);
    for (std::size_t l = 0; l < symbols_per_slot; ++l)
        out.phase[l] = {state_.phase_re[l], state_.phase_im[l]};
}

void SlotEstimator::synthesize(Scratch& scratch, std::size_t index) noexcept {
    const EstimatorTileJob& job = plan_.jobs[index];
    for (std::size_t s = 0; s < plan_.layout.streams.size(); ++s)
        synthesize_stream(scratch, job, static_cast<int>(s));
}

void SlotEstimator::synthesize_stream(Scratch& scratch, const EstimatorTileJob& job, int stream) noexcept {
    const EstimatorLayout& layout = plan_.layout;
    const EstimatorStream& facts = layout.streams[size(stream)];
    const bool joint = facts.joint();
    const EstimatorFilter& filter = plan_.filters[size(job.filter)];
    const EstimatorKind& kind = filter.of(joint);
    const EstimatorTileShape& shape = kind.shapes[size(job.tile.shape)];
    const int in_group = plan_.group_columns();
    const int columns = (joint ? 4 : 2) * in_group;
    const int width = kind.modes.width();
    const std::size_t before = joint ? 0 : size(plan_.columns(true) * filter.of(true).modes.width());
    const float* const modes =
        &modes_[job.modes_at + before + size(plan_.layout.index_in_kind[size(stream)] * columns * width)];

    const int even = kind.modes.counts[0];
    const int tile_width = shape.modes.width();
    const float* mix = &mix_[index_of(size(job.filter), joint) * plan_.largest.mix];
    for (const EstimatorTileShape* each = kind.shapes.data(); each != &shape; ++each)
        mix += kind.modes.modes() * each->modes.width();
    float* const mixed = scratch.mixed.data();
    kernels_.multiply(mix, tile_width, even, modes, width, mixed, tile_width, columns, tile_width, false);
    kernels_.multiply(mix + even * tile_width, tile_width, kind.modes.counts[1], modes + kind.modes.part(0),
                      width, mixed, tile_width, columns, tile_width, true);

    const int half = shape.half_width;
    kernels_.multiply(shape.synthesize.data(), half, shape.modes.counts[0], mixed, tile_width,
                      scratch.tile.data(), 2 * half, columns, half, false);
    kernels_.multiply(&shape.synthesize[size(shape.modes.counts[0] * half)], half, shape.modes.counts[1],
                      mixed + shape.modes.part(0), tile_width, &scratch.tile[size(half)], 2 * half, columns,
                      half, false);
    for (std::size_t i = 0; i < size(in_group); ++i)
        write_column(scratch, job, facts, shape, i);
}

/// Combs begin at their own subcarriers, so their parts of a tile do.
void SlotEstimator::write_column(Scratch& scratch, const EstimatorTileJob& job, const EstimatorStream& stream,
                                 const EstimatorTileShape& shape, std::size_t column) noexcept {
    const EstimatorLayout& layout = plan_.layout;
    const std::size_t half = size(shape.half_width);
    const std::size_t in_group = size(plan_.group_columns());
    const std::size_t combs = stream.joint() ? 2 : 1;
    const int count = job.tile.blocks * subcarriers_per_resource_block;
    std::array<float*, 2> re{};
    std::array<float*, 2> im{};
    for (std::size_t comb = 0; comb < combs; ++comb) {
        const float* const real = &scratch.tile[(2 * comb * in_group + column) * 2 * half];
        const float* const imaginary = real + in_group * 2 * half;
        float* const to = &scratch.subcarriers[comb * 4 * half];
        kernels_.unfold({real, imaginary}, {real + half, imaginary + half}, shape.positions,
                        {to, to + 2 * half});
        const int offset = layout.groups[size(stream.group)] + (comb == 1 ? layout.comb_shift : 0);
        const int first = (job.tile.first - job.tile.window) * subcarriers_per_resource_block;
        re[comb] = to + (first - offset - shape.begin);
        im[comb] = re[comb] + 2 * half;
    }
    if (!stream.joint()) {
        write_port(job, std::max(stream.layer[0], stream.layer[1]), column, {re[0], im[0]});
        return;
    }
    kernels_.sum_and_difference(re[0], re[1], count);
    kernels_.sum_and_difference(im[0], im[1], count);
    write_port(job, stream.layer[0], column, {re[0], im[0]});
    write_port(job, stream.layer[1], column, {re[1], im[1]});
}

void SlotEstimator::write_port(const EstimatorTileJob& job, int layer, std::size_t column,
                               SplitComplex h) noexcept {
    const EstimatorLayout& layout = plan_.layout;
    const std::size_t first =
        size((layout.ranges[size(job.range)].first + job.tile.first) * subcarriers_per_resource_block);
    const float* const ramp = &ramps_[layout.groups.size() * layout.row_floats() + first];
    const std::size_t antenna = column / size(layout.estimates);
    const std::size_t estimate = column % size(layout.estimates);
    const std::size_t row = (estimate * size(layout.antennas) + antenna) * size(layout.layers) + size(layer);
    float* const out = slot_.channel + 2 * row * size(layout.subcarriers) + first;
    const int count = job.tile.blocks * subcarriers_per_resource_block;
    kernels_.rotate_back(h, {ramp, ramp + layout.subcarriers}, {out, out + layout.subcarriers}, count);
    for (const int erased : layout.erased) {
        const int k = erased - static_cast<int>(first);
        if (k >= 0 && k < count) out[k] = out[layout.subcarriers + k] = 0.0F;
    }
}

}  // namespace phy::detail
