#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "link_sim/link.hpp"
#include "link_sim/phase_noise.hpp"
#include "transmission/channel.hpp"
#include "transmission/transmitter.hpp"

namespace phy::apps {

/// What a receiver gets of a slot: the signal, a layer of another cell, noise, all of it with the gain of
/// each antenna and the phase of its oscillator.
class Air {
public:
    Air(const Host& host, const LinkConfig& config);

    /// sent: (layers, symbols, subcarriers); slot: its number in the frame. The seed gives fading, noise and
    /// all of the other cell.
    void pass(std::span<const cf32> sent, int slot, std::uint64_t seed);

    /// Of the last slot: (antennas, symbols, subcarriers), and what a receiver may know.
    [[nodiscard]] std::span<const cf32> grid() const { return grid_; }
    [[nodiscard]] ChannelState truth() const;

private:
    /// Another cell, with a DM-RS sequence of its own.
    struct Interferer {
        Channel channel;
        Transmitter transmitter;
        std::vector<std::uint8_t> bits;
        std::vector<float> coefficients;
        std::vector<cf32> grid;
    };

    void add_interferer(int slot, std::uint64_t seed);
    void scale();

    // Of an element of covariance_.
    [[nodiscard]] std::pair<std::size_t, std::size_t> subcarriers_of(std::size_t i) const;  ///< first, end
    [[nodiscard]] bool is_diagonal(std::size_t i) const;

    double noise_variance_;
    double interference_ = 0.0;  ///< mean power at an antenna
    std::vector<double> gains_;  ///< amplitudes; empty: all 1
    Channel channel_;
    std::size_t antennas_;
    std::optional<Interferer> interferer_;
    std::optional<OscillatorGrid> oscillator_;
    std::vector<float> coefficients_;
    std::vector<cf32> grid_;
    std::vector<cf32> covariance_;  ///< (subbands, antennas, antennas)
};

}  // namespace phy::apps
