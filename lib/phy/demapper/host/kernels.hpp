#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "phy/demapper/math/formula.hpp"
#include "phy/simd/arrays.hpp"

/// The interface between the demapper, which splits a call into blocks and knows formats, and the code that
/// is compiled once per instruction set.
namespace phy::detail {

/// Output format of a kernel.
enum class Output { int8, float16, float32 };
inline constexpr std::size_t outputs = 3;

/// The symbols of a kernel call, and their gain: one value, or one per symbol.
struct Block {
    const float* iq;  ///< 2 * symbols components
    std::size_t symbols;
    const float* scale;  ///< see Gain
    const float* limit;
    Gain nats{};            ///< Formula::log_sum: nats to output; scale and limit above give nats
    int phase = 0;          ///< pi/2-BPSK: parity of the first symbol's index
    bool streams = false;   ///< see DemapKernels::streams
    bool rotating = false;  ///< pi/2-BPSK
};

/// Kernels that write past the caches begin at multiples of this.
inline constexpr std::size_t stream_alignment = 64;

/// Arrays of float or uint32_t that these functions write, Block::scale and Block::limit are padded like the
/// arrays of ArrayKernels.
struct DemapKernels {
    /// Null if a formula equals a simpler one for a constellation; see simplest_formula.
    using Demap = void (*)(const Block& block, void* out);

    std::array<std::array<std::array<std::array<Demap, 2>, formulas>, outputs>, all_constellations.size()>
        demap;

    /// One gain per symbol; 0 and 0 if N0 is unusable. Returns the largest limit.
    float (*gains)(const float* noise, std::size_t symbols, const GainRule& rule, float* scale, float* limit);

    /// The nearest entry for each component; last + 1 if it is not finite.
    void (*nearest_entries)(const float* iq, std::size_t count, const TableScale& table,
                            std::uint32_t* entry);

    /// The entry at or below each component's magnitude, and the fraction of a step from there (more than one
    /// beyond the end), with the component's sign. A component that is not finite has entry last + 1 and
    /// fraction 0.
    void (*entries_below)(const float* iq, std::size_t count, const TableScale& table, std::uint32_t* entry,
                          float* fraction);

    /// True if a kernel writes past the caches when Block::streams is set and out is aligned to
    /// stream_alignment. ArrayKernels::finish_streams must follow.
    bool (*streams)(Constellation constellation, Output output);

    std::uint64_t (*count_unusable)(const float* noise, std::size_t count);

    [[nodiscard]] Demap demap_for(Constellation constellation, Output output, Formula formula,
                                  bool per_symbol) const {
        return demap[static_cast<std::size_t>(constellation)][static_cast<std::size_t>(output)]
                    [static_cast<std::size_t>(formula)][per_symbol ? 1 : 0];
    }
};

}  // namespace phy::detail
