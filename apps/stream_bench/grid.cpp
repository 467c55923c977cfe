#include "stream_bench/grid.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/app.hpp"
#include "phy/core/error.hpp"

namespace phy::apps {
namespace {

constexpr const char* automatic = "auto";

template <typename Parse>
auto parse_list(std::string_view option, const std::string& list, Parse parse) {
    const std::vector<std::string> texts = split(list);
    std::vector<decltype(parse(std::string_view()))> elements;
    for (const std::string& text : texts) {
        try {
            elements.push_back(parse(text));
        } catch (const ArgumentError& error) {
            const std::string which = texts.size() > 1 ? fmt::format("'{}': ", text) : "";
            throw ArgumentError(fmt::format("{} {}: {}{}", option, list, which, error.what()));
        }
    }
    return elements;
}

std::uint64_t parse_count(std::string_view text, std::uint64_t most, const char* expected) {
    const std::optional<std::uint64_t> value = parse_number<std::uint64_t>(text);
    if (!value || *value < 1 || *value > most) throw ArgumentError(fmt::format("expected {}", expected));
    return *value;
}

Formats parse_pair(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos)
        throw ArgumentError("expected IN:OUT, a sample format and a soft-bit format");
    return {parse_sample_format(text.substr(0, colon)), parse_soft_bit_format(text.substr(colon + 1))};
}

/// Of samples and soft bits together.
double total_bytes(std::uint64_t symbols, const SymbolBytes& each) {
    return static_cast<double>(symbols) * static_cast<double>(each.in + each.out);
}

}  // namespace

std::string to_string(const Formats& formats) {
    return fmt::format("{}:{}", to_string(formats.in), to_string(formats.out));
}

std::vector<std::uint64_t> parse_symbols(const std::string& list) {
    return parse_list("--symbols", list, [](std::string_view text) {
        return parse_count(text, UINT64_MAX, "a whole number from 1 on");
    });
}

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

std::vector<Formats> parse_formats(const std::string& list) {
    return parse_list("--formats", list, parse_pair);
}

SymbolBytes symbol_bytes(Modulation modulation, const Formats& formats) {
    return {size_of(formats.in), bits_per_symbol(modulation) * size_of(formats.out)};
}

SymbolBytes most_symbol_bytes(Modulation modulation, std::span<const Formats> formats) {
    SymbolBytes most;
    for (const Formats& each : formats) {
        const SymbolBytes bytes = symbol_bytes(modulation, each);
        most = {std::max(most.in, bytes.in), std::max(most.out, bytes.out)};
    }
    return most;
}

std::string fit_symbols(Grid& grid, Modulation modulation, double memory) {
    const SymbolBytes each = most_symbol_bytes(modulation, grid.formats);
    const auto too_many = [&](std::uint64_t symbols) { return total_bytes(symbols, each) > memory / 2; };
    const auto too_much = [&](std::uint64_t symbols) {
        return fmt::format("{:.3g} GB of memory, more than half of this machine's {:.3g} GB",
                           total_bytes(symbols, each) / 1e9, memory / 1e9);
    };
    for (const std::uint64_t symbols : grid.symbols) {
        if (too_many(symbols))
            throw ArgumentError(fmt::format("--symbols {}: would take {}", symbols, too_much(symbols)));
    }
    if (!grid.symbols.empty()) return "";
    std::vector<std::uint64_t> left_out;
    for (const std::uint64_t symbols : default_symbols)
        (too_many(symbols) ? left_out : grid.symbols).push_back(symbols);
    if (left_out.empty()) return "";
    return fmt::format("--symbols: {} left out: would take {}{}", fmt::join(left_out, ", "),
                       left_out.size() > 1 ? "up to " : "", too_much(left_out.back()));
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
