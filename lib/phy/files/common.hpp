#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/core/backend.hpp"
#include "phy/core/error.hpp"
#include "phy/files/demodulate.hpp"
#include "phy/machine/atomic_file.hpp"
#include "phy/machine/host.hpp"
#include "phy/pipeline/place.hpp"

/// What all that goes over a capture shares.
namespace phy::detail {

/// What errors call a capture.
inline std::string name_of(const CaptureDescription& capture) {
    return capture.file.string() + ": " + capture.dataset;
}

/// Throws FileError for a capture of what has not been received yet.
inline void require_symbols(const CaptureDescription& capture) {
    if (capture.kind == CaptureKind::symbols) return;
    throw FileError(name_of(capture) + " holds " +
                    (capture.kind == CaptureKind::grid ? "a grid" : "samples") + ": expected symbols");
}

/// Throws ArgumentError where the output is a file that the capture is read from.
inline void require_not_read(const std::filesystem::path& output, const CaptureDescription& capture) {
    if (output.empty()) return;
    for (const std::filesystem::path& file : capture.files)
        if (is_same_file(output, file))
            throw ArgumentError(output.string() + ": would overwrite the capture, which is read from it");
}

/// Throws ArgumentError where floating point numbers are to be divided by a full scale: they are taken as
/// they are, and who asks for another amplitude expects that to matter.
inline void require_use_of(const CaptureOptions& options, const CaptureDescription& capture) {
    if (!options.full_scale || capture.is_integer) return;
    throw ArgumentError(
        "option full_scale: " + name_of(capture) + " holds floating point numbers, " +
        (capture.kind == CaptureKind::symbols ? "which --gain divides" : "whose amplitude does not matter"));
}

/// Those that are asked for, else this CPU.
inline std::vector<Place> places_or_default(const std::vector<Place>& places) {
    if (!places.empty()) return places;
    return {Host({.threads = demodulation_threads()})};
}

/// For what is the same on every backend: whatever PHY_BACKEND says, as it may name a device.
inline Host fastest_host(int threads = 1) {
    try {
        return Host({.threads = threads, .backend = Backend::parse("cpu")});
    } catch (const BackendError&) {
        return Host({.threads = threads, .backend = Backend::scalar()});
    }
}

/// The capture's, which integers are divided by on the way; 0: that of the format.
inline float full_scale_of(const CaptureDescription& capture) {
    const bool is_integer = default_full_scale(capture.format) != 1.0F;
    return is_integer ? static_cast<float>(capture.full_scale.value_or(0.0)) : 0.0F;
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
