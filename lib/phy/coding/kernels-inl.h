// Layers of an LDPC decoder, whose vectors go over the Z checks of a row, and bits out of symbols.
#if defined(PHY_CODING_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_CODING_KERNELS_INL_H_
#undef PHY_CODING_KERNELS_INL_H_
#else
#define PHY_CODING_KERNELS_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "phy/coding/kernels.hpp"
#include "phy/coding/math-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {
namespace {

#if HWY_TARGET == HWY_AVX3
constexpr std::size_t together = 1;  // vectors
#else
constexpr std::size_t together = 2;
#endif

/// Copies bits to behind the end of a column, as far as a reader turns it.
PHY_INLINE void turn(std::int8_t* column, std::size_t size, std::size_t bits) {
    for (std::size_t i = 0; i < bits; i += places)
        Values::store(Values::load(column + i), column + size + i);
}

/// Where the edges of a row read and write.
struct Row {
    const std::int8_t* from[max_row_degree];
    std::int8_t* to[max_row_degree];
    std::int8_t* messages;
    std::size_t stride;  ///< of messages
};

/// Magnitudes of inputs: stored where that costs less than a second computation.
template <std::size_t degree, std::size_t vectors>
struct SizesOfInputs {
#if HWY_TARGET == HWY_AVX3
    PHY_INLINE Magnitude keep(std::size_t edge, std::size_t v, Value input) {
        return sizes[edge][v] = magnitude(input);
    }
    PHY_INLINE Magnitude of(std::size_t edge, std::size_t v, Value /*input*/) const {
        return sizes[edge][v];
    }

    Magnitude sizes[degree][vectors];
#else
    PHY_INLINE Magnitude keep(std::size_t /*edge*/, std::size_t /*v*/, Value input) {
        return magnitude(input);
    }
    PHY_INLINE Magnitude of(std::size_t /*edge*/, std::size_t /*v*/, Value input) const {
        return magnitude(input);
    }
#endif
};

/// The checks of `vectors` vectors from i on, by the approximate-min* rule of Jones et al. (MILCOM 2003): the
/// message to the input with the least magnitude comes from the others; all others get one magnitude, that of
/// all inputs. Each vector is a chain of dependent instructions, so several are under way at a time.
template <std::size_t degree, std::size_t vectors>
PHY_INLINE void check_nodes(const Row& row, std::size_t i) {
    Value inputs[degree][vectors];
    SizesOfInputs<degree, vectors> sizes;
    Value signs[vectors];
    Magnitude least[vectors];
    Magnitude others[vectors];  // all but the least, together
    for (std::size_t v = 0; v < vectors; ++v) {
        signs[v] = Values::set(0);
        least[v] = others[v] = units(no_magnitude);
    }
    for (std::size_t edge = 0; edge < degree; ++edge) {
        for (std::size_t v = 0; v < vectors; ++v) {
            const std::size_t at = i + v * places;
            const Value input =
                less(Values::load(row.from[edge] + at), Values::load(row.messages + edge * row.stride + at));
            inputs[edge][v] = input;
            signs[v] = flipped(signs[v], input);
            others[v] = box_plus(others[v], exchange(least[v], sizes.keep(edge, v, input)));
        }
    }
    Magnitude to_least[vectors];
    Magnitude to_others[vectors];
    for (std::size_t v = 0; v < vectors; ++v) {
        to_least[v] = smaller(others[v], units(max_message));
        to_others[v] = smaller(box_plus(others[v], least[v]), units(max_message));
    }
    for (std::size_t edge = 0; edge < degree; ++edge) {
        for (std::size_t v = 0; v < vectors; ++v) {
            const std::size_t at = i + v * places;
            const Value input = inputs[edge][v];
            const auto is_least = Magnitudes::equal(sizes.of(edge, v, input), least[v]);
            const Value message =
                with_sign(Magnitudes::select(is_least, to_least[v], to_others[v]), flipped(signs[v], input));
            const Value posterior = plus(input, message);
            // What was really added: a posterior stays the sum of its channel value and its messages.
            Values::store(added(posterior, input), row.messages + edge * row.stride + at);
            Values::store(posterior, row.to[edge] + at);
        }
    }
}

/// Sets the filler bits of a column that a layer with this shift has written.
inline void set_filler(const FillerBits& filler, std::size_t shift, std::size_t size, std::int8_t* column) {
    const std::size_t begin = (filler.first + size - shift) % size;
    const std::size_t count = size - filler.first;
    const std::size_t before_end = std::min(count, size - begin);
    std::memset(column + begin, known_zero, before_end);
    std::memset(column, known_zero, count - before_end);
}

template <std::size_t degree>
void check_layer(const Row& row, std::size_t size) {
    std::size_t i = 0;
    for (; i + together * places <= message_stride(size); i += together * places)
        check_nodes<degree, together>(row, i);
    for (; i < size; i += places)
        check_nodes<degree, 1>(row, i);
}

/// Of degrees that rows of the base graphs have.
void check_layer_of(std::size_t degree, const Row& row, std::size_t size) {
    switch (degree) {
        case 3:
            return check_layer<3>(row, size);
        case 4:
            return check_layer<4>(row, size);
        case 5:
            return check_layer<5>(row, size);
        case 6:
            return check_layer<6>(row, size);
        case 7:
            return check_layer<7>(row, size);
        case 8:
            return check_layer<8>(row, size);
        case 9:
            return check_layer<9>(row, size);
        case 10:
            return check_layer<10>(row, size);
        default:
            return check_layer<max_row_degree>(row, size);
    }
}

void iterate(const LdpcPlan& plan, std::span<const FillerBits> fillers, std::int8_t* posteriors,
             std::int8_t* messages) {
    const auto size = static_cast<std::size_t>(plan.lifting_size);
    const std::size_t stride = message_stride(size);
    for (const LdpcLayer& layer : plan.layers) {
        const LdpcEdge* const edges = plan.edges.data() + layer.first_edge;
        Row row;
        row.messages = messages + layer.first_edge * stride;
        row.stride = stride;
        for (std::size_t edge = 0; edge < layer.degree; ++edge) {
            row.to[edge] = posteriors + edges[edge].column * column_stride(size);
            row.from[edge] = row.to[edge] + edges[edge].turn;
            turn(row.to[edge], size, edges[edge].turn);
        }
        check_layer_of(layer.degree, row, size);
        for (const FillerBits& filler : fillers) {
            for (std::size_t edge = 0; edge < layer.degree; ++edge) {
                if (edges[edge].column == filler.column)
                    set_filler(filler, edges[edge].shift, size, row.to[edge]);
            }
        }
    }
}

bool satisfies(const LdpcPlan& plan, std::int8_t* posteriors) {
    const auto size = static_cast<std::size_t>(plan.lifting_size);
    for (const LdpcLayer& layer : plan.layers) {
        const LdpcEdge* const edges = plan.edges.data() + layer.first_edge;
        const std::int8_t* from[max_row_degree];
        for (std::size_t edge = 0; edge < layer.degree; ++edge) {
            std::int8_t* const column = posteriors + edges[edge].column * column_stride(size);
            from[edge] = column + edges[edge].from_frame;
            turn(column, size, edges[edge].from_frame);
        }
        for (std::size_t i = 0; i < size; i += places) {
            Value signs = Values::load(from[0] + i);
            for (std::size_t edge = 1; edge < layer.degree; ++edge)
                signs = flipped(signs, Values::load(from[edge] + i));
            if (any_is_negative(signs, size - i)) return false;
        }
    }
    return true;
}

/// From some symbol on.
void deinterleave_rest(const std::int8_t* in, std::size_t first, std::size_t symbols, std::size_t per_symbol,
                       std::int8_t limit, std::int8_t* out) {
    for (std::size_t bit = 0; bit < per_symbol; ++bit) {
        for (std::size_t symbol = first; symbol < symbols; ++symbol)
            out[bit * symbols + symbol] =
                std::clamp(in[symbol * per_symbol + bit], static_cast<std::int8_t>(-limit), limit);
    }
}

#ifdef HWY_TARGET_INCLUDE
using Pairs = IntegerLanes<std::uint16_t>;

/// The next symbols of `pairs` pairs of bits.
template <std::size_t pairs>
HWY_INLINE void load_pairs(const std::int8_t* in, Pairs::V (&of_symbols)[4]) {
    const auto* const from = reinterpret_cast<const std::uint16_t*>(in);
    if constexpr (pairs == 1) of_symbols[0] = hn::LoadU(Pairs::tag, from);
    if constexpr (pairs == 2) hn::LoadInterleaved2(Pairs::tag, from, of_symbols[0], of_symbols[1]);
    if constexpr (pairs == 3)
        hn::LoadInterleaved3(Pairs::tag, from, of_symbols[0], of_symbols[1], of_symbols[2]);
    if constexpr (pairs == 4)
        hn::LoadInterleaved4(Pairs::tag, from, of_symbols[0], of_symbols[1], of_symbols[2], of_symbols[3]);
}

template <std::size_t pairs>
void deinterleave_pairs(const std::int8_t* in, std::size_t symbols, std::int8_t limit, std::int8_t* out) {
    const Value least = Values::set(static_cast<std::int8_t>(-limit));
    const Value most = Values::set(limit);
    std::size_t first = 0;
    for (; first + places <= symbols; first += places) {
        Pairs::V lower[4];
        Pairs::V upper[4];
        load_pairs<pairs>(in + first * 2 * pairs, lower);
        load_pairs<pairs>(in + (first + Pairs::count) * 2 * pairs, upper);
        for (std::size_t pair = 0; pair < pairs; ++pair) {
            const Value a = hn::BitCast(Values::tag, lower[pair]);
            const Value b = hn::BitCast(Values::tag, upper[pair]);
            std::int8_t* const to = out + 2 * pair * symbols + first;
            Values::store(hn::Clamp(hn::ConcatEven(Values::tag, b, a), least, most), to);
            Values::store(hn::Clamp(hn::ConcatOdd(Values::tag, b, a), least, most), to + symbols);
        }
    }
    deinterleave_rest(in, first, symbols, 2 * pairs, limit, out);
}

void deinterleave(const std::int8_t* in, std::size_t symbols, std::size_t per_symbol, std::int8_t limit,
                  std::int8_t* out) {
    switch (per_symbol) {
        case 2:
            return deinterleave_pairs<1>(in, symbols, limit, out);
        case 4:
            return deinterleave_pairs<2>(in, symbols, limit, out);
        case 6:
            return deinterleave_pairs<3>(in, symbols, limit, out);
        case 8:
            return deinterleave_pairs<4>(in, symbols, limit, out);
        default:
            return deinterleave_rest(in, 0, symbols, per_symbol, limit, out);
    }
}
#else
void deinterleave(const std::int8_t* in, std::size_t symbols, std::size_t per_symbol, std::int8_t limit,
                  std::int8_t* out) {
    deinterleave_rest(in, 0, symbols, per_symbol, limit, out);
}
#endif

constexpr DecoderKernels kernels = {&iterate, &satisfies, &deinterleave};

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
