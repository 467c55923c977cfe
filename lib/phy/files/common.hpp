#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/core/full_scale.hpp"
#include "phy/files/options.hpp"
#include "phy/machine/host.hpp"
#include "phy/measure/symbol_sums.hpp"
#include "phy/pipeline/place.hpp"
#include "phy/receiver/link.hpp"
#include "phy/scrambling/gold_sequence.hpp"

/// Shared by all functions of files.
namespace phy::detail {

/// The name of a capture for errors.
std::string name_of(const CaptureDescription& capture);

/// Throws FileError for a capture of a grid or samples.
void require_symbols(const CaptureDescription& capture);

/// Throws ArgumentError if the output is one of the capture's files.
void require_not_read(const std::filesystem::path& output, const CaptureDescription& capture);

/// Throws ArgumentError for a full scale of floating-point numbers: they are not scaled, so the option would
/// have no effect.
void require_use_of(const CaptureOptions& options, const CaptureDescription& capture);

/// What the capture has of the range, else all items. Throws ArgumentError if that is nothing.
/// items: "symbols" or "slots".
ItemRange range_or_all(const std::optional<ItemRange>& range, std::uint64_t all, std::string_view items,
                       const CaptureDescription& capture);

/// The given places, else this CPU.
std::vector<Place> places_or_default(const std::vector<Place>& places);

/// A host for work whose result does not depend on the backend. Ignores PHY_BACKEND, which may name a device.
Host fastest_host(int threads = 1);

/// For such work: the host among the places, else one with demodulation_threads().
Host host_among(const std::vector<Place>& places);

/// The capture's full scale, by which later stages divide integers.
FullScale full_scale_of(const CaptureDescription& capture);

/// The link in the capture's attribute, if any. Throws FileError for text that is no link.
std::optional<Link> link_of(const CaptureDescription& capture);

Transmitter transmitter_of(const Link& link);

/// Symbols per codeword in a capture of symbols: one codeword per slot.
std::uint64_t codeword_symbols(const Link& link);

/// Completes the options for a capture of symbols from a link: Options::capture, the given scrambling member,
/// and Options::codeword_symbols. Options that are set stay. Throws ArgumentError for an invalid link.
template <typename Options>
Options with_link(Options options, std::optional<ScramblingIdentity> Options::*scrambling,
                  const std::optional<Link>& link) {
    if (!link) return options;
    check(*link);
    if (!options.capture.modulation) options.capture.modulation = link->modulation;
    if (options.*scrambling) return options;
    options.*scrambling = link->scrambling;
    if (!options.codeword_symbols) options.codeword_symbols = codeword_symbols(*link);
    return options;
}

/// With at most `decimals` of them: 0, 1 or 2.
std::string rounded(double value, int decimals = 2);

/// Separated by commas.
std::string list_of(const std::vector<int>& numbers);

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
