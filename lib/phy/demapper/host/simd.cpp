// Whole vectors at a time, compiled by Highway for every instruction set of the list.

#include "phy/demapper/host/kernels.hpp"

#include <cstring>
#include <utility>

#include "phy/simd/kernels.hpp"

#include <hwy/cache_control.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "phy/demapper/host/simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if PHY_IS_SIMD_TARGET
#include "phy/demapper/host/simd_gains-inl.h"
#include "phy/demapper/host/simd_store-inl.h"
#include "phy/demapper/math/soft_bits-inl.h"
#include "phy/simd/ops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace phy::detail::HWY_NAMESPACE {
namespace {

/// Loads, evaluates and stores one vector of symbols. Gains that are the same for all symbols are set once.
template <Constellation constellation, Output output, Formula formula, bool per_symbol>
struct Step {
    static constexpr int bits = bits_of(constellation);
    static constexpr bool diagonal = constellation == Constellation::bpsk;
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
            evaluate_diagonal<Ops, formula>(i, q, scales, limits, distances, out_scale);
        } else {
            evaluate_axis<Ops, bits, formula>(hn::LoadU(d, iq + 2 * first), scales, limits, block.nats,
                                              distances, out_scale);
        }
        store<bits, output>(out_scale, distances, streams, out + first * bytes_a_symbol);
    }

    /// Processes the rest that fills no vector, in a zero-padded copy. (Gains are padded.)
    HWY_INLINE void run_rest(const float* iq, std::size_t first, std::size_t rest, std::uint8_t* out) const {
        HWY_ALIGN float iq_copy[components] = {};
        HWY_ALIGN std::uint8_t out_copy[symbols * bytes_a_symbol];
        std::memcpy(iq_copy, iq + 2 * first, rest * 2 * sizeof(float));
        run(iq_copy, block.scale + (per_symbol ? first : 0), block.limit + (per_symbol ? first : 0), 0, false,
            out_copy);
        std::memcpy(out + first * bytes_a_symbol, out_copy, rest * bytes_a_symbol);
    }
};

template <Constellation constellation, Output output, Formula formula, bool per_symbol>
void demap_block(const Block& block, void* out_erased) {
    using S = Step<constellation, output, formula, per_symbol>;
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

bool streams(Constellation constellation, Output output) {
    return constellation == Constellation::qam256 && output == Output::int8;
}

#include "phy/demapper/host/kernel_table.inc"

}  // namespace

extern constinit const DemapKernels demap_kernels_of_target;
constinit const DemapKernels demap_kernels_of_target = make_demap_kernels();

}  // namespace phy::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace phy::detail {

const DemapKernels& demap_kernels(const Backend& backend) {
    static constexpr KernelsByTarget<DemapKernels> by_target =
        PHY_ADDRESSES_BY_TARGET(demap_kernels_of_target);
    return kernels_of(backend, scalar_demap_kernels, by_target);
}

}  // namespace phy::detail
#endif
