#include "phy/estimator/math/profile.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "phy/numerics/elementary.hpp"

namespace phy::detail {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double prefix = 9.0 / 128.0;
constexpr double prefixes = 1.5;           // pilots of type 2 tell apart no more than 2.4
constexpr double prefixes_of_block = 1.0;  // of one block, which shows no more
constexpr double prefixes_unseen = 0.5;    // of one block without shows_delays()
constexpr double extent_of_spread = 24.0;  // over a given delay spread
constexpr int max_window_blocks = 64;
constexpr int bins_of_cell = 4;  // a cell is the reciprocal of a window's band
constexpr int reach_in_cells = 6;
constexpr int steps_of_deconvolution = 8;

/// The power that a path has in a bin at some distance, for a taper of sum 1.
double leaked_power(const std::vector<double>& taper, double turns) {
    double re = 0.0;
    double im = 0.0;
    for (std::size_t m = 0; m < taper.size(); ++m) {
        const std::complex<double> at = elementary::turn(turns * static_cast<double>(m));
        re += taper[m] * at.real();
        im += taper[m] * at.imag();
    }
    return re * re + im * im;
}

int length_of(const EstimatorRange& range) {
    const int windows = (range.blocks + max_window_blocks - 1) / max_window_blocks;
    return range.blocks / windows;
}

/// All windows have one length: that with most blocks in windows times blocks of a window.
int window_blocks_of(const EstimatorLayout& layout) {
    int best = 0;
    long most = 0;
    for (const EstimatorRange& of_length : layout.ranges) {
        const int length = length_of(of_length);
        long covered = 0;
        for (const EstimatorRange& range : layout.ranges)
            covered += static_cast<long>(range.blocks / length) * length;
        if (covered * length <= most) continue;
        most = covered * length;
        best = length;
    }
    return best;
}

int transform_size(int pilots) {
    int size = std::max(pilots * bins_of_cell, 12);
    while (!has_small_factors(static_cast<std::size_t>(size)))
        size += 4;
    return size;
}

}  // namespace

double estimator_extent(const ChannelEstimatorConfig& config, const EstimatorLayout& layout) {
    const double of_block = layout.shows_delays() ? prefixes_of_block : prefixes_unseen;
    const double extent = prefix * (layout.longest_range() == 1 ? of_block : prefixes);
    if (!config.delay_spread) return extent;
    return std::min(extent, extent_of_spread * double{*config.delay_spread} * config.subcarrier_spacing);
}

EstimatorProfile::EstimatorProfile(const EstimatorLayout& layout, double max_extent)
    : EstimatorProfileShape() {
    const int blocks = window_blocks_of(layout);
    pilots = blocks * layout.comb_pilots;
    for (const EstimatorRange& range : layout.ranges)
        for (int i = 0; i < range.blocks / blocks; ++i)
            at.push_back({range.offset + i * pilots});
    windows = static_cast<int>(at.size());
    transforms = layout.antennas * layout.streams_count * 2 * windows;
    bins = transform_size(pilots);
    const double all = static_cast<double>(bins) * layout.spacing;
    extent = std::min(2 * static_cast<int>(0.5 * max_extent * all) + 1, (bins - 1) / 2 * 2 + 1);
    cell = (bins + pilots - 1) / pilots;
    reach = std::min(reach_in_cells * cell, extent - 1);
    steps = blocks == 1 ? 0 : steps_of_deconvolution;
    const double deviation = 1.0 / std::sqrt(static_cast<double>(transforms));
    over_estimates = static_cast<float>(1.0 / layout.estimates);
    threshold = static_cast<float>(1.0 + 4.0 * deviation);
    margin = static_cast<float>(deviation);
    bin_delay = static_cast<float>(1.0 / all);

    std::vector<double> hann;
    double sum = 0.0;
    for (int m = 0; m < pilots; ++m) {
        const double sine = elementary::sin(pi * (m + 0.5) / pilots);
        hann.push_back(sine * sine);
        sum += hann.back();
    }
    double squares = 0.0;
    for (double& weight : hann) {
        weight /= sum;
        squares += weight * weight;
    }
    noise_share = static_cast<float>(squares / layout.estimates);
    taper.assign(static_cast<std::size_t>(layout.comb_stride), 0.0F);
    for (const EstimatorWindow& window : at)
        for (std::size_t m = 0; m < hann.size(); ++m)
            taper[static_cast<std::size_t>(window.first) + m] = static_cast<float>(hann[m]);

    std::vector<double> leaked;
    for (int i = 0; i <= reach; ++i)
        leaked.push_back(leaked_power(hann, static_cast<double>(i) / bins));
    double all_leaked = 0.0;
    for (int i = -reach; i <= reach; ++i) {
        const double power = leaked[static_cast<std::size_t>(std::abs(i))];
        kernel.push_back(static_cast<float>(power));
        all_leaked += power;
    }
    over_kernel = static_cast<float>(1.0 / all_leaked);
    for (int i = 0; i < extent; ++i) {
        double reached = 0.0;
        for (int k = std::max(0, i - reach); k <= std::min(extent - 1, i + reach); ++k)
            reached += leaked[static_cast<std::size_t>(std::abs(k - i))];
        over_reached.push_back(static_cast<float>(1.0 / reached));
    }
}

}  // namespace phy::detail
