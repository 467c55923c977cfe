#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/demapper/math/plan.hpp"

/// Argument checks of demappers, for host and device memory.
namespace phy::detail {

/// Throws ArgumentError if an allocation is invalid.
template <class Allocation>
void check_allocation(const Allocation& allocation) {
    check_enum("modulation", allocation.modulation, all_modulations.back());
    check_enum("sample format", allocation.symbols.format(), all_sample_formats.back());
    check_enum("soft-bit format", allocation.llr.format(), all_soft_bit_formats.back());
    check_size("llr", allocation.llr.size(),
               allocation.symbols.size() * bits_per_symbol(allocation.modulation));
    check_noise(allocation.noise.scalar(), allocation.noise.values().size(), allocation.symbols.size());
    const std::size_t signs = allocation.signs.size();
    if (signs != 0) check_size("signs", signs, (allocation.llr.size() + 31) / 32);
}

/// Throws ArgumentError unless an allocation has the soft-bit format of the first one of its batch.
template <class Allocation>
void check_same_format(const Allocation& allocation, const Allocation& first) {
    const SoftBitFormat format = allocation.llr.format();
    const SoftBitFormat of_first = first.llr.format();
    if (format == of_first) return;
    throw ArgumentError("soft bits in " + std::string(to_string(format)) + ": expected " +
                        std::string(to_string(of_first)) + ", as in allocation 0");
}

/// Calls body() for an allocation of a batch; adds its index to an ArgumentError.
template <typename Body>
auto naming_allocation(std::size_t index, Body body) {
    try {
        return body();
    } catch (const ArgumentError& error) {
        throw ArgumentError("allocation " + std::to_string(index) + ": " + error.what());
    }
}

}  // namespace phy::detail
