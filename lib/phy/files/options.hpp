#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/core/error.hpp"
#include "phy/core/export.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/receiver/link.hpp"

namespace phy {

/// Number of CPU threads that functions of files use if no place is given: all processors that the process
/// may use but two, which are left for reading and writing; at least 1.
[[nodiscard]] PHY_EXPORT int demodulation_threads();

/// Neighbouring items of a capture: symbols, or occasions if slots are received.
struct PHY_EXPORT ItemRange {
    std::uint64_t first = 0;
    std::uint64_t count = 0;  ///< at least 1, at most these: a range ends where the capture does

    friend bool operator==(const ItemRange&, const ItemRange&) = default;
};

/// Options common to demodulate_file(), receive_file() and measure_file(). Options of one function can
/// initialise those of another: MeasureOptions{options}.
struct PHY_EXPORT FileOptions {
    CaptureOptions capture = {};  ///< how the capture is read

    /// Carrier and allocation. None: the capture's attribute, if it has one.
    std::optional<Link> link = {};

    /// The items that are processed. Soft bits are those that a run over the whole capture writes for them.
    /// What is measured first, such as gain, N0, timing and frequency, is measured over the whole capture.
    /// None: all.
    std::optional<ItemRange> range = {};

    std::vector<Place> places = {};  ///< where the work runs; empty: this CPU, with demodulation_threads()

    /// `items` is set from the capture. An item is a symbol, or an occasion if slots are received.
    Pipeline::Config pipeline = {};

    /// Called after each chunk with the number of items done and of all items, each counted once per pass
    /// over the capture. Called by one thread at a time. An exception from it ends the run and reaches the
    /// caller.
    std::function<void(std::uint64_t done, std::uint64_t all)> progress = {};
    std::stop_token stop = {};
};

/// Further options common to demodulate_file() and receive_file(), which write soft bits.
struct PHY_EXPORT SoftBitFileOptions : FileOptions {
    LlrConfig llr = {};
    SoftBitFormat format = SoftBitFormat::int8;

    bool overwrite = false;  ///< the output replaces an existing file
    bool durable = false;    ///< after a power failure the file is complete or absent: see AtomicFile

    /// Called after everything is written and before the file gets its name. If it throws, no file remains.
    std::function<void(const PipelineReport&)> before_commit = {};
};

/// A capture lacks its modulation, noise variance, transmitted bits or link. Also thrown if its noise
/// variance is invalid or cannot be measured. CaptureOptions can give modulation and noise variance instead.
class PHY_EXPORT DescriptionError : public FileError {
public:
    enum class Lacks { modulation, noise_variance, modulation_and_noise_variance, bits, link };

    DescriptionError(const std::string& message, Lacks lacks) : FileError(message), lacks_(lacks) {}

    [[nodiscard]] Lacks lacks() const { return lacks_; }

private:
    Lacks lacks_;
};

}  // namespace phy
