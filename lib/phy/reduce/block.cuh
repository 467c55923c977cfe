#pragma once

#include <cstdint>

#include "phy/reduce/reduce_operators.hpp"
#include "phy/reduce/tree.hpp"
#include "phy/reduce/warp.cuh"

/// A block of the tree on a GPU, reduced by a warp. Each thread holds 4 of the tree's 128 lanes. Thread t has
/// lanes t, t + 32, t + 64 and t + 96, or 4t to 4t + 3 if it loads 4 neighbouring elements at once ("wide").
namespace phy::gpu::detail {

inline constexpr unsigned row_slots = 4;
inline constexpr unsigned row_lanes = row_tree.lanes;
inline constexpr unsigned row_block = row_tree.block;
static_assert(row_lanes == warp_size * row_slots);

template <unsigned size>
struct RowWord;
template <>
struct RowWord<1> {
    using Type = unsigned char;
};
template <>
struct RowWord<2> {
    using Type = unsigned short;
};
template <>
struct RowWord<4> {
    using Type = unsigned;
};
template <>
struct RowWord<8> {
    using Type = uint2;
};
template <>
struct RowWord<16> {
    using Type = uint4;
};

/// Max bytes per load from an array with this alignment and this number of bytes.
constexpr unsigned row_word_size(unsigned bytes, unsigned alignment) {
    unsigned size = 16;
    while (bytes % size != 0 || alignment % size != 0)
        size /= 2;
    return size;
}

/// Bytes of neighbouring elements, because device code cannot construct the elements.
template <class T, unsigned count, unsigned alignment>
struct RowBytes {
    static constexpr unsigned word_size = row_word_size(count * sizeof(T), alignment);
    static constexpr unsigned words = count * sizeof(T) / word_size;
    using Word = typename RowWord<word_size>::Type;
    struct Elements {
        T of[count];
    };

    Word word[words];

    __device__ __forceinline__ void load(const T* from) {
#pragma unroll
        for (unsigned i = 0; i < words; ++i)
            word[i] = __ldg(reinterpret_cast<const Word*>(from) + i);
    }
    __device__ __forceinline__ Elements elements() const {
        return __builtin_bit_cast(Elements, *this);
    }
};

/// Alignment that wide loads need, in bytes.
template <class T>
inline constexpr unsigned wide_alignment = row_word_size(row_slots * sizeof(T), 16);

/// Division by a number that is the same in all threads. Fast for small numbers, which are common.
__device__ __forceinline__ std::uint64_t quotient(std::uint64_t of, std::uint64_t by) {
    if (by == 1) return of;
    if ((of | by) >> 32 == 0) return static_cast<unsigned>(of) / static_cast<unsigned>(by);
    return of / by;
}

/// The lanes of a block, distributed over a warp.
template <class Op, bool wide>
class BlockLanes {
public:
    using Element = typename Op::Element;
    using Node = typename Op::Node;

    __device__ __forceinline__ BlockLanes(const Op& op, unsigned thread)
        : op_(op), thread_(thread), node_{op.identity(), op.identity(), op.identity(), op.identity()} {}

    /// Joins count elements of a row, at most a block. first: index of the first one.
    __device__ __forceinline__ void take(const Element* in, unsigned count, std::uint64_t first) {
        const unsigned steps = count / row_lanes;
        unsigned step = 0;
#pragma unroll 1
        for (; step + unrolled <= steps; step += unrolled)
            take_steps<true>(in + step * row_lanes, unrolled, first + step * row_lanes);
        if (step < steps) take_steps<false>(in + step * row_lanes, steps - step, first + step * row_lanes);
        const unsigned taken = steps * row_lanes;
#pragma unroll
        for (unsigned slot = 0; slot < row_slots; ++slot) {
            const unsigned i = taken + lane(slot);
            if (i < count) {
                RowBytes<Element, 1, alignof(Element)> bytes;
                bytes.load(in + i);
                node_[slot] = op_.join(node_[slot], op_.of(bytes.elements().of[0], first + i));
            }
        }
    }

    /// The root, in thread 0.
    __device__ __forceinline__ Node root() {
        if constexpr (wide) {
#pragma unroll
            for (unsigned distance = warp_size / 2; distance > 0; distance /= 2) {
#pragma unroll
                for (unsigned slot = 0; slot < row_slots; ++slot)
                    node_[slot] = op_.join(node_[slot], shifted(node_[slot], distance));
            }
        }
        node_[0] = op_.join(node_[0], node_[2]);
        node_[1] = op_.join(node_[1], node_[3]);
        node_[0] = op_.join(node_[0], node_[1]);
        if constexpr (!wide) node_[0] = join_warp(op_, node_[0]);
        return node_[0];
    }

private:
    /// Number of steps whose loads are in flight together: 128 bytes per thread, but more than one step and
    /// less than a block.
    static constexpr unsigned in_flight = 128 / (row_slots * sizeof(Element));
    static constexpr unsigned most = wide ? 16 : 8;
    static constexpr unsigned unrolled = in_flight < 2 ? 2 : in_flight > most ? most : in_flight;
    static constexpr unsigned neighbours = wide ? row_slots : 1;
    static constexpr unsigned alignment = wide ? wide_alignment<Element> : alignof(Element);
    using Bytes = RowBytes<Element, neighbours, alignment>;
    static constexpr unsigned loads = row_slots / neighbours;  ///< per step

    __device__ __forceinline__ unsigned lane(unsigned slot) const {
        return wide ? row_slots * thread_ + slot : thread_ + warp_size * slot;
    }

    /// Starts all loads before it waits for the first. all: steps is `unrolled`; otherwise it is less.
    template <bool all>
    __device__ __forceinline__ void take_steps(const Element* in, unsigned steps, std::uint64_t first) {
        Bytes bytes[unrolled][loads];
#pragma unroll
        for (unsigned step = 0; step < unrolled; ++step) {
            // Loads missing steps from the first one: a condition would cost more.
            const unsigned from = all || step < steps ? step * row_lanes : 0;
#pragma unroll
            for (unsigned load = 0; load < loads; ++load)
                bytes[step][load].load(in + from + lane(load));
        }
#pragma unroll
        for (unsigned step = 0; step < unrolled; ++step) {
            if (all || step < steps) join_step(bytes[step], first + step * row_lanes);
        }
    }

    __device__ __forceinline__ void join_step(const Bytes (&bytes)[loads], std::uint64_t first) {
#pragma unroll
        for (unsigned load = 0; load < loads; ++load) {
            const auto elements = bytes[load].elements();
#pragma unroll
            for (unsigned i = 0; i < neighbours; ++i) {
                const unsigned slot = load + i;  // load or i is 0
                node_[slot] = op_.join(node_[slot], op_.of(elements.of[i], first + lane(slot)));
            }
        }
    }

    const Op& op_;
    unsigned thread_;
    Node node_[row_slots];
};

}  // namespace phy::gpu::detail
