// A slot estimator's power-delay profile: where its extent begins, and its powers without the taper's leaks.

#include "phy/estimator/math/profile-inl.h"

#include <algorithm>
#include <array>

#include "phy/estimator/host/slot.hpp"
#include "phy/reduce/lanes.hpp"

namespace phy::detail {
namespace {

using scalar::Ops;

std::size_t size(int count) {
    return static_cast<std::size_t>(count);
}

/// The sum of `count` neighbours, for the first of them at every bin, circularly: from sums of 1, 2, 4 ...
/// bins. doubled: workspace (2, bins).
void sum_neighbours(const float* powers, int bins, int count, float* doubled, float* sums) {
    float* now = doubled;
    float* next = doubled + bins;
    std::copy_n(powers, bins, now);
    std::fill_n(sums, bins, 0.0F);
    int offset = 0;
    for (int length = 1; length <= count; length *= 2) {
        if ((count & length) != 0) {
            for (int b = 0; b < bins - offset; ++b)
                sums[b] = Ops::add(sums[b], now[b + offset]);
            for (int b = bins - offset; b < bins; ++b)
                sums[b] = Ops::add(sums[b], now[b + offset - bins]);
            offset += length;
        }
        if (2 * length > count) break;
        for (int b = 0; b < bins - length; ++b)
            next[b] = Ops::add(now[b], now[b + length]);
        for (int b = bins - length; b < bins; ++b)
            next[b] = Ops::add(now[b], now[b + length - bins]);
        std::swap(now, next);
    }
}

}  // namespace

void SlotEstimator::measure_profile() noexcept {
    const EstimatorProfile& profile = plan_.profile;
    const std::size_t rows = size(plan_.layout.antennas) * plan_.layout.streams.size();
    each(rows, [&](Scratch&, std::size_t row) noexcept { taper_row(row); });
    std::fill(bins_.begin(), bins_.end(), 0.0F);
    for (std::size_t first = 0; first < size(profile.transforms); first += fft_.lanes)
        transform(first);
    for (std::size_t b = 0; b < size(profile.bins); ++b)
        powers_[b] = sum_of_lanes<estimator_transform_lanes>(&bins_[b * estimator_transform_lanes]);
    place_extent();
}

void SlotEstimator::taper_row(std::size_t row) noexcept {
    const SplitComplex taper = {taper_.data(), taper_.data() + plan_.layout.comb_stride};
    for (int comb = 0; comb < 2; ++comb)
        combine_symbols(row, comb, 0, size(plan_.layout.symbols), taper, row_of(tapered_, row, comb));
}

/// One transform per lane: those of (rows, combs, windows), of conjugate pilots.
void SlotEstimator::transform(std::size_t first) noexcept {
    const EstimatorProfile& profile = plan_.profile;
    const FftWork work = fft_work_.work(0);
    const std::size_t lanes = fft_.lanes;
    std::fill_n(work[0], 2 * size(profile.bins) * lanes, 0.0F);
    const std::size_t count = std::min(lanes, size(profile.transforms) - first);
    for (std::size_t lane = 0; lane < count; ++lane) {
        const std::size_t index = first + lane;
        const std::size_t window = index % size(profile.windows);
        const std::size_t row = index / size(profile.windows);
        const float* const re =
            row_of(tapered_, row / 2, static_cast<int>(row % 2)) + profile.at[window].first;
        const float* const im = re + plan_.layout.comb_stride;
        for (std::size_t m = 0; m < size(profile.pilots); ++m) {
            work[0][2 * m * lanes + lane] = re[m];
            work[0][(2 * m + 1) * lanes + lane] = -im[m];
        }
    }
    const float* const bins = fft_.transform_lanes(plan_.transform.fft(), work);
    kernels_.add_powers(bins, profile.bins, &bins_[first % estimator_transform_lanes]);
}

/// The extent that holds most of the power, in the middle of all equal positions.
void SlotEstimator::place_extent() noexcept {
    const EstimatorProfile& profile = plan_.profile;
    const int bins = profile.bins;
    const float* const powers = powers_.data();
    float* const signal = powers_.data() + bins;
    float* const sums = signal + bins;
    float* const doubled = sums + bins;
    const int half = (profile.extent - 1) / 2;
    const int unplaced = bins - half;
    sum_neighbours(powers, bins, profile.extent, doubled, sums);
    int best = 0;
    for (int b = 1; b < bins; ++b)
        if (sums[b] > sums[best]) best = b;
    int first = unplaced;
    if (plan_.constants.corrects_timing != 0 && sums[best] > 0.0F) {
        alignas(64) float lanes[estimator_lanes] = {};
        const int outside = bins - profile.extent - 2 * profile.cell;
        for (int i = 0; i < outside; ++i) {
            float& lane = lanes[i % estimator_lanes];
            lane = Ops::add(lane, powers[(best + profile.extent + profile.cell + i) % bins]);
        }
        const float noise =
            outside > 0 ? Ops::div(sum_of_lanes<estimator_lanes>(lanes), static_cast<float>(outside)) : 0.0F;
        const float threshold = Ops::mul(noise, profile.threshold);
        for (int b = 0; b < bins; ++b)
            signal[b] = scalar::signal_of<Ops>(powers[b], threshold);
        const auto power_at = [&](int offset) { return sums[(best + offset + bins) % bins]; };
        sum_neighbours(signal, bins, profile.extent, doubled, sums);
        float most = 0.0F;
        for (int offset = -half; offset <= half; ++offset)
            most = Ops::max(most, power_at(offset));
        const float enough = Ops::mul(most, scalar::equal_power);
        int earliest = half;
        int latest = -half;
        for (int offset = -half; offset <= half; ++offset) {
            if (!(power_at(offset) >= enough)) continue;
            earliest = std::min(earliest, offset);
            latest = std::max(latest, offset);
        }
        first = (best + bins + (earliest + latest) / 2) % bins;
    }
    scalar::place<Ops>(profile, first, state_);
    for (int i = 0; i < profile.extent; ++i)
        measured_[size(i)] = powers[(first + i) % bins];
}

/// Richardson and Lucy's steps, then the profile of power 1.
void SlotEstimator::deconvolve() noexcept {
    const EstimatorProfile& profile = plan_.profile;
    const int extent = profile.extent;
    const int taps = 2 * profile.reach + 1;
    const float noise = Ops::mul(state_.noise, profile.noise_share);
    float* const guess = &guess_[size(profile.reach)];
    float* const ratios = &ratios_[size(profile.reach)];
    if (profile.steps > 0) kernels_.first_guesses(measured_.data(), noise, profile, guess);
    for (int step = 0; step < profile.steps; ++step) {
        kernels_.convolve(guess_.data(), profile.kernel.data(), taps, expected_.data(), extent);
        kernels_.ratios(measured_.data(), expected_.data(), noise, ratios, extent);
        kernels_.convolve(ratios_.data(), profile.kernel.data(), taps, expected_.data(), extent);
        kernels_.next_guesses(expected_.data(), profile.over_reached.data(), guess, extent);
    }
    alignas(64) float lanes[estimator_lanes] = {};
    for (int i = 0; i < extent; ++i) {
        guess[i] = scalar::last_guess<Ops>(guess[i], noise, profile.margin);
        lanes[i % estimator_lanes] = Ops::add(lanes[i % estimator_lanes], guess[i]);
    }
    const float power = sum_of_lanes<estimator_lanes>(lanes);
    const bool is_flat = profile.steps == 0 || !(power > 0.0F);
    const float even = Ops::div(1.0F, static_cast<float>(extent));
    for (int i = 0; i < extent; ++i)
        guess[i] = is_flat ? even : Ops::div(guess[i], power);
}

void SlotEstimator::measure_delays() noexcept {
    const EstimatorProfile& profile = plan_.profile;
    const float* const guess = &guess_[size(profile.reach)];
    const float strongest = *std::max_element(guess, guess + profile.extent);
    const float least = Ops::mul(strongest, scalar::path_share);
    const float of_first = Ops::mul(strongest, scalar::first_path_share);
    alignas(64) float lanes[3][estimator_lanes] = {};
    int first = profile.extent;
    for (int i = 0; i < profile.extent; ++i) {
        const bool is_crest = i + 1 == profile.extent || !(guess[i + 1] > guess[i]);
        if (is_crest && !(guess[i] < of_first)) first = std::min(first, i);
        if (guess[i] < least) continue;
        const int lane = i % estimator_lanes;
        scalar::add_moments<Ops>(guess[i], i - (profile.extent - 1) / 2, lanes[0][lane], lanes[1][lane],
                                 lanes[2][lane]);
    }
    const float sums[] = {sum_of_lanes<estimator_lanes>(lanes[0]), sum_of_lanes<estimator_lanes>(lanes[1]),
                          sum_of_lanes<estimator_lanes>(lanes[2])};
    scalar::set_delays<Ops>(profile, sums, first, state_);
}

}  // namespace phy::detail
