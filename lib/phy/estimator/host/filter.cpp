// A slot estimator's matrices M.

#include <algorithm>
#include <numeric>

#include "phy/estimator/host/slot.hpp"

namespace phy::detail {
namespace {

std::size_t size(int count) {
    return static_cast<std::size_t>(count);
}

}  // namespace

/// Sums and differences of the powers of delays that mirror each other. noise: over power.
void SlotEstimator::set_powers(Scratch& scratch, const EstimatorFilter& filter, double noise) const noexcept {
    const float* const profile = &guess_[size(plan_.profile.reach)];
    const auto delays = size(filter.delays);
    const auto power_of = [&](std::size_t delay) {
        const EstimatorDeposit& deposit = filter.deposits[delay];
        double power = 0.0;
        for (int i = 0; i < deposit.count; ++i)
            power += filter.deposit_weights[size(deposit.weights + i)] * double{profile[deposit.first + i]};
        return power;
    };
    for (std::size_t i = 0; i < delays; ++i) {
        const double late = power_of(delays + i);
        const double early = power_of(delays - 1 - i);
        scratch.powers[i] = filter.floor * noise + (late + early);
        scratch.powers[delays + i] = late - early;
    }
}

/// M of all shapes of a kind, and its error. With G, the modes of pilots on paths, T, those of a tile, and P,
/// the powers of paths: M = T P G^T (G P G^T + noise I)^-1.
void SlotEstimator::make_filter(Scratch& scratch, std::size_t filter_index, bool joint) noexcept {
    const EstimatorFilter& filter = plan_.filters[filter_index];
    const EstimatorKind& kind = filter.of(joint);
    const double noise = double{state_.noise_over_power[joint ? 1 : 0]};
    const int delays = filter.delays;
    const int width = kind.modes.columns();
    set_powers(scratch, filter, noise);
    const int all = kind.modes.modes() + kind.rows;
    double* const by_sum = scratch.weighted.data();
    double* const by_difference = by_sum + size(all * delays);
    for (std::size_t row = 0; row < size(all); ++row) {
        const double* const steering = &kind.steering[row * size(delays)];
        kernels_.scale_delays(steering, scratch.powers.data(), delays, by_sum + row * size(delays));
        kernels_.scale_delays(steering, &scratch.powers[size(delays)], delays,
                              by_difference + row * size(delays));
    }
    int row = 0;
    const auto multiply_rows = [&](const EstimatorModes& modes) {
        for (const int parity : {0, 1}) {
            for (const int other : {0, 1}) {
                const int first = other == 0 ? 0 : kind.modes.column_part(0);
                const double* const weighted = parity == other ? by_sum : by_difference;
                kernels_.multiply_exactly(kind.columns.data() + first, width, delays,
                                          weighted + size(row * delays), delays,
                                          &scratch.matrix[size(row * width + first)], width,
                                          modes.counts[size(parity)], kind.modes.column_part(other));
            }
            row += modes.counts[size(parity)];
        }
    };
    multiply_rows(kind.modes);
    for (const EstimatorTileShape& shape : kind.shapes)
        multiply_rows(shape.modes);

    const EstimatorTileShape& last = kind.shapes.back();
    const int modes = kind.modes.modes();
    const double* const of_last = &scratch.matrix[size((modes + last.first_row) * width)];
    const auto last_size = size(last.modes.modes() * width);
    std::copy_n(of_last, last_size, scratch.weighted.data());
    for (int mode = 0; mode < modes; ++mode)
        scratch.matrix[size(mode * width + kind.modes.column_of(mode))] += noise;
    kernels_.eliminate(scratch.matrix.data(), width, all, kind.pivot_columns.data(), modes);

    double power = 0.0;
    for (std::size_t i = 0; i < size(delays); ++i)
        power += scratch.powers[i] * last.power[i];
    double* const known = scratch.known.data();
    std::fill_n(known, width, 0.0);
    for (std::size_t first = 0; first < last_size; first += size(width))
        for (std::size_t c = 0; c < size(width); ++c)
            known[c] += of_last[first + c] * scratch.weighted[first + c];
    const double error = power - std::accumulate(known, known + width, 0.0) / last.positions;
    const std::size_t index = index_of(filter_index, joint);
    errors_[index] = static_cast<float>(std::max(error, 0.0));
    write_mix(scratch, kind, joint, &mix_[index * plan_.largest.mix]);
}

/// Writes (modes, modes of the tile) for each shape, so that a joint stream's combs give half the sum and
/// difference of its ports.
void SlotEstimator::write_mix(const Scratch& scratch, const EstimatorKind& kind, bool joint,
                              float* mix) const noexcept {
    const double scale = joint ? 0.5 : 1.0;
    const auto modes = size(kind.modes.modes());
    const auto width = size(kind.modes.columns());
    for (const EstimatorTileShape& shape : kind.shapes) {
        const auto tile_even = size(shape.modes.counts[0]);
        const double* const rows = &scratch.matrix[(modes + size(shape.first_row)) * width];
        for (std::size_t mode = 0; mode < modes; ++mode, mix += shape.modes.width()) {
            const auto column = size(kind.modes.column_of(static_cast<int>(mode)));
            std::fill_n(mix, shape.modes.width(), 0.0F);
            for (std::size_t r = 0; r < size(shape.modes.modes()); ++r)
                mix[r < tile_even ? r : r - tile_even + size(shape.modes.part(0))] =
                    static_cast<float>(scale * rows[r * width + column]);
        }
    }
}

}  // namespace phy::detail
