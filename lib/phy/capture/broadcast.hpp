#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "phy/capture/iq_layout.hpp"

namespace phy::detail {

/// How the elements of a smaller array are repeated for those of a larger one, both in row-major order.
class Broadcast {
public:
    /// Arrays of one size, of which one has one dimension or both the same beside those of 1, are element for
    /// element; an array of one element is repeated. Else by the rules of NumPy: dimensions that are missing
    /// come first, and those of 1 are repeated; except where a smaller rank would fit the first dimensions
    /// too, as it is not said which are meant. None where the shapes do not fit.
    static std::optional<Broadcast> of(const Dimensions& from, const Dimensions& to);

    /// For elements first ... first + count - 1 of the larger array, in stretches: calls visit(count,
    /// element, repeats) for `count` of them, which are element, element + 1 ... of the smaller one, or all
    /// `element`.
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
    /// Neighbouring dimensions that are repeated together, or not.
    struct Axis {
        std::uint64_t size;
        std::uint64_t stride;  ///< in the smaller array; 0: it is repeated
    };

    explicit Broadcast(std::vector<Axis> axes) : axes_(std::move(axes)) {}
    static Broadcast along(const Dimensions& from, const Dimensions& to);

    /// The first element of a row of the last axis.
    [[nodiscard]] std::uint64_t begin_of(std::uint64_t row) const;

    std::vector<Axis> axes_;  ///< at least one
};

}  // namespace phy::detail
