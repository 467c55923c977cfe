#include "phy/files/receive/antennas.hpp"

#include <algorithm>
#include <complex>
#include <string>
#include <vector>

#include "phy/files/common.hpp"
#include "phy/files/receive/acquire.hpp"
#include "phy/numerics/elementary.hpp"

namespace phy::detail {
namespace {

/// An antenna without a cable has this much less noise than another one, at most this power of the signal
/// over its noise, and this much less of it.
constexpr double min_noise_ratio = 10.0;
constexpr double max_snr = 1.0;
constexpr double min_snr_ratio = 30.0;

std::string name_of_antenna(const CaptureSignal& signal, std::uint64_t antenna) {
    const std::uint64_t all = signal.antennas() + signal.left_out().size();
    return "antenna " + std::to_string(antenna + 1) + " of " + std::to_string(all);
}

/// The number in the capture of one that is read.
std::uint64_t number_of(const CaptureSignal& signal, std::uint64_t antenna) {
    for (const std::uint64_t left_out : signal.left_out())
        antenna += left_out <= antenna ? 1 : 0;
    return antenna;
}

/// Per antenna: power of the channel's estimate in an occasion.
std::vector<double> powers_of(Receiver& receive, CaptureSlots& slots, std::uint64_t occasion) {
    std::vector<std::byte> input(slots.bytes_per_slot());
    slots.read(occasion, 1, input);
    std::vector<cf32> channel(receive.channel_per_slot());
    receive(SymbolView(slots.format(), input), occasion, {.channel = channel});
    const auto antennas = static_cast<std::size_t>(receive.config().antennas);
    std::vector<double> powers(antennas, 0.0);
    for (std::size_t i = 0; i < channel.size(); ++i)
        powers[i / (channel.size() / antennas)] += std::norm(std::complex<double>(channel[i]));
    const Link& link = receive.config().link;
    double subcarriers = 0.0;
    for (const ResourceBlocks& range : link.allocation.resource_blocks)
        subcarriers += subcarriers_per_resource_block * range.count;
    for (double& power : powers)
        power /= subcarriers;
    return powers;
}

}  // namespace

void warn_of_left_out(Reception& result, const CaptureSignal& signal, const Link& link) {
    const std::string name = name_of(result.capture) + ": ";
    for (const std::uint64_t antenna : signal.left_out()) {
        const std::string what =
            name_of_antenna(signal, antenna) + " has no signal: its samples are all alike";
        if (signal.antennas() < static_cast<std::uint64_t>(link.allocation.layers()))
            throw FileError(name + what + ", and " + std::to_string(signal.antennas()) +
                            (signal.antennas() == 1 ? " antenna is" : " antennas are") +
                            " too few for the link's " + std::to_string(link.allocation.layers()) +
                            " layers");
        result.warnings.push_back(name + what + ". It is left out");
    }
}

void warn_of_weak_antennas(const Host& host, const ReceiverConfig& config, CaptureSlots& slots,
                           Reception& result) {
    if (config.antennas == 1) return;
    const double least = min_coherence(config.link.allocation);
    const auto found = std::ranges::find_if(
        result.reports, [&](const SlotReport& report) { return report.coherence >= least; });
    if (found == result.reports.end()) return;
    const std::uint64_t occasion = slots.occasion_from(found->slot);
    ReceiverConfig measuring = config;
    measuring.noise_variance.reset();
    std::vector<double> noise = measured_from(host, measuring, slots, occasion).noise;
    if (noise.empty()) return;
    Receiver receive(host, measuring);
    std::vector<double> snrs = powers_of(receive, slots, occasion);
    std::vector<double> recorded = noise;
    for (std::size_t antenna = 0; antenna < noise.size(); ++antenna) {
        noise[antenna] = std::max(noise[antenna], 1e-30);
        snrs[antenna] /= noise[antenna];
        const double gain = result.impairments.empty() ? 1.0 : double{result.impairments[antenna].gain};
        recorded[antenna] = gain * gain * noise[antenna];
    }
    const double most = std::ranges::max(noise);
    const double most_recorded = std::ranges::max(recorded);
    const double best = std::ranges::max(snrs);
    for (std::size_t antenna = 0; antenna < noise.size(); ++antenna) {
        if (!(recorded[antenna] * min_noise_ratio < most_recorded) || !(snrs[antenna] < max_snr) ||
            !(snrs[antenna] * min_snr_ratio < best))
            continue;
        const bool is_mean = !rejects_interference(config) && !config.noise_variance;
        const bool is_harmful = is_mean && noise[antenna] * min_noise_ratio < most;
        result.warnings.push_back(
            name_of(result.capture) + ": " +
            name_of_antenna(slots.signal(), number_of(slots.signal(), antenna)) + " has " +
            rounded(elementary::decibels(most_recorded / recorded[antenna]), 0) +
            " dB less noise than another one, and hardly any signal: it may lack its cable" +
            (is_harmful ? ". N0, a mean over antennas, is too small, and soft bits are too large: leave the "
                          "antenna out"
                        : ""));
    }
}

}  // namespace phy::detail
