#pragma once

/// The tile that a warp works on.
namespace phy::gpu::detail {

constexpr int warp_size = 32;
constexpr unsigned all_lanes = 0xFFFFFFFF;

/// A warp owns a tile of neighbouring symbols: `groups` rows of 32 lanes. In each row every lane has
/// `symbols` neighbours, which it loads and stores in the largest possible pieces.
struct Shape {
    int threads;  ///< per block
    int symbols;
    int groups;

    /// Min blocks per multiprocessor that the register count must allow; 0: the compiler's choice.
    int resident = 0;
};

constexpr int symbols_of_warp(Shape shape) {
    return warp_size * shape.symbols * shape.groups;
}

}  // namespace phy::gpu::detail
