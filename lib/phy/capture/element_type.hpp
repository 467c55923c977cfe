#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "phy/capture/number.hpp"

namespace phy::detail {

/// What one element of a dataset is, as far as captures need it.
struct ElementType {
    struct Member {
        NumberType number;
        std::size_t offset = 0;
    };

    std::size_t bytes = 0;
    std::string text;                                ///< for people: "float32", "compound of 3 members"
    std::optional<NumberType> number = {};           ///< if it is one of ours
    std::optional<std::array<Member, 2>> pair = {};  ///< if it is a compound of two numbers of ours
    bool is_uint8 = false;
    bool is_real_signal = false;  ///< `number` is I, and Q is 0
};

}  // namespace phy::detail
