#include "phy/dmrs/low_papr.hpp"

#include <array>
#include <numbers>
#include <string>

#include "phy/core/error.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/numerics/elementary.hpp"
#include "phy/scrambling/gold_sequence.hpp"

namespace phy {
namespace {

constexpr std::size_t shortest_zadoff_chu = 36;
constexpr std::size_t shortest_of_two = 72;  // from here on a group has two sequences
constexpr int groups = 30;

std::size_t largest_prime_below(std::size_t number) {
    const auto is_prime = [](std::size_t n) {
        for (std::size_t divisor = 2; divisor * divisor <= n; ++divisor) {
            if (n % divisor == 0) return false;
        }
        return true;
    };
    do
        --number;
    while (!is_prime(number));
    return number;
}

cf32 unit(double angle) {
    return cf32(detail::elementary::phasor(angle));
}

/// Clause 5.2.2.1. Integers reduce the products to one turn, so that the angle keeps its digits.
void zadoff_chu(int u, int v, std::span<cf32> sequence) {
    const std::size_t n_zc = largest_prime_below(sequence.size());
    // q_bar is scaled / 31.
    const std::size_t scaled = n_zc * static_cast<std::size_t>(u + 1);
    const std::size_t rounded = (2 * scaled + 31) / 62;
    const bool is_up = 2 * scaled / 31 % 2 == 0;
    const std::size_t q = v == 0 ? rounded : is_up ? rounded + 1 : rounded - 1;
    for (std::size_t n = 0; n < sequence.size(); ++n) {
        const std::size_t m = n % n_zc;
        const std::size_t half_turns = q * (m * (m + 1) % (2 * n_zc)) % (2 * n_zc);
        sequence[n] = unit(-std::numbers::pi * static_cast<double>(half_turns) / static_cast<double>(n_zc));
    }
}

/// Clause 5.2.2.2.
void short_sequence(int u, std::span<cf32> sequence) {
    if (sequence.size() == 30) {
        for (int n = 0; n < 30; ++n)
            sequence[static_cast<std::size_t>(n)] =
                unit(-std::numbers::pi * ((u + 1) * (n + 1) * (n + 2) % 62) / 31.0);
        return;
    }
    for (std::size_t n = 0; n < sequence.size(); ++n)
        sequence[n] = unit(std::numbers::pi / 4.0 * detail::low_papr_phase(sequence.size(), u, n));
}

bool is_short_length(std::size_t length) {
    return length >= 6 && length <= 30 && length % 6 == 0;
}

}  // namespace

void low_papr_sequence(int u, int v, std::span<cf32> sequence) {
    const std::size_t length = sequence.size();
    if (u < 0 || u >= groups)
        throw ArgumentError("group u " + std::to_string(u) + " of a low-PAPR sequence: expected 0 to 29");
    if (!is_short_length(length) && (length < shortest_zadoff_chu || length % 6 != 0))
        throw ArgumentError("low-PAPR sequence of length " + std::to_string(length) +
                            ": expected a multiple of 6");
    if (v != 0 && (v != 1 || length < shortest_of_two))
        throw ArgumentError("number v " + std::to_string(v) + " of a low-PAPR sequence: expected 0" +
                            (length < shortest_of_two ? " for fewer than 72 elements" : " or 1"));
    if (length >= shortest_zadoff_chu)
        zadoff_chu(u, v, sequence);
    else
        short_sequence(u, sequence);
}

namespace detail {

void transform_precoded_pilots(const DmrsConfig& dmrs, int slot, int symbol, std::span<cf32> pilots) {
    const auto n_id = static_cast<int>(dmrs.scrambling_id);
    const auto count = static_cast<std::uint64_t>(symbols_per_slot * slot + symbol);
    std::array<std::uint32_t, 1> word{};
    int hop = 0;
    int v = 0;
    if (dmrs.hopping == SequenceHopping::group) {
        gold_sequence(static_cast<std::uint32_t>(n_id / groups), 8 * count, word);
        hop = static_cast<int>(word[0] & 0xFFU) % groups;
    } else if (dmrs.hopping == SequenceHopping::sequence && pilots.size() >= shortest_of_two) {
        gold_sequence(static_cast<std::uint32_t>(n_id), count, word);
        v = static_cast<int>(word[0] & 1U);
    }
    low_papr_sequence((hop + n_id) % groups, v, pilots);
}

}  // namespace detail
}  // namespace phy
