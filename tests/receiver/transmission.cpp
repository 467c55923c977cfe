#include "transmission.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <stdexcept>

#include "transmission/transmitter.hpp"

namespace phy_test {
namespace {

using phy::cf32;
using Complex = std::complex<double>;

struct Path {
    std::vector<Complex> taps;
    std::vector<double> delays;  ///< samples, or s
};

class Air {
public:
    Air(const phy::ReceiverConfig& config, const AirConfig& air)
        : config_(config), air_(air), random_(air.seed) {
        const double spacing = config.input == phy::ReceiverInput::samples ? 1.0 : air.delay_spread;
        const auto layers = static_cast<std::size_t>(config.link.allocation.layers());
        paths_.resize(static_cast<std::size_t>(config.antennas) * layers);
        for (std::size_t p = 0; p < paths_.size(); ++p) {
            double power = 0.0;
            for (int t = 0; t < air.taps; ++t) {
                paths_[p].taps.push_back(gaussian(std::pow(0.5, t)));
                paths_[p].delays.push_back(t * spacing);
                power += std::norm(paths_[p].taps.back());
            }
            // A layer stands out at its own antenna, so that layers can be told apart.
            if (p % layers == p / layers) paths_[p].taps[0] += 2.0 * std::sqrt(power);
            power = 0.0;
            for (const Complex& tap : paths_[p].taps)
                power += std::norm(tap);
            for (Complex& tap : paths_[p].taps)
                tap /= std::sqrt(power);
        }
    }

    [[nodiscard]] double noise_variance() const {
        return config_.link.allocation.layers() * std::pow(10.0, -air_.snr_db / 10.0);
    }
    [[nodiscard]] const Path& path(std::size_t antenna, std::size_t layer) const {
        return paths_[antenna * static_cast<std::size_t>(config_.link.allocation.layers()) + layer];
    }
    [[nodiscard]] Complex response(std::size_t path, std::size_t subcarrier) const {
        Complex sum = 0.0;
        const double frequency = static_cast<double>(subcarrier) * config_.link.carrier.subcarrier_spacing;
        for (std::size_t t = 0; t < paths_[path].taps.size(); ++t)
            sum += paths_[path].taps[t] *
                   std::polar(1.0, -2 * std::numbers::pi * frequency * paths_[path].delays[t]);
        return sum;
    }
    Complex gaussian(double variance) {
        std::normal_distribution<double> normal(0.0, std::sqrt(variance / 2));
        const double re = normal(random_);
        return {re, normal(random_)};
    }

private:
    const phy::ReceiverConfig& config_;
    const AirConfig& air_;
    std::mt19937 random_;
    std::vector<Path> paths_;
};

/// In frequency: (antennas, symbols, subcarriers) of one slot.
void receive_grid(const phy::ReceiverConfig& config, const AirConfig& air_config, Air& air,
                  std::span<const cf32> layers, std::span<cf32> out) {
    const int spacing = config.link.carrier.subcarrier_spacing;
    const auto subcarriers = static_cast<std::size_t>(config.link.allocation.subcarriers());
    const auto count = static_cast<std::size_t>(config.link.allocation.layers());
    const std::size_t row = 14 * subcarriers;
    constexpr double turn = 2 * std::numbers::pi;
    for (std::size_t a = 0; a < static_cast<std::size_t>(config.antennas); ++a) {
        for (std::size_t k = 0; k < subcarriers; ++k) {
            std::vector<Complex> response(count);
            for (std::size_t v = 0; v < count; ++v)
                response[v] = air.response(a * count + v, k);
            for (std::size_t l = 0; l < 14; ++l) {
                const double time = static_cast<double>(l) * 15.0 / 14.0 / spacing;
                Complex sum = 0.0;
                for (std::size_t v = 0; v < count; ++v)
                    sum += response[v] * Complex(layers[v * row + l * subcarriers + k]);
                sum *= std::polar(1.0, turn * air_config.frequency_offset * time);
                out[a * row + l * subcarriers + k] = cf32(sum + air.gaussian(air.noise_variance()));
            }
        }
    }
}

/// In time, over slots without a gap.
class Waveform {
public:
    Waveform(const phy::ReceiverConfig& config, const AirConfig& air_config, Air& air,
             std::span<const cf32> grids, std::uint64_t first_slot, std::size_t slots)
        : timing_(phy::OfdmTiming(phy::ofdm_config(config.link, 1))), first_slot_(first_slot) {
        const auto layers = static_cast<std::size_t>(config.link.allocation.layers());
        phy::OfdmModulator modulate(phy::Host(), phy::ofdm_config(config.link, static_cast<int>(layers)));
        samples_ = timing_.slot_start(first_slot + slots) - timing_.slot_start(first_slot);
        std::vector<cf32> sent(layers * samples_);
        modulate(grids, {.first = first_slot, .count = slots}, sent);
        received_.resize(static_cast<std::size_t>(config.antennas) * samples_);
        const double turn =
            2 * std::numbers::pi * air_config.frequency_offset / *config.link.carrier.sample_rate;
        const double noise = air.noise_variance() / static_cast<double>(timing_.fft_size());
        for (std::size_t a = 0; a < static_cast<std::size_t>(config.antennas); ++a) {
            for (std::size_t n = 0; n < samples_; ++n) {
                Complex sum = 0.0;
                for (std::size_t v = 0; v < layers; ++v) {
                    const Path& path = air.path(a, v);
                    for (std::size_t t = 0; t < path.taps.size(); ++t) {
                        const auto from = static_cast<std::ptrdiff_t>(n) - air_config.delay -
                                          static_cast<std::ptrdiff_t>(path.delays[t]);
                        if (from < 0 || from >= static_cast<std::ptrdiff_t>(samples_)) continue;
                        sum += path.taps[t] * Complex(sent[v * samples_ + static_cast<std::size_t>(from)]);
                    }
                }
                sum *= std::polar(1.0, turn * static_cast<double>(n));
                received_[a * samples_ + n] = cf32(sum + air.gaussian(noise));
            }
        }
    }

    /// What a receiver takes of a slot: those of the next slot stand behind a shorter one.
    void cut(std::uint64_t slot, std::size_t input, std::span<cf32> out) const {
        const std::size_t start = timing_.slot_start(slot) - timing_.slot_start(first_slot_);
        for (std::size_t a = 0; a * samples_ < received_.size(); ++a)
            std::copy_n(received_.begin() + static_cast<std::ptrdiff_t>(a * samples_ + start),
                        std::min(input, samples_ - start),
                        out.begin() + static_cast<std::ptrdiff_t>(a * input));
    }

private:
    phy::OfdmTiming timing_;
    std::uint64_t first_slot_;
    std::size_t samples_ = 0;
    std::vector<cf32> received_;
};

}  // namespace

Transmission transmit(const phy::ReceiverConfig& config, const AirConfig& air_config, std::uint64_t first,
                      std::size_t count) {
    const phy::SlotSchedule schedule(config.link);
    const bool has_samples = config.input == phy::ReceiverInput::samples;
    Air air(config, air_config);
    phy::apps::Transmitter transmitter(phy::Host(), {.allocation = config.link.allocation,
                                                     .modulation = config.link.modulation,
                                                     .scrambling = config.link.scrambling});
    const std::size_t bits = transmitter.bits_per_slot();
    const std::size_t symbols = transmitter.symbols().size();
    const std::size_t grid_size = transmitter.grid().size();
    std::mt19937 random(air_config.seed + 1);
    Transmission sent = {.slots = count};
    sent.bits.resize(count * bits);
    sent.symbols.reserve(count * symbols);
    for (std::uint8_t& bit : sent.bits)
        bit = static_cast<std::uint8_t>(random() >> 31U);
    const auto antennas = static_cast<std::size_t>(config.antennas);
    const std::uint64_t first_slot = schedule.slot(first);
    const std::size_t slots = static_cast<std::size_t>(schedule.slot(first + count - 1) - first_slot) + 1;
    const std::size_t input = has_samples
                                  ? phy::OfdmTiming(phy::ofdm_config(config.link, 1)).slot_samples(0)
                                  : 14 * static_cast<std::size_t>(config.link.allocation.subcarriers());
    sent.input.resize(count * antennas * input);
    std::vector<cf32> grids(has_samples ? slots * grid_size : 0);
    const auto input_of = [&](std::size_t i) {
        return std::span(sent.input).subspan(i * antennas * input, antennas * input);
    };
    for (std::size_t i = 0; i < count; ++i) {
        transmitter.transmit(schedule.slot_in_frame(first + i), std::span(sent.bits).subspan(i * bits, bits));
        sent.symbols.insert(sent.symbols.end(), transmitter.symbols().begin(), transmitter.symbols().end());
        const std::span<const cf32> grid = transmitter.grid();
        if (!has_samples) {
            receive_grid(config, air_config, air, grid, input_of(i));
            continue;
        }
        const auto slot = static_cast<std::size_t>(schedule.slot(first + i) - first_slot);
        std::ranges::copy(grid, grids.begin() + static_cast<std::ptrdiff_t>(slot * grid_size));
    }
    if (!has_samples) {
        const auto subcarriers = static_cast<std::size_t>(config.link.allocation.subcarriers());
        for (std::size_t path = 0; path < antennas * config.link.allocation.dmrs.ports.size(); ++path)
            for (std::size_t k = 0; k < subcarriers; ++k)
                sent.channel.push_back(cf32(air.response(path, k)));
        return sent;
    }
    const Waveform waveform(config, air_config, air, grids, first_slot, slots);
    for (std::size_t i = 0; i < count; ++i)
        waveform.cut(schedule.slot(first + i), input, input_of(i));
    return sent;
}

void turn(const phy::ReceiverConfig& config, double step, unsigned seed, Transmission& sent) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0.0, step);
    const std::size_t of_slot = sent.input.size() / sent.slots;
    const std::size_t row = of_slot / static_cast<std::size_t>(config.antennas);
    for (std::size_t slot = 0; slot < sent.slots; ++slot) {
        std::array<double, 14> phases = {};
        for (std::size_t l = 1; l < phases.size(); ++l)
            phases[l] = phases[l - 1] + normal(random);
        for (std::size_t i = 0; i < of_slot; ++i)
            sent.input[slot * of_slot + i] *= cf32(std::polar(1.0, phases[i % row * phases.size() / row]));
    }
}

template <typename Integer>
std::vector<Integer> to_integers(const std::vector<cf32>& input, phy::FullScale& full_scale) {
    using Component = decltype(Integer::re);
    double power = 0.0;
    for (const cf32& sample : input)
        power += std::norm(Complex(sample));
    constexpr double top = std::numeric_limits<Component>::max();
    const auto scale = static_cast<float>(0.25 * top / std::sqrt(power / static_cast<double>(input.size())));
    full_scale = scale;
    std::vector<Integer> integers;
    const auto round = [&](float component) {
        return static_cast<Component>(
            std::lround(std::clamp(static_cast<double>(component * scale), -top, top)));
    };
    for (const cf32& sample : input)
        integers.push_back({round(sample.real()), round(sample.imag())});
    return integers;
}
template std::vector<phy::ci16> to_integers(const std::vector<cf32>& input, phy::FullScale& full_scale);
template std::vector<phy::ci8> to_integers(const std::vector<cf32>& input, phy::FullScale& full_scale);

phy::Link small_link() {
    phy::Link link;
    link.scrambling = {.rnti = 17921, .id = 77};
    link.allocation.carrier_resource_blocks = 25;
    link.allocation.first_crb = 3;
    link.allocation.resource_blocks = {{.first = 1, .count = 24}};
    link.allocation.dmrs.scrambling_id = 501;
    return link;
}

void give_samples(phy::Link& link, double center_frequency) {
    link.carrier.sample_rate = 384.0 * link.carrier.subcarrier_spacing;
    link.carrier.center_frequency = center_frequency;
}

std::size_t count_errors(phy::SoftBitView llr, const std::vector<std::uint8_t>& bits) {
    if (llr.size() != bits.size()) throw std::invalid_argument("sizes of soft bits and bits differ");
    std::size_t errors = 0;
    for (std::size_t i = 0; i < bits.size(); ++i) {
        double value = 0.0;
        if (llr.format() == phy::SoftBitFormat::int8) {
            value = static_cast<double>(reinterpret_cast<const std::int8_t*>(llr.data())[i]);
        } else if (llr.format() == phy::SoftBitFormat::float32) {
            value = static_cast<double>(reinterpret_cast<const float*>(llr.data())[i]);
        } else {
            phy::half narrow;
            std::memcpy(&narrow, llr.data() + i * sizeof narrow, sizeof narrow);
            value = static_cast<double>(static_cast<float>(narrow));
        }
        // 0 says nothing: it is wrong either way.
        errors += (bits[i] == 0 ? value > 0.0 : value < 0.0) ? 0 : 1;
    }
    return errors;
}

}  // namespace phy_test
