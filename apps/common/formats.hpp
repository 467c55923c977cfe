#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/app.hpp"
#include "phy/core/error.hpp"
#include "phy/core/format.hpp"
#include "phy/core/modulation.hpp"
#include "phy/equalizer/equalizer.hpp"
#include "phy/estimator/estimator.hpp"

/// Formats and sizes that benchmarks measure.
namespace phy::apps {

/// Of samples and soft bits.
struct Formats {
    SampleFormat in = SampleFormat::cf32;
    SoftBitFormat out = SoftBitFormat::int8;

    friend bool operator==(const Formats&, const Formats&) = default;
};

/// Such as "cf32:int8".
std::string to_string(const Formats& formats);

/// Parses the elements of a comma-separated list. Throws ArgumentError, which names the option, the list and
/// the bad element.
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

/// Throws an ArgumentError with what it expected unless the text is a number from 1 to `most`.
std::uint64_t parse_count(std::string_view text, std::uint64_t most, const char* expected);

/// Parse --symbols and --formats; see parse_list().
std::vector<std::uint64_t> parse_symbols(const std::string& list);
std::vector<Formats> parse_formats(const std::string& list);

/// Parses --equalizer. Throws ArgumentError for unknown names.
Equalization parse_equalizer(const std::string& text);

/// "average", "linear", "wiener".
std::string_view to_string(TimeInterpolation time);

/// Parses an element of --time-interpolation. Throws ArgumentError for unknown names.
TimeInterpolation parse_time_interpolation(std::string_view text);

/// Bytes per symbol: samples in, soft bits out.
struct SymbolBytes {
    std::size_t in = 0;
    std::size_t out = 0;
};
SymbolBytes symbol_bytes(Modulation modulation, const Formats& formats);

/// The max over the formats, in and out.
SymbolBytes max_symbol_bytes(Modulation modulation, std::span<const Formats> formats);

/// Empty if the symbols take at most half of the memory (bytes); else a text that says so.
std::string why_too_many(std::uint64_t symbols, const SymbolBytes& each, double memory);

/// Throws ArgumentError, which names --symbols, if why_too_many() is not empty.
void check_memory(std::uint64_t symbols, const SymbolBytes& each, double memory);

}  // namespace phy::apps
