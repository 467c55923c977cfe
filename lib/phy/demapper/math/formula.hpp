#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/demapper/math/axis.hpp"

/// The types that choose a kernel: constellation, algorithm, formula.
namespace phy::detail {

/// A modulation without its rotation (pi/2-BPSK): the number of bits per axis, or BPSK, which lies on the
/// diagonal.
enum class Constellation { bpsk, qpsk, qam16, qam64, qam256, qam1024 };
inline constexpr auto all_constellations = all_enumerators<Constellation, max_axis_bits + 1>;

constexpr int bits_of(Constellation constellation) {
    return constellation == Constellation::bpsk ? 1 : static_cast<int>(constellation);
}

constexpr Constellation constellation_of(Modulation modulation) {
    const std::size_t qm = bits_per_symbol(modulation);
    return qm == 1 ? Constellation::bpsk : static_cast<Constellation>(qm / 2);
}

/// How the soft bits of a call are computed.
enum class Algorithm : std::uint8_t { closed_form, log_sum, table };
inline constexpr auto all_algorithms = all_enumerators<Algorithm, 3>;

/// How the LLRs of an axis follow from its value: by the closed form of max-log with the segments that matter
/// before saturation, or by sums of exponentials.
enum class Formula { one_segment, two_segments, all_segments, log_sum };
inline constexpr std::size_t formulas = 4;

/// The simplest formula that gives the same results for a constellation.
constexpr Formula simplest_formula(Constellation constellation, Formula formula) {
    if (bits_of(constellation) == 1) return Formula::one_segment;
    if (bits_of(constellation) == 2 && formula == Formula::all_segments) return Formula::two_segments;
    return formula;
}

/// The simplest closed form if no limit is larger than this. One segment: the slope is 1 below the distance 2
/// q. Two: the third segment begins at the distance 6 q.
constexpr Formula formula_for(Constellation constellation, float largest_limit) {
    const auto q = static_cast<float>(axis_units[static_cast<std::size_t>(bits_of(constellation))].q);
    if (largest_limit <= 2.0F * q) return Formula::one_segment;
    return simplest_formula(constellation,
                            largest_limit <= 6.0F * q ? Formula::two_segments : Formula::all_segments);
}

/// Maps components to a table: the entry, and the fraction of a step to the next one.
struct TableScale {
    float per_unit;  ///< entries per unit of y
    float centre;    ///< entry of y = 0; 0 if entries are by magnitude
    float last;      ///< last valid entry
};

}  // namespace phy::detail
