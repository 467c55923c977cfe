// docs/developer/estimator.md explains windows, tiles and modes.
#include "phy/estimator/math/filter.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numbers>
#include <span>
#include <utility>

#include "phy/numerics/elementary.hpp"
#include "phy/numerics/matrix.hpp"

namespace phy::detail {
namespace {

constexpr double pi = std::numbers::pi;

// Gauss-Legendre quadrature: nodes per phase of pi at the end of the band, further nodes, and Newton's method
// for them.
constexpr double nodes_of_phase = 0.55;
constexpr int min_nodes = 24;
constexpr int max_newton_steps = 100;  // a few are enough
constexpr double node_error = 1e-15;

// Delay spreads of filters for measured spreads: 20 ns to 1.9 us at a spacing of 30 kHz.
constexpr double first_spread = 20e-9 * 30e3;
constexpr double end_of_spreads = 1.9e-6 * 30e3;

/// Resource blocks of a window times delay spread: less is worse at the edges of windows, more needs more
/// modes.
constexpr double window_product = 0.192;
constexpr int min_window_blocks = 24;

constexpr double longest_delay = 16.0;         // of the profile, in delay spreads
constexpr double smallest_eigenvalue = 1e-13;  // over the largest; smaller ones are rounding errors
constexpr double weakest_mode = 3e-6;          // of U: far below the noise at 45 dB
constexpr double weakest_tile_power = 3e-7;    // of V: power that its modes miss, for a channel of power 1
constexpr int noise_one_of = 8;                // min share of pilots left to measure noise: 1 / 8
constexpr double largest_tail = 0.1;           // if it is larger, noise is not measured
constexpr double noise_of_interest = 1e-4;     // over power: reference for the rest of the channel

/// The exponential profile as a sum of delays and powers, by Gauss-Legendre quadrature.
struct Profile {
    std::vector<double> delays;
    std::vector<double> powers;
    std::vector<double> likely;  ///< powers for the likely delay spread
};

void normalize(std::vector<double>& powers) {
    const double sum = sum_of(powers);
    for (double& power : powers)
        power /= sum;
}

Profile make_profile(double delay_spread, double likely_spread, double band) {
    const double end = longest_delay * delay_spread;
    const int n = static_cast<int>(nodes_of_phase * pi * band * end) + min_nodes;
    const double steeper = 1.0 / likely_spread - 1.0 / delay_spread;
    Profile profile;
    for (int i = 0; i < n; ++i) {
        double x = elementary::cos(pi * (i + 0.75) / (n + 0.5));
        double slope = 1.0;
        for (int step = 0; step < max_newton_steps; ++step) {
            double p0 = 1.0;
            double p1 = x;
            for (int k = 2; k <= n; ++k)
                p0 = std::exchange(p1, ((2 * k - 1) * x * p1 - (k - 1) * p0) / k);
            slope = n * (x * p1 - p0) / (x * x - 1.0);
            const double change = p1 / slope;
            x -= change;
            if (std::abs(change) < node_error) break;
        }
        const double delay = 0.5 * end * (1.0 + x);
        const double power = elementary::exp(-delay / delay_spread) / ((1.0 - x * x) * slope * slope);
        profile.delays.push_back(delay);
        profile.powers.push_back(power);
        profile.likely.push_back(power * elementary::exp(-steeper * delay));
    }
    normalize(profile.likely);
    normalize(profile.powers);
    return profile;
}

/// Folded steering vectors of the delays at these positions, in subcarriers relative to their centre. They
/// are real.
Matrix folded_steering(const Profile& profile, const std::vector<double>& positions) {
    const std::size_t count = positions.size();
    const double centre = 0.5 * (positions.front() + positions.back());
    const std::size_t half = count / 2;
    Matrix steering(count, profile.delays.size());
    for (std::size_t d = 0; d < profile.delays.size(); ++d) {
        for (std::size_t k = 0; k < half; ++k) {
            const double angle = 2.0 * pi * (positions[k] - centre) * profile.delays[d];
            steering(k, d) = std::numbers::sqrt2 * elementary::cos(angle);
            steering(count - half + k, d) = -std::numbers::sqrt2 * elementary::sin(angle);
        }
        if (count % 2 != 0) steering(half, d) = 1.0;
    }
    return steering;
}

/// The modes of a diag(powers) a^T.
Decomposition modes_of(const Matrix& steering, std::span<const double> powers) {
    std::vector<double> roots(powers.begin(), powers.end());
    for (double& root : roots)
        root = std::sqrt(root);
    const Matrix a = scaled_columns(steering, roots);
    const bool by_rows = a.rows() <= a.columns();
    Decomposition result = decompose(squared(by_rows ? a : transposed(a)));
    if (by_rows) return result;
    const double least = smallest_eigenvalue * result.values[0];
    std::size_t usable = 0;
    while (usable < result.values.size() && result.values[usable] > least)
        ++usable;
    result.values.resize(usable);
    result.vectors.keep_columns(usable);
    std::vector<double> over_roots;
    for (const double value : result.values)
        over_roots.push_back(1.0 / std::sqrt(value));
    result.vectors = scaled_columns(product(a, result.vectors), over_roots);
    return result;
}

/// Positions of a window's pilots. Those of comb 0 come first: folding joins them with their mirrors, which
/// are in comb 1 if the window has both combs.
std::vector<double> pilot_positions(const EstimatorLayout& layout, int blocks, int combs) {
    std::vector<double> positions;
    for (int comb = 0; comb < combs; ++comb)
        for (int m = 0; m < blocks * layout.comb_pilots; ++m)
            positions.push_back(m * layout.spacing + comb * layout.comb_shift);
    return positions;
}

void set_tiles(EstimatorFilter& filter, int blocks, double delay_spread) {
    const int wanted = static_cast<int>(std::ceil(window_product / delay_spread));
    const int window = std::max(wanted, min_window_blocks);
    if (blocks <= window) {
        filter.window_blocks = blocks;
        filter.tile_blocks = blocks;
        filter.tiles.push_back({});
        return;
    }
    const int tiles = (2 * blocks + window - 1) / window;
    filter.tile_blocks = (blocks + tiles - 1) / tiles;
    filter.window_blocks = std::min(2 * filter.tile_blocks, blocks);
    std::map<int, int> variants;
    for (int t = 0; t * filter.tile_blocks < blocks; ++t) {
        EstimatorTile tile;
        tile.start = std::min(t * filter.tile_blocks, blocks - filter.tile_blocks);
        tile.skipped = t * filter.tile_blocks - tile.start;
        tile.window = std::clamp(tile.start - (filter.window_blocks - filter.tile_blocks) / 2, 0,
                                 blocks - filter.window_blocks);
        const int number = static_cast<int>(variants.size());
        tile.variant = variants.try_emplace(tile.start - tile.window, number).first->second;
        filter.tiles.push_back(tile);
    }
}

struct TileModes {
    Matrix steering;
    Matrix vectors;  ///< of the kept modes
};

TileModes set_synthesis(EstimatorFilter& filter, const Profile& profile) {
    std::vector<double> positions;
    for (int n = 0; n < filter.tile_subcarriers(); ++n)
        positions.push_back(n);
    TileModes tile = {folded_steering(profile, positions), {}};
    Decomposition all = modes_of(tile.steering, profile.powers);
    double missed = 0.0;
    std::size_t modes = all.values.size();
    while (modes > 1 &&
           missed + std::max(all.values[modes - 1], 0.0) < weakest_tile_power * filter.tile_subcarriers())
        missed += std::max(all.values[--modes], 0.0);
    tile.vectors = std::move(all.vectors);
    tile.vectors.keep_columns(modes);
    filter.tile_modes = static_cast<int>(modes);
    filter.mix_width = round_up(2 * filter.tile_modes, estimator_row_multiple);
    filter.tile_width = round_up(filter.tile_subcarriers(), estimator_row_multiple);
    const auto width = static_cast<std::size_t>(filter.tile_width);
    filter.synthesize.assign(modes * width, 0.0F);
    for (std::size_t i = 0; i < modes; ++i)
        for (std::size_t n = 0; n < tile.vectors.rows(); ++n)
            filter.synthesize[i * width + n] = static_cast<float>(tile.vectors(n, i) / std::numbers::sqrt2);
    return tile;
}

/// The window's part of M.
struct WindowModes {
    Matrix steering;
    Decomposition modes;
};

/// The real and the imaginary part of M.
struct Mixing {
    Matrix real;
    Matrix imaginary;
};

Matrix first_vectors(const WindowModes& window, int count) {
    Matrix vectors = window.modes.vectors;
    vectors.keep_columns(static_cast<std::size_t>(count));
    return vectors;
}

/// Writes (2 modes, mix_width): rows for the real parts of the modes of pilots, then for the imaginary parts.
void write_mix(const Mixing& m, const EstimatorFilter& filter, int modes, float* to) {
    const auto width = static_cast<std::size_t>(filter.mix_width);
    const auto tile_modes = static_cast<std::size_t>(filter.tile_modes);
    const auto window_modes = static_cast<std::size_t>(modes);
    for (std::size_t i = 0; i < window_modes; ++i) {
        float* const of_real = to + i * width;
        float* const of_imaginary = to + (window_modes + i) * width;
        for (std::size_t j = 0; j < tile_modes; ++j) {
            of_real[j] = static_cast<float>(m.real(j, i));
            of_real[tile_modes + j] = static_cast<float>(m.imaginary(j, i));
            of_imaginary[j] = static_cast<float>(-m.imaginary(j, i));
            of_imaginary[tile_modes + j] = static_cast<float>(m.real(j, i));
        }
    }
}

/// tile_modes and window_modes: of the delays, (modes, delays) and (delays, modes).
Mixing mixing(const Matrix& tile_modes, const Matrix& window_modes, const Profile& profile,
              double centre_distance) {
    std::vector<double> in_phase;
    std::vector<double> across;
    for (std::size_t d = 0; d < profile.delays.size(); ++d) {
        const double angle = -2.0 * pi * centre_distance * profile.delays[d];
        in_phase.push_back(profile.powers[d] * elementary::cos(angle));
        across.push_back(profile.powers[d] * elementary::sin(angle));
    }
    return {product(tile_modes, scaled_rows(window_modes, in_phase)),
            product(tile_modes, scaled_rows(window_modes, across))};
}

void set_projection(EstimatorModes& modes, const WindowModes& window, double ports) {
    const std::vector<double>& values = window.modes.values;
    const std::size_t pilots = window.steering.rows();
    std::size_t count = 0;
    while (count < values.size() && ports * values[count] > weakest_mode)
        ++count;
    modes.pilots = static_cast<int>(pilots);
    modes.modes = static_cast<int>(count);
    modes.width = round_up(modes.modes, estimator_row_multiple);
    const auto width = static_cast<std::size_t>(modes.width);
    modes.project.assign(pilots * width, 0.0F);
    modes.lambda.assign(width, 1.0F);
    for (std::size_t i = 0; i < count; ++i) {
        modes.lambda[i] = static_cast<float>(ports * values[i]);
        for (std::size_t k = 0; k < pilots; ++k)
            modes.project[k * width + i] =
                static_cast<float>(window.modes.vectors(k, i) / std::numbers::sqrt2);
    }
}

/// The mean power of each of the window's first modes.
std::vector<double> powers_of_modes(const WindowModes& window, int modes, std::span<const double> powers) {
    const Matrix amplitudes = product(transposed(first_vectors(window, modes)), window.steering);
    std::vector<double> result(amplitudes.rows(), 0.0);
    for (std::size_t d = 0; d < powers.size(); ++d)
        for (std::size_t i = 0; i < result.size(); ++i)
            result[i] += amplitudes(i, d) * amplitudes(i, d) * powers[d];
    return result;
}

/// Chooses the modes that hold the channel. One mode more leaves fewer numbers to measure noise with. One
/// mode less leaves more of the channel in them: its likely mean is subtracted, but a profile that does not
/// fit may leave up to as much as the filter's own. columns: how often a slot has each pilot.
void set_noise_modes(EstimatorModes& modes, const WindowModes& window, const Profile& profile, double ports,
                     int columns) {
    const int max_modes = std::min(modes.modes, modes.pilots - std::max(1, modes.pilots / noise_one_of));
    const auto tail = [&](std::span<const double> powers, int first) {
        const std::span<const double> beyond =
            powers.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(modes.modes - first));
        return sum_of(beyond) / (modes.pilots - first);
    };
    const std::vector<double>& values = window.modes.values;
    const auto squared_error = [&](int first) {
        const double of_channel = tail(values, first) / noise_of_interest;
        return 1.0 / (columns * (modes.pilots - first)) + of_channel * of_channel;
    };
    modes.keep.assign(static_cast<std::size_t>(modes.width), 0.0F);
    modes.noise_modes = max_modes;
    if (max_modes < 1 || tail(values, max_modes) > largest_tail) {
        modes.noise_modes = modes.pilots;
        std::fill_n(modes.keep.begin(), modes.modes, 1.0F);
        return;
    }
    while (modes.noise_modes > 1 && squared_error(modes.noise_modes - 1) < squared_error(modes.noise_modes))
        --modes.noise_modes;
    std::fill_n(modes.keep.begin(), modes.noise_modes, 1.0F);
    const std::vector<double> likely = powers_of_modes(window, modes.modes, profile.likely);
    modes.tail = static_cast<float>(ports * tail(likely, modes.noise_modes));
}

/// Makes M and the errors of all tiles and groups.
void set_mix(EstimatorFilter& filter, EstimatorModes& modes, const EstimatorLayout& layout,
             const Profile& profile, const TileModes& tile, const WindowModes& window, bool joint) {
    std::vector<int> distances;
    for (const EstimatorTile& each : filter.tiles)
        if (each.variant == static_cast<int>(distances.size())) distances.push_back(each.start - each.window);
    const int combs = joint ? 2 : 1;
    const double ports = joint ? 2.0 : 1.0;
    const double last = filter.window_blocks * subcarriers_per_resource_block - layout.spacing +
                        (joint ? 0 : layout.comb_shift);
    const std::size_t size =
        2 * static_cast<std::size_t>(modes.modes) * static_cast<std::size_t>(filter.mix_width);
    const std::size_t groups = layout.groups.size();
    modes.mix.assign(distances.size() * groups * static_cast<std::size_t>(combs) * size, 0.0F);
    std::vector<double> error(static_cast<std::size_t>(modes.width), 0.0);
    double unresolved = 1.0;
    float* to = modes.mix.data();
    const Matrix tile_modes = product(transposed(tile.vectors), tile.steering);
    const Matrix window_modes = product(transposed(window.steering), first_vectors(window, modes.modes));
    for (std::size_t variant = 0; variant < distances.size(); ++variant) {
        const auto uses = std::count_if(filter.tiles.begin(), filter.tiles.end(), [&](const auto& each) {
            return each.variant == static_cast<int>(variant);
        });
        const double share = static_cast<double>(uses) / static_cast<double>(filter.tiles.size() * groups);
        const double tile_centre =
            subcarriers_per_resource_block * distances[variant] + 0.5 * (filter.tile_subcarriers() - 1);
        for (std::size_t i = 0; i < groups * static_cast<std::size_t>(combs); ++i, to += size) {
            const auto [group, comb] = std::div(static_cast<int>(i), combs);
            const double pilot_centre =
                layout.groups[static_cast<std::size_t>(group)] + comb * layout.comb_shift + 0.5 * last;
            const Mixing m = mixing(tile_modes, window_modes, profile, tile_centre - pilot_centre);
            write_mix(m, filter, modes.modes, to);
            for (std::size_t k = 0; k < static_cast<std::size_t>(modes.modes); ++k) {
                const double squared_norm = dot(m.real.column(k), m.real.column(k)) +
                                            dot(m.imaginary.column(k), m.imaginary.column(k));
                const double part =
                    squared_norm / (ports * window.modes.values[k]) / filter.tile_subcarriers();
                error[k] += share * part;
                unresolved -= share * part;
            }
        }
    }
    modes.unresolved = static_cast<float>(std::max(unresolved, 0.0));
    modes.error.assign(error.begin(), error.end());
}

void set_modes(EstimatorFilter& filter, const EstimatorLayout& layout, const Profile& profile,
               const TileModes& tile, bool joint) {
    EstimatorModes& modes = filter.kinds[joint ? 1 : 0];
    WindowModes window;
    window.steering = folded_steering(profile, pilot_positions(layout, filter.window_blocks, joint ? 1 : 2));
    window.modes = modes_of(window.steering, profile.powers);
    const int columns = layout.antennas * layout.estimates * (joint ? 2 : 1);
    set_projection(modes, window, joint ? 2.0 : 1.0);
    set_noise_modes(modes, window, profile, joint ? 2.0 : 1.0, columns);
    set_mix(filter, modes, layout, profile, tile, window, joint);
}

}  // namespace

EstimatorFilter make_estimator_filter(const EstimatorLayout& layout, int blocks, double delay_spread,
                                      double likely_spread) {
    EstimatorFilter filter;
    set_tiles(filter, blocks, delay_spread);
    const Profile profile =
        make_profile(delay_spread, likely_spread, filter.window_blocks * subcarriers_per_resource_block);
    const TileModes tile = set_synthesis(filter, profile);
    const auto has = [&](bool joint) {
        return std::any_of(layout.streams.begin(), layout.streams.end(),
                           [&](const EstimatorStream& stream) { return stream.joint() == joint; });
    };
    if (has(true)) set_modes(filter, layout, profile, tile, true);
    if (has(false)) set_modes(filter, layout, profile, tile, false);
    return filter;
}

std::vector<double> estimator_delay_spreads() {
    std::vector<double> spreads;
    for (double spread = first_spread; spread < end_of_spreads; spread *= std::numbers::sqrt2)
        spreads.push_back(spread);
    return spreads;
}

}  // namespace phy::detail
