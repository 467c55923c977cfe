#include <cstdint>
#include <limits>

#include "phy/cuda/dependent_launch.cuh"
#include "phy/cuda/device.hpp"
#include "phy/cuda/dispatch.cuh"
#include "phy/cuda/samples.cuh"
#include "phy/equalizer/cuda/launch.hpp"
#include "phy/equalizer/math/slot-inl.h"
#include "phy/equalizer/math/solve-inl.h"

namespace phy::gpu::detail {
namespace {

namespace equalizer = phy::detail::cuda;
using Ops = equalizer::Ops;

template <int layers>
using LayerColumn = equalizer::Column<Ops, layers>;

/// Loads a received sample of any format.
__device__ __forceinline__ void load_sample(const EqualizerJob& job, std::uint64_t index, float& re,
                                            float& im) {
    with_constant_by_bits<SampleFormat, 4>(job.format, [&](auto format) {
        constexpr int bytes = static_cast<int>(size_of(format()));
        std::uint32_t words[(bytes + 3) / 4];
        float y[2];
        load_words<Space::global, bytes>(job.grid + index * bytes, words);
        widen<format(), 2>(words, job.unit, y);
        re = y[0];
        im = y[1];
    });
}

/// A thread's subcarrier in a slot and in a group of symbols.
template <int layers>
struct Subcarrier {
    const EqualizerJob& job;
    const DeviceGroup& group;
    unsigned slot;
    unsigned k;

    __device__ __forceinline__ LayerColumn<layers> load(unsigned antenna, unsigned estimate) const {
        const std::uint64_t row =
            ((std::uint64_t{slot} * job.estimates + estimate) * job.antennas + antenna) * (2 * layers);
        const float* at = job.channel + row * job.subcarriers + k;
        LayerColumn<layers> h;
#pragma unroll
        for (int i = 0; i < layers; ++i) {
            h.re[i] = __ldg(at);
            h.im[i] = __ldg(at + job.subcarriers);
            at += 2 * job.subcarriers;
        }
        return h;
    }

    /// The rows of H of `count` antennas from `antenna` on. The loads of one estimate are in flight together.
    template <int count>
    __device__ __forceinline__ void rows_of(unsigned antenna, LayerColumn<layers> (&rows)[count]) const {
        const std::int32_t first_weight = __ldg(&group.first_weight);
        const bool as_it_is = first_weight < 0;
        const auto estimate = as_it_is ? static_cast<unsigned>(__ldg(&group.estimate)) : 0U;
#pragma unroll
        for (int a = 0; a < count; ++a)
            rows[a] = load(antenna + a, estimate);
        if (as_it_is) return;
        const unsigned set = time_set();
        const float* const weights =
            job.weights + first_weight + (set < job.time_sets ? set : 0U) * job.estimates;
#pragma unroll
        for (int a = 0; a < count; ++a)
            equalizer::scale<Ops, layers>(__ldg(weights), rows[a]);
#pragma unroll 1
        for (unsigned e = 1; e < job.estimates; ++e) {
            LayerColumn<layers> more[count];
#pragma unroll
            for (int a = 0; a < count; ++a)
                more[a] = load(antenna + a, e);
#pragma unroll
            for (int a = 0; a < count; ++a)
                equalizer::add_estimate<Ops, layers>(__ldg(weights + e), more[a], rows[a]);
        }
    }

    [[nodiscard]] __device__ __forceinline__ unsigned symbol_of(unsigned i) const {
        return static_cast<unsigned>(__ldg(group.symbol.data() + i));
    }

    [[nodiscard]] __device__ __forceinline__ std::uint64_t sample_of(unsigned antenna,
                                                                     unsigned symbol) const {
        const std::uint64_t row =
            (std::uint64_t{slot} * job.antennas + antenna) * phy::symbols_per_slot + symbol;
        return row * job.subcarriers + k;
    }

    /// The matrix of the subcarrier's subband.
    [[nodiscard]] __device__ __forceinline__ const float* whitening() const {
        const std::uint64_t subband = std::uint64_t{slot} * job.subbands + k / job.of_subband;
        return job.whitening + subband * (2 * job.antennas * job.antennas);
    }

    /// The sample of an antenna, whitened if necessary.
    __device__ __forceinline__ void received(unsigned antenna, unsigned symbol, float& re, float& im) const {
        if (job.whitening == nullptr) return load_sample(job, sample_of(antenna, symbol), re, im);
        const float* const row = whitening() + 2 * antenna * job.antennas;
        re = im = 0.0F;
        for (unsigned b = 0; b <= antenna; ++b) {
            float y_re;
            float y_im;
            load_sample(job, sample_of(b, symbol), y_re, y_im);
            if (b < antenna) {
                equalizer::add_weighted<Ops>(row[2 * b], row[2 * b + 1], y_re, y_im, re, im);
            } else {
                equalizer::add_scaled<Ops>(row[2 * b], y_re, y_im, re, im);
            }
        }
    }

    [[nodiscard]] __device__ __forceinline__ unsigned time_set() const {
        const float* const estimate = job.slots + slot * floats_of_estimate;
        return __float_as_uint(__ldg(estimate + time_set_of_estimate));
    }

    [[nodiscard]] __device__ __forceinline__ float noise() const {
        if (time_set() >= job.time_sets) return std::numeric_limits<float>::quiet_NaN();
        if (job.whitening != nullptr) return 1.0F;
        const float* const estimate = job.slots + slot * floats_of_estimate;
        return equalizer::noise_of_slot<Ops>(__ldg(estimate), __ldg(estimate + error_of_estimate), layers);
    }

    /// The phase of an OFDM symbol; false if it is 1.
    __device__ __forceinline__ bool has_phase(unsigned symbol, float& re, float& im) const {
        const float* const phase = job.slots + slot * floats_of_estimate + phases_of_estimate + 2 * symbol;
        re = __ldg(phase);
        im = __ldg(phase + 1);
        return re != 1.0F || im != 0.0F;
    }

    __device__ __forceinline__ void rotate_back(unsigned symbol, LayerColumn<layers>& x) const {
        float re;
        float im;
        if (!has_phase(symbol, re, im)) return;
#pragma unroll
        for (int i = 0; i < layers; ++i)
            equalizer::rotate_back<Ops>(re, im, x.re[i], x.im[i]);
    }

    [[nodiscard]] __device__ __forceinline__ equalizer::PairNumbers<Ops> pair_of(
        unsigned symbol, const LayerColumn<2>& matched, const equalizer::Triangle<Ops, 2>& gram) const {
        equalizer::PairNumbers<Ops> pair(matched, gram, noise());
        float re;
        float im;
        if (has_phase(symbol, re, im)) pair.rotate_back(re, im);
        pair.erase_unless_finite();
        return pair;
    }

    /// Returns true if the symbol has data here; element is then its index in the slot.
    [[nodiscard]] __device__ __forceinline__ bool element_of(unsigned symbol, unsigned& element) const {
        const unsigned block = k / subcarriers_per_resource_block;
        const unsigned bit = 1U << (k - block * subcarriers_per_resource_block);
        const auto* const entry = reinterpret_cast<const uint2*>(
            job.entries + symbol * (job.subcarriers / subcarriers_per_resource_block) + block);
        const uint2 first_and_mask = __ldg(entry);
        element = first_and_mask.x + __popc(first_and_mask.y & (bit - 1U));
        return (first_and_mask.y & bit) != 0;
    }
};

/// Rows of H, or weights, of all antennas; in registers if the number of antennas is known at compile time.
template <int layers, int antennas>
struct Rows {
    LayerColumn<layers> row[antennas];

    __device__ __forceinline__ explicit Rows(const Subcarrier<layers>& at) { at.rows_of(0, row); }
    __device__ __forceinline__ LayerColumn<layers> operator()(int a) const { return row[a]; }
};
template <int layers>
struct Rows<layers, 0> {
    const Subcarrier<layers>& at;

    __device__ __forceinline__ explicit Rows(const Subcarrier<layers>& of) : at(of) {}
    __device__ __forceinline__ LayerColumn<layers> operator()(int a) const {
        LayerColumn<layers> row[1];
        at.rows_of(a, row);
        return row[0];
    }
};

/// Calls visit(antenna) for all antennas.
template <int antennas, typename Visitor>
__device__ __forceinline__ void for_antennas(unsigned count, Visitor visit) {
    if constexpr (antennas > 0) {
#pragma unroll
        for (int a = 0; a < antennas; ++a)
            visit(a);
    } else {
#pragma unroll 1
        for (int a = 0; a < static_cast<int>(count); ++a)
            visit(a);
    }
}

/// The samples of all antennas in an element, in their format. They are loaded during the work on the element
/// before.
template <int layers, int antennas>
struct Received {
    std::uint32_t words[antennas][2];

    __device__ __forceinline__ void load(const Subcarrier<layers>& at, unsigned symbol) {
        const EqualizerJob& job = at.job;
        const std::byte* const first = job.grid + at.sample_of(0, symbol) * job.sample_bytes;
        const unsigned of_antenna = phy::symbols_per_slot * job.subcarriers * job.sample_bytes;
        if (job.sample_bytes == 8) return load_as<8>(first, of_antenna);
        if (job.sample_bytes == 4) return load_as<4>(first, of_antenna);
        load_as<2>(first, of_antenna);
    }

    /// Converts the samples to numbers, and whitens them if necessary.
    __device__ __forceinline__ void widen_to(const Subcarrier<layers>& at, float (&re)[antennas],
                                             float (&im)[antennas]) const {
        with_constant_by_bits<SampleFormat, 4>(at.job.format, [&](auto format) {
#pragma unroll
            for (int a = 0; a < antennas; ++a) {
                float y[2];
                widen<format(), 2>(words[a], at.job.unit, y);
                re[a] = y[0];
                im[a] = y[1];
            }
        });
        if (at.job.whitening != nullptr) whiten(at, re, im);
    }

private:
    template <int bytes>
    __device__ __forceinline__ void load_as(const std::byte* first, unsigned of_antenna) {
#pragma unroll
        for (int a = 0; a < antennas; ++a)
            load_words<Space::global, bytes>(first + a * of_antenna, words[a]);
    }

    __device__ __forceinline__ void whiten(const Subcarrier<layers>& at, float (&re)[antennas],
                                           float (&im)[antennas]) const {
        const float* const matrix = at.whitening();
#pragma unroll
        for (int a = antennas - 1; a >= 0; --a) {
            const float* const row = matrix + 2 * antennas * a;
            float sum_re = 0.0F;
            float sum_im = 0.0F;
#pragma unroll
            for (int b = 0; b < a; ++b)
                equalizer::add_weighted<Ops>(row[2 * b], row[2 * b + 1], re[b], im[b], sum_re, sum_im);
            equalizer::add_scaled<Ops>(row[2 * a], re[a], im[a], sum_re, sum_im);
            re[a] = sum_re;
            im[a] = sum_im;
        }
    }
};
/// For any number of antennas: loads each sample when it is used.
template <int layers>
struct Received<layers, 0> {
    __device__ __forceinline__ void load(const Subcarrier<layers>&, unsigned) {}
};

/// The next element.
template <int layers, int antennas>
struct Element {
    unsigned symbol;
    unsigned index;  ///< in the slot
    bool has_data;
    Received<layers, antennas> received;

    __device__ __forceinline__ void load(const Subcarrier<layers>& at, unsigned i) {
        symbol = at.symbol_of(i);
        received.load(at, symbol);
        has_data = at.element_of(symbol, index);
    }
};

/// Multiplies the samples of an element by weights. Shared filters give the symbols, others the separator's
/// input.
template <bool shared, int layers, int antennas, typename Weights>
__device__ __forceinline__ LayerColumn<layers> combine(const Subcarrier<layers>& at,
                                                       const Element<layers, antennas>& element,
                                                       Weights weights) {
    auto x = equalizer::zero_column<Ops, layers>();
    const auto add = [&](int a, float re, float im) {
        if constexpr (shared) {
            equalizer::add_filtered<Ops, layers>(weights(a), re, im, x);
        } else {
            equalizer::add_matched<Ops, layers>(weights(a), re, im, x);
        }
    };
    if constexpr (antennas > 0) {
        float re[antennas];
        float im[antennas];
        element.received.widen_to(at, re, im);
#pragma unroll
        for (int a = 0; a < antennas; ++a)
            add(a, re[a], im[a]);
    } else {
#pragma unroll 1
        for (int a = 0; a < static_cast<int>(at.job.antennas); ++a) {
            float re;
            float im;
            at.received(a, element.symbol, re, im);
            add(a, re, im);
        }
    }
    return x;
}

/// Stores symbols and noise.
template <int layers>
struct Store {
    const EqualizerOutput& out;
    std::uint64_t first_element;  ///< of the slot
    float noise[layers];

    __device__ __forceinline__ void set_noise(const float* of_symbols) {
#pragma unroll
        for (int i = 0; i < layers; ++i)
            noise[i] = of_symbols[i];
    }

    __device__ __forceinline__ void operator()(unsigned element, LayerColumn<layers>& x) const {
        std::uint32_t symbols[2 * layers];
        std::uint32_t noises[layers];
#pragma unroll
        for (int i = 0; i < layers; ++i) {
            float n = noise[i];
            equalizer::erase_unless_finite<Ops>(x.re[i], x.im[i], n);
            symbols[2 * i] = __float_as_uint(x.re[i]);
            symbols[2 * i + 1] = __float_as_uint(x.im[i]);
            noises[i] = __float_as_uint(n);
        }
        const std::uint64_t at = (first_element + element) * layers;
        store<2 * layers>(symbols, out.symbols + 2 * at);
        store<layers>(noises, out.noise + at);
    }

    __device__ __forceinline__ void store_pair(unsigned element,
                                               const equalizer::PairNumbers<Ops>& pair) const {
        auto* const to = reinterpret_cast<float4*>(out.pairs + (first_element + element));
        to[0] = {pair.re[0], pair.im[0], pair.re[1], pair.im[1]};
        to[1] = {pair.re[2], pair.im[2], pair.re[3], pair.im[3]};
    }

private:
    template <int count>
    __device__ __forceinline__ void store(const std::uint32_t* words, float* to) const {
        if (out.aligned) {
            store_words<count>(words, reinterpret_cast<std::byte*>(to));
        } else {
#pragma unroll
            for (int i = 0; i < count; ++i)
                to[i] = __uint_as_float(words[i]);
        }
    }
};

/// Equalises the subcarrier in the thread's symbols of the group.
template <int layers, int antennas, bool mmse, bool shared>
__device__ __forceinline__ void equalize(const Subcarrier<layers>& at, unsigned part, Store<layers> out) {
    const unsigned parts = shared ? at.job.parts : 1;
    const auto symbols = static_cast<unsigned>(__ldg(&at.group.symbols));
    if (part >= symbols) return;
    Element<layers, antennas> next;
    next.load(at, part);
    Rows<layers, antennas> rows(at);
    auto gram = equalizer::zero_triangle<Ops, layers>();
    for_antennas<antennas>(at.job.antennas,
                           [&](int a) { equalizer::add_to_gram<Ops, layers>(rows(a), gram); });
    const equalizer::Separator<Ops, layers, mmse> separator(gram, at.noise());
    out.set_noise(separator.noise);
    const auto weights_of = [&](int a) { return separator(equalizer::conjugate<Ops, layers>(rows(a))); };
    if constexpr (shared && antennas > 0) {
#pragma unroll
        for (int a = 0; a < antennas; ++a)
            rows.row[a] = weights_of(a);
    }
#pragma unroll 1
    for (unsigned i = part; i < symbols; i += parts) {
        const unsigned symbol = next.symbol;
        const unsigned element = next.index;
        const bool has_data = next.has_data;
        auto x = [&] {
            if constexpr (shared && antennas == 0)
                return combine<true>(at, next, weights_of);
            else
                return combine<shared>(at, next, rows);
        }();
        if (i + parts < symbols) next.load(at, i + parts);
        if (!has_data) continue;
        if constexpr (layers == 2 && !shared) {
            if (out.out.pairs != nullptr) out.store_pair(element, at.pair_of(symbol, x, gram));
        }
        if constexpr (!shared) x = separator(x);
        at.rotate_back(symbol, x);
        out(element, x);
    }
}

/// Equalises the thread's part of the job. If symbols do not share filters, a part is some of the groups.
template <int layers, int antennas, bool mmse, bool shared>
__device__ __forceinline__ void equalize_part(const EqualizerJob& job, Store<layers> out) {
    const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= job.subcarriers) return;
    const auto of_group = [&](unsigned group, unsigned part) {
        equalize<layers, antennas, mmse, shared>(Subcarrier<layers>{job, job.groups[group], blockIdx.z, k},
                                                 part, out);
    };
    if constexpr (shared) {
        of_group(blockIdx.y / job.parts, blockIdx.y % job.parts);
    } else {
#pragma unroll 1
        for (unsigned group = blockIdx.y; group < job.group_count; group += job.parts)
            of_group(group, 0);
    }
}

/// Symbols that share filters come first. Those that do not are equalised beside them: they do not depend on
/// them, and all earlier work is done when the first of the two kernels starts. The second has the blocks of
/// one slot more, which wait for the first, so that both are done when the second is. A wait after the work
/// would cost registers.
template <int layers, int antennas, bool mmse, bool shared>
__global__ void __launch_bounds__(equalizer_threads, resident_equalizer_blocks)
    equalize_slots(const __grid_constant__ EqualizerJob job, const __grid_constant__ EqualizerOutput out) {
    if constexpr (shared) {
        if (job.is_followed) let_next_get_ready();
    } else if (blockIdx.z == job.slot_count) {
        return wait_for_previous();
    }
    equalize_part<layers, antennas, mmse, shared>(
        job, Store<layers>{out, std::uint64_t{blockIdx.z} * job.elements, {}});
}

dim3 blocks_of(const EqualizerJob& job) {
    const unsigned parts = job.shares_filters ? job.group_count * job.parts : job.parts;
    return {(job.subcarriers + equalizer_threads - 1) / equalizer_threads, parts, job.slot_count};
}

template <int layers, int antennas, bool mmse>
void launch_with(const EqualizerJob& job, const EqualizerOutput& out, cudaStream_t stream) {
    dim3 blocks = blocks_of(job);
    if (job.follows) blocks.z += 1;
    if (job.shares_filters) {
        equalize_slots<layers, antennas, mmse, true><<<blocks, equalizer_threads, 0, stream>>>(job, out);
    } else {
        launch_dependent(equalize_slots<layers, antennas, mmse, false>, job.follows, blocks,
                         equalizer_threads, 0, stream, job, out);
    }
}

template <int layers, int antennas>
void launch_with(const EqualizerJob& job, const EqualizerOutput& out, cudaStream_t stream) {
    if (layers > 1 && job.mmse) return launch_with<layers, antennas, (layers > 1)>(job, out, stream);
    launch_with<layers, antennas, false>(job, out, stream);
}

template <int layers>
void launch_with(const EqualizerJob& job, const EqualizerOutput& out, cudaStream_t stream) {
    if (job.antennas == 2 && layers <= 2) return launch_with<layers, (layers <= 2 ? 2 : 0)>(job, out, stream);
    if (job.antennas == 4) return launch_with<layers, 4>(job, out, stream);
    launch_with<layers, 0>(job, out, stream);
}

}  // namespace

void launch(const EqualizerJob& job, const EqualizerOutput& out, cudaStream_t stream) {
    switch (job.layers) {
        case 1:
            launch_with<1>(job, out, stream);
            break;
        case 2:
            launch_with<2>(job, out, stream);
            break;
        case 3:
            launch_with<3>(job, out, stream);
            break;
        default:
            launch_with<4>(job, out, stream);
    }
    check(cudaGetLastError());
}

}  // namespace phy::gpu::detail
