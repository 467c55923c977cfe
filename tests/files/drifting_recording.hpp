#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "phy/core/format.hpp"
#include "phy/receiver/link.hpp"

namespace phy_test {

/// How fast a recorder's clock is, as a ratio, at a time that it shows: offset + swing sin(2 pi (time /
/// period
/// + phase)).
struct SwingingClock {
    double offset = 0.0;
    double swing = 0.0;
    double period = 1.0;  ///< s
    double phase = 0.0;   ///< turns

    [[nodiscard]] double at(double time) const;

    /// s: how far it is ahead since time 0.
    [[nodiscard]] double ahead(double time) const;
};

/// A frame that is sent again and again, as a recorder with a swinging clock samples it. Each sample is a
/// function of its number, so that a recording of any length needs no memory. It shares neither resampler nor
/// oscillator with the receiver.
class DriftingRecording {
public:
    struct Config {
        phy::Link link;  ///< its sample rate is the recorder's
        double seconds = 1.0;
        double snr_db = 30.0;
        SwingingClock clock = {};

        /// The clock drives the recorder's oscillator too. Otherwise the signal is too high by `frequency`.
        bool has_one_reference = true;
        double frequency = 0.0;  ///< Hz
        std::uint64_t seed = 1;
    };

    explicit DriftingRecording(const Config& config);

    /// Samples until the last frame ends.
    [[nodiscard]] std::uint64_t size() const { return size_; }

    /// Makes samples from `first` on.
    void make(std::uint64_t first, std::span<phy::ci16> samples) const;

private:
    void make_in_block(std::uint64_t first, std::span<phy::ci16> samples) const;
    [[nodiscard]] double turns_at(double time) const;

    Config config_;
    double rate_;
    std::uint64_t frame_;  ///< samples of the recorder
    std::uint64_t size_;
    std::vector<phy::cf32> sent_;  ///< a frame, oversampled, with its neighbours
    std::vector<phy::cf32> noise_;
};

}  // namespace phy_test
