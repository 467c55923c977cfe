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
#include "phy/receiver/link.hpp"
#include "phy/scrambling/gold_sequence.hpp"

namespace phy {

/// Options of demodulate_file().
struct PHY_EXPORT DemodulateOptions : SoftBitFileOptions {
    /// Amplitude of the constellation, from 2^-40 to 2^40: symbols are divided by it before demapping. None:
    /// measured first. An N0 from the file or from `capture`, also one per symbol, is that of the divided
    /// symbols.
    std::optional<float> gain = 1.0F;

    /// Descrambles the soft bits: the capture is one codeword of this identity, and its transmitted bits are
    /// those before scrambling. None: the link, if given, descrambles, with one codeword per slot. The link's
    /// modulation overrides the file's; that of `capture` overrides both.
    std::optional<ScramblingIdentity> descramble = {};
    /// Symbols per codeword. None: a slot's if the identity is the link's, else the capture is one codeword.
    std::optional<std::uint64_t> codeword_symbols = {};

    /// Measures N0 first and ignores every given N0, also one per symbol. Otherwise an N0 in `capture` holds
    /// for all symbols and overrides the file's.
    bool estimate_noise = false;

    /// Writes decisions, one per byte, instead of soft bits: 1 where a soft bit in `format` is below 0.
    /// Erased soft bits, and those that the format rounds to 0, count as bit 0.
    bool hard = false;

    bool keep_shape = false;  ///< the output has the dimensions of the capture, then Qm; not with a range

    /// Counts bit errors in all symbols. Otherwise, of more than 2^20 symbols, it counts them in 8 blocks
    /// with 2^18 symbols together, spread over the capture or its range: reading compressed transmitted bits
    /// takes far longer than demapping symbols.
    bool count_all_errors = false;
};

/// Result and speed of a demodulation.
struct PHY_EXPORT Demodulation {
    CaptureDescription capture;
    float gain = 1.0F;        ///< symbols were divided by it
    DemapperConfig demapper;  ///< as used
    SoftBitFormat format = SoftBitFormat::int8;
    std::optional<float> noise_variance;  ///< none: one per symbol
    ItemRange range;                      ///< of the capture's symbols
    std::uint64_t symbols = 0;
    std::uint64_t soft_bits = 0;
    std::optional<ScramblingIdentity> descrambled;  ///< none: not descrambled
    DemapCounters counters;
    std::optional<std::uint64_t> bit_errors;  ///< none without transmitted bits
    std::uint64_t compared_bits = 0;          ///< bits that were compared with transmitted ones
    SymbolCheck check;                        ///< whether the symbols match modulation, power and N0
    std::vector<std::string> warnings;        ///< such as transmitted bits that fit no symbol
    std::optional<Measured> measured;         ///< if something was measured first
    std::vector<Place> places;
    PipelineReport pipeline;
    bool cancelled = false;  ///< stopped on request: no file; other members describe the work done so far
    double seconds = 0.0;    ///< s, from opening the output to its last byte, without before_commit
};

/// Demaps the symbols of a capture (docs/files.md) to a file of soft bits in output_format(), compares them
/// with the transmitted bits if the capture has them, and reports. An empty soft_bits writes nothing. The
/// file appears when it is complete; after an error or a request to stop there is none. To measure gain or
/// N0, measure_file() reads the capture first.
///
/// Throws FileError for a bad file, for a capture of a grid or samples, and if a measurement fails (no finite
/// symbol, no noise); DescriptionError if the file lacks a description; ArgumentError for options out of
/// their range, for an output that is also an input, and for a full scale of floating-point numbers (use the
/// gain); and what Pipeline throws.
PHY_EXPORT Demodulation demodulate_file(const std::filesystem::path& capture,
                                        const std::filesystem::path& soft_bits,
                                        const DemodulateOptions& options = {});

}  // namespace phy
