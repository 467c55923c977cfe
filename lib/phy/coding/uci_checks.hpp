#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "phy/coding/uci.hpp"
#include "phy/core/check.hpp"
#include "phy/core/format.hpp"

/// What all that split or join codewords with UCI check.
namespace phy::detail {

inline constexpr const char* uci_part_names[] = {"ul_sch", "ack", "csi1", "csi2"};

template <typename Parts>
auto by_part(const Parts& parts) {
    return std::array{parts.ul_sch, parts.ack, parts.csi1, parts.csi2};
}

/// Throws ArgumentError unless each part has the coded bits of so many codewords.
template <typename Parts>
void check_uci_sizes(const UciMap& map, std::size_t codewords, const Parts& parts) {
    const auto all = by_part(parts);
    for (const UciPart part : all_uci_parts) {
        const auto index = static_cast<std::size_t>(part);
        check_size(uci_part_names[index], all[index].size(), codewords * map.coded_bits(part));
    }
}

/// The same for soft bits, and unless they have this format.
template <typename Parts>
void check_uci_parts(const UciMap& map, std::size_t codewords, SoftBitFormat format, const Parts& parts) {
    check_enum("soft-bit format", format, all_soft_bit_formats.back());
    check_uci_sizes(map, codewords, parts);
    const auto all = by_part(parts);
    for (std::size_t index = 0; index < all.size(); ++index)
        if (all[index].size() > 0 && all[index].format() != format)
            throw ArgumentError(std::string(uci_part_names[index]) + " is in " +
                                std::string(to_string(all[index].format())) + ": expected " +
                                std::string(to_string(format)));
}

/// The codewords of a call of UciDemultiplexer; throws ArgumentError as that does.
template <typename View, typename Parts>
std::size_t checked_codewords(const UciMap& map, const View& llr, const Parts& parts) {
    if (map.coded_bits() == 0)
        throw ArgumentError(
            "UCI without resource elements: expected symbols that have some, and an object that "
            "was not moved from");
    const std::size_t codewords = llr.size() / map.coded_bits();
    check_size("llr", llr.size(), codewords * map.coded_bits());
    check_uci_parts(map, codewords, llr.format(), parts);
    return codewords;
}

}  // namespace phy::detail
