// docs/developer/estimator.md explains windows, tiles and modes.
#include "phy/estimator/math/filter.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>

#include "phy/numerics/elementary.hpp"
#include "phy/numerics/matrix.hpp"

namespace phy::detail {
namespace {

constexpr double pi = std::numbers::pi;

constexpr int max_window_blocks = 24;
constexpr int tile_blocks = 14;  // in the middle of a window
constexpr int margin_blocks = (max_window_blocks - tile_blocks) / 2;
constexpr int edge_blocks = max_window_blocks - margin_blocks;  // that a window at an end of a range writes

constexpr double weakest_mode = 3e-6;        // of U, for a flat profile of power 1
constexpr double weakest_tile_power = 1e-6;  // of V: power that its modes miss
constexpr int delays_of_cell = 3;            // a cell is the reciprocal of a window's band
constexpr int noise_one_of = 8;              // min share of pilots left to measure noise: 1 / 8
constexpr double floor_of_noise = 0.1;       // power of a cell, over the noise of the measured profile

/// Longer windows would gain less and cost more.
int likelihood_steps_of(int window_blocks) {
    if (window_blocks <= 6) return 4;
    return window_blocks <= 12 ? 2 : 0;
}

std::size_t size(int count) {
    return static_cast<std::size_t>(count);
}

double sinc(double x) {
    return x == 0.0 ? 1.0 : elementary::sin(pi * x) / (pi * x);
}

/// Positions at or before the middle, in subcarriers relative to it; the others mirror them.
struct Positions {
    std::vector<double> before;
    int count = 0;

    [[nodiscard]] bool has_middle() const { return count % 2 != 0; }
    [[nodiscard]] std::size_t of_parity(int parity) const { return size((count + 1 - parity) / 2); }
};

/// Positions of a window's pilots. Those of comb 0 come first: folding joins them with their mirrors, which
/// are in comb 1 if the window has both combs.
Positions pilot_positions(const EstimatorLayout& layout, int blocks, bool joint) {
    const int of_comb = blocks * layout.comb_pilots;
    const int last = (of_comb - 1) * layout.spacing + (joint ? 0 : layout.comb_shift);
    Positions positions;
    positions.count = joint ? of_comb : 2 * of_comb;
    for (std::size_t i = 0; i < positions.of_parity(0); ++i)
        positions.before.push_back(static_cast<double>(i) * layout.spacing - 0.5 * last);
    return positions;
}

/// A flat profile and its weight in a sum of them.
struct FlatProfile {
    double extent;
    double weight;
};

/// Modes of one parity of a sum of flat profiles, in folded coordinates, and their eigenvalues.
Decomposition modes_of(const Positions& positions, int parity, std::span<const FlatProfile> profiles) {
    const std::size_t n = positions.of_parity(parity);
    const double sign = parity == 0 ? 1.0 : -1.0;
    Matrix correlation(n, n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < n; ++k) {
            const double a = positions.before[i];
            const double b = positions.before[k];
            double scale = 1.0;
            for (const std::size_t at : {i, k})
                if (positions.has_middle() && parity == 0 && at + 1 == n) scale *= std::numbers::sqrt2 * 0.5;
            for (const auto& [extent, weight] : profiles)
                correlation(i, k) +=
                    weight * scale * (sinc(extent * (a - b)) + sign * sinc(extent * (a + b)));
        }
    if (n == 0) return {};
    return decompose(correlation);
}

struct BothModes {
    std::array<Decomposition, 2> of;  ///< even, odd
};

BothModes modes_of(const Positions& positions, std::span<const FlatProfile> profiles) {
    return {{modes_of(positions, 0, profiles), modes_of(positions, 1, profiles)}};
}

BothModes flat_modes(const Positions& positions, double extent) {
    const FlatProfile profile = {.extent = extent, .weight = 1.0};
    return modes_of(positions, {&profile, 1});
}

/// Modes of few pilots. The weakest one alone may measure the noise. That of a flat profile holds almost as
/// much of a much shorter profile.
BothModes modes_of_few(const Positions& positions, double extent) {
    std::array<FlatProfile, 4> profiles{};
    double part = 1.0;
    for (FlatProfile& profile : profiles) {
        profile = {.extent = part * extent, .weight = 1.0 / (part * part * part)};
        part *= 0.5;
    }
    return modes_of(positions, profiles);
}

/// Counts modes, the strongest first, until `enough` returns true for the next one's eigenvalue.
template <typename Enough>
std::array<int, 2> strongest(const BothModes& modes, const Enough& enough) {
    std::array<int, 2> counts{};
    for (;;) {
        int best = -1;
        double value = 0.0;
        for (const int parity : {0, 1}) {
            const std::vector<double>& values = modes.of[size(parity)].values;
            const std::size_t next = size(counts[size(parity)]);
            if (next >= values.size() || (best >= 0 && values[next] <= value)) continue;
            best = parity;
            value = values[next];
        }
        if (best < 0 || enough(value, counts[0] + counts[1])) return counts;
        ++counts[size(best)];
    }
}

/// Element of a folded steering vector.
double steering(const Positions& positions, int parity, std::size_t i, double delay) {
    if (positions.has_middle() && parity == 0 && i + 1 == positions.of_parity(0)) return 1.0;
    const double turns = positions.before[i] * delay;
    return std::numbers::sqrt2 *
           (parity == 0 ? elementary::turn(turns).real() : -elementary::turn(turns).imag());
}

/// The modes on paths: (delays, modes), even ones first.
Matrix on_paths(const Positions& positions, const BothModes& modes, const std::array<int, 2>& counts,
                const std::vector<double>& delays) {
    Matrix result(delays.size(), size(counts[0] + counts[1]));
    for (const int parity : {0, 1}) {
        const std::size_t n = positions.of_parity(parity);
        Matrix paths(delays.size(), n);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t d = 0; d < delays.size(); ++d)
                paths(d, i) = steering(positions, parity, i, delays[d]);
        Matrix vectors = modes.of[size(parity)].vectors;
        vectors.keep_columns(size(counts[size(parity)]));
        if (counts[size(parity)] == 0) continue;
        const Matrix some = product(paths, vectors);
        for (std::size_t k = 0; k < some.columns(); ++k)
            std::copy(some.column(k).begin(), some.column(k).end(),
                      result.column(k + (parity == 0 ? 0 : size(counts[0]))).begin());
    }
    return result;
}

void append_rows(std::vector<double>& to, const Matrix& on_paths) {
    for (std::size_t k = 0; k < on_paths.columns(); ++k)
        to.insert(to.end(), on_paths.column(k).begin(), on_paths.column(k).end());
}

/// U on paths as columns, even and odd ones rounded up.
std::vector<double> padded_columns(const Matrix& on_paths, const EstimatorModes& modes) {
    const std::size_t width = size(modes.columns());
    std::vector<double> result(on_paths.rows() * width, 0.0);
    for (std::size_t d = 0; d < on_paths.rows(); ++d)
        for (std::size_t k = 0; k < on_paths.columns(); ++k)
            result[d * width + size(modes.column_of(static_cast<int>(k)))] = on_paths(d, k);
    return result;
}

/// Chooses the modes that hold the channel; the others measure noise.
void set_keep(EstimatorKind& kind, const BothModes& modes) {
    const int most = std::min(kind.modes.modes(), kind.pilots - std::max(1, kind.pilots / noise_one_of));
    const std::array<int, 2> counts = strongest(modes, [&](double, int before) { return before >= most; });
    kind.keep.assign(size(kind.modes.width()), 0.0F);
    for (const int parity : {0, 1})
        std::fill_n(kind.keep.begin() + (parity == 0 ? 0 : kind.modes.part(0)), counts[size(parity)], 1.0F);
    kind.noise_modes = most;
}

void set_projection(EstimatorKind& kind, const Positions& positions, const BothModes& modes) {
    kind.pilots = positions.count;
    const std::size_t width = size(kind.modes.width());
    kind.project.assign(size(kind.pilots) * width, 0.0F);
    for (const int parity : {0, 1}) {
        const std::size_t first_row = parity == 0 ? 0 : positions.of_parity(0);
        const std::size_t first = parity == 0 ? 0 : size(kind.modes.part(0));
        for (std::size_t k = 0; k < size(kind.modes.counts[size(parity)]); ++k)
            for (std::size_t i = 0; i < positions.of_parity(parity); ++i)
                kind.project[(first_row + i) * width + first + k] =
                    static_cast<float>(modes.of[size(parity)].vectors(i, k) / std::numbers::sqrt2);
    }
    set_keep(kind, modes);
}

/// For resource blocks `first` to `end` of a window. Combs begin up to max_offset subcarriers after the
/// first of the window.
void add_shape(EstimatorKind& kind, const Positions& pilots, int first, int end, int max_offset,
               double extent, const std::vector<double>& delays) {
    EstimatorTileShape shape;
    const double middle = -pilots.before.front();
    const double half = std::max(middle - (first * subcarriers_per_resource_block - max_offset),
                                 end * subcarriers_per_resource_block - 1 - middle);
    Positions positions;
    positions.count = static_cast<int>(2.0 * half) + 1;
    for (std::size_t i = 0; i < positions.of_parity(0); ++i)
        positions.before.push_back(static_cast<double>(i) - half);
    shape.positions = positions.count;
    shape.begin = static_cast<int>(std::lround(middle - half));
    const BothModes modes = flat_modes(positions, extent);
    double missed = 0.0;
    for (const Decomposition& each : modes.of)
        missed += sum_of(each.values);
    const double allowed = weakest_tile_power * missed;
    shape.modes.counts = strongest(modes, [&](double value, int) {
        if (missed < allowed) return true;
        missed -= value;
        return false;
    });
    shape.half_width = round_up((positions.count + 1) / 2, estimator_row_multiple);
    shape.synthesize.assign(size(shape.modes.modes() * shape.half_width), 0.0F);
    float* to = shape.synthesize.data();
    for (const int parity : {0, 1})
        for (std::size_t k = 0; k < size(shape.modes.counts[size(parity)]); ++k, to += shape.half_width)
            for (std::size_t i = 0; i < positions.of_parity(parity); ++i) {
                const bool is_middle =
                    positions.has_middle() && parity == 0 && i + 1 == positions.of_parity(0);
                to[i] = static_cast<float>(modes.of[size(parity)].vectors(i, k) /
                                           (is_middle ? 1.0 : std::numbers::sqrt2));
            }
    const Matrix paths = on_paths(positions, modes, shape.modes.counts, delays);
    append_rows(kind.steering, paths);
    for (std::size_t d = 0; d < delays.size(); ++d) {
        double power = 0.0;
        for (std::size_t k = 0; k < paths.columns(); ++k)
            power += paths(d, k) * paths(d, k);
        shape.power.push_back(power / positions.count);
    }
    shape.first_row = kind.rows;
    kind.rows += shape.modes.modes();
    kind.shapes.push_back(std::move(shape));
}

void set_kind(EstimatorFilter& filter, const EstimatorLayout& layout, bool joint, double extent,
              const std::vector<double>& delays, bool has_middle) {
    EstimatorKind& kind = filter.kinds[joint ? 1 : 0];
    const Positions pilots = pilot_positions(layout, filter.window_blocks, joint);
    BothModes modes = flat_modes(pilots, extent);
    kind.modes.counts = strongest(modes, [&](double value, int) { return value < weakest_mode; });
    if (filter.likelihood_steps > 0) modes = modes_of_few(pilots, extent);
    set_projection(kind, pilots, modes);
    const Matrix paths = on_paths(pilots, modes, kind.modes.counts, delays);
    for (int mode = 0; mode < kind.modes.modes(); ++mode)
        kind.pivot_columns.push_back(kind.modes.column_of(mode));
    kind.columns = padded_columns(paths, kind.modes);
    append_rows(kind.steering, paths);
    const int max_offset =
        *std::max_element(layout.groups.begin(), layout.groups.end()) + (joint ? layout.comb_shift : 0);
    add_shape(kind, pilots, 0, filter.window_blocks, max_offset, extent, delays);
    if (has_middle)
        add_shape(kind, pilots, margin_blocks, filter.window_blocks - margin_blocks, max_offset, extent,
                  delays);
}

/// Each bin of the profile goes to the two delays beside it.
void set_deposits(EstimatorFilter& filter, const EstimatorProfile& profile, const EstimatorLayout& layout,
                  double extent) {
    const int all = 2 * filter.delays;
    const int middle = (profile.extent - 1) / 2;
    std::vector<std::vector<std::pair<int, double>>> bins(size(all));
    for (int i = 0; i < profile.extent; ++i) {
        const double delay = (i - middle) / (static_cast<double>(profile.bins) * layout.spacing);
        const double at = std::clamp(delay / extent * all + filter.delays - 0.5, 0.0, all - 1.0);
        const int left = std::min(static_cast<int>(at), all - 2);
        bins[size(left)].emplace_back(i, left + 1 - at);
        bins[size(left) + 1].emplace_back(i, at - left);
    }
    for (const auto& of_delay : bins) {
        filter.deposits.push_back({.first = of_delay.empty() ? 0 : of_delay.front().first,
                                   .count = static_cast<int>(of_delay.size()),
                                   .weights = static_cast<int>(filter.deposit_weights.size())});
        for (const auto& [bin, weight] : of_delay)
            filter.deposit_weights.push_back(weight);
    }
}

}  // namespace

int estimator_window_blocks(int blocks) {
    return std::min(blocks, max_window_blocks);
}

std::vector<EstimatorTile> estimator_tiles(int blocks) {
    if (blocks <= max_window_blocks) return {{.blocks = blocks}};
    std::vector<EstimatorTile> tiles;
    const int at_end = std::min(edge_blocks, (blocks + 1) / 2);
    tiles.push_back({.blocks = at_end});
    int next = at_end;
    for (; next < blocks - at_end; next = tiles.back().first + tiles.back().blocks) {
        const int start = std::min(next, blocks - margin_blocks - tile_blocks);
        const int end = std::min(start + tile_blocks, blocks - at_end);
        tiles.push_back({.window = start - margin_blocks, .shape = 1, .first = next, .blocks = end - next});
    }
    tiles.push_back({.window = blocks - max_window_blocks, .first = next, .blocks = blocks - next});
    return tiles;
}

EstimatorFilter make_estimator_filter(const EstimatorLayout& layout, const EstimatorProfile& profile,
                                      int blocks, double extent) {
    EstimatorFilter filter;
    filter.window_blocks = estimator_window_blocks(blocks);
    const double cells = extent * filter.window_blocks * subcarriers_per_resource_block;
    filter.delays = std::max(1, static_cast<int>(std::ceil(0.5 * delays_of_cell * cells)));
    std::vector<double> delays;
    for (int i = 0; i < filter.delays; ++i)
        delays.push_back((i + 0.5) * 0.5 * extent / filter.delays);
    const double observations = static_cast<double>(profile.transforms) * profile.pilots /
                                (filter.window_blocks * layout.comb_pilots);
    filter.floor = floor_of_noise * (cells / filter.delays) /
                   (filter.window_blocks * layout.comb_pilots * std::sqrt(observations));
    if (layout.shows_delays()) filter.likelihood_steps = likelihood_steps_of(filter.window_blocks);
    set_deposits(filter, profile, layout, extent);
    const bool has_middle = blocks > 2 * edge_blocks;
    for (const bool joint : {true, false})
        if (layout.kind_streams[joint ? 1 : 0] > 0)
            set_kind(filter, layout, joint, extent, delays, has_middle);
    return filter;
}

}  // namespace phy::detail
