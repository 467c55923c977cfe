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

float* SlotEstimator::gains_of(std::size_t filter, std::size_t stream) {
    return &gains_[(filter * plan_.layout.streams.size() + stream) * size(plan_.largest.width)];
}

void SlotEstimator::project(Scratch& scratch, std::size_t index) noexcept {
    const EstimatorTileJob& job = tables().jobs[index];
    const EstimatorFilter& filter = tables().filters[size(job.filter)];
    float* modes = &modes_[job.modes_at];
    if (slot_.covariance != nullptr) {
        const auto products = size(plan_.layout.antennas * plan_.layout.antennas) * 2;
        std::fill_n(&tile_products_[index * products], products, 0.0F);
    }
    for (const bool joint : {true, false}) {
        const EstimatorModes& of_kind = filter.of(joint);
        if (plan_.columns(joint) == 0) continue;
        project_kind(scratch, job, joint, modes);
        residuals(of_kind, joint, scratch.columns.data(), modes, index);
        if (slot_.covariance != nullptr) covariances(of_kind, joint, scratch.columns.data(), modes, index);
        modes += size(plan_.columns(joint) * of_kind.width);
    }
}

void SlotEstimator::project_kind(Scratch& scratch, const EstimatorTileJob& job, bool joint,
                                 float* modes) noexcept {
    const EstimatorLayout& layout = plan_.layout;
    const EstimatorFilter& filter = tables().filters[size(job.filter)];
    const EstimatorModes& of_kind = filter.of(joint);
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
    kernels_.multiply(of_kind.project.data(), of_kind.width, of_kind.pilots, scratch.columns.data(),
                      static_cast<int>(stride), modes, of_kind.width, plan_.columns(joint), of_kind.width,
                      false);
}

void SlotEstimator::fold_column(const EstimatorTileJob& job, const EstimatorModes& modes, const float* row,
                                int comb, float* re, float* im) const noexcept {
    const EstimatorLayout& layout = plan_.layout;
    const EstimatorFilter& filter = tables().filters[size(job.filter)];
    const auto stride = size(layout.comb_stride);
    const std::size_t first = size(layout.ranges[size(job.range)].offset +
                                   filter.tiles[size(job.tile)].window * layout.comb_pilots);
    const std::size_t last = first + size(filter.window_blocks * layout.comb_pilots) - 1;
    const float* const x = row + (comb == 1 ? 2 * stride : 0);
    const float* const mirror = row + (comb == 0 ? 0 : 2 * stride);
    const int half = modes.pilots / 2;
    kernels_.fold({x + first, x + stride + first}, {mirror + last, mirror + stride + last}, half, {re, im},
                  modes.pilots - half);
    if (modes.pilots % 2 != 0) {
        const std::size_t middle = first + size(half);
        const auto folded = scalar::folded_middle<Ops>({x[middle], x[stride + middle]});
        re[half] = folded.re;
        im[half] = folded.im;
    }
    const auto left = size(modes.column_stride() - modes.pilots);
    std::fill_n(re + modes.pilots, left, 0.0F);
    std::fill_n(im + modes.pilots, left, 0.0F);
}

void SlotEstimator::residuals(const EstimatorModes& modes, bool joint, const float* columns,
                              const float* projected, std::size_t job) noexcept {
    const EstimatorLayout& layout = plan_.layout;
    const auto stride = size(modes.column_stride());
    const auto of_stream = size(plan_.group_columns() * (joint ? 4 : 2));
    for (std::size_t s = 0; s < layout.streams.size(); ++s) {
        if (layout.streams[s].joint() != joint) continue;
        float energy = 0.0F;
        float residual = 0.0F;
        for (std::size_t i = 0; i < of_stream; ++i, columns += stride, projected += modes.width) {
            alignas(64) float lanes[2 * estimator_lanes] = {};
            kernels_.dot(columns, columns, nullptr, static_cast<int>(stride), lanes);
            kernels_.dot(projected, projected, modes.keep.data(), modes.width, lanes + estimator_lanes);
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

void SlotEstimator::covariances(const EstimatorModes& modes, bool joint, const float* columns,
                                const float* projected, std::size_t job) noexcept {
    const std::size_t antennas = size(plan_.layout.antennas);
    const std::size_t estimates = size(plan_.layout.estimates);
    const auto stride = size(modes.column_stride());
    const auto in_group = size(plan_.group_columns());
    const std::size_t groups = size(plan_.columns(joint)) / in_group;
    const auto product = [&](std::size_t x, std::size_t y) {
        alignas(64) float lanes[2 * estimator_lanes] = {};
        kernels_.dot(columns + x * stride, columns + y * stride, nullptr, static_cast<int>(stride), lanes);
        kernels_.dot(projected + x * size(modes.width), projected + y * size(modes.width), modes.keep.data(),
                     modes.width, lanes + estimator_lanes);
        return Ops::fms(0.5F, sum_of_lanes<estimator_lanes>(lanes),
                        sum_of_lanes<estimator_lanes>(lanes + estimator_lanes));
    };
    for (std::size_t a = 0; a < antennas; ++a) {
        for (std::size_t b = 0; b <= a; ++b) {
            float* const sum = &tile_products_[((job * antennas + a) * antennas + b) * 2];
            for (std::size_t group = 0; group < groups; group += 2) {
                for (std::size_t e = 0; e < estimates; ++e) {
                    const std::size_t x = group * in_group + a * estimates + e;
                    const std::size_t y = group * in_group + b * estimates + e;
                    sum[0] = Ops::add(sum[0], Ops::add(product(x, y), product(x + in_group, y + in_group)));
                    sum[1] = Ops::add(sum[1], Ops::sub(product(x + in_group, y), product(x, y + in_group)));
                }
            }
        }
    }
}

void SlotEstimator::measure_noise() noexcept {
    const std::size_t streams = plan_.layout.streams.size();
    std::array<float, max_streams> energies{};
    std::array<float, max_streams> residuals{};
    for (std::size_t job = 0; job < tables().jobs.size(); ++job) {
        for (std::size_t s = 0; s < streams; ++s) {
            const float* const sums = &tile_sums_[(job * streams + s) * 2];
            energies[s] = Ops::add(energies[s], sums[0]);
            residuals[s] = Ops::add(residuals[s], sums[1]);
        }
    }
    scalar::set_noise<Ops>(plan_.constants, tables().facts, energies.data(), residuals.data(), state_);
}

void SlotEstimator::set_gains() noexcept {
    const std::size_t streams = plan_.layout.streams.size();
    for (std::size_t f = 0; f < tables().filters.size(); ++f) {
        const EstimatorFilter& filter = tables().filters[f];
        for (std::size_t s = 0; s < streams; ++s) {
            const EstimatorModes& modes = filter.of(plan_.layout.streams[s].joint());
            kernels_.gains(modes.lambda.data(), state_.noise_over_power[s], gains_of(f, s), modes.width);
        }
    }
}

void SlotEstimator::write_estimate() noexcept {
    const auto error_of = [&](int filter, int stream) -> scalar::FilterError {
        const EstimatorModes& modes =
            tables().filters[size(filter)].of(plan_.layout.streams[size(stream)].joint());
        alignas(64) float lanes[estimator_lanes] = {};
        kernels_.dot(modes.error.data(), gains_of(size(filter), size(stream)), nullptr, modes.width, lanes);
        return {tables().shares[size(filter)], sum_of_lanes<estimator_lanes>(lanes), modes.unresolved};
    };
    SlotEstimate& out = *slot_.estimate;
    scalar::set_estimate<Ops>(plan_.constants, state_, static_cast<int>(tables().filters.size()), error_of,
                              out);
    for (std::size_t l = 0; l < symbols_per_slot; ++l)
        out.phase[l] = {state_.phase_re[l], state_.phase_im[l]};
}

void SlotEstimator::write_covariance() noexcept {
    const auto antennas = size(plan_.layout.antennas);
    const float factor = scalar::covariance_factor<Ops>(plan_.constants, tables().facts, plan_.layout);
    for (std::size_t a = 0; a < antennas; ++a) {
        for (std::size_t b = 0; b <= a; ++b) {
            std::array<float, 2> sum{};
            for (std::size_t job = 0; job < tables().jobs.size(); ++job) {
                const float* const product = &tile_products_[((job * antennas + a) * antennas + b) * 2];
                sum[0] = Ops::add(sum[0], product[0]);
                sum[1] = Ops::add(sum[1], product[1]);
            }
            const scalar::ComplexOf<Ops> element = scalar::covariance_of<Ops>(
                state_, {Ops::mul(sum[0], factor), Ops::mul(sum[1], factor)}, a == b);
            slot_.covariance[b * antennas + a] = {element.re, -element.im};
            slot_.covariance[a * antennas + b] = {element.re, element.im};
        }
    }
}

void SlotEstimator::synthesize(Scratch& scratch, std::size_t index) noexcept {
    const EstimatorTileJob& job = tables().jobs[index];
    for (std::size_t s = 0; s < plan_.layout.streams.size(); ++s)
        synthesize_stream(scratch, job, static_cast<int>(s));
}

void SlotEstimator::synthesize_stream(Scratch& scratch, const EstimatorTileJob& job, int stream) noexcept {
    const EstimatorLayout& layout = plan_.layout;
    const EstimatorStream& facts = layout.streams[size(stream)];
    const bool joint = facts.joint();
    const EstimatorFilter& filter = tables().filters[size(job.filter)];
    const EstimatorModes& modes = filter.of(joint);
    const int combs = joint ? 2 : 1;
    const int in_group = plan_.group_columns();
    const std::size_t before = joint ? 0 : size(plan_.columns(true) * filter.of(true).width);
    const std::size_t group_size = size(in_group * modes.width);
    float* const columns = &modes_[job.modes_at + before] +
                           size(plan_.layout.index_in_kind[size(stream)] * combs * 2) * group_size;
    const float* const gains = gains_of(size(job.filter), size(stream));
    for (std::size_t column = 0; column < size(2 * combs * in_group); ++column)
        kernels_.scale(columns + column * size(modes.width), gains, modes.width);

    const std::size_t half = size(modes.modes * filter.mix_width);
    const auto group = layout.groups.size() * size(filter.tiles[size(job.tile)].variant) + size(facts.group);
    const std::size_t mixed_size = size(in_group * filter.mix_width);
    for (std::size_t comb = 0; comb < size(combs); ++comb) {
        const float* const mix = &modes.mix[(group * size(combs) + comb) * 2 * half];
        float* const mixed = &scratch.mixed[comb * mixed_size];
        const float* const re = columns + 2 * comb * group_size;
        kernels_.multiply(mix, filter.mix_width, modes.modes, re, modes.width, mixed, filter.mix_width,
                          in_group, filter.mix_width, false);
        kernels_.multiply(mix + half, filter.mix_width, modes.modes, re + group_size, modes.width, mixed,
                          filter.mix_width, in_group, filter.mix_width, true);
    }
    if (joint) {
        kernels_.sum_and_difference(scratch.mixed.data(), &scratch.mixed[mixed_size],
                                    static_cast<int>(mixed_size));
        write_port(scratch, job, facts.layer[0], scratch.mixed.data());
        write_port(scratch, job, facts.layer[1], &scratch.mixed[mixed_size]);
    } else {
        write_port(scratch, job, std::max(facts.layer[0], facts.layer[1]), scratch.mixed.data());
    }
}

void SlotEstimator::write_port(Scratch& scratch, const EstimatorTileJob& job, int layer,
                               const float* mixed) noexcept {
    const EstimatorLayout& layout = plan_.layout;
    const EstimatorFilter& filter = tables().filters[size(job.filter)];
    const EstimatorTile& tile = filter.tiles[size(job.tile)];
    const int in_group = plan_.group_columns();
    const std::size_t width = size(filter.tile_width);
    const std::size_t of_part = size(in_group) * width;
    for (const int part : {0, 1})
        kernels_.multiply(filter.synthesize.data(), filter.tile_width, filter.tile_modes,
                          mixed + part * filter.tile_modes, filter.mix_width,
                          &scratch.tile[size(part) * of_part], filter.tile_width, in_group, filter.tile_width,
                          false);
    const int subcarriers = filter.tile_subcarriers();
    const int half = subcarriers / 2;
    const int skipped = tile.skipped * subcarriers_per_resource_block;
    const std::size_t first =
        size((layout.ranges[size(job.range)].first + tile.start) * subcarriers_per_resource_block + skipped);
    const float* const ramp = &ramps_[layout.groups.size() * layout.row_floats() + first];
    float* const re = scratch.subcarriers.data();
    float* const im = re + width;
    for (std::size_t i = 0; i < size(in_group); ++i) {
        const float* const real_column = &scratch.tile[i * width];
        const float* const imaginary_column = real_column + of_part;
        kernels_.unfold({real_column, imaginary_column}, {real_column + half, imaginary_column + half}, half,
                        {re, im});
        const std::size_t antenna = i / size(layout.estimates);
        const std::size_t estimate = i % size(layout.estimates);
        const std::size_t row =
            (estimate * size(layout.antennas) + antenna) * size(layout.layers) + size(layer);
        float* const out = slot_.channel + 2 * row * size(layout.subcarriers) + first;
        kernels_.rotate_back({re + skipped, im + skipped}, {ramp, ramp + layout.subcarriers},
                             {out, out + layout.subcarriers}, subcarriers - skipped);
    }
}

}  // namespace phy::detail
