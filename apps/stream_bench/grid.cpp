#include "stream_bench/grid.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "phy/core/error.hpp"

namespace phy::apps {
namespace {

constexpr const char* automatic = "auto";

}  // namespace

std::vector<Choice> parse_streams(const std::string& list) {
    return parse_list("--streams", list, [](std::string_view text) {
        return text == automatic ? Choice()
                                 : parse_count(text, 1024, "a whole number from 1 to 1024, or 'auto'");
    });
}

std::vector<Choice> parse_chunks(const std::string& list) {
    return parse_list("--chunk", list, [](std::string_view text) {
        return text == automatic
                   ? Choice()
                   : parse_count(text, UINT64_MAX, "a whole number of symbols from 1 on, or 'auto'");
    });
}

std::vector<IssueOrder> parse_orders(const std::string& list) {
    return parse_list("--order", list, parse_issue_order);
}

std::string fit_symbols(Grid& grid, Modulation modulation, double memory) {
    const SymbolBytes each = max_symbol_bytes(modulation, grid.formats);
    for (const std::uint64_t symbols : grid.symbols)
        check_memory(symbols, each, memory);
    if (!grid.symbols.empty()) return "";
    std::vector<std::uint64_t> left_out;
    for (const std::uint64_t symbols : default_symbols)
        (why_too_many(symbols, each, memory).empty() ? grid.symbols : left_out).push_back(symbols);
    if (left_out.empty()) return "";
    return fmt::format("--symbols: {} left out: would take {}{}", fmt::join(left_out, ", "),
                       left_out.size() > 1 ? "up to " : "", why_too_many(left_out.back(), each, memory));
}

std::vector<Combination> combinations(const Grid& grid) {
    std::vector<Combination> all;
    for (const Formats& formats : grid.formats)
        for (const std::uint64_t symbols : grid.symbols)
            for (const Choice& streams : grid.streams)
                for (const Choice& chunk : grid.chunks)
                    for (const IssueOrder order : grid.orders)
                        all.push_back({formats, symbols, streams, chunk, order});
    return all;
}

}  // namespace phy::apps
