#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/formats.hpp"
#include "phy/pipeline/pipeline.hpp"

namespace phy::apps {

/// A number; none: the pipeline chooses.
using Choice = std::optional<std::uint64_t>;

/// One row of the measurement.
struct Combination {
    Formats formats;
    std::uint64_t symbols = 0;
    Choice streams;  ///< per device
    Choice chunk;    ///< symbols
    IssueOrder order = IssueOrder::sequential;
};

/// Lists from the command line; all their combinations are measured.
struct Grid {
    std::vector<Formats> formats = {{}};
    std::vector<std::uint64_t> symbols;  ///< empty: those of default_symbols that fit into memory
    std::vector<Choice> streams = {std::nullopt};
    std::vector<Choice> chunks = {std::nullopt};
    std::vector<IssueOrder> orders = {IssueOrder::sequential};
};

inline constexpr std::uint64_t default_symbols[] = {
    std::uint64_t{1} << 14U, std::uint64_t{1} << 16U, std::uint64_t{1} << 18U, std::uint64_t{1} << 20U,
    std::uint64_t{1} << 23U, std::uint64_t{1} << 25U, std::uint64_t{1} << 27U};

/// Parse comma-separated lists. Throw ArgumentError, which names the option, the list and the bad element.
std::vector<Choice> parse_streams(const std::string& list);
std::vector<Choice> parse_chunks(const std::string& list);
std::vector<IssueOrder> parse_orders(const std::string& list);

/// Sets the symbols of a grid that has none, and returns a note about those left out, if any. Throws
/// ArgumentError if given symbols take more than half of the memory (bytes).
std::string fit_symbols(Grid& grid, Modulation modulation, double memory);

/// All combinations, with formats as the outermost loop.
std::vector<Combination> combinations(const Grid& grid);

}  // namespace phy::apps
