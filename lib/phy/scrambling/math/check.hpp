#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/scrambling/gold_sequence.hpp"

namespace phy::detail {

inline void check_c_init(std::uint32_t c_init) {
    if (c_init > largest_c_init)
        throw ArgumentError("c_init " + std::to_string(c_init) + ": expected at most 31 bits");
}

inline void check_c_init(std::span<const std::uint32_t> c_init) {
    for (const std::uint32_t of_codeword : c_init)
        check_c_init(of_codeword);
}

/// Throws ArgumentError unless in and out have equal sizes that are a multiple of the number of codewords.
inline void check_codewords(const char* in, std::size_t in_size, const char* out, std::size_t out_size,
                            std::size_t codewords) {
    check_size(out, out_size, in_size);
    const bool fits = codewords == 0 ? in_size == 0 : in_size % codewords == 0;
    if (!fits)
        throw ArgumentError(std::string(in) + " has " + std::to_string(in_size) +
                            " elements: expected the same number for each of " + std::to_string(codewords) +
                            " codewords");
}

}  // namespace phy::detail
