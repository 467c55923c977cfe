#pragma once

#include <cstdint>
#include <filesystem>
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

namespace phy {

/// A capture does not say which modulation or which noise variance it has, or gives a variance that cannot
/// be. CaptureOptions may say it instead.
class PHY_EXPORT DescriptionError : public FileError {
public:
    using FileError::FileError;
};

/// How many threads demodulate_file() takes where it is told no place: as many as processors that the process
/// may use but two, which are left for reading and writing; at least 1.
[[nodiscard]] PHY_EXPORT int demodulation_threads();

/// What demodulate_file() is told beside its two files.
struct PHY_EXPORT DemodulateOptions {
    /// How the capture is read. A noise variance here is that of all symbols, whatever the capture has.
    CaptureOptions capture = {};

    /// How soft bits are made. Modulation and full scale are the capture's, which CaptureOptions correct.
    DemapperConfig demapper = {};
    SoftBitFormat format = SoftBitFormat::int8;

    /// Where the work runs; none: this CPU, with demodulation_threads().
    std::vector<Place> places = {};
    Pipeline::Config pipeline = {};  ///< `items` is the capture's

    bool overwrite = false;  ///< the soft bits take the place of a file that is there

    /// Called after each chunk with how many symbols are done, of how many; by one thread at a time. What it
    /// throws ends the run and is thrown by demodulate_file().
    std::function<void(std::uint64_t done, std::uint64_t all)> progress = {};

    /// Called when all soft bits are written and before the file gets its name: what it throws leaves no
    /// file.
    std::function<void(const PipelineReport&)> before_commit = {};
    std::stop_token stop = {};
};

/// What a demodulation did and how fast it was.
struct PHY_EXPORT Demodulation {
    CaptureDescription capture;
    DemapperConfig demapper;              ///< as it was used
    std::optional<float> noise_variance;  ///< none: one a symbol
    std::uint64_t symbols = 0;
    std::uint64_t soft_bits = 0;
    DemapCounters counters;
    std::optional<std::uint64_t> bit_errors;  ///< none without transmitted bits to compare with
    std::vector<std::string> warnings;        ///< such as transmitted bits that fit no symbol
    std::vector<Place> places;
    PipelineReport pipeline;
    bool cancelled = false;  ///< a stop was asked for: there is no file, and the rest is of what was done
    double seconds = 0.0;    ///< from opening the output to its last byte, without before_commit
};

/// Demaps the symbols of a capture (data/README.md) to a file of soft bits, compares them with the
/// transmitted bits where the capture has them, and reports. soft_bits may be empty: nothing is written then.
/// The file appears when it is complete; after an error, or a request to stop, there is none.
///
/// Throws FileError for what is wrong with a file, DescriptionError where it says too little, ArgumentError
/// for options out of their range, and what Pipeline throws.
PHY_EXPORT Demodulation demodulate_file(const std::filesystem::path& capture,
                                        const std::filesystem::path& soft_bits,
                                        const DemodulateOptions& options = {});

}  // namespace phy
