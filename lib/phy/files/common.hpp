#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/files/options.hpp"
#include "phy/machine/host.hpp"
#include "phy/pipeline/place.hpp"
#include "phy/receiver/link.hpp"
#include "phy/scrambling/gold_sequence.hpp"

/// What all functions of captures share.
namespace phy::detail {

/// What errors call a capture.
std::string name_of(const CaptureDescription& capture);

/// Throws FileError for a capture of what has not been received yet.
void require_symbols(const CaptureDescription& capture);

/// Throws ArgumentError where the output is a file that the capture is read from.
void require_not_read(const std::filesystem::path& output, const CaptureDescription& capture);

/// Throws ArgumentError where floating point numbers are to be divided by a full scale: they are taken as
/// they are, and who asks for another amplitude expects that to matter.
void require_use_of(const CaptureOptions& options, const CaptureDescription& capture);

/// Those that are asked for, else this CPU.
std::vector<Place> places_or_default(const std::vector<Place>& places);

/// For what is the same on every backend: whatever PHY_BACKEND says, as it may name a device.
Host fastest_host(int threads = 1);

/// The capture's, which integers are divided by on the way; 0: that of the format.
float full_scale_of(const CaptureDescription& capture);

/// The one in the capture's attribute, if it has one. Throws FileError for a text that is no link.
std::optional<Link> link_of(const CaptureDescription& capture);

/// Of the codeword of a slot, in a capture of symbols.
std::uint64_t codeword_symbols(const Link& link);

/// Has a capture of symbols used with what a link says of it, unless the options do: Options::capture, the
/// scrambling named, and Options::codeword_symbols, those of the codeword of a slot. Throws ArgumentError for
/// a link that is none.
template <typename Options>
Options with_link(Options options, std::optional<ScramblingIdentity> Options::*scrambling,
                  const std::optional<Link>& link) {
    if (!link) return options;
    check(*link);
    if (!options.capture.modulation) options.capture.modulation = link->modulation;
    if (options.*scrambling) return options;
    options.*scrambling = link->scrambling;
    options.codeword_symbols = codeword_symbols(*link);
    return options;
}

class Stopwatch {
public:
    void start() { start_ = Clock::now(); }
    void stop() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
    [[nodiscard]] double seconds() const { return seconds_; }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_;
    double seconds_ = 0.0;
};

}  // namespace phy::detail
