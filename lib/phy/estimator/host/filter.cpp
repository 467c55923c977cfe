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

/// The powers of delays in the measured profile.
void SlotEstimator::set_powers(Scratch& scratch, const EstimatorFilter& filter) const noexcept {
    const float* const profile = &guess_[size(plan_.profile.reach)];
    for (std::size_t delay = 0; delay < filter.deposits.size(); ++delay) {
        const EstimatorDeposit& deposit = filter.deposits[delay];
        double power = 0.0;
        for (int i = 0; i < deposit.count; ++i)
            power += filter.deposit_weights[size(deposit.weights + i)] * double{profile[deposit.first + i]};
        scratch.of_delays[delay] = power;
    }
}

/// Sums and differences of the powers of delays that mirror each other. floor: added to each sum.
void SlotEstimator::add_powers(Scratch& scratch, const EstimatorFilter& filter, double floor) const noexcept {
    const auto delays = size(filter.delays);
    for (std::size_t i = 0; i < delays; ++i) {
        const double late = scratch.of_delays[delays + i];
        const double early = scratch.of_delays[delays - 1 - i];
        scratch.powers[i] = floor + (late + early);
        scratch.powers[delays + i] = late - early;
    }
}

/// The first rows of the steering vectors, (2, rows, delays): times sums of powers, then times differences.
void SlotEstimator::weight_rows(Scratch& scratch, const EstimatorFilter& filter, const EstimatorKind& kind,
                                int rows) const noexcept {
    const auto delays = size(filter.delays);
    double* by_sum = scratch.weighted.data();
    double* by_difference = by_sum + size(kind.all_rows()) * delays;
    for (int row = 0; row < rows; ++row, by_sum += delays, by_difference += delays) {
        const double* const steering = &kind.steering[size(row) * delays];
        kernels_.scale_delays(steering, scratch.powers.data(), filter.delays, by_sum);
        kernels_.scale_delays(steering, &scratch.powers[delays], filter.delays, by_difference);
    }
}

/// Rows of the matrix from `row` on: those of modes, from weight_rows().
void SlotEstimator::multiply_rows(Scratch& scratch, const EstimatorFilter& filter, const EstimatorKind& kind,
                                  const EstimatorModes& modes, int row) const noexcept {
    const int delays = filter.delays;
    const int width = kind.modes.columns();
    const double* const by_sum = scratch.weighted.data();
    const double* const by_difference = by_sum + size(kind.all_rows() * delays);
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
}

void SlotEstimator::add_noise(Scratch& scratch, const EstimatorKind& kind, double noise) noexcept {
    for (int mode = 0; mode < kind.modes.modes(); ++mode)
        scratch.matrix[size(mode * kind.modes.columns() + kind.modes.column_of(mode))] += noise;
}

/// M of all shapes of a kind, and its error. With G, the modes of pilots on paths, T, those of a tile, and P,
/// the powers of paths: M = T P G^T (G P G^T + noise I)^-1.
void SlotEstimator::make_filter(Scratch& scratch, std::size_t filter_index, bool joint) noexcept {
    const EstimatorFilter& filter = plan_.filters[filter_index];
    const EstimatorKind& kind = filter.of(joint);
    const double noise = double{state_.noise_over_power[joint ? 1 : 0]};
    const int delays = filter.delays;
    const int width = kind.modes.columns();
    const int modes = kind.modes.modes();
    const int all = kind.all_rows();
    set_powers(scratch, filter);
    if (filter.likelihood_steps > 0) raise_likelihood(scratch, filter_index, joint, noise);
    add_powers(scratch, filter, filter.likelihood_steps > 0 ? 0.0 : filter.floor * noise);
    weight_rows(scratch, filter, kind, all);
    multiply_rows(scratch, filter, kind, kind.modes, 0);
    for (const EstimatorTileShape& shape : kind.shapes)
        multiply_rows(scratch, filter, kind, shape.modes, modes + shape.first_row);

    const EstimatorTileShape& last = kind.shapes.back();
    const double* const of_last = &scratch.matrix[size((modes + last.first_row) * width)];
    const auto last_size = size(last.modes.modes() * width);
    std::copy_n(of_last, last_size, scratch.weighted.data());
    add_noise(scratch, kind, noise);
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
