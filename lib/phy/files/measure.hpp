#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/core/export.hpp"
#include "phy/files/options.hpp"
#include "phy/measure/symbol_meter.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/receiver/link.hpp"
#include "phy/scrambling/gold_sequence.hpp"

namespace phy {

/// Rows of neighbouring symbols that are measured separately, in addition to the whole capture. The first one
/// begins where FileOptions::range does.
enum class MeasureBy {
    whole,    ///< none
    row,      ///< the dataset's last dimension: an OFDM symbol, if that is subcarriers
    slot,     ///< 14 such rows; of a grid or samples, an occasion
    symbols,  ///< MeasureOptions::row symbols
};

/// Options of measure_file().
struct PHY_EXPORT MeasureOptions : FileOptions {
    /// Amplitude of the constellation: symbols are divided by it before decisions. None: measured first, on
    /// up to 2^20 symbols spread over the whole capture; with SymbolReference::sent it is the root of their
    /// mean power.
    std::optional<float> gain = {};

    /// Reference points: the nearest ones, or those of the capture's transmitted bits.
    SymbolReference reference = SymbolReference::decisions;

    /// With SymbolReference::sent: how the transmitted bits were scrambled before mapping; the capture is one
    /// codeword. None: as in the link; without a link they were not scrambled.
    std::optional<ScramblingIdentity> scrambling = {};
    /// Symbols per codeword. None: a slot's if the identity is the link's, else the capture is one codeword.
    std::optional<std::uint64_t> codeword_symbols = {};

    /// A row that is shorter than the capture and no multiple of symbol_tree.block (1,024 symbols) must fit
    /// into one chunk, so into the memory of each buffer set; otherwise Pipeline throws. Other rows may have
    /// any length.
    MeasureBy by = MeasureBy::whole;
    std::optional<std::uint64_t> row = {};  ///< with MeasureBy::symbols: symbols, at least 1

    /// Of a grid or samples, as in ReceiveOptions.
    std::string survey = {};
};

/// Result of measure_file().
struct PHY_EXPORT Measured {
    CaptureDescription capture;
    SampleFormat format = SampleFormat::cf32;  ///< of the measured symbols
    ItemRange range;                           ///< symbols or occasions of the capture that were measured
    std::uint64_t symbols = 0;                 ///< number of symbols that were read
    SymbolMeterConfig meter;                   ///< as used; its gain is that of the decisions
    SymbolReference reference = SymbolReference::decisions;

    /// Symbols divided by it have unit mean power: the given gain, else whole.gain. Noise variances are those
    /// of the divided symbols.
    float gain = 1.0F;

    /// Who sent the symbols, from the direction of their link; none without a link.
    std::optional<Transmitter> transmitter = {};

    /// Of receive_file(), for a grid or samples. For symbols of a known modulation: faults, another
    /// modulation, or no constellation, as in SymbolCheck.
    std::vector<std::string> warnings = {};

    /// Why the gain could not be measured, in one line; empty if it was.
    std::string no_gain = {};

    SymbolMeasurement whole;

    std::optional<std::uint64_t> row = {};  ///< symbols per row, the last may be shorter; none: no rows
    std::vector<SymbolSums> rows;           ///< in the order of the capture

    std::vector<Place> places;
    PipelineReport pipeline;  ///< of the pass that measured the whole
    bool cancelled = false;   ///< stopped on request: nothing is measured
    double seconds = 0.0;     ///< s, from the first read of symbols to the last

    /// Converts sums to a measurement in the units of `whole`. Values that depend on decisions are NaN if the
    /// modulation is unknown or the gain could not be measured.
    [[nodiscard]] SymbolMeasurement measurement(const SymbolSums& sums) const;
};

/// Measures all symbols of a capture (docs/files.md), or of its range, with a SymbolMeter. Results do not
/// depend on places, threads, chunks or buffer sets. A range is measured as a capture of these symbols alone
/// with the gain of the whole one; transmitted bits are scrambled, and pi/2-BPSK rotates, as in the whole
/// one. measure_parts.hpp has the sums of ranges that make up the measurement of the whole.
///
/// The result of the whole does not depend on `by` either: rows that are no
/// multiple of symbol_tree.block have a tree of their own, so the capture is then read once for the whole and
/// once for its rows.
///
/// If the modulation is unknown, or the gain cannot be measured because no symbol is finite and not 0, only
/// powers, offsets and imbalances are measured, with a gain of 1.
///
/// A grid or samples are first received by receive_file(). The equalised symbols of all slots are then
/// measured together, by decisions and with a gain of 1. Erased ones count as not finite. A slot of
/// MeasureBy::slot is an occasion, and a chunk counts slots.
///
/// Throws FileError for a bad file; DescriptionError if requested transmitted bits are missing; ArgumentError
/// for options out of their range, for a range without items, for a full scale of floating-point numbers, for
/// symbols with a survey, and for a grid or samples with a gain, SymbolReference::sent or rows other than
/// slots; and what receive_file() and Pipeline throw.
PHY_EXPORT Measured measure_file(const std::filesystem::path& capture, const MeasureOptions& options = {});

}  // namespace phy
