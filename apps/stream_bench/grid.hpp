#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/formats.hpp"
#include "phy/pipeline/pipeline.hpp"

namespace phy::apps {

/// A number, or none where the pipeline is to choose.
using Choice = std::optional<std::uint64_t>;

/// What is measured in one row.
struct Combination {
    Formats formats;
    std::uint64_t symbols = 0;
    Choice streams;  ///< for each device
    Choice chunk;    ///< symbols
    IssueOrder order = IssueOrder::sequential;
};

/// The lists of a command line, of which all combinations are measured.
struct Grid {
    std::vector<Formats> formats = {{}};
    std::vector<std::uint64_t> symbols;  ///< empty: default_symbols, as far as memory has room for them
    std::vector<Choice> streams = {std::nullopt};
    std::vector<Choice> chunks = {std::nullopt};
    std::vector<IssueOrder> orders = {IssueOrder::sequential};
};

inline constexpr std::uint64_t default_symbols[] = {
    std::uint64_t{1} << 14U, std::uint64_t{1} << 16U, std::uint64_t{1} << 18U, std::uint64_t{1} << 20U,
    std::uint64_t{1} << 23U, std::uint64_t{1} << 25U, std::uint64_t{1} << 27U};

/// The elements of a list with commas. Each throws ArgumentError, which names the option, the list and the
/// element in it, if one is not what it should be.
std::vector<Choice> parse_streams(const std::string& list);
std::vector<Choice> parse_chunks(const std::string& list);
std::vector<IssueOrder> parse_orders(const std::string& list);

/// Sets the symbols of a grid that has none, and returns what is to be said about those left out, if any.
/// Throws ArgumentError where those that it has take more than half of the memory (bytes).
std::string fit_symbols(Grid& grid, Modulation modulation, double memory);

/// Those that differ in formats only are farthest apart.
std::vector<Combination> combinations(const Grid& grid);

}  // namespace phy::apps
