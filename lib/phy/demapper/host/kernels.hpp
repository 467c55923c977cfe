#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "phy/core/backend.hpp"
#include "phy/demapper/math/formula.hpp"
#include "phy/simd/arrays.hpp"

/// The interface between the demapper, which cuts a call into blocks and knows formats, and the code that is
/// compiled once for every instruction set.
namespace phy::detail {

/// What a kernel writes. fp16 is fp32 that a second kernel rounds.
enum class Output { int8, float32, hard };
inline constexpr std::size_t outputs = 3;

/// Symbols that a kernel works on, and their gain: one value, or one a symbol.
struct Block {
    const float* iq;  ///< 2 * symbols components
    std::size_t symbols;
    const float* scale;  ///< see Gain
    const float* limit;
    Gain nats{};            ///< Formula::log_sum: from nats to the output; scale and limit above give nats
    int phase = 0;          ///< pi/2-BPSK: parity of the first symbol's index
    bool streams = false;   ///< see DemapKernels::streams
    bool rotating = false;  ///< pi/2-BPSK
};

/// Where a kernel that writes past the caches begins.
inline constexpr std::size_t stream_alignment = 64;

/// What these functions write as float or uint32_t, Block::scale and Block::limit are padded, as the arrays
/// of ArrayKernels are.
struct DemapKernels {
    /// Where a formula adds nothing to a simpler one for a constellation, there is none; see
    /// simplest_formula.
    using Demap = void (*)(const Block& block, void* out);

    std::array<std::array<std::array<std::array<Demap, 2>, formulas>, outputs>, all_constellations.size()>
        demap;

    /// in and out may be the same.
    void (*multiply)(const float* in, float* out, std::size_t count, float factor);

    /// One gain a symbol; 0 and 0 where N0 is unusable. Returns the largest limit.
    float (*gains)(const float* noise, std::size_t symbols, const GainRule& rule, float* scale, float* limit);

    /// The nearest entry for each component; last + 1 for one that is not finite.
    void (*nearest_entries)(const float* iq, std::size_t count, const TableScale& table,
                            std::uint32_t* entry);

    /// The entry at or below each component's magnitude and the fraction of a step from there (beyond the
    /// end: more than one), with the component's sign; entry last + 1 and fraction 0 for one that is not
    /// finite.
    void (*entries_below)(const float* iq, std::size_t count, const TableScale& table, std::uint32_t* entry,
                          float* fraction);

    /// True if a kernel writes past the caches itself where Block::streams is set and out is aligned to
    /// stream_alignment; ArrayKernels::finish_streams ends that.
    bool (*streams)(Constellation constellation, Output output);

    std::uint64_t (*count_unusable)(const float* noise, std::size_t count);

    [[nodiscard]] Demap demap_for(Constellation constellation, Output output, Formula formula,
                                  bool per_symbol) const {
        return demap[static_cast<std::size_t>(constellation)][static_cast<std::size_t>(output)]
                    [static_cast<std::size_t>(formula)][per_symbol ? 1 : 0];
    }
};

/// Throws BackendError if the backend does not run here or needs device memory.
const DemapKernels& demap_kernels(const Backend& backend);

extern const DemapKernels scalar_demap_kernels;

}  // namespace phy::detail
