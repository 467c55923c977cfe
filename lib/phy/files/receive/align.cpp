#include "phy/files/receive/align.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "phy/core/error.hpp"
#include "phy/files/receive/search.hpp"
#include "phy/ofdm/ofdm_config.hpp"

namespace phy::detail {
namespace {

/// Delays that are shorter, over a prefix, are left to the receiver.
constexpr double max_share = 0.25;

/// Where frames begin in a file alone, modulo a frame, in samples of the receiver, and its antennas.
struct FrameStart {
    std::int64_t sample = 0;
    std::uint64_t antennas = 0;
};

/// None: not found.
std::optional<FrameStart> frame_start(const Host& host, ReceiverConfig config, const CaptureSignal& signal,
                                      const std::filesystem::path& file, const ReceiveOptions& options) {
    CaptureReader reader(file, options.capture);
    CaptureSignal alone(host, reader, signal.rates());
    config.antennas = static_cast<int>(alone.antennas());
    config.link.carrier.first_sample.reset();
    // No more layers than antennas.
    std::vector<int>& ports = config.link.allocation.dmrs.ports;
    ports.resize(std::min(ports.size(), static_cast<std::size_t>(config.antennas)));
    try {
        if (!find_slots(host, config, alone, options)) return {};
    } catch (const FileError&) {
        return {};
    }
    const LinkCarrier& carrier = config.link.carrier;
    const OfdmTiming timing(ofdm_config(config.link, config.antennas));
    return FrameStart{.sample = static_cast<std::int64_t>(*carrier.first_sample) -
                                static_cast<std::int64_t>(
                                    timing.slot_start(static_cast<std::uint64_t>(carrier.first_slot))),
                      .antennas = alone.antennas()};
}

}  // namespace

std::vector<std::int64_t> align_files(const Host& host, const ReceiverConfig& config, CaptureSignal& signal,
                                      const ReceiveOptions& options) {
    const std::vector<std::filesystem::path>& files = options.capture.more_antennas;
    if (files.empty()) return {};
    ReceiveOptions alone = options;
    alone.capture.more_antennas.clear();
    alone.diagnoses = false;
    const auto first = frame_start(host, config, signal, signal.description().file, alone);
    if (!first) return {};
    const double rate = *config.link.carrier.sample_rate;
    const auto frame = std::llround(0.01 * rate);
    const std::size_t prefix = OfdmTiming(ofdm_config(config.link, config.antennas)).prefix_samples(0, 1);
    std::vector<std::int64_t> delays(first->antennas);
    bool any = false;
    for (const std::filesystem::path& file : files) {
        const auto other = frame_start(host, config, signal, file, alone);
        if (!other) return {};
        std::int64_t late = (other->sample - first->sample) % frame;
        if (2 * std::abs(late) > frame) late -= late > 0 ? frame : -frame;
        if (static_cast<double>(std::abs(late)) <= max_share * static_cast<double>(prefix)) late = 0;
        any = any || late != 0;
        const auto recorded =
            static_cast<std::int64_t>(signal.recorded(static_cast<std::uint64_t>(std::abs(late))));
        delays.insert(delays.end(), other->antennas, late < 0 ? -recorded : recorded);
    }
    if (!any) return {};
    signal.align(delays);
    return delays;
}

}  // namespace phy::detail
