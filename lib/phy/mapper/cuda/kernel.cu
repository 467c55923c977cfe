#include <algorithm>
#include <cstdint>

#include "phy/core/constellation.hpp"
#include "phy/mapper/cuda/launch.hpp"

/// The output is cut into chunks of 16 bytes at multiples of 16, whatever the address of the first symbol, so
/// a chunk may begin inside a symbol. A tile is the set of chunks that one warp writes: `groups` rows of 32
/// lanes. The input is cut in the same way. The chunks with the bits of a tile go to shared memory as words
/// of 32 bits, first bit most significant, from which lanes read at any offset. Hence no alignment is
/// special; only a tile that holds an end of the input or output handles some chunks byte by byte.
namespace phy::gpu::detail {
namespace {

constexpr unsigned axis_slots = 1U << max_axis_bits;

struct MapperArguments {
    std::uint32_t values[axis_slots];
    const uint4* in;  ///< chunk 0 of the input
    std::int64_t in_begin;
    std::int64_t in_end;  ///< bytes from in
    uint4* out;
    std::int64_t out_begin;
    std::int64_t out_end;
    std::int64_t first_bit;  ///< offset from in of the symbol in which chunk 0 of out begins; may be negative
    std::uint64_t tiles;
    std::uint64_t inside_begin;
    std::uint64_t inside_end;  ///< tiles from inside_begin to here: no end of the input or output, no skew
    unsigned skew;             ///< bytes of that symbol before chunk 0
    unsigned flips;            ///< bit n: pi/2-BPSK negates I of the symbols n, n + 2, ... of every chunk
};

template <unsigned symbol_bits, bool is_packed, unsigned bytes_of_symbol>
struct MapperShape {
    static constexpr MapperTuning tuning = mapper_tuning(symbol_bits, is_packed, bytes_of_symbol);
    static constexpr unsigned warps = tuning.threads / 32;
    static constexpr unsigned groups = tuning.groups;
    static constexpr unsigned qm = symbol_bits;
    static constexpr bool packed = is_packed;
    static constexpr unsigned symbols = 16 / bytes_of_symbol;  ///< per chunk
    static constexpr unsigned words_of_symbol = bytes_of_symbol / 4;
    static constexpr unsigned chunks = 32 * groups;  ///< per tile
    static constexpr unsigned chunk_bits = symbols * qm;
    static constexpr unsigned tile_bits = chunks * chunk_bits;  ///< without skew
    static constexpr unsigned in_chunk_bits = packed ? 128 : 16;
    static constexpr unsigned max_in_chunks = (2 * (in_chunk_bits - 1) + tile_bits + qm) / in_chunk_bits;
    static constexpr unsigned loads = (max_in_chunks + 31) / 32;
    /// Whole pieces of 16 bytes, and two words for windows that reach beyond them.
    static constexpr unsigned shared_words = (max_in_chunks * in_chunk_bits + 127) / 128 * 4 + 4;
};

/// Index of the Q value of a label; the I value is at the index for label / 2. The mask keeps the bits of one
/// axis, which have gaps. Bits from 6 on move to gaps below, so that up to 32 values use different banks of
/// shared memory.
__host__ __device__ constexpr unsigned axis_slot(unsigned qm, unsigned label) {
    const unsigned bits = label & 0x555U & ((1U << qm) - 1U);
    return qm <= 6 ? bits : (bits | bits >> 5) & (axis_slots - 1);
}

/// Four bits, stored one per byte, as (first << 3 | ... | fourth) times 2^shift, plus base.
template <unsigned shift>
__device__ __forceinline__ unsigned four_bits(unsigned word, unsigned base) {
    return __dp4a(word & 0x01010101U, 0x01020408U << shift, base);
}

template <bool packed>
__device__ __forceinline__ void stage(std::uint32_t* words, unsigned chunk, uint4 data) {
    if constexpr (packed) {
        const auto swapped = [](unsigned word) { return __byte_perm(word, 0, 0x0123); };
        reinterpret_cast<uint4*>(words)[chunk] = {swapped(data.x), swapped(data.y), swapped(data.z),
                                                  swapped(data.w)};
    } else {
        const unsigned high = four_bits<4>(data.x, four_bits<0>(data.y, 0));
        const unsigned both = four_bits<4>(data.z, four_bits<0>(data.w, high << 8));
        reinterpret_cast<std::uint16_t*>(words)[chunk ^ 1U] = static_cast<std::uint16_t>(both);
    }
}

__device__ __forceinline__ uint4 load_any(const MapperArguments& args, std::int64_t at) {
    if (at >= args.in_begin && at + 16 <= args.in_end) return __ldg(args.in + at / 16);
    const auto* in = reinterpret_cast<const std::uint8_t*>(args.in);
    unsigned words[4] = {};
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        if (at + i >= args.in_begin && at + i < args.in_end) {
            words[i / 4] |= static_cast<unsigned>(in[at + i]) << (8 * (i % 4));
        }
    }
    return {words[0], words[1], words[2], words[3]};
}

__device__ __forceinline__ void store_any(const MapperArguments& args, std::int64_t at, uint4 data) {
    if (at >= args.out_begin && at + 16 <= args.out_end) {
        args.out[at / 16] = data;
        return;
    }
    auto* out = reinterpret_cast<std::uint8_t*>(args.out);
    const unsigned words[4] = {data.x, data.y, data.z, data.w};
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        if (at + i >= args.out_begin && at + i < args.out_end) {
            out[at + i] = static_cast<std::uint8_t>(words[i / 4] >> (8 * (i % 4)));
        }
    }
}

/// The symbols whose labels are at the top of a window of `width` bits.
template <typename Shape, unsigned width, unsigned count, typename Window>
__device__ __forceinline__ void look_up(Window window, const std::uint32_t* values, unsigned flips,
                                        std::uint32_t* words) {
#pragma unroll
    for (unsigned n = 0; n < count; ++n) {
        const auto label = static_cast<unsigned>(window >> (width - (n + 1) * Shape::qm));
        unsigned i_slot = axis_slot(Shape::qm, label >> 1);
        const unsigned q_slot = axis_slot(Shape::qm, label);
        if constexpr (Shape::qm == 1) i_slot = q_slot ^ (flips >> n % 2 & 1U);
        if constexpr (Shape::words_of_symbol == 2) {
            words[2 * n] = values[i_slot];
            words[2 * n + 1] = values[q_slot];
        } else {
            words[n] = __byte_perm(values[i_slot], values[q_slot], 0x7610);
        }
    }
}

/// The symbols from bit `shift` of the first word on.
template <typename Shape, unsigned count>
__device__ __forceinline__ void map_symbols(const std::uint32_t* bits, unsigned shift,
                                            const std::uint32_t* values, unsigned flips,
                                            std::uint32_t* words) {
    const unsigned high = __funnelshift_l(bits[1], bits[0], shift);
    if constexpr (count * Shape::qm <= 32) {
        look_up<Shape, 32, count>(high, values, flips, words);
    } else {
        const unsigned low = __funnelshift_l(bits[2], bits[1], shift);
        look_up<Shape, 64, count>(std::uint64_t{high} << 32 | low, values, flips, words);
    }
}

/// A chunk that begins `skew` bytes inside its first symbol.
template <typename Shape>
__device__ __forceinline__ uint4 map_skewed(const std::uint32_t* bits, unsigned shift,
                                            const std::uint32_t* values, unsigned flips, unsigned skew) {
    std::uint32_t words[4 + Shape::words_of_symbol];
    map_symbols<Shape, Shape::symbols + 1>(bits, shift, values, flips, words);
    if (Shape::words_of_symbol == 2 && skew >= 4) {
#pragma unroll
        for (int i = 0; i < 5; ++i)
            words[i] = words[i + 1];
    }
    const auto word = [&](int i) { return __funnelshift_r(words[i], words[i + 1], 8 * (skew % 4)); };
    return {word(0), word(1), word(2), word(3)};
}

struct Tile {
    std::int64_t in_chunk;
    unsigned in_chunks;
    unsigned first_bit;  ///< in the first chunk
    std::int64_t out_chunk;
};

template <typename Shape>
__device__ __forceinline__ void map_inside(const MapperArguments& args, const Tile& tile, std::uint32_t* bits,
                                           const std::uint32_t* values) {
    const unsigned lane = threadIdx.x % 32;
    const uint4* in = args.in + tile.in_chunk + lane;
    uint4 loaded[Shape::loads];
#pragma unroll
    for (unsigned n = 0; n < Shape::loads; ++n)
        if (32 * n + lane < tile.in_chunks) loaded[n] = __ldg(in + 32 * n);
#pragma unroll
    for (unsigned n = 0; n < Shape::loads; ++n)
        if (32 * n + lane < tile.in_chunks) stage<Shape::packed>(bits, 32 * n + lane, loaded[n]);
    __syncwarp();

    const unsigned first = tile.first_bit + lane * Shape::chunk_bits;
    const std::uint32_t* from = bits + first / 32;
    uint4* out = args.out + tile.out_chunk + lane;
#pragma unroll(Shape::tuning.unrolled)
    for (unsigned row = 0; row < Shape::groups; ++row) {
        std::uint32_t words[4];
        map_symbols<Shape, Shape::symbols>(from + row * Shape::chunk_bits, first % 32, values, args.flips,
                                           words);
        out[32 * row] = {words[0], words[1], words[2], words[3]};
    }
}

template <typename Shape>
__device__ __forceinline__ void map_any(const MapperArguments& args, const Tile& tile, std::uint32_t* bits,
                                        const std::uint32_t* values) {
    const unsigned lane = threadIdx.x % 32;
#pragma unroll 1
    for (unsigned chunk = lane; chunk < tile.in_chunks; chunk += 32)
        stage<Shape::packed>(bits, chunk, load_any(args, 16 * (tile.in_chunk + chunk)));
    __syncwarp();

    const unsigned first = tile.first_bit + lane * Shape::chunk_bits;
    const std::uint32_t* from = bits + first / 32;
#pragma unroll 1
    for (unsigned row = 0; row < Shape::groups; ++row) {
        const uint4 data =
            map_skewed<Shape>(from + row * Shape::chunk_bits, first % 32, values, args.flips, args.skew);
        store_any(args, 16 * (tile.out_chunk + 32 * row + lane), data);
    }
}

template <typename Shape>
__host__ __device__ __forceinline__ Tile tile_of(const MapperArguments& args, std::uint64_t index) {
    const std::int64_t bit = args.first_bit + static_cast<std::int64_t>(index * Shape::tile_bits);
    constexpr int log2_in_chunk_bits = Shape::packed ? 7 : 4;
    static_assert(Shape::in_chunk_bits == 1U << log2_in_chunk_bits);
    const unsigned first_bit = static_cast<unsigned>(bit) % Shape::in_chunk_bits;
    const unsigned last_bit = first_bit + Shape::tile_bits + (args.skew == 0 ? 0 : Shape::qm);
    return {bit >> log2_in_chunk_bits, (last_bit + Shape::in_chunk_bits - 1) / Shape::in_chunk_bits,
            first_bit, static_cast<std::int64_t>(index * Shape::chunks)};
}

template <typename Shape>
__global__ void __launch_bounds__(Shape::tuning.threads, mapper_resident_threads / Shape::tuning.threads)
    map_bits(const __grid_constant__ MapperArguments args) {
    alignas(16) __shared__ std::uint32_t bits[Shape::warps][Shape::shared_words];
    __shared__ std::uint32_t values[axis_slots];
    if (threadIdx.x < axis_slots) values[threadIdx.x] = args.values[threadIdx.x];
    __syncthreads();

    const unsigned warp = threadIdx.x / 32;
    const std::uint64_t stride = std::uint64_t{gridDim.x} * Shape::warps;
    for (std::uint64_t index = std::uint64_t{blockIdx.x} * Shape::warps + warp; index < args.tiles;
         index += stride) {
        const Tile tile = tile_of<Shape>(args, index);
        __syncwarp();
        if (index >= args.inside_begin && index < args.inside_end) {
            map_inside<Shape>(args, tile, bits[warp], values);
        } else {
            map_any<Shape>(args, tile, bits[warp], values);
        }
    }
}

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

constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) {
    return (a + b - 1) / b;
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
    args.tiles = ceil_div(static_cast<std::uint64_t>(args.out_end), 16 * Shape::chunks);
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
        const auto blocks = std::min(ceil_div(args.tiles, Shape::warps), max_blocks);
        map_bits<Shape><<<static_cast<unsigned>(blocks), Shape::tuning.threads, 0, stream>>>(args);
    });
    check(cudaGetLastError());
}

}  // namespace phy::gpu::detail
