#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/core/export.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/receiver/link.hpp"

namespace phy {

/// How many CPU threads the functions of files use if they are given no place: as many as processors that the
/// process may use but two, which are left for reading and writing; at least 1.
[[nodiscard]] PHY_EXPORT int demodulation_threads();

/// What demodulate_file(), receive_file() and measure_file() have in common. One function can start the
/// options of another with its own: MeasureOptions{options}.
struct PHY_EXPORT FileOptions {
    CaptureOptions capture = {};  ///< how the capture is read

    /// What was sent where. None: the capture's attribute, if it has one.
    std::optional<Link> link = {};

    std::vector<Place> places = {};  ///< where the work runs; none: this CPU, with demodulation_threads()

    /// `items` is the capture's. An item is a symbol, or a slot where slots are received.
    Pipeline::Config pipeline = {};

    /// Called after each chunk with the number of items that are done, and of all, each counted once a pass
    /// over the capture. Called by one thread at a time. What it throws ends the run and is thrown by the
    /// function that was called.
    std::function<void(std::uint64_t done, std::uint64_t all)> progress = {};
    std::stop_token stop = {};
};

/// What demodulate_file() and receive_file(), which write soft bits, have in common beside that.
struct PHY_EXPORT SoftBitFileOptions : FileOptions {
    /// How soft bits are made. Modulation and full scale are those of the link and the capture, which
    /// CaptureOptions override.
    DemapperConfig demapper = {};
    SoftBitFormat format = SoftBitFormat::int8;

    bool overwrite = false;  ///< the output replaces an existing file
    bool durable = false;    ///< after a loss of power the file is complete or absent: see AtomicFile

    /// Called when everything is written and before the file gets its name: what it throws leaves no file.
    std::function<void(const PipelineReport&)> before_commit = {};
};

}  // namespace phy
