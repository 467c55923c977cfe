#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/reduce/reduce_operators.hpp"

/// Operators as users of the library write them.
namespace phy_test {

/// Mean and variance by the merge of Chan, Golub and LeVeque.
struct Moments {
    using Element = float;
    struct Node {
        std::uint64_t count;
        double mean;
        double squares;  ///< the sum of the squared distances from the mean
    };
    struct Result {
        double mean;
        double variance;
    };

    PHY_HOST_DEVICE Node identity() const { return {0, 0.0, 0.0}; }
    PHY_HOST_DEVICE Node of(float element, std::uint64_t) const { return {1, element, 0.0}; }
    PHY_HOST_DEVICE Node join(const Node& left, const Node& right) const {
        if (right.count == 0) return left;
        if (left.count == 0) return right;
        const std::uint64_t count = left.count + right.count;
        const double share = static_cast<double>(right.count) / static_cast<double>(count);
        const double distance = right.mean - left.mean;
        const double between = distance * distance * (static_cast<double>(left.count) * share);
        return {count, left.mean + distance * share, left.squares + right.squares + between};
    }
    PHY_HOST_DEVICE Result finish(const Node& root, std::uint64_t length) const {
        return {root.mean, length == 0 ? 0.0 : root.squares / static_cast<double>(length)};
    }
};

/// The index of the element nearest to a given number; the first of equals.
struct Nearest {
    float to = 0.0F;

    using Element = float;
    struct Node {
        float distance;
        std::uint64_t index;
    };
    using Result = std::uint64_t;

    PHY_HOST_DEVICE Node identity() const { return {__builtin_huge_valf(), UINT64_MAX}; }
    PHY_HOST_DEVICE Node of(float element, std::uint64_t index) const {
        const float difference = element - to;
        return {difference < 0 ? -difference : difference, index};
    }
    PHY_HOST_DEVICE Node join(const Node& left, const Node& right) const {
        if (right.distance < left.distance) return right;
        return right.distance == left.distance && right.index < left.index ? right : left;
    }
    PHY_HOST_DEVICE Result finish(const Node& root, std::uint64_t) const { return root.index; }
};

/// An element and a node of unusual sizes.
struct Point {
    std::int16_t x;
    std::int16_t y;
    std::int16_t z;
};
struct Box {
    std::int16_t low[3];
    std::int16_t high[3];
};
struct BoundingBox {
    using Element = Point;
    using Node = Box;
    using Result = Box;

    PHY_HOST_DEVICE static std::int16_t lower(std::int16_t a, std::int16_t b) { return b < a ? b : a; }
    PHY_HOST_DEVICE static std::int16_t higher(std::int16_t a, std::int16_t b) { return b > a ? b : a; }

    PHY_HOST_DEVICE Node identity() const {
        return {{INT16_MAX, INT16_MAX, INT16_MAX}, {INT16_MIN, INT16_MIN, INT16_MIN}};
    }
    PHY_HOST_DEVICE Node of(Point p, std::uint64_t) const { return {{p.x, p.y, p.z}, {p.x, p.y, p.z}}; }
    PHY_HOST_DEVICE Node join(const Node& a, const Node& b) const {
        return {{lower(a.low[0], b.low[0]), lower(a.low[1], b.low[1]), lower(a.low[2], b.low[2])},
                {higher(a.high[0], b.high[0]), higher(a.high[1], b.high[1]), higher(a.high[2], b.high[2])}};
    }
    PHY_HOST_DEVICE Result finish(const Node& root, std::uint64_t) const { return root; }
};

}  // namespace phy_test
