#pragma once

#include <vector>

#include "phy/estimator/math/layout.hpp"
#include "phy/ofdm/math/fft_plan.hpp"

/// How the power-delay profile of a slot is measured. Delays are in units of the reciprocal of the subcarrier
/// spacing.
namespace phy::detail {

/// Windows of pilots whose mean power spectrum is the profile.
struct EstimatorWindow {
    int first = 0;  ///< pilot in a comb's row
};

/// The numbers of a profile, on the host and in device memory.
struct EstimatorProfileShape {
    int pilots;            ///< per window and comb
    int windows;           ///< per comb
    int transforms;        ///< (antennas, streams, combs, windows)
    int bins;              ///< of a transform; bin j is the delay j / (bins x spacing)
    int extent;            ///< bins of the profile; odd
    int cell;              ///< bins to either side of the extent whose power is not noise
    int reach;             ///< bins to either side that a path spreads to
    int steps;             ///< of the deconvolution; 0: the profile is flat
    float over_estimates;  ///< 1 / estimates, which are averaged
    float threshold;       ///< of power over noise: 1 + 4 / sqrt(transforms)
    float margin;          ///< 1 / sqrt(transforms)
    float noise_share;     ///< noise in a bin, over that of an estimate's pilot
    float over_kernel;     ///< 1 / the sum of the kernel
    float bin_delay;       ///< 1 / (bins x spacing)
};

struct EstimatorProfile : EstimatorProfileShape {
    explicit EstimatorProfile(const EstimatorLayout& layout, double max_extent);

    std::vector<EstimatorWindow> at;  ///< windows
    std::vector<float> taper;         ///< (comb_stride): 0 outside of windows
    std::vector<float> kernel;        ///< (2 reach + 1): power of a path in bins around it
    std::vector<float> over_reached;  ///< (extent): 1 / the part of the kernel inside of the extent
};

/// The delays that a filter holds.
double estimator_extent(const ChannelEstimatorConfig& config, const EstimatorLayout& layout);

/// Limit of the bins of all allocations.
inline constexpr int estimator_max_bins = 768;

/// Virtual lanes of sums over transforms.
inline constexpr int estimator_transform_lanes = 16;

}  // namespace phy::detail
