// The powers of delays that a slot's modes make likely.

#include <algorithm>
#include <array>
#include <span>

#include "phy/estimator/host/slot.hpp"

namespace phy::detail {
namespace {

std::size_t size(int count) {
    return static_cast<std::size_t>(count);
}

}  // namespace

/// The sum of x x^T over all modes x of the slot that the filter's tiles have of a kind; x are real.
void SlotEstimator::correlate_modes(Scratch& scratch, std::size_t filter_index, bool joint) const noexcept {
    const EstimatorFilter& filter = plan_.filters[filter_index];
    const EstimatorModes& modes = filter.of(joint).modes;
    const auto width = size(modes.columns());
    const auto of_tile = size(plan_.columns(joint));
    const auto count = size(filter.tiles) * of_tile;
    const std::size_t before = joint ? 0 : size(plan_.columns(true) * filter.of(true).modes.width());
    double* const rows = scratch.modes.data();
    double* const columns = rows + count * width;
    std::fill_n(rows, 2 * count * width, 0.0);
    std::size_t next = 0;
    for (const EstimatorTileJob& job : plan_.jobs) {
        if (size(job.filter) != filter_index) continue;
        const float* x = &modes_[job.modes_at + before];
        for (std::size_t i = 0; i < of_tile; ++i, ++next, x += modes.width()) {
            for (int mode = 0; mode < modes.modes(); ++mode) {
                const auto column = size(modes.column_of(mode));
                const double value = double{x[modes.float_of(mode)]};
                rows[next * width + column] = value;
                columns[column * count + next] = value;
            }
        }
    }
    const auto wide = static_cast<int>(width);
    kernels_.multiply_exactly(rows, wide, static_cast<int>(count), columns, static_cast<int>(count),
                              scratch.correlation.data(), wide, wide, wide);
}

/// Rows of paths, each with a mode in a column: of all delays, the earliest first.
void SlotEstimator::write_paths(const EstimatorFilter& filter, const EstimatorKind& kind,
                                double* rows) noexcept {
    const auto width = size(kind.modes.columns());
    const auto even = size(kind.modes.column_part(0));
    for (int delay = 0; delay < filter.delays; ++delay) {
        const double* const from = &kind.columns[size(delay) * width];
        double* const late = rows + size(filter.delays + delay) * width;
        double* const early = rows + size(filter.delays - 1 - delay) * width;
        std::copy_n(from, width, late);
        std::copy_n(from, even, early);
        std::transform(from + even, from + width, early + even, [](double x) { return -x; });
    }
}

/// Steps of expectation and maximisation: with paths g, the correlation R of modes, and S, what the powers
/// and the noise say that it is, a power grows by g^T S^-1 R S^-1 g / g^T S^-1 g.
void SlotEstimator::raise_likelihood(Scratch& scratch, std::size_t filter_index, bool joint,
                                     double noise) noexcept {
    const EstimatorFilter& filter = plan_.filters[filter_index];
    const EstimatorKind& kind = filter.of(joint);
    const int width = kind.modes.columns();
    const int modes = kind.modes.modes();
    const int delays = 2 * filter.delays;
    correlate_modes(scratch, filter_index, joint);
    const double columns = 0.5 * filter.tiles * plan_.columns(joint);  // complex ones
    const double scale = noise / (double{state_.noise} * columns);
    for (double& power : std::span(scratch.of_delays).first(size(delays)))
        power += 0.5 * filter.floor * noise;
    double* const paths = scratch.paths.data();
    write_paths(filter, kind, paths);
    double* const solved = &scratch.matrix[size(modes * width)];
    double* const products = scratch.products.data();
    for (int step = 0; step < filter.likelihood_steps && state_.noise > 0.0F; ++step) {
        add_powers(scratch, filter, 0.0);
        weight_rows(scratch, filter, kind, modes);
        multiply_rows(scratch, filter, kind, kind.modes, 0);
        add_noise(scratch, kind, noise);
        std::copy_n(paths, size(delays * width), solved);
        kernels_.eliminate(scratch.matrix.data(), width, modes + delays, kind.pivot_columns.data(), modes);
        kernels_.multiply_exactly(scratch.correlation.data(), width, width, solved, width, products, width,
                                  delays, width);
        for (int delay = 0; delay < delays; delay += 2) {
            std::array<double, 2> measured{};
            std::array<double, 2> expected{};
            for (int mode = 0; mode < modes; ++mode) {
                for (const int i : {0, 1}) {
                    const auto at = size((delay + i) * width + kind.modes.column_of(mode));
                    measured[size(i)] += products[at] * solved[at];
                    expected[size(i)] += solved[at] * paths[at];
                }
            }
            for (const int i : {0, 1})
                scratch.of_delays[size(delay + i)] *= measured[size(i)] * scale / expected[size(i)];
        }
    }
}

}  // namespace phy::detail
