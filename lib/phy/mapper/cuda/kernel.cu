#include "phy/core/integers.hpp"
#include "phy/mapper/cuda/kernel.cuh"

#include <algorithm>

#include "phy/mapper/cuda/launch.hpp"

namespace phy::gpu::detail {
namespace {

using phy::detail::pieces_of;

/// Calls visit(MapperShape<...>()) with the shape of a job.
template <unsigned qm, typename Visitor>
void with_shape(const MapperJob& job, Visitor visit) {
    if (job.packed) {
        job.bytes_of_symbol == 8 ? visit(MapperShape<qm, true, 8>()) : visit(MapperShape<qm, true, 4>());
    } else {
        job.bytes_of_symbol == 8 ? visit(MapperShape<qm, false, 8>()) : visit(MapperShape<qm, false, 4>());
    }
}

template <typename Visitor>
void with_shape(const MapperJob& job, Visitor visit) {
    with_constant(job.modulation, [&](auto modulation) {
        with_shape<static_cast<unsigned>(bits_per_symbol(modulation()))>(job, visit);
    });
}

/// Distance of an address from the previous multiple of 16, in bytes.
unsigned misalignment(const void* address) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address) % 16);
}

MapperArguments arguments(const MapperJob& job) {
    const unsigned in_begin = misalignment(job.bits);
    const unsigned out_begin = misalignment(job.symbols);
    const unsigned size = job.bytes_of_symbol;
    const unsigned symbols_before = (out_begin + size - 1) / size;
    const unsigned flip = (job.odd ? 1U : 0U) ^ symbols_before % 2;

    MapperArguments args{};
    std::copy(job.values.begin(), job.values.end(), args.values);
    args.in = reinterpret_cast<const uint4*>(job.bits - in_begin);
    args.in_begin = in_begin;
    args.in_end = static_cast<std::int64_t>(in_begin + job.bits_bytes);
    args.out = reinterpret_cast<uint4*>(job.symbols - out_begin);
    args.out_begin = out_begin;
    args.out_end = static_cast<std::int64_t>(out_begin + job.symbols_bytes);
    args.first_bit =
        std::int64_t{in_begin} * (job.packed ? 8 : 1) -
        std::int64_t{symbols_before} * static_cast<std::int64_t>(bits_per_symbol(job.modulation));
    args.skew = symbols_before * size - out_begin;
    args.flips = job.modulation == Modulation::pi2_bpsk ? flip | (flip ^ 1U) << 1 : 0;
    return args;
}

template <typename Shape>
bool is_inside(const MapperArguments& args, std::uint64_t index) {
    const Tile tile = tile_of<Shape>(args, index);
    return 16 * tile.in_chunk >= args.in_begin && 16 * (tile.in_chunk + tile.in_chunks) <= args.in_end &&
           16 * tile.out_chunk >= args.out_begin && 16 * (tile.out_chunk + Shape::chunks) <= args.out_end;
}

/// An end is at most a few tiles from the first or last tile.
template <typename Shape>
void find_tiles(MapperArguments& args) {
    args.tiles = pieces_of(static_cast<std::uint64_t>(args.out_end), 16 * Shape::chunks);
    if (args.skew != 0) return;
    args.inside_end = args.tiles;
    while (args.inside_begin < args.inside_end && !is_inside<Shape>(args, args.inside_begin))
        ++args.inside_begin;
    while (args.inside_begin < args.inside_end && !is_inside<Shape>(args, args.inside_end - 1))
        --args.inside_end;
}

}  // namespace

void set_axis_value(AxisValues& values, unsigned qm, unsigned label, std::uint32_t word) {
    values.at(axis_slot(qm, label)) = word;
}

void launch(const MapperJob& job, int multiprocessors, cudaStream_t stream) {
    MapperArguments args = arguments(job);
    with_shape(job, [&](auto shape) {
        using Shape = decltype(shape);
        find_tiles<Shape>(args);
        const std::uint64_t max_blocks =
            static_cast<std::uint64_t>(multiprocessors) * Shape::tuning.blocks_per_multiprocessor;
        const auto blocks = std::min(pieces_of(args.tiles, Shape::warps), max_blocks);
        map_bits<Shape><<<static_cast<unsigned>(blocks), Shape::tuning.threads, 0, stream>>>(args);
    });
    check(cudaGetLastError());
}

}  // namespace phy::gpu::detail
