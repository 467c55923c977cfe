#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "phy/core/export.hpp"
#include "phy/core/type_list.hpp"

namespace phy {

/// The modulations of 3GPP TS 38.211 clause 5.1 (1024QAM: since release 17).
enum class Modulation { pi2_bpsk, bpsk, qpsk, qam16, qam64, qam256, qam1024 };

namespace detail {

/// The traits of a modulation, in the order of the enumerators. constellation.hpp derives the rest.
struct ModulationFacts {
    std::string_view name;
    std::size_t qm;
};
inline constexpr ModulationFacts modulation_facts[] = {
    {"pi2-bpsk", 1}, {"bpsk", 1}, {"qpsk", 2}, {"16qam", 4}, {"64qam", 6}, {"256qam", 8}, {"1024qam", 10}};

}  // namespace detail

inline constexpr auto all_modulations =
    detail::all_enumerators<Modulation, std::size(detail::modulation_facts)>;

/// Qm, the number of bits that one symbol carries: 1, 1, 2, 4, 6, 8, 10.
constexpr std::size_t bits_per_symbol(Modulation modulation) {
    return detail::modulation_facts[static_cast<std::size_t>(modulation)].qm;
}

/// The largest Qm of all modulations.
inline constexpr std::size_t max_bits_per_symbol = bits_per_symbol(all_modulations.back());

/// The name used in files and on command lines: "pi2-bpsk", "bpsk", "qpsk", "16qam", "64qam", "256qam",
/// "1024qam".
constexpr std::string_view to_string(Modulation modulation) {
    return detail::modulation_facts[static_cast<std::size_t>(modulation)].name;
}

/// Inverse of to_string(); upper case is accepted. Throws ArgumentError, which lists the names.
PHY_EXPORT Modulation parse_modulation(std::string_view name);

/// Returns visit(std::integral_constant<Modulation, modulation>{}): a modulation known at run time becomes a
/// constant.
template <typename Visitor>
constexpr decltype(auto) with_constant(Modulation modulation, Visitor&& visit) {
    return detail::with_enumerator<all_modulations.size()>(modulation, std::forward<Visitor>(visit));
}

}  // namespace phy
