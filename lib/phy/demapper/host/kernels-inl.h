// The kernels of kernels.hpp. Outputs of single numbers are padded, so whole vectors are stored.
#if defined(PHY_DEMAPPER_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_DEMAPPER_KERNELS_INL_H_
#undef PHY_DEMAPPER_KERNELS_INL_H_
#else
#define PHY_DEMAPPER_KERNELS_INL_H_
#endif

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "phy/demapper/host/kernels.hpp"
#include "phy/demapper/host/store-inl.h"
#include "phy/demapper/host/twice-inl.h"
#include "phy/demapper/math/soft_bits-inl.h"
#include "phy/simd/lanes-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {
namespace {

/// Loads, evaluates and stores vectors of components. Gains that are the same for all symbols are set once.
template <Constellation constellation, Output output, Formula formula, bool per_symbol>
struct Step {
    static constexpr int bits = bits_of(constellation);
    static constexpr bool diagonal = constellation == Constellation::bpsk;
    static constexpr bool is_twice = formula == Formula::log_sum && Lanes::count > 1;
    static constexpr std::size_t components = (diagonal || is_twice ? 2 : 1) * Lanes::count;
    static constexpr std::size_t bytes = std::size_t{1} << static_cast<int>(output);  ///< of a soft bit
    static_assert(Output::float16 == Output{1} && Output::float32 == Output{2});

    const Block& block;
    Ops::V all_scale;
    Ops::V all_limit;
    Ops::V rotation;  ///< pi/2-BPSK: negative for every other symbol

    PHY_INLINE explicit Step(const Block& of)
        : block(of),
          all_scale(Ops::set(*of.scale)),
          all_limit(Ops::set(*of.limit)),
          rotation(rotation_at(0)) {}

    [[nodiscard]] PHY_INLINE Ops::V rotation_at(std::size_t symbol) const {
        return block.rotating ? Lanes::odd_signs(symbol + static_cast<std::size_t>(block.phase))
                              : Ops::set(0.0F);
    }

    static PHY_INLINE Ops::V gain_at(const float* gains, Ops::V all, std::size_t symbol) {
        if constexpr (!per_symbol) return all;
        if constexpr (diagonal) return Lanes::load(gains + symbol);
        return Lanes::load_for_pairs(gains + symbol);
    }

    /// The offset of a component's first soft bit; those of I and Q alternate.
    static constexpr std::size_t offset_of(std::size_t component) {
        if (diagonal) return component / 2 * bytes;
        const std::size_t axis = component % 2;
        return ((component - axis) * bits + axis) * bytes;
    }

    /// Two vectors of components.
    PHY_INLINE void run_twice(const float* iq, const float* scale, const float* limit, std::size_t first,
                              bool streams, std::uint8_t* out) const {
        const std::size_t second = first + Lanes::count;
        const auto at_both = [&](const float* gains, Ops::V all) -> Twice::V {
            return {gain_at(gains, all, first / 2), gain_at(gains, all, second / 2)};
        };
        const Twice::V y = {Lanes::load(iq + first), Lanes::load(iq + second)};
        Twice::V distances[bits];
        Twice::V out_scale;
        evaluate_axis<Twice, bits, formula>(y, at_both(scale, all_scale), at_both(limit, all_limit),
                                            block.nats, distances, out_scale);
        Ops::V of_one[bits];
        for (int k = 0; k < bits; ++k)
            of_one[k] = distances[k].a;
        store<bits, output>(out_scale.a, of_one, streams, out + offset_of(first));
        for (int k = 0; k < bits; ++k)
            of_one[k] = distances[k].b;
        store<bits, output>(out_scale.b, of_one, streams, out + offset_of(second));
    }

    PHY_INLINE void run_once(const float* iq, const float* scale, const float* limit, std::size_t first,
                             bool streams, std::uint8_t* out) const {
        const auto scales = gain_at(scale, all_scale, first / 2);
        const auto limits = gain_at(limit, all_limit, first / 2);
        Ops::V distances[bits];
        Ops::V out_scale;
        if constexpr (diagonal) {
            Ops::V i, q;
            Lanes::load_pairs(iq + first, i, q);
            i = Ops::flip(i, Lanes::count == 1 ? rotation_at(first / 2) : rotation);
            evaluate_diagonal<Ops, formula>(i, q, scales, limits, distances, out_scale);
        } else {
            evaluate_axis<Ops, bits, formula>(Lanes::load(iq + first), scales, limits, block.nats, distances,
                                              out_scale);
        }
        store<bits, output>(out_scale, distances, streams, out + offset_of(first));
    }

    PHY_INLINE void run(const float* iq, const float* scale, const float* limit, std::size_t first,
                        bool streams, std::uint8_t* out) const {
        if constexpr (is_twice) {
            run_twice(iq, scale, limit, first, streams, out);
        } else {
            run_once(iq, scale, limit, first, streams, out);
        }
    }

    /// Processes the rest that fills no vector, in a zero-padded copy. (Gains are padded.)
    PHY_INLINE void run_rest(std::size_t first, std::uint8_t* out) const {
        const std::size_t rest = 2 * block.symbols - first;
        const std::size_t symbol = per_symbol ? first / 2 : 0;
        alignas(64) float iq_copy[components] = {};
        alignas(64) std::uint8_t out_copy[offset_of(components)];
        std::memcpy(iq_copy, block.iq + first, rest * sizeof(float));
        run(iq_copy, block.scale + symbol, block.limit + symbol, 0, false, out_copy);
        std::memcpy(out + offset_of(first), out_copy, offset_of(rest));
    }
};

template <Constellation constellation, Output output, Formula formula, bool per_symbol>
void demap_block(const Block& block, void* out_erased) {
    using S = Step<constellation, output, formula, per_symbol>;
    const S step(block);
    const float* iq = block.iq;
    const std::size_t end = 2 * block.symbols;
    auto* out = static_cast<std::uint8_t*>(out_erased);
    std::size_t first = 0;
    for (; first + S::components <= end; first += S::components) {
        Lanes::prefetch_ahead(iq + first);
        step.run(iq, block.scale, block.limit, first, block.streams, out);
    }
    if constexpr (Lanes::count > 1) {
        if (first < end) step.run_rest(first, out);
    }
}

bool streams(Constellation constellation, Output output) {
    return Lanes::count > 1 && constellation == Constellation::qam256 && output == Output::int8;
}

PHY_INLINE Lanes::Mask usable(Ops::V noise) {
    return Lanes::both(Lanes::less(Ops::set(0.0F), noise),
                       Lanes::less(noise, Ops::set(std::numeric_limits<float>::infinity())));
}

float gains(const float* noise, std::size_t symbols, const GainRule& rule, float* scale, float* limit) {
    auto largest = Ops::set(0.0F);
    for (std::size_t s = 0; s < symbols; s += Lanes::count) {
        Lanes::prefetch_ahead(noise + s);
        const auto n0 = Lanes::load_up_to(noise + s, symbols - s);
        Ops::V scales, limits;
        gain_of<Ops>(n0, rule, scales, limits);
        limits = Lanes::where(usable(n0), limits);
        largest = Ops::max(limits, largest);
        Lanes::store(Lanes::where(usable(n0), scales), scale + s);
        Lanes::store(limits, limit + s);
    }
    return Lanes::max_of(largest);
}

/// numbers: finite.
PHY_INLINE bool all_positive(const float* numbers, std::size_t count) {
    const auto one = Ops::set(1.0F);
    Ops::V least[4] = {one, one, one, one};
    std::size_t i = 0;
    for (; i + 4 * Lanes::count <= count; i += 4 * Lanes::count)
        for (std::size_t k = 0; k < 4; ++k)
            least[k] = Ops::min(Lanes::load(numbers + i + k * Lanes::count), least[k]);
    const auto of_all = Ops::min(Ops::min(least[0], least[1]), Ops::min(least[2], least[3]));
    return Lanes::all(Lanes::less(Ops::set(0.0F), of_all)) &&
           std::all_of(numbers + i, numbers + count, [](float number) { return number > 0.0F; });
}

std::uint64_t count_unusable(const float* noise, std::size_t count) {
    if (all_finite(noise, count) && all_positive(noise, count)) return 0;
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; i += Lanes::count)
        found += Lanes::count_true(usable(Lanes::load_up_to(noise + i, count - i)));
    return count - found;
}

PHY_INLINE void store_entries(Ops::V position, std::uint32_t* entry) {
    Lanes::store_words(Lanes::words_of(position) & Lanes::set_words(entry_bits), entry);
}

void nearest_entries(const float* iq, std::size_t count, const TableScale& table, std::uint32_t* entry) {
    for (std::size_t i = 0; i < count; i += Lanes::count)
        store_entries(nearest_entry<Ops>(Lanes::load_up_to(iq + i, count - i), table), entry + i);
}

void entries_below(const float* iq, std::size_t count, const TableScale& table, std::uint32_t* entry,
                   float* fraction) {
    for (std::size_t i = 0; i < count; i += Lanes::count) {
        Ops::V fractions;
        store_entries(entry_below<Ops>(Lanes::load_up_to(iq + i, count - i), table, fractions), entry + i);
        Lanes::store(fractions, fraction + i);
    }
}

template <Constellation constellation, Output output, Formula formula>
constexpr void add_kernels(DemapKernels& table) {
    auto& slots = table.demap[static_cast<std::size_t>(constellation)][static_cast<std::size_t>(output)]
                             [static_cast<std::size_t>(formula)];
    slots[0] = &demap_block<constellation, output, formula, false>;
    slots[1] = &demap_block<constellation, output, formula, true>;
}

template <Constellation constellation, Output output>
constexpr void add_soft_kernels(DemapKernels& table) {
    add_kernels<constellation, output, Formula::one_segment>(table);
    if constexpr (bits_of(constellation) > 1) {
        add_kernels<constellation, output, Formula::two_segments>(table);
        add_kernels<constellation, output, Formula::log_sum>(table);
    }
    if constexpr (bits_of(constellation) > 2)
        add_kernels<constellation, output, Formula::all_segments>(table);
}

template <Constellation constellation>
constexpr void add_constellation(DemapKernels& table) {
    add_soft_kernels<constellation, Output::int8>(table);
    add_soft_kernels<constellation, Output::float16>(table);
    add_soft_kernels<constellation, Output::float32>(table);
}

template <std::size_t... i>
constexpr DemapKernels make_kernels(std::index_sequence<i...>) {
    DemapKernels table{};
    (add_constellation<all_constellations[i]>(table), ...);
    table.gains = &gains;
    table.nearest_entries = &nearest_entries;
    table.entries_below = &entries_below;
    table.count_unusable = &count_unusable;
    table.streams = &streams;
    return table;
}

constexpr DemapKernels kernels = make_kernels(std::make_index_sequence<all_constellations.size()>());

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
