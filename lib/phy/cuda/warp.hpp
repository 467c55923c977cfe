#pragma once

/// What a warp works on at a time.
namespace phy::gpu::detail {

constexpr int warp_size = 32;
constexpr unsigned all_lanes = 0xFFFFFFFF;

/// A warp owns a tile of neighbouring symbols: `groups` rows of 32 lanes, and in each row every lane has
/// `symbols` neighbours, which it loads and stores in as few pieces as possible.
struct Shape {
    int threads;  ///< a block
    int symbols;
    int groups;

    /// Blocks a multiprocessor that registers must leave room for; 0: the compiler's choice.
    int resident = 0;
};

constexpr int symbols_of_warp(Shape shape) {
    return warp_size * shape.symbols * shape.groups;
}

}  // namespace phy::gpu::detail
