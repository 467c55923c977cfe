#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include "support/reference_dft.hpp"

/// A reference transmitter and channel in binary64, independent of the library: OFDM (TS 38.211 clauses 5.3.1
/// and 5.4), paths, offsets and noise.
namespace phy_test {

using AirComplex = std::complex<double>;
using AirSamples = std::vector<AirComplex>;

/// A carrier and the parameters of its recording.
struct AirCarrier {
    int spacing = 30000;  ///< Hz
    int resource_blocks = 0;
    std::size_t fft_size = 0;
    int k0 = 0;
    double center_frequency = 0.0;  ///< Hz, f_0 of clause 5.4
    double frequency_shift = 0.0;   ///< Hz: centre of the recording less centre of the carrier

    [[nodiscard]] double rate() const { return spacing * static_cast<double>(fft_size); }
    [[nodiscard]] std::size_t subcarriers() const { return static_cast<std::size_t>(12 * resource_blocks); }
    [[nodiscard]] int slots_per_subframe() const { return spacing / 15000; }

    /// Hz, relative to frequency 0.
    [[nodiscard]] double frequency(std::size_t subcarrier) const {
        return (static_cast<int>(subcarrier) - 6 * resource_blocks + k0) * static_cast<double>(spacing);
    }

    /// Samples of the prefix of symbol l of a subframe: clause 5.3.1.
    [[nodiscard]] std::size_t prefix(int l) const {
        const std::size_t longer = l % (7 * slots_per_subframe()) == 0 ? 1 : 0;
        const std::size_t samples_of_16_kappa = fft_size * static_cast<std::size_t>(slots_per_subframe());
        return fft_size * 144 / 2048 + longer * samples_of_16_kappa * 16 / 2048;
    }

    /// Samples from the start of the subframe to the start of its symbol l.
    [[nodiscard]] std::size_t start(int l) const {
        std::size_t at = 0;
        for (int before = 0; before < l; ++before)
            at += prefix(before) + fft_size;
        return at;
    }

    [[nodiscard]] int first_symbol(int slot) const { return slot % slots_per_subframe() * 14; }
    [[nodiscard]] std::size_t slot_samples(int slot) const {
        return start(first_symbol(slot) + 14) - start(first_symbol(slot));
    }
    /// Samples from the start of slot 0.
    [[nodiscard]] std::size_t slot_start(int slot) const {
        return static_cast<std::size_t>(slot / slots_per_subframe()) * start(14 * slots_per_subframe()) +
               start(first_symbol(slot));
    }
};

/// The paths from a transmitter's ports to a receiver's antennas, and offsets.
struct AirChannel {
    int antennas = 1;
    int ports = 1;
    std::vector<double> delays = {};     ///< s, one per path
    std::vector<AirComplex> gains = {};  ///< (paths, antennas, ports)
    double timing = 0.0;                 ///< s; positive: the signal arrives late
    double frequency = 0.0;              ///< Hz; positive: the signal is too high in frequency

    [[nodiscard]] AirComplex gain(std::size_t path, int antenna, int port) const {
        return gains[(path * static_cast<std::size_t>(antennas) + static_cast<std::size_t>(antenna)) *
                         static_cast<std::size_t>(ports) +
                     static_cast<std::size_t>(port)];
    }

    /// The response at `hertz` from frequency 0, including timing.
    [[nodiscard]] AirComplex response(int antenna, int port, double hertz) const {
        AirComplex sum = 0.0;
        for (std::size_t path = 0; path < delays.size(); ++path)
            sum += gain(path, antenna, port) * turns(-hertz * (delays[path] + timing));
        return sum;
    }
};

inline AirComplex air_gaussian(std::mt19937_64& random, double variance) {
    std::normal_distribution<double> part(0.0, std::sqrt(0.5 * variance));
    const double re = part(random);
    return {re, part(random)};
}

/// A path of a profile: delay / delay spread, and mean power in dB.
struct AirPath {
    double delay;
    double power_db;
};

enum class AirProfile { exponential, tdl_a, tdl_c };

/// TS 38.901 tables 7.7.2-1 and 7.7.2-3.
inline std::vector<AirPath> air_paths(AirProfile profile, std::mt19937_64& random) {
    if (profile == AirProfile::tdl_a)
        return {{0.0, -13.4},    {0.3819, 0.0},   {0.4025, -2.2},  {0.5868, -4.0},  {0.4610, -6.0},
                {0.5375, -8.2},  {0.6708, -9.9},  {0.5750, -10.5}, {0.7618, -7.5},  {1.5375, -15.9},
                {1.8978, -6.6},  {2.2242, -16.7}, {2.1718, -12.4}, {2.4942, -15.2}, {2.5119, -10.8},
                {3.0582, -11.3}, {4.0810, -12.7}, {4.4579, -16.2}, {4.5695, -18.3}, {4.7966, -18.9},
                {5.0066, -16.6}, {5.3043, -19.9}, {9.6586, -29.7}};
    if (profile == AirProfile::tdl_c)
        return {{0.0, -4.4},     {0.2099, -1.2},  {0.2219, -3.5},  {0.2329, -5.2},  {0.2176, -2.5},
                {0.6366, 0.0},   {0.6448, -2.2},  {0.6560, -3.9},  {0.6584, -7.4},  {0.7935, -7.1},
                {0.8213, -10.7}, {0.9336, -11.1}, {1.2285, -5.1},  {1.3083, -6.8},  {2.1704, -8.7},
                {2.7105, -13.2}, {4.2589, -13.9}, {4.6003, -13.9}, {5.4902, -15.8}, {5.6077, -17.1},
                {6.3065, -16.0}, {6.6374, -15.7}, {7.0427, -21.6}, {8.6523, -22.8}};
    // One path at a random position in each third of a spread, up to 8 spreads.
    constexpr double width = 1.0 / 3.0;
    std::uniform_real_distribution<double> within(0.0, width);
    std::vector<AirPath> paths;
    for (int path = 0; path < 24; ++path) {
        const double delay = path * width + within(random);
        paths.push_back({delay, 10.0 * std::log10(std::exp(-delay) * width)});
    }
    return paths;
}

/// Rayleigh paths of a profile, of unit mean power.
inline AirChannel draw_air_channel(std::mt19937_64& random, int antennas, int ports, double delay_spread,
                                   AirProfile profile = AirProfile::exponential) {
    AirChannel channel;
    channel.antennas = antennas;
    channel.ports = ports;
    const std::vector<AirPath> paths = air_paths(profile, random);
    double power = 0.0;
    for (const AirPath& path : paths)
        power += std::pow(10.0, path.power_db / 10.0);
    // The exponential profile has power 1 in the mean over its delays.
    if (profile == AirProfile::exponential) power = 1.0;
    for (const AirPath& path : paths) {
        channel.delays.push_back(path.delay * delay_spread);
        for (int pair = 0; pair < antennas * ports; ++pair)
            channel.gains.push_back(air_gaussian(random, std::pow(10.0, path.power_db / 10.0) / power));
    }
    return channel;
}

/// Resource elements to antenna samples, and back.
class AirInterface {
public:
    explicit AirInterface(const AirCarrier& carrier)
        : carrier_(carrier), to_time_(carrier.fft_size, 1.0), to_frequency_(carrier.fft_size, -1.0) {}

    [[nodiscard]] const AirCarrier& carrier() const { return carrier_; }

    /// The samples of a slot, (antennas, slot_samples()), from a grid (ports, 14, subcarriers), without
    /// noise. Symbols of other data precede and follow the slot, as in a busy carrier.
    [[nodiscard]] AirSamples transmit(std::span<const AirComplex> grid, int slot, const AirChannel& channel,
                                      std::mt19937_64& random) const {
        const std::size_t samples = carrier_.slot_samples(slot);
        const std::size_t margin = 2 * carrier_.fft_size;
        AirSamples received(static_cast<std::size_t>(channel.antennas) * samples);
        for (int port = 0; port < channel.ports; ++port) {
            const AirSamples sent = with_neighbours(grid, port, random);
            for (std::size_t path = 0; path < channel.delays.size(); ++path) {
                const double delay = (channel.delays[path] + channel.timing) * carrier_.rate();
                const double whole = std::floor(delay);
                const AirSamples wave = waveform(sent, slot, margin, delay - whole);
                const auto from = static_cast<std::size_t>(static_cast<double>(margin) - whole);
                for (int antenna = 0; antenna < channel.antennas; ++antenna) {
                    const AirComplex gain = channel.gain(path, antenna, port);
                    AirComplex* const to = &received[static_cast<std::size_t>(antenna) * samples];
                    for (std::size_t i = 0; i < samples; ++i)
                        to[i] += gain * wave[from + i];
                }
            }
        }
        turn(received, slot, channel.frequency, -carrier_.frequency_shift);
        return received;
    }

    /// White noise of power 1 per resource element, same shape.
    [[nodiscard]] AirSamples noise(int slot, int antennas, std::mt19937_64& random) const {
        AirSamples samples(static_cast<std::size_t>(antennas) * carrier_.slot_samples(slot));
        for (AirComplex& sample : samples)
            sample = air_gaussian(random, 1.0 / static_cast<double>(carrier_.fft_size));
        return samples;
    }

    /// The grid (antennas, 14, subcarriers) of a receiver that knows the frequency offset. Its windows begin
    /// in the middle of the shorter prefix.
    [[nodiscard]] std::vector<AirComplex> receive(AirSamples samples, int slot, double frequency) const {
        const std::size_t of_antenna = carrier_.slot_samples(slot);
        const std::size_t antennas = samples.size() / of_antenna;
        const std::size_t n = carrier_.fft_size;
        const std::size_t early = n * 144 / 2048 / 2;
        turn(samples, slot, -frequency, carrier_.frequency_shift);
        std::vector<AirComplex> grid;
        AirSamples window(n);
        AirSamples bins;
        for (std::size_t antenna = 0; antenna < antennas; ++antenna) {
            for (int symbol = 0; symbol < 14; ++symbol) {
                const int l = carrier_.first_symbol(slot) + symbol;
                const std::size_t end_of_prefix = carrier_.start(l) + carrier_.prefix(l);
                const std::size_t at = end_of_prefix - early - carrier_.start(carrier_.first_symbol(slot));
                for (std::size_t i = 0; i < n; ++i)
                    window[i] = samples[antenna * of_antenna + at + i];
                to_frequency_(window, bins);
                for (std::size_t k = 0; k < carrier_.subcarriers(); ++k) {
                    const double ramp = static_cast<double>(early) * carrier_.frequency(k) / carrier_.rate();
                    grid.push_back(bins[bin(k)] * turns(ramp) * turns(phase_clock(end_of_prefix)));
                }
            }
        }
        return grid;
    }

private:
    [[nodiscard]] std::size_t bin(std::size_t subcarrier) const {
        const auto n = static_cast<long>(carrier_.fft_size);
        const auto offset = std::lround(carrier_.frequency(subcarrier) / carrier_.spacing);
        return static_cast<std::size_t>((offset % n + n) % n);
    }

    /// Turns by which a receiver rotates forward: f_0 t of clause 5.4.
    [[nodiscard]] double phase_clock(std::size_t end_of_prefix) const {
        const double cycles =
            std::fmod(carrier_.center_frequency * static_cast<double>(end_of_prefix), carrier_.rate());
        return cycles / carrier_.rate();
    }

    /// Symbols -1 to 14 of one port. The outer ones have QPSK on the whole carrier.
    [[nodiscard]] AirSamples with_neighbours(std::span<const AirComplex> grid, int port,
                                             std::mt19937_64& random) const {
        const std::size_t k = carrier_.subcarriers();
        AirSamples sent(16 * k);
        std::copy_n(grid.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(port) * 14 * k),
                    14 * k, sent.begin() + static_cast<std::ptrdiff_t>(k));
        std::uniform_int_distribution<int> quarter(0, 3);
        for (std::size_t i = 0; i < k; ++i) {
            sent[i] = turns(0.125 + 0.25 * quarter(random));
            sent[15 * k + i] = turns(0.125 + 0.25 * quarter(random));
        }
        return sent;
    }

    /// The waveform of symbols -1 to 14, late by a fraction of a sample. The slot begins at sample `margin`.
    [[nodiscard]] AirSamples waveform(const AirSamples& sent, int slot, std::size_t margin,
                                      double late) const {
        const int first = carrier_.first_symbol(slot);
        const std::size_t n = carrier_.fft_size;
        AirSamples wave(2 * margin + carrier_.slot_samples(slot));
        AirSamples bins(n);
        AirSamples useful;
        std::size_t end = margin;  // end of the samples so far
        for (int symbol = -1; symbol < 15; ++symbol) {
            const int l =
                (first + symbol + 14 * carrier_.slots_per_subframe()) % (14 * carrier_.slots_per_subframe());
            const std::size_t prefix = carrier_.prefix(l);
            if (symbol == -1) end = margin - n - prefix;
            std::fill(bins.begin(), bins.end(), 0.0);
            const AirComplex phase = turns(-phase_clock(carrier_.start(l) + prefix)) / static_cast<double>(n);
            for (std::size_t k = 0; k < carrier_.subcarriers(); ++k)
                bins[bin(k)] = sent[static_cast<std::size_t>(symbol + 1) * carrier_.subcarriers() + k] *
                               phase * turns(-late * carrier_.frequency(k) / carrier_.rate());
            to_time_(bins, useful);
            for (std::size_t i = 0; i < prefix + n; ++i)
                wave[end + i] = useful[(i + n - prefix) % n];
            end += prefix + n;
        }
        return wave;
    }

    /// Rotates all samples by two frequencies: one with time from the start of the slot, one with time from
    /// slot 0.
    void turn(AirSamples& samples, int slot, double from_slot, double from_frame) const {
        const std::size_t of_antenna = carrier_.slot_samples(slot);
        const auto start = static_cast<double>(carrier_.slot_start(slot));
        for (std::size_t i = 0; i < of_antenna; ++i) {
            const auto at = static_cast<double>(i);
            const AirComplex by =
                turns(from_slot * at / carrier_.rate()) * turns(from_frame * (start + at) / carrier_.rate());
            for (std::size_t begin = 0; begin < samples.size(); begin += of_antenna)
                samples[begin + i] *= by;
        }
    }

    AirCarrier carrier_;
    ReferenceDft to_time_;
    ReferenceDft to_frequency_;
};

}  // namespace phy_test
