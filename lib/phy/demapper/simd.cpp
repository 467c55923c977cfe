// Whole vectors at a time, compiled by Highway for every instruction set that fuses multiply and add.

#include <cstring>

#include "phy/core/instruction_sets.hpp"
#include "phy/demapper/kernels.hpp"

#include <hwy/cache_control.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "phy/demapper/simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// Those of phy::detail::instruction_sets: Highway may know more, and its one-lane target is what the scalar
// kernels are.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_NEON
HWY_BEFORE_NAMESPACE();
namespace phy::detail::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#undef PHY_CORE_INLINE
#define PHY_CORE_INLINE HWY_INLINE
#undef PHY_CORE_UNROLL
#define PHY_CORE_UNROLL
#include "phy/demapper/core.inc"
constexpr std::size_t prefetch_distance = 4096;  // bytes: beyond the page that the hardware keeps to

#include "phy/demapper/simd_ops.inc"
#include "phy/demapper/simd_store.inc"

/// One vector of symbols: how it is loaded, evaluated and stored. Gains that are the same for all symbols are
/// set once.
template <Grid grid, Output output, Law law, bool per_symbol>
struct Step {
    static constexpr int bits = bits_of(grid);
    static constexpr bool diagonal = grid == Grid::bpsk;
    static constexpr std::size_t components = (diagonal ? 2 : 1) * lanes;
    static constexpr std::size_t symbols = components / 2;
    static constexpr std::size_t bytes_a_symbol =
        (diagonal ? 1 : 2) * bits * (output == Output::float32 ? sizeof(float) : 1);

    const Block& block;
    Ops::V all_scale;
    Ops::V all_limit;
    Ops::V turn;  ///< pi/2-BPSK: the sign bit for every other symbol

    HWY_INLINE explicit Step(const Block& of) : block(of) {
        all_scale = hn::Set(d, *of.scale);
        all_limit = hn::Set(d, *of.limit);
        turn = of.rotating ? sign_of_odd_lanes(of.phase) : hn::Zero(d);
    }

    static HWY_INLINE Ops::V gain_at(const float* gains, Ops::V all, std::size_t first) {
        if constexpr (!per_symbol) return all;
        if constexpr (diagonal) return hn::LoadU(d, gains + first);
        return load_for_pairs(gains + first);
    }

    HWY_INLINE void run(const float* iq, const float* scale, const float* limit, std::size_t first,
                        bool streams, std::uint8_t* out) const {
        const auto scales = gain_at(scale, all_scale, first);
        const auto limits = gain_at(limit, all_limit, first);
        Ops::V distances[bits];
        Ops::V out_scale;
        if constexpr (diagonal) {
            Ops::V i, q;
            hn::LoadInterleaved2(d, iq + 2 * first, i, q);
            i = hn::Xor(i, turn);
            evaluate_diagonal<Ops, law>(i, q, scales, limits, distances, out_scale);
        } else {
            evaluate_axis<Ops, bits, law>(hn::LoadU(d, iq + 2 * first), scales, limits, block.nats, distances,
                                          out_scale);
        }
        store<bits, output>(out_scale, distances, streams, out + first * bytes_a_symbol);
    }

    /// The rest that fills no vector, in a zero-padded copy. (Gains are padded.)
    HWY_INLINE void run_rest(const float* iq, std::size_t first, std::size_t rest, std::uint8_t* out) const {
        HWY_ALIGN float iq_copy[components] = {};
        HWY_ALIGN std::uint8_t out_copy[symbols * bytes_a_symbol];
        std::memcpy(iq_copy, iq + 2 * first, rest * 2 * sizeof(float));
        run(iq_copy, block.scale + (per_symbol ? first : 0), block.limit + (per_symbol ? first : 0), 0, false,
            out_copy);
        std::memcpy(out + first * bytes_a_symbol, out_copy, rest * bytes_a_symbol);
    }
};

template <Grid grid, Output output, Law law, bool per_symbol>
void demap_block(const Block& block, void* out_erased) {
    using S = Step<grid, output, law, per_symbol>;
    const S step(block);
    const float* iq = block.iq;
    auto* out = static_cast<std::uint8_t*>(out_erased);
    std::size_t first = 0;
    for (; first + S::symbols <= block.symbols; first += S::symbols) {
        hwy::Prefetch(reinterpret_cast<const std::uint8_t*>(iq + 2 * first) + prefetch_distance);
        step.run(iq, block.scale, block.limit, first, block.streams, out);
    }
    if (first < block.symbols) step.run_rest(iq, first, block.symbols - first, out);
}

#include "phy/demapper/simd_convert.inc"

#include "phy/demapper/kernel_table.inc"

constexpr std::string_view instruction_set = name_of_target(HWY_TARGET);
constinit const Kernels kernels_of_target = make_kernels(instruction_set);

}  // namespace

const Kernels& kernels() {
    return kernels_of_target;
}

}  // namespace phy::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace phy::detail {

const Kernels* simd_kernels(std::string_view instruction_set) {
    constexpr const Kernels& (*built_in[])() = {
#if HWY_TARGETS & HWY_AVX3
        &N_AVX3::kernels,
#endif
#if HWY_TARGETS & HWY_AVX2
        &N_AVX2::kernels,
#endif
#if HWY_TARGETS & HWY_NEON
        &N_NEON::kernels,
#endif
    };
    static_assert(std::size(built_in) > 0 || HWY_TARGETS == HWY_SCALAR,
                  "no instruction set of this build is named");
    for (const InstructionSet& set : instruction_sets) {
        if (set.name != instruction_set || !set.supported()) continue;
        for (const auto kernels : built_in) {
            if (kernels().instruction_set == instruction_set) return &kernels();
        }
    }
    return nullptr;
}

}  // namespace phy::detail
#endif
