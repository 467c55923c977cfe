#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "phy/core/format.hpp"
#include "phy/equalizer/equalizer.hpp"
#include "phy/estimator/slot_estimate.hpp"

/// What follows from the configuration of an equaliser, wherever it runs.
namespace phy::detail {

/// OFDM symbols with data in which the channel is the same sum of estimates.
struct WeightGroup {
    std::vector<float> weights = {};  ///< one an estimate; empty: `estimate` as it is
    int estimate = 0;
    std::vector<int> symbols = {};

    /// One filter matrix serves several symbols. Else the equations of every resource element are solved.
    [[nodiscard]] bool shares_filters() const { return symbols.size() > 1; }
};

class EqualizerPlan {
public:
    /// Throws ArgumentError if a value is out of its range.
    explicit EqualizerPlan(const EqualizerConfig& config);

    [[nodiscard]] const EqualizerConfig& config() const { return config_; }
    [[nodiscard]] const ResourceMap& map() const { return map_; }
    [[nodiscard]] std::span<const WeightGroup> groups() const { return groups_; }
    [[nodiscard]] int layers() const { return config_.allocation.layers(); }
    [[nodiscard]] int antennas() const { return config_.antennas; }
    [[nodiscard]] int estimates() const { return estimates_; }
    [[nodiscard]] bool mmse() const { return config_.method == Equalization::mmse; }
    [[nodiscard]] std::size_t subcarriers() const {
        return static_cast<std::size_t>(config_.allocation.subcarriers());
    }

    // Elements of arrays, by slot.
    [[nodiscard]] std::size_t grid_size() const;
    [[nodiscard]] std::size_t channel_size() const;
    [[nodiscard]] std::size_t covariance_size() const;
    [[nodiscard]] std::size_t symbols() const { return map_.elements() * static_cast<std::size_t>(layers()); }

    /// Sizes of the arrays of a call. Throws ArgumentError if they do not fit the number of slots.
    struct Sizes {
        std::size_t grid;
        std::size_t channel;
        std::size_t slots;
        std::size_t covariance;
    };
    void check_inputs(const Sizes& sizes, SampleFormat format) const;

    /// The value of an integer sample of 1.
    [[nodiscard]] float unit_of(SampleFormat format) const;

private:
    EqualizerConfig config_;
    ResourceMap map_;
    int estimates_ = 1;
    std::vector<WeightGroup> groups_;
};

/// Throws ArgumentError, which names the slot, for N0 that is not above 0 or an error that is below 0. What
/// is not finite is an erasure instead: so a slot is of which nothing was received.
void check_noise(std::span<const SlotEstimate> slots);

}  // namespace phy::detail
