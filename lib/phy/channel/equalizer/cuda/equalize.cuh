#pragma once

#include <cstdint>

#include "phy/channel/equalizer/cuda/launch.hpp"
#include "phy/channel/equalizer/cuda/tuning.hpp"
#include "phy/channel/equalizer/math/slot-inl.h"
#include "phy/channel/equalizer/math/solve-inl.h"
#include "phy/cuda/samples.cuh"

/// What a thread does with its subcarrier, whatever becomes of the symbols: a device function, so that they
/// need not go through memory.
namespace phy::gpu::detail {

namespace equalizer = phy::detail::cuda;
using EqualizerOps = equalizer::Ops;

template <int layers>
using LayerColumn = equalizer::Column<EqualizerOps, layers>;

constexpr unsigned block_subcarriers = phy::subcarriers_per_resource_block;

/// A received sample; any format.
__device__ __forceinline__ void load_sample(const EqualizerJob& job, std::uint64_t index, float& re,
                                            float& im) {
    const auto load_as = [&](auto constant) {
        constexpr SampleFormat format = constant();
        constexpr int bytes = static_cast<int>(size_of(format));
        std::uint32_t words[(bytes + 3) / 4];
        float y[2];
        load_words<Space::global, bytes>(job.grid + index * bytes, words);
        widen<format, 2>(words, job.unit, y);
        re = y[0];
        im = y[1];
    };
    // By the bits of the number: a switch becomes a table of addresses.
    const auto number = static_cast<unsigned>(job.format);
    if ((number & 2U) == 0) {
        if ((number & 1U) == 0) return load_as(std::integral_constant<SampleFormat, SampleFormat::cf32>());
        return load_as(std::integral_constant<SampleFormat, SampleFormat::cf16>());
    }
    if ((number & 1U) == 0) return load_as(std::integral_constant<SampleFormat, SampleFormat::ci16>());
    load_as(std::integral_constant<SampleFormat, SampleFormat::ci8>());
}

/// A thread's subcarrier in a slot and a group of symbols.
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

    /// The row that an antenna has of H.
    __device__ __forceinline__ LayerColumn<layers> row_of(unsigned antenna) const {
        if (group.first_weight < 0) return load(antenna, static_cast<unsigned>(group.estimate));
        const float* const weights = job.weights + group.first_weight;
        LayerColumn<layers> h = load(antenna, 0);
        equalizer::scale<EqualizerOps, layers>(__ldg(weights), h);
        for (unsigned e = 1; e < job.estimates; ++e)
            equalizer::add_estimate<EqualizerOps, layers>(__ldg(weights + e), load(antenna, e), h);
        return h;
    }

    [[nodiscard]] __device__ __forceinline__ std::uint64_t sample_of(unsigned antenna,
                                                                     unsigned symbol) const {
        const std::uint64_t row =
            (std::uint64_t{slot} * job.antennas + antenna) * phy::symbols_per_slot + symbol;
        return row * job.subcarriers + k;
    }

    /// Received by an antenna, whitened where it has to be.
    __device__ __forceinline__ void received(unsigned antenna, unsigned symbol, float& re, float& im) const {
        if (job.whitening == nullptr) return load_sample(job, sample_of(antenna, symbol), re, im);
        const std::uint64_t first = (std::uint64_t{slot} * job.antennas + antenna) * job.antennas;
        const float* const row = job.whitening + 2 * first;
        re = im = 0.0F;
        for (unsigned b = 0; b <= antenna; ++b) {
            float y_re;
            float y_im;
            load_sample(job, sample_of(b, symbol), y_re, y_im);
            if (b < antenna) {
                equalizer::add_weighted<EqualizerOps>(row[2 * b], row[2 * b + 1], y_re, y_im, re, im);
            } else {
                equalizer::add_scaled<EqualizerOps>(row[2 * b], y_re, y_im, re, im);
            }
        }
    }

    [[nodiscard]] __device__ __forceinline__ float noise() const {
        if (job.whitening != nullptr) return 1.0F;
        const float* const estimate = job.slots + slot * floats_of_estimate;
        return equalizer::noise_of_slot<EqualizerOps>(__ldg(estimate), __ldg(estimate + error_of_estimate),
                                                      layers);
    }

    __device__ __forceinline__ void turn(unsigned symbol, LayerColumn<layers>& x) const {
        const float* const phase = job.slots + slot * floats_of_estimate + phases_of_estimate + 2 * symbol;
        const float re = __ldg(phase);
        const float im = __ldg(phase + 1);
        if (re == 1.0F && im == 0.0F) return;
#pragma unroll
        for (int i = 0; i < layers; ++i)
            equalizer::turn_back<EqualizerOps>(re, im, x.re[i], x.im[i]);
    }

    /// Whether there is data in a symbol, and which element of the slot it is.
    [[nodiscard]] __device__ __forceinline__ bool element_of(unsigned symbol, unsigned& element) const {
        const unsigned block = k / block_subcarriers;
        const unsigned bit = 1U << (k - block * block_subcarriers);
        const auto* const entry = reinterpret_cast<const uint2*>(
            job.entries + symbol * (job.subcarriers / block_subcarriers) + block);
        const uint2 first_and_mask = __ldg(entry);
        element = first_and_mask.x + __popc(first_and_mask.y & (bit - 1U));
        return (first_and_mask.y & bit) != 0;
    }
};

/// Rows of H, or weights, of all antennas: in registers where their number is known.
template <int layers, int antennas>
struct Rows {
    LayerColumn<layers> row[antennas];

    __device__ __forceinline__ explicit Rows(const Subcarrier<layers>& at) {
#pragma unroll
        for (int a = 0; a < antennas; ++a)
            row[a] = at.row_of(a);
    }
    __device__ __forceinline__ LayerColumn<layers> operator()(int a) const {
        return row[a];
    }
};
template <int layers>
struct Rows<layers, 0> {
    const Subcarrier<layers>& at;

    __device__ __forceinline__ explicit Rows(const Subcarrier<layers>& of) : at(of) {}
    __device__ __forceinline__ LayerColumn<layers> operator()(int a) const { return at.row_of(a); }
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

/// Equalises the subcarrier in those symbols of the group that the thread has. sink.noise(noise) gets the
/// noise that symbols have unless they are erased; sink(element, x, erased) the symbols of an element. With
/// filters the noise is given once, else before each element.
template <int layers, int antennas, bool mmse, bool shared, class Sink>
__device__ __forceinline__ void equalize(const Subcarrier<layers>& at, unsigned part, Sink sink) {
    using Ops = EqualizerOps;
    const EqualizerJob& job = at.job;
    Rows<layers, antennas> rows(at);
    auto gram = equalizer::zero_triangle<Ops, layers>();
    for_antennas<antennas>(job.antennas, [&](int a) { equalizer::add_to_gram<Ops, layers>(rows(a), gram); });
    const equalizer::Separator<Ops, layers, mmse> separator(gram, at.noise());
    sink.set_noise(separator.noise);
    const auto weights_of = [&](int a) { return separator(equalizer::conjugate<Ops, layers>(rows(a))); };
    if constexpr (shared && antennas > 0) {
#pragma unroll
        for (int a = 0; a < antennas; ++a)
            rows.row[a] = weights_of(a);
    }
#pragma unroll 1
    for (unsigned i = part; i < static_cast<unsigned>(at.group.symbols); i += job.parts) {
        const auto symbol = static_cast<unsigned>(at.group.symbol[i]);
        unsigned element;
        if (!at.element_of(symbol, element)) continue;
        auto x = equalizer::zero_column<Ops, layers>();
        for_antennas<antennas>(job.antennas, [&](int a) {
            float re;
            float im;
            at.received(a, symbol, re, im);
            if constexpr (!shared) {
                equalizer::add_matched<Ops, layers>(rows(a), re, im, x);
            } else if constexpr (antennas > 0) {
                equalizer::add_filtered<Ops, layers>(rows(a), re, im, x);
            } else {
                equalizer::add_filtered<Ops, layers>(weights_of(a), re, im, x);
            }
        });
        if constexpr (!shared) x = separator(x);
        at.turn(symbol, x);
        sink(element, x);
    }
}

/// Which part of the job a thread has.
template <int layers, int antennas, bool mmse, bool shared, class Sink>
__device__ __forceinline__ void equalize_part(const EqualizerJob& job, Sink sink) {
    const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= job.subcarriers) return;
    const unsigned group = blockIdx.y / job.parts;
    equalize<layers, antennas, mmse, shared>(Subcarrier<layers>{job, job.groups[group], blockIdx.z, k},
                                             blockIdx.y % job.parts, sink);
}

inline dim3 blocks_of(const EqualizerJob& job) {
    return {(job.subcarriers + equalizer_threads - 1) / equalizer_threads, job.group_count * job.parts,
            job.slot_count};
}

}  // namespace phy::gpu::detail
