#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "phy/core/format.hpp"
#include "phy/estimator/math/filter.hpp"
#include "phy/estimator/math/layout.hpp"
#include "phy/estimator/math/profile.hpp"
#include "phy/estimator/math/slot_state.hpp"
#include "phy/estimator/math/subbands.hpp"
#include "phy/estimator/math/time.hpp"

namespace phy::detail {

/// A tile of a range, and the position of its modes in a slot's workspace.
struct EstimatorTileJob {
    int range = 0;
    int filter = 0;
    EstimatorTile tile;
    std::size_t modes_at = 0;  ///< joint streams first, then single ones
};

/// Sizes of the workspace: the largest of all filters, in elements.
struct EstimatorSizes {
    int jobs = 0;
    int filters = 0;
    int width = 0;       ///< of modes
    int tile_width = 0;  ///< of modes of a tile
    int half_width = 0;  ///< of half a tile's positions
    int delays = 0;
    int columns_of_matrix = 0;
    int rows_of_matrix = 0;
    int likelihood_delays = 0;   ///< on both sides, of filters with likelihood_steps
    int likelihood_width = 0;    ///< columns_of_matrix of these
    int likelihood_columns = 0;  ///< real ones of all tiles
    std::size_t modes = 0;       ///< floats per slot of the modes
    std::size_t columns = 0;     ///< floats of a tile's folded pilots, for one kind
    std::size_t mix = 0;         ///< floats of M, of all shapes of one kind and filter
};

/// Elements of each array of one slot, or of a call.
struct EstimatorCallSizes {
    std::size_t grid = 0;
    std::size_t pilots = 0;
    std::size_t channel = 0;
    std::size_t slots = 0;
    std::size_t covariance = 0;
};

/// What a ChannelEstimator prepares once, on every backend. docs/developer/estimator.md explains the terms.
struct EstimatorPlan {
    explicit EstimatorPlan(const ChannelEstimatorConfig& config);

    ChannelEstimatorConfig config;
    EstimatorLayout layout;
    EstimatorSubbands subbands;
    double extent;  ///< of delays that filters hold
    EstimatorProfile profile;
    FftPlan transform;                     ///< of the profile, for hosts
    std::vector<EstimatorFilter> filters;  ///< one per length of windows
    std::vector<float> shares;             ///< of each filter, of all resource blocks
    std::vector<EstimatorTileJob> jobs;
    EstimatorFacts facts = {};
    EstimatorTime time;
    EstimatorConstants constants;
    EstimatorSizes largest;

    /// Real columns of a tile of one kind.
    [[nodiscard]] int columns(bool joint) const { return layout.columns[joint ? 1 : 0]; }
    [[nodiscard]] int group_columns() const { return layout.antennas * layout.estimates; }
    [[nodiscard]] EstimatorCallSizes slot_sizes() const;
    /// Throws ArgumentError if the sizes of a call's arrays do not fit.
    void check_call(const EstimatorCallSizes& call) const;
    /// Matrices per slot of a call's covariance.
    [[nodiscard]] int matrices(std::size_t slots, std::size_t covariance) const;
    /// The value of an integer sample of 1.
    [[nodiscard]] float unit_of(SampleFormat format) const;
};

/// The plan of a configuration. The last two are kept, because the reception of a recording makes many
/// estimators of the same configuration.
std::shared_ptr<const EstimatorPlan> estimator_plan(const ChannelEstimatorConfig& config);

}  // namespace phy::detail
