#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/core/export.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/files/measure.hpp"
#include "phy/files/options.hpp"
#include "phy/files/symbol_check.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/receiver/description_error.hpp"
#include "phy/receiver/link.hpp"
#include "phy/scrambling/gold_sequence.hpp"

namespace phy {

/// What demodulate_file() is told beside its two files.
struct PHY_EXPORT DemodulateOptions : SoftBitFileOptions {
    /// The amplitude of the constellation, by which symbols are divided before they are demapped: from 2^-40
    /// to 2^40. None: it is measured first. N0, where it comes from the capture or from `capture`, is that of
    /// symbols that are divided by it, and so are values of N0 by symbol.
    std::optional<float> gain = 1.0F;

    /// The soft bits are descrambled: those of the capture are one codeword of this identity. Transmitted
    /// bits to compare with are those before scrambling. None: soft bits are descrambled as the codewords of
    /// the link, one a slot, if there is one; its modulation overrides the capture's, not that of `capture`.
    std::optional<ScramblingIdentity> descramble = {};
    std::uint64_t codeword_symbols = 0;  ///< after which another codeword begins; 0: there is one

    /// N0 is measured first, and what else is said about it, by symbol too, does not count. Otherwise that of
    /// `capture` is the N0 of all symbols, whatever the capture has.
    bool estimate_noise = false;

    /// The file has decisions, one a byte, in place of soft bits: the signs of those in `format`, where 0
    /// counts as bit 0. int8 rounds small soft bits to 0, the others do not.
    bool hard = false;

    bool keep_shape = false;  ///< what is written has the dimensions of the capture, and then Qm

    /// Bit errors are counted in all symbols. Otherwise, in captures of more than 2^20 symbols, they are
    /// counted in 2^18 that are spread over the capture, in 8 blocks, because transmitted bits that are
    /// packed take far longer to read than symbols to demap.
    bool count_all_errors = false;
};

/// What a demodulation did and how fast it was.
struct PHY_EXPORT Demodulation {
    CaptureDescription capture;
    float gain = 1.0F;                    ///< by which symbols were divided
    DemapperConfig demapper;              ///< as it was used
    std::optional<float> noise_variance;  ///< none: one a symbol
    std::uint64_t symbols = 0;
    std::uint64_t soft_bits = 0;
    std::optional<ScramblingIdentity> descrambled;  ///< none: the soft bits are as they were received
    DemapCounters counters;
    std::optional<std::uint64_t> bit_errors;  ///< none without transmitted bits to compare with
    std::uint64_t compared_bits = 0;          ///< in which bit errors were counted
    SymbolCheck check;                        ///< whether the symbols are what is said about them
    std::vector<std::string> warnings;        ///< such as transmitted bits that fit no symbol
    std::optional<Measured> measured;         ///< where something was measured first
    std::vector<Place> places;
    PipelineReport pipeline;
    bool cancelled = false;  ///< a stop was asked for: there is no file, and the rest is of what was done
    double seconds = 0.0;    ///< from opening the output to its last byte, without before_commit
};

/// Demaps the symbols of a capture (docs/files.md) to a file of soft bits, compares them with the
/// transmitted bits where the capture has them, and reports. soft_bits may be empty: nothing is written then.
/// The file appears when it is complete; after an error, or a request to stop, there is none. Where the gain
/// or N0 is to be measured, measure_file() goes over the capture first.
///
/// Throws FileError for what is wrong with a file, for one that holds a grid or samples, and where what is
/// measured cannot be (no symbol is finite, there is no noise); DescriptionError where the file says too
/// little; ArgumentError for options out of their range, for an output that the capture is read from, and for
/// a full scale of floating point numbers, which a gain divides; and what Pipeline throws.
PHY_EXPORT Demodulation demodulate_file(const std::filesystem::path& capture,
                                        const std::filesystem::path& soft_bits,
                                        const DemodulateOptions& options = {});

}  // namespace phy
