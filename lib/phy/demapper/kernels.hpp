#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "phy/core/half.hpp"
#include "phy/demapper/axis.hpp"

/// The interface between the demapper, which cuts a call into blocks and knows formats, and the code that is
/// compiled once for every instruction set.
namespace phy::detail {

/// A constellation as the kernels see it: the number of bits an axis (1 to 5), or BPSK.
enum class Grid { bpsk, qpsk, qam16, qam64, qam256, qam1024 };
inline constexpr std::size_t grids = 6;

constexpr int bits_of(Grid grid) {
    return grid == Grid::bpsk ? 1 : static_cast<int>(grid);
}

constexpr Grid grid_of(Modulation modulation) {
    return is_bpsk(modulation) ? Grid::bpsk : static_cast<Grid>(axis_bits(modulation));
}

/// What a kernel writes. fp16 is fp32 that a second kernel rounds.
enum class Output { int8, float32, hard };
inline constexpr std::size_t outputs = 3;

/// How a kernel evaluates: the closed form with the segments that matter before saturation, or log-sum-exp.
enum class Law { one_segment, two_segments, all_segments, log_map };
inline constexpr std::size_t laws = 4;

/// The simplest law that is the same for a grid.
constexpr Law closest_law(Grid grid, Law law) {
    if (bits_of(grid) == 1) return Law::one_segment;
    if (bits_of(grid) == 2 && law == Law::all_segments) return Law::two_segments;
    return law;
}

/// The law that is enough where no limit is larger than this. One segment: before the distance 2 q the slope
/// is 1. Two: the third segment begins at the distance 6 q.
constexpr Law law_for(Grid grid, float largest_limit) {
    const auto q = static_cast<float>(axis_units[static_cast<std::size_t>(bits_of(grid))].q);
    if (largest_limit <= 2.0F * q) return Law::one_segment;
    return closest_law(grid, largest_limit <= 6.0F * q ? Law::two_segments : Law::all_segments);
}

/// Symbols that a kernel works on, and their gain: one value, or one a symbol.
struct Block {
    const float* iq;  ///< 2 * symbols components
    std::size_t symbols;
    const float* scale;  ///< see Gain
    const float* limit;
    Gain nats{};            ///< Law::log_map: from nats to the output; scale and limit above give nats
    int phase = 0;          ///< pi/2-BPSK: parity of the first symbol's index
    bool streams = false;   ///< see Kernels::streams
    bool rotating = false;  ///< pi/2-BPSK
};

/// Where components fall in a table: the entry, and the way to the next one.
struct TableScale {
    float per_unit;  ///< entries a unit of y
    float centre;    ///< entry of y = 0; 0 where entries are of magnitudes
    float last;      ///< the last entry that may be picked
};

/// Arrays of the workspace have room for whole vectors: up to this many elements more than said. That holds
/// for what these functions write as float or uint32_t, for Block::scale and limit, and for the input of
/// narrow_f16.
inline constexpr std::size_t padding = 64;

/// See Kernels::streams.
inline constexpr std::size_t stream_alignment = 64;

struct Kernels {
    /// Where a law adds nothing to a simpler one for a grid, there is none; see closest_law.
    using Demap = void (*)(const Block& block, void* out);

    std::string_view instruction_set;  ///< "" for the scalar reference
    std::array<std::array<std::array<std::array<Demap, 2>, laws>, outputs>, grids> demap;

    void (*widen_f16)(const void* in, float* out, std::size_t count);
    void (*widen_i16)(const void* in, float* out, std::size_t count, float unit);
    void (*widen_i8)(const void* in, float* out, std::size_t count, float unit);
    void (*narrow_f16)(const float* in, void* out, std::size_t count);

    /// One gain a symbol; 0 and 0 where N0 is unusable. Returns the largest limit.
    float (*gains)(const float* noise, std::size_t symbols, const GainLaw& law, float* scale, float* limit);

    /// The nearest entry for each component; last + 1 for one that is not finite.
    void (*nearest_entries)(const float* iq, std::size_t count, const TableScale& table,
                            std::uint32_t* entry);

    /// The entry at or below each component's magnitude and the fraction of a step from there (beyond the
    /// end: more than one), with the component's sign; entry last + 1 and fraction 0 for one that is not
    /// finite.
    void (*entries_below)(const float* iq, std::size_t count, const TableScale& table, std::uint32_t* entry,
                          float* fraction);

    /// True if a kernel writes past the caches itself where Block::streams is set and out is aligned to
    /// stream_alignment.
    bool (*streams)(Grid grid, Output output);

    /// Copies past the caches. Other threads see it after finish_streams.
    void (*stream)(const std::byte* in, std::byte* out, std::size_t bytes);
    void (*finish_streams)();

    std::uint64_t (*count_not_finite)(const float* components, std::size_t count);
    std::uint64_t (*count_unusable)(const float* noise, std::size_t count);

    /// How many soft bits are +-magnitude (of fp16: the bits of +magnitude).
    std::uint64_t (*count_magnitude_i8)(const void* llr, std::size_t count, int magnitude);
    std::uint64_t (*count_magnitude_f16)(const void* llr, std::size_t count, std::uint16_t magnitude);

    [[nodiscard]] Demap demap_for(Grid grid, Output output, Law law, bool per_symbol) const {
        return demap[static_cast<std::size_t>(grid)][static_cast<std::size_t>(output)]
                    [static_cast<std::size_t>(law)][per_symbol ? 1 : 0];
    }
};

const Kernels& scalar_kernels();

/// The kernels of an instruction set that is built in and runs here, or null.
const Kernels* simd_kernels(std::string_view instruction_set);

}  // namespace phy::detail
