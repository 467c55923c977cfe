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
#include "phy/receiver/description_error.hpp"
#include "phy/receiver/link.hpp"
#include "phy/scrambling/gold_sequence.hpp"

namespace phy {

/// Which neighbouring symbols of a capture are measured apart, beside the whole.
enum class MeasureBy {
    whole,    ///< none
    row,      ///< those of the dataset's last dimension: an OFDM symbol, where that is subcarriers
    slot,     ///< 14 such rows
    symbols,  ///< as many as MeasureOptions::row says
};

/// What measure_file() is told beside its file.
struct PHY_EXPORT MeasureOptions : FileOptions {
    /// Symbols are divided by it before they are decided: the amplitude of the constellation. None: it is
    /// measured first, on up to 2^20 symbols that are spread over the capture; with SymbolReference::sent as
    /// the root of their mean power.
    std::optional<float> gain = {};

    /// The nearest points, or those that the capture's transmitted bits are mapped to.
    SymbolReference reference = SymbolReference::decisions;

    /// With SymbolReference::sent: how the transmitted bits were scrambled before they were mapped; the
    /// capture is one codeword. None: as the link says, else they were not.
    std::optional<ScramblingIdentity> scrambling = {};
    std::uint64_t codeword_symbols = 0;  ///< after which another codeword begins; 0: there is one

    /// Rows of a length that is no multiple of symbol_tree.block, 1,024 symbols, and less than the capture go
    /// through the pipeline whole: each has to fit into one chunk, so into the memory of every lane (what
    /// Pipeline throws). Others may be of any length.
    MeasureBy by = MeasureBy::whole;
    std::uint64_t row = 0;  ///< with MeasureBy::symbols: at least 1
};

/// What the symbols of a capture are like.
struct PHY_EXPORT Measured {
    CaptureDescription capture;
    SampleFormat format = SampleFormat::cf32;  ///< of what was measured
    std::uint64_t symbols = 0;                 ///< that were looked at
    SymbolMeterConfig meter;                   ///< as it was used; its gain is that of the decisions
    SymbolReference reference = SymbolReference::decisions;

    /// By which symbols are to be divided to have unit mean power: the one that was given, else whole.gain.
    /// Noise variances are those of symbols that are divided by it.
    float gain = 1.0F;

    std::vector<std::string> warnings = {};  ///< of what a grid or samples were received with

    /// Why the gain could not be measured, in one line; else empty.
    std::string no_gain = {};

    SymbolMeasurement whole;

    std::uint64_t row = 0;         ///< symbols of a row, the last of which may be shorter; 0: no rows
    std::vector<SymbolSums> rows;  ///< in the order of the capture

    std::vector<Place> places;
    PipelineReport pipeline;  ///< of the pass that measured the whole
    bool cancelled = false;   ///< a stop was asked for: nothing is measured
    double seconds = 0.0;     ///< from the first look at the symbols to the last

    /// The numbers of such sums, in the units of `whole`. Where the modulation is not known, or the gain
    /// could not be measured, what depends on decisions is NaN.
    [[nodiscard]] SymbolMeasurement measurement(const SymbolSums& sums) const;
};

/// Measures the symbols of a capture (docs/files.md), by a SymbolMeter that goes over all of it. What is
/// measured does not depend on places, threads, chunks or lanes; that of the whole does not depend on `by`
/// either: where rows are no multiple of symbol_tree.block, their sums are those of another tree, and the
/// capture is read once for the whole and once for its rows.
///
/// A capture of unknown modulation, or whose gain cannot be measured because no symbol is finite and not 0,
/// has powers, offsets and imbalances only; its gain is taken as 1.
///
/// A grid or samples are received by receive_file() first: measured are the equalised symbols of all slots
/// together, by decisions and as they are, without erased ones, though peaks count those as 0. A slot of
/// MeasureBy::slot is one with the allocation; a chunk is one of slots.
///
/// Throws FileError for what is wrong with a file; DescriptionError where transmitted bits are asked for and
/// not there; ArgumentError for options out of their range, for a full scale of floating point
/// numbers, and of a grid or samples for a gain, SymbolReference::sent and other rows than slots; and what
/// receive_file() and Pipeline throw.
PHY_EXPORT Measured measure_file(const std::filesystem::path& capture, const MeasureOptions& options = {});

}  // namespace phy
