#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "phy/capture/number.hpp"

namespace phy::detail {

/// The type of a dataset's elements, as far as captures need it.
struct ElementType {
    struct Member {
        NumberType number;
        std::size_t offset = 0;
    };

    std::size_t bytes = 0;
    std::string text;                                ///< text for people: "float32", "compound of 3 members"
    std::optional<NumberType> number = {};           ///< if phy reads it
    std::optional<std::array<Member, 2>> pair = {};  ///< if it is a compound of two numbers that phy reads
    bool is_uint8 = false;
    bool is_real_signal = false;  ///< `number` is I; Q is 0
};

/// The names that parse_sample_type() takes, for messages.
inline constexpr std::string_view expected_sample_type =
    "one of cf64, cf32, cf16, ci32, ci16, ci8, cu32, cu16, cu8, or real with r in place of c; _le or _be "
    "may follow";

/// The sample type for a name of SigMF's core:datatype; little-endian without _le or _be. Also takes float16,
/// which SigMF lacks. Empty for other names.
std::optional<ElementType> parse_sample_type(std::string_view name);

/// Unsigned numbers are stored with half of their range added, as in parse_sample_type().
std::optional<NumberType> parse_number_type(std::string_view name, std::endian order);

/// An element of I and Q, one after the other.
ElementType pair_type(NumberType number, std::string_view text);

}  // namespace phy::detail
