#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "phy/capture/iq_layout.hpp"

namespace phy::detail {

/// Repeats the elements of a smaller array for those of a larger one, both in row-major order.
class Broadcast {
public:
    /// Arrays of equal size match element by element if one of them has one dimension, or if both have the
    /// same dimensions apart from those of 1. An array of one element is repeated. Otherwise the rules of
    /// NumPy hold: missing dimensions come first, and those of 1 are repeated. None if the shapes do not fit,
    /// or if a smaller rank also fits the first dimensions, which is ambiguous.
    static std::optional<Broadcast> of(const Dimensions& from, const Dimensions& to);

    /// Visits elements first ... first + count - 1 of the larger array in stretches. visit(count, element,
    /// repeats) gets `count` of them: elements element, element + 1 ... of the smaller array, or `element`
    /// repeated.
    template <typename Visit>
    void visit(std::uint64_t first, std::uint64_t count, Visit visit) const {
        const Axis& last = axes_.back();
        while (count > 0) {
            const std::uint64_t within = first % last.size;
            const std::uint64_t now = std::min(count, last.size - within);
            visit(now, begin_of(first / last.size) + within * last.stride, last.stride == 0);
            first += now;
            count -= now;
        }
    }

private:
    /// Neighbouring dimensions that are all repeated, or all not.
    struct Axis {
        std::uint64_t size;
        std::uint64_t stride;  ///< in the smaller array; 0: repeated
    };

    explicit Broadcast(std::vector<Axis> axes) : axes_(std::move(axes)) {}
    static Broadcast along(const Dimensions& from, const Dimensions& to);

    /// The first element of a row of the last axis.
    [[nodiscard]] std::uint64_t begin_of(std::uint64_t row) const;

    std::vector<Axis> axes_;  ///< at least one
};

}  // namespace phy::detail
