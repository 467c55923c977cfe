#include "common/formats.hpp"

#include <algorithm>
#include <optional>

namespace phy::apps {
namespace {

Formats parse_pair(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos)
        throw ArgumentError("expected IN:OUT, a sample format and a soft-bit format");
    return {parse_sample_format(text.substr(0, colon)), parse_soft_bit_format(text.substr(colon + 1))};
}

}  // namespace

std::string to_string(const Formats& formats) {
    return fmt::format("{}:{}", to_string(formats.in), to_string(formats.out));
}

std::uint64_t parse_count(std::string_view text, std::uint64_t most, const char* expected) {
    const std::optional<std::uint64_t> value = parse_number<std::uint64_t>(text);
    if (!value || *value < 1 || *value > most) throw ArgumentError(fmt::format("expected {}", expected));
    return *value;
}

std::vector<std::uint64_t> parse_symbols(const std::string& list) {
    return parse_list("--symbols", list, [](std::string_view text) {
        return parse_count(text, UINT64_MAX, "a whole number from 1 on");
    });
}

std::vector<Formats> parse_formats(const std::string& list) {
    return parse_list("--formats", list, parse_pair);
}

Equalization parse_equalizer(const std::string& text) {
    if (text == "mmse") return Equalization::mmse;
    if (text == "zero-forcing") return Equalization::zero_forcing;
    throw ArgumentError(fmt::format("--equalizer {}: expected 'mmse' or 'zero-forcing'", text));
}

std::string_view to_string(TimeInterpolation time) {
    switch (time) {
        case TimeInterpolation::average:
            return "average";
        case TimeInterpolation::linear:
            return "linear";
        case TimeInterpolation::wiener:
            break;
    }
    return "wiener";
}

TimeInterpolation parse_time_interpolation(std::string_view text) {
    for (const TimeInterpolation time :
         {TimeInterpolation::average, TimeInterpolation::linear, TimeInterpolation::wiener}) {
        if (text == to_string(time)) return time;
    }
    throw ArgumentError(
        fmt::format("unknown time interpolation '{}': expected average, linear or wiener", text));
}

SymbolBytes symbol_bytes(Modulation modulation, const Formats& formats) {
    return {size_of(formats.in), bits_per_symbol(modulation) * size_of(formats.out)};
}

SymbolBytes max_symbol_bytes(Modulation modulation, std::span<const Formats> formats) {
    SymbolBytes most;
    for (const Formats& each : formats) {
        const SymbolBytes bytes = symbol_bytes(modulation, each);
        most = {std::max(most.in, bytes.in), std::max(most.out, bytes.out)};
    }
    return most;
}

std::string why_too_many(std::uint64_t symbols, const SymbolBytes& each, double memory) {
    const double bytes = static_cast<double>(symbols) * static_cast<double>(each.in + each.out);
    if (bytes <= memory / 2) return "";
    return fmt::format("{:.3g} GB of memory, more than half of this machine's {:.3g} GB", bytes / 1e9,
                       memory / 1e9);
}

void check_memory(std::uint64_t symbols, const SymbolBytes& each, double memory) {
    const std::string why = why_too_many(symbols, each, memory);
    if (!why.empty()) throw ArgumentError(fmt::format("--symbols {}: would take {}", symbols, why));
}

}  // namespace phy::apps
