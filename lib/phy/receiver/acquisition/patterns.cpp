#include "phy/receiver/acquisition/patterns.hpp"

#include <algorithm>
#include <optional>

#include "phy/core/error.hpp"

namespace phy::detail {
namespace {

std::optional<DmrsPattern> pattern_of(const DmrsPlacement& placement) {
    try {
        return DmrsPattern{.symbols = dmrs_symbols(placement), .length = placement.length};
    } catch (const ArgumentError&) {
        return {};  // no such entry in the tables
    }
}

}  // namespace

std::vector<DmrsPattern> dmrs_patterns(const Link& link) {
    const SlotAllocation& allocation = link.allocation;
    std::vector<DmrsPattern> patterns = {{allocation.dmrs.symbols, allocation.dmrs.length}};
    const auto add = [&](char type, int position, int additional, int length) {
        const auto pattern = pattern_of({.direction = link.direction,
                                         .mapping_type = type,
                                         .first_symbol = allocation.first_symbol,
                                         .symbols = allocation.symbols,
                                         .type_a_position = position,
                                         .additional_positions = additional,
                                         .length = length});
        if (!pattern || pattern->symbols.front() < allocation.first_symbol ||
            pattern->symbols.back() >= allocation.first_symbol + allocation.symbols)
            return;
        if (std::find(patterns.begin(), patterns.end(), *pattern) == patterns.end())
            patterns.push_back(*pattern);
    };
    for (const int length : {1, 2}) {
        for (int additional = 0; additional <= 3; ++additional) {
            add('A', 2, additional, length);
            add('A', 3, additional, length);
            add('B', 2, additional, length);
        }
    }
    return patterns;
}

}  // namespace phy::detail
