#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include "phy/ofdm/modulator.hpp"
#include "phy/receiver/receiver.hpp"
#include "transmission/transmitter.hpp"

namespace phy_test {

/// A link and its recording. The transmitter of the applications makes the grids.
struct RecordingConfig {
    phy::Link link;  ///< as sent; first_sample and first_slot are those of the recording
    int antennas = 1;
    int slots = 2;         ///< sent slots, from first_slot on
    int silence = 0;       ///< samples of silence before the signal; negative: the recording begins this late
    double snr_db = 20.0;  ///< of data elements, at an antenna
    double frequency = 0.0;         ///< Hz; positive: the signal is too high in frequency
    std::vector<int> delays = {0};  ///< samples, one per path; the first is the strongest
    bool fills_carrier = false;     ///< resource blocks outside the allocation carry other data
    unsigned seed = 1;
};

inline std::complex<double> gaussian(std::mt19937_64& random, double variance) {
    std::normal_distribution<double> normal(0.0, std::sqrt(variance / 2.0));
    const double re = normal(random);
    return {re, normal(random)};
}

class Recording {
public:
    explicit Recording(const RecordingConfig& config) : config_(config), random_(config.seed) {
        const auto antennas = static_cast<std::size_t>(config.antennas);
        const std::size_t layers = config.link.allocation.dmrs.ports.size();
        const double share = 0.25 / static_cast<double>(std::max<std::size_t>(1, config.delays.size() - 1));
        for (std::size_t path = 0; path < config.delays.size(); ++path) {
            for (std::size_t i = 0; i < antennas * layers; ++i) {
                // The strongest path does not fade, so that tests know its position.
                const double turns = std::uniform_real_distribution<double>(0.0, 1.0)(random_);
                gains_.push_back(
                    std::polar(path == 0 ? 1.0 : std::sqrt(share), 2.0 * std::numbers::pi * turns));
            }
        }
        transmit();
        receive();
    }

    /// (antennas, samples)
    [[nodiscard]] const std::vector<phy::cf32>& samples() const { return samples_; }
    [[nodiscard]] std::size_t length() const { return samples_.size() / size(config_.antennas); }

    /// The first sample of a slot, counted from the first sent slot.
    [[nodiscard]] std::int64_t begin_of(int slot) const {
        const phy::OfdmTiming timing(phy::ofdm_config(config_.link, 1));
        const auto first = static_cast<std::uint64_t>(config_.link.carrier.first_slot);
        return static_cast<std::int64_t>(timing.slot_start(first + static_cast<std::uint64_t>(slot)) -
                                         timing.slot_start(first)) +
               config_.silence;
    }

    /// The sent symbols of a slot: (data elements, layers).
    [[nodiscard]] const std::vector<phy::cf32>& sent(int slot) const { return sent_[size(slot)]; }

    /// Samples of neighbouring slots, as for Receiver: (slots, antennas, input_per_slot).
    [[nodiscard]] std::vector<phy::cf32> slots(int first, int count) const {
        return slots(first, count, config_.link.carrier.first_slot + first);
    }

    /// The same, cut as if the first slot had another number.
    [[nodiscard]] std::vector<phy::cf32> slots(int first, int count, int number) const {
        const phy::OfdmTiming timing(phy::ofdm_config(config_.link, 1));
        const std::size_t longest = timing.slot_samples(0);
        std::vector<phy::cf32> result(size(count * config_.antennas) * longest);
        for (int slot = 0; slot < count; ++slot) {
            const auto before = static_cast<std::int64_t>(timing.slot_start(size(number + slot)) -
                                                          timing.slot_start(size(number)));
            for (int antenna = 0; antenna < config_.antennas; ++antenna)
                for (std::size_t i = 0; i < longest; ++i) {
                    const std::int64_t at = begin_of(first) + before + static_cast<std::int64_t>(i);
                    if (at < 0 || at >= static_cast<std::int64_t>(length())) continue;
                    result[(size(slot * config_.antennas + antenna)) * longest + i] =
                        samples_[size(antenna) * length() + static_cast<std::size_t>(at)];
                }
        }
        return result;
    }

private:
    static std::size_t size(int count) { return static_cast<std::size_t>(count); }

    [[nodiscard]] bool is_used(int slot) const {
        const int number = slot % phy::slots_per_frame(config_.link.carrier);
        const std::vector<int>& slots = config_.link.slots;
        return slots.empty() || std::find(slots.begin(), slots.end(), number) != slots.end();
    }

    std::uint8_t random_bit() { return static_cast<std::uint8_t>(random_() & 1); }

    void fill_others(std::span<phy::cf32> grid) {
        const phy::SlotAllocation& allocation = config_.link.allocation;
        const std::size_t width = size(allocation.subcarriers());
        constexpr auto level = static_cast<float>(std::numbers::sqrt2 / 2.0);
        for (std::size_t k = 0; k < width; ++k) {
            bool is_allocated = false;
            for (const phy::ResourceBlocks& range : allocation.resource_blocks)
                is_allocated |= k / 12 >= size(range.first) && k / 12 < size(range.first + range.count);
            for (std::size_t l = 0; !is_allocated && l < phy::symbols_per_slot; ++l)
                grid[l * width + k] = {random_bit() == 0 ? level : -level,
                                       random_bit() == 0 ? level : -level};
        }
    }

    /// Transmits each layer in time.
    void transmit() {
        const phy::Link& link = config_.link;
        phy::apps::Transmitter transmitter(
            phy::Host(),
            {.allocation = link.allocation, .modulation = link.modulation, .scrambling = link.scrambling});
        std::vector<std::uint8_t> bits(transmitter.bits_per_slot());
        const auto first = static_cast<std::uint64_t>(link.carrier.first_slot);
        std::vector<phy::cf32> grid;
        for (int slot = 0; slot < config_.slots; ++slot) {
            std::ranges::generate(bits, [this] { return random_bit(); });
            const int number = link.carrier.first_slot + slot;
            transmitter.transmit(number % phy::slots_per_frame(link.carrier), bits);
            std::vector<phy::cf32> of_slot(transmitter.grid().begin(), transmitter.grid().end());
            if (config_.fills_carrier) fill_others(of_slot);
            if (!is_used(number)) std::ranges::fill(of_slot, phy::cf32());
            grid.insert(grid.end(), of_slot.begin(), of_slot.end());
            sent_.emplace_back(transmitter.symbols().begin(), transmitter.symbols().end());
        }
        const int layers = link.allocation.layers();
        phy::OfdmModulator modulate(phy::Host(), phy::ofdm_config(link, layers));
        const phy::OfdmTiming& timing = modulate.timing();
        on_air_ = timing.slot_start(first + size(config_.slots)) - timing.slot_start(first);
        layers_.resize(size(layers) * on_air_);
        modulate(grid, {.first = first, .count = size(config_.slots)}, layers_);
    }

    void receive() {
        const double rate = config_.link.carrier.sample_rate.value();
        const double points = rate / config_.link.carrier.subcarrier_spacing;
        const double noise = std::pow(10.0, -config_.snr_db / 10.0) / points;
        const std::size_t layers = config_.link.allocation.dmrs.ports.size();
        const std::int64_t tail = 500;
        const auto length = static_cast<std::int64_t>(on_air_) + config_.silence + tail;
        for (int antenna = 0; antenna < config_.antennas; ++antenna) {
            std::vector<std::complex<double>> sums(static_cast<std::size_t>(length));
            for (std::size_t path = 0; path < config_.delays.size(); ++path) {
                for (std::size_t layer = 0; layer < layers; ++layer) {
                    const auto gain =
                        gains_[(path * size(config_.antennas) + size(antenna)) * layers + layer];
                    const std::int64_t begin = config_.silence + config_.delays[path];
                    for (std::size_t i = 0; i < on_air_; ++i) {
                        const std::int64_t at = begin + static_cast<std::int64_t>(i);
                        if (at >= 0 && at < length)
                            sums[static_cast<std::size_t>(at)] +=
                                gain * std::complex<double>(layers_[layer * on_air_ + i]);
                    }
                }
            }
            for (std::int64_t i = 0; i < length; ++i) {
                const double turns = std::fmod(config_.frequency / rate * static_cast<double>(i), 1.0);
                const auto rotated =
                    sums[static_cast<std::size_t>(i)] * std::polar(1.0, 2.0 * std::numbers::pi * turns);
                samples_.push_back(phy::cf32(rotated + gaussian(random_, noise)));
            }
        }
    }

    RecordingConfig config_;
    std::mt19937_64 random_;
    std::vector<std::complex<double>> gains_;  ///< (paths, antennas, layers)
    std::vector<std::vector<phy::cf32>> sent_;
    std::vector<phy::cf32> layers_;
    std::size_t on_air_ = 0;
    std::vector<phy::cf32> samples_;
};

}  // namespace phy_test
