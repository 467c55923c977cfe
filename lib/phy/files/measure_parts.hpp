#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/files/measure.hpp"
#include "phy/files/options.hpp"
#include "phy/measure/symbol_sums.hpp"

/// One capture that several processes measure: plan_measurement() once, measure_part() for each part, and
/// join_measured(). All of them take the same capture and options.
namespace phy {

/// What parts of a capture share.
struct PHY_EXPORT MeasurePlan {
    std::uint64_t items = 0;   ///< symbols, or occasions of a grid or samples; 0: stopped on request
    std::uint64_t unit = 1;    ///< parts begin at multiples of it, and end there or where the capture does
    float gain = 1.0F;         ///< of symbols: they are divided by it before decisions
    std::string no_gain = {};  ///< as in Measured
    std::string survey = {};   ///< of a grid or samples: CaptureSurvey::text

    friend bool operator==(const MeasurePlan&, const MeasurePlan&) = default;
};

/// Sums of a part of a capture, for join_measured().
struct PHY_EXPORT MeasuredPart {
    ItemRange range = {};
    std::string settings = {};  ///< one line for people; equal for parts that can be joined

    /// Of symbols: the roots of the largest subtrees of the tree of the whole capture that lie in the part.
    std::vector<SymbolSums> roots = {};

    /// Of symbols: the rows that begin in the part, also if they end behind it. Of a grid or samples: its
    /// occasions.
    std::vector<SymbolSums> rows = {};

    // Of a grid or samples.
    std::uint64_t slots_with_dmrs = 0;
    std::vector<std::string> warnings = {};

    bool cancelled = false;  ///< stopped on request: it cannot be joined

    friend bool operator==(const MeasuredPart&, const MeasuredPart&) = default;
};

/// Measures what is measured over the whole capture before its parts: the gain of symbols, or the survey of a
/// grid or samples. FileOptions::range does not matter. Throws as measure_file() does.
[[nodiscard]] PHY_EXPORT MeasurePlan plan_measurement(const std::filesystem::path& capture,
                                                      const MeasureOptions& options = {});

/// Sums the part FileOptions::range, or all. Throws as measure_file() does, and ArgumentError for a plan of
/// another capture and for a part that does not begin and end at multiples of MeasurePlan::unit.
[[nodiscard]] PHY_EXPORT MeasuredPart measure_part(const std::filesystem::path& capture,
                                                   const MeasureOptions& options, const MeasurePlan& plan);

/// Returns what measure_file() returns for the whole capture, whatever the parts, without the time that it
/// took. parts: in any order, each item in one of them. Reads at most 2^18 symbols.
///
/// The warnings of a grid or samples are those of its parts, each text once: a warning with numbers of slots
/// counts those of its part.
///
/// Throws as measure_file() does, FileError if no slot has the DM-RS, and ArgumentError for a plan of another
/// capture and for parts that are stopped, overlap, leave out items or were made with other options.
[[nodiscard]] PHY_EXPORT Measured join_measured(const std::filesystem::path& capture,
                                                const MeasureOptions& options, const MeasurePlan& plan,
                                                std::vector<MeasuredPart> parts);

}  // namespace phy
