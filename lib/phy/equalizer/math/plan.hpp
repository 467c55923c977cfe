#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "phy/core/format.hpp"
#include "phy/equalizer/equalizer.hpp"
#include "phy/estimator/slot_estimate.hpp"

/// What follows from an equaliser's configuration on every backend.
namespace phy::detail {

/// OFDM symbols with data in which the channel is the same sum of estimates.
struct WeightGroup {
    std::vector<float> weights = {};  ///< (time sets, estimates); empty: `estimate` unchanged
    int estimate = 0;
    std::vector<int> symbols = {};
    /// True if one filter matrix serves several symbols; otherwise the equations of every resource element
    /// are solved.
    bool shares_filters = false;
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

    // Elements per slot of the arrays.
    [[nodiscard]] std::size_t grid_size() const;
    [[nodiscard]] std::size_t channel_size() const;
    [[nodiscard]] std::size_t matrix_size() const;  ///< of a covariance
    /// Subbands of a covariance, and the resource blocks of each: one of all if there is one per slot.
    struct Subbands {
        std::size_t count;
        std::size_t blocks;
    };
    [[nodiscard]] Subbands subbands_of(std::size_t slots, std::size_t covariance) const;
    [[nodiscard]] std::size_t symbols() const { return map_.elements() * static_cast<std::size_t>(layers()); }

    /// Checks the sizes of a call's arrays. Throws ArgumentError if they do not match the number of slots.
    struct Sizes {
        std::size_t grid;
        std::size_t channel;
        std::size_t slots;
        std::size_t covariance;
        std::size_t symbols;
        std::size_t noise_variance;
        std::size_t pairs;
    };
    void check_sizes(const Sizes& sizes, SampleFormat format) const;

    /// The value of an integer sample of 1.
    [[nodiscard]] float unit_of(SampleFormat format) const;

private:
    EqualizerConfig config_;
    ResourceMap map_;
    int estimates_ = 1;
    std::vector<WeightGroup> groups_;
};

/// Throws ArgumentError, which names the slot, for an N0 of 0 or below, or an error below 0. Values that are
/// not finite do not throw: they erase the slot.
void check_noise(std::span<const SlotEstimate> slots);

}  // namespace phy::detail
