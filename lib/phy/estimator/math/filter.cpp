#include "phy/estimator/math/filter.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numbers>

#include "phy/numerics/elementary.hpp"
#include "phy/numerics/matrix.hpp"

namespace phy::detail {
namespace {

using Eigen::Index;

constexpr double pi = std::numbers::pi;

/// Resource blocks of a window times delay spread: less loses at the edges of windows, more costs modes.
constexpr double window_product = 0.192;
constexpr int min_window_blocks = 24;

constexpr double longest_delay = 16.0;       // of the profile, in delay spreads
constexpr double weakest_mode = 3e-6;        // of U: far below the noise of 45 dB
constexpr double weakest_tile_power = 3e-7;  // of V: what its modes miss of a channel of power 1
constexpr double largest_tail = 0.1;         // at most
constexpr double noise_of_interest = 1e-4;   // over power: what is left of the channel is held against it

int round_up(int value, int multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/// The exponential profile as a sum: delays and their powers, by the rule of Gauss and Legendre.
struct Profile {
    Vector delays;
    Vector powers;
    Vector likely;  ///< powers, if the delay spread is the likely one
};

Profile make_profile(double delay_spread, double likely_spread, double band) {
    const double end = longest_delay * delay_spread;
    const int n = static_cast<int>(0.55 * pi * band * end) + 24;
    const double steeper = 1.0 / likely_spread - 1.0 / delay_spread;
    Profile profile = {Vector(n), Vector(n), Vector(n)};
    for (int i = 0; i < n; ++i) {
        double x = elementary::cos(pi * (i + 0.75) / (n + 0.5));
        double slope = 1.0;
        for (int step = 0; step < 100; ++step) {
            double p0 = 1.0;
            double p1 = x;
            for (int k = 2; k <= n; ++k)
                p0 = std::exchange(p1, ((2 * k - 1) * x * p1 - (k - 1) * p0) / k);
            slope = n * (x * p1 - p0) / (x * x - 1.0);
            const double change = p1 / slope;
            x -= change;
            if (std::abs(change) < 1e-15) break;
        }
        profile.delays[i] = 0.5 * end * (1.0 + x);
        profile.powers[i] =
            elementary::exp(-profile.delays[i] / delay_spread) / ((1.0 - x * x) * slope * slope);
        profile.likely[i] = profile.powers[i] * elementary::exp(-steeper * profile.delays[i]);
    }
    profile.likely /= sum_of(profile.likely);
    profile.powers /= sum_of(profile.powers);
    return profile;
}

/// Steering vectors of delays at `count` places `spacing` subcarriers apart, from their centre, folded: real.
Matrix folded_steering(const Profile& profile, const std::vector<double>& places) {
    const auto count = static_cast<Index>(places.size());
    const double centre = 0.5 * (places.front() + places.back());
    const Index half = count / 2;
    Matrix steering(count, profile.delays.size());
    for (Index d = 0; d < profile.delays.size(); ++d) {
        for (Index k = 0; k < half; ++k) {
            const double angle =
                2.0 * pi * (places[static_cast<std::size_t>(k)] - centre) * profile.delays[d];
            steering(k, d) = std::numbers::sqrt2 * elementary::cos(angle);
            steering(count - half + k, d) = -std::numbers::sqrt2 * elementary::sin(angle);
        }
        if (count % 2 != 0) steering(half, d) = 1.0;
    }
    return steering;
}

/// Of a diag(w) a^T.
Decomposition modes_of(const Matrix& steering, const Vector& powers) {
    const Matrix a = steering * powers.cwiseSqrt().asDiagonal();
    const bool by_rows = a.rows() <= a.cols();
    Decomposition result = decompose(by_rows ? product(a, a.transpose()) : product(a.transpose(), a));
    if (by_rows) return result;
    const double least = 1e-13 * result.values[0];
    Index usable = 0;
    while (usable < result.values.size() && result.values[usable] > least)
        ++usable;
    result.values.conservativeResize(usable);
    result.vectors =
        product(a, result.vectors.leftCols(usable)) * result.values.cwiseSqrt().cwiseInverse().asDiagonal();
    return result;
}

std::vector<double> comb_places(const EstimatorLayout& layout, int blocks, int first) {
    std::vector<double> places;
    for (int m = 0; m < blocks * layout.comb_pilots; ++m)
        places.push_back(first + m * layout.spacing);
    return places;
}

std::vector<double> pilot_places(const EstimatorLayout& layout, int blocks, int first) {
    std::vector<double> places;
    for (int m = 0; m < blocks * layout.comb_pilots; ++m) {
        places.push_back(first + m * layout.spacing);
        places.push_back(first + m * layout.spacing + layout.comb_shift);
    }
    return places;
}

/// All pilots are folded as fold() does: those of comb 0 with their mirrors in comb 1.
Matrix steering_of_pilots(const Profile& profile, const std::vector<double>& places) {
    const auto count = static_cast<Index>(places.size());
    const double centre = 0.5 * (places.front() + places.back());
    Matrix steering(count, profile.delays.size());
    for (Index d = 0; d < profile.delays.size(); ++d) {
        for (Index m = 0; m < count / 2; ++m) {
            const double angle =
                2.0 * pi * (places[static_cast<std::size_t>(2 * m)] - centre) * profile.delays[d];
            steering(m, d) = std::numbers::sqrt2 * elementary::cos(angle);
            steering(count / 2 + m, d) = -std::numbers::sqrt2 * elementary::sin(angle);
        }
    }
    return steering;
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
    Matrix vectors;  ///< of the modes that are kept
};

TileModes set_synthesis(EstimatorFilter& filter, const Profile& profile) {
    std::vector<double> places;
    for (int n = 0; n < filter.tile_subcarriers(); ++n)
        places.push_back(n);
    TileModes tile = {folded_steering(profile, places), {}};
    const Decomposition all = modes_of(tile.steering, profile.powers);
    double missed = 0.0;
    Index modes = all.values.size();
    while (modes > 1 &&
           missed + std::max(all.values[modes - 1], 0.0) < weakest_tile_power * filter.tile_subcarriers())
        missed += std::max(all.values[--modes], 0.0);
    tile.vectors = all.vectors.leftCols(modes);
    filter.tile_modes = static_cast<int>(modes);
    filter.mix_width = round_up(2 * filter.tile_modes, 16);
    filter.tile_width = round_up(filter.tile_subcarriers(), 16);
    const auto width = static_cast<std::size_t>(filter.tile_width);
    filter.synthesize.assign(static_cast<std::size_t>(modes) * width, 0.0F);
    for (Index i = 0; i < modes; ++i)
        for (Index n = 0; n < tile.vectors.rows(); ++n)
            filter.synthesize[static_cast<std::size_t>(i) * width + static_cast<std::size_t>(n)] =
                static_cast<float>(tile.vectors(n, i) / std::numbers::sqrt2);
    return tile;
}

/// What M needs beside the tile: pilots, at `centre` subcarriers from the window's first.
struct WindowModes {
    Matrix steering;
    Decomposition modes;
};

/// M, its real and its imaginary part.
struct Mixing {
    Matrix real;
    Matrix imaginary;
};

double squared_norm(const Mixing& m, Index column) {
    return sum_of(m.real.col(column).cwiseAbs2()) + sum_of(m.imaginary.col(column).cwiseAbs2());
}

/// (2 modes, mix_width) from on: rows for the real parts of pilots' modes, then for the imaginary ones.
void write_mix(const Mixing& m, const EstimatorFilter& filter, int modes, float* to) {
    const auto width = static_cast<std::size_t>(filter.mix_width);
    for (Index i = 0; i < modes; ++i) {
        float* const of_real = to + static_cast<std::size_t>(i) * width;
        float* const of_imaginary = to + static_cast<std::size_t>(modes + i) * width;
        for (Index j = 0; j < filter.tile_modes; ++j) {
            of_real[j] = static_cast<float>(m.real(j, i));
            of_real[filter.tile_modes + j] = static_cast<float>(m.imaginary(j, i));
            of_imaginary[j] = static_cast<float>(-m.imaginary(j, i));
            of_imaginary[filter.tile_modes + j] = static_cast<float>(m.real(j, i));
        }
    }
}

Mixing mixing(const TileModes& tile, const WindowModes& window, int modes, const Profile& profile,
              double centre_distance) {
    Vector in_phase(profile.delays.size());
    Vector across(profile.delays.size());
    for (Index d = 0; d < profile.delays.size(); ++d) {
        const double angle = -2.0 * pi * centre_distance * profile.delays[d];
        in_phase[d] = profile.powers[d] * elementary::cos(angle);
        across[d] = profile.powers[d] * elementary::sin(angle);
    }
    const Matrix left = product(tile.vectors.transpose(), tile.steering);
    const Matrix right = product(window.steering.transpose(), window.modes.vectors.leftCols(modes));
    return {product(left, in_phase.asDiagonal() * right), product(left, across.asDiagonal() * right)};
}

void set_projection(EstimatorModes& modes, const WindowModes& window, double ports) {
    const Vector& values = window.modes.values;
    modes.pilots = static_cast<int>(window.steering.rows());
    while (modes.modes < values.size() && ports * values[modes.modes] > weakest_mode)
        ++modes.modes;
    modes.width = round_up(modes.modes, 16);
    const auto width = static_cast<std::size_t>(modes.width);
    modes.project.assign(static_cast<std::size_t>(modes.pilots) * width, 0.0F);
    modes.lambda.assign(width, 1.0F);
    for (Index i = 0; i < modes.modes; ++i) {
        const auto at = static_cast<std::size_t>(i);
        modes.lambda[at] = static_cast<float>(ports * values[i]);
        for (Index k = 0; k < modes.pilots; ++k)
            modes.project[static_cast<std::size_t>(k) * width + at] =
                static_cast<float>(window.modes.vectors(k, i) / std::numbers::sqrt2);
    }
}

/// Which modes hold the channel. Every mode more leaves fewer numbers to measure noise from, every mode less
/// leaves more of the channel in them: its likely mean is subtracted, but a profile that does not fit may
/// leave anything up to the filter's own. columns: how often a slot shows each pilot.
void set_noise_modes(EstimatorModes& modes, const WindowModes& window, const Profile& profile, double ports,
                     int columns) {
    const int most = std::min(modes.modes, modes.pilots - std::max(1, modes.pilots / 8));
    const auto tail = [&](const Vector& powers, int first) {
        return sum_of(powers.segment(first, modes.modes - first)) / (modes.pilots - first);
    };
    const Vector& values = window.modes.values;
    const auto squared_error = [&](int first) {
        const double of_channel = tail(values, first) / noise_of_interest;
        return 1.0 / (columns * (modes.pilots - first)) + of_channel * of_channel;
    };
    modes.keep.assign(static_cast<std::size_t>(modes.width), 0.0F);
    modes.noise_modes = most;
    if (most < 1 || tail(values, most) > largest_tail) {
        modes.noise_modes = modes.pilots;
        std::fill_n(modes.keep.begin(), modes.modes, 1.0F);
        return;
    }
    while (modes.noise_modes > 1 && squared_error(modes.noise_modes - 1) < squared_error(modes.noise_modes))
        --modes.noise_modes;
    std::fill_n(modes.keep.begin(), modes.noise_modes, 1.0F);
    const Matrix amplitudes =
        product(window.modes.vectors.leftCols(modes.modes).transpose(), window.steering);
    const Vector likely = product(amplitudes.cwiseAbs2(), profile.likely);
    modes.tail = static_cast<float>(ports * tail(likely, modes.noise_modes));
}

/// M and the errors of all tiles and groups.
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
            const Mixing m = mixing(tile, window, modes.modes, profile, tile_centre - pilot_centre);
            write_mix(m, filter, modes.modes, to);
            for (Index k = 0; k < modes.modes; ++k) {
                const double part =
                    squared_norm(m, k) / (ports * window.modes.values[k]) / filter.tile_subcarriers();
                error[static_cast<std::size_t>(k)] += share * part;
                unresolved -= share * part;
            }
        }
    }
    modes.unresolved = static_cast<float>(std::max(unresolved, 0.0));
    modes.error.assign(error.begin(), error.end());
}

void set_modes(EstimatorFilter& filter, const EstimatorLayout& layout, const Profile& profile,
               const TileModes& tile, bool joint) {
    EstimatorModes& modes = joint ? filter.joint : filter.single;
    const int blocks = filter.window_blocks;
    WindowModes window;
    window.steering = joint ? folded_steering(profile, comb_places(layout, blocks, 0))
                            : steering_of_pilots(profile, pilot_places(layout, blocks, 0));
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
    for (double spread = 20e-9 * 30e3; spread < 1.9e-6 * 30e3; spread *= std::numbers::sqrt2)
        spreads.push_back(spread);
    return spreads;
}

}  // namespace phy::detail
