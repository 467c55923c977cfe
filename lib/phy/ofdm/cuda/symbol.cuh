#pragma once

#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/cuda/samples.cuh"
#include "phy/ofdm/cuda/launch.hpp"
#include "phy/ofdm/cuda/transform.cuh"
#include "phy/ofdm/math/symbol_phase-inl.h"

/// Loads the samples of an OFDM symbol and stores its elements.
namespace phy::gpu::detail {

/// The window of a symbol and its elements.
struct SymbolArrays {
    const std::byte* window;
    cf32* elements;
};

template <SampleFormat format>
__device__ __forceinline__ SymbolArrays arrays_of_symbol(const DemodulateJob& job, unsigned index) {
    const OfdmTiming& timing = job.timing;
    const phy::detail::OfdmRow row = job.sizes.row(index);
    const std::uint64_t slot = job.first_slot + row.slot;
    const std::uint64_t first_sample = job.sizes.first_sample(timing, job.first_slot, row) +
                                       timing.symbol_start(slot, row.symbol) +
                                       timing.prefix_samples(slot, row.symbol) - job.window_offset;
    return {job.samples + first_sample * size_of(format), job.grid + job.sizes.first_element(timing, row)};
}

/// The factor of a symbol's elements.
__device__ __forceinline__ TransformNumber phase_of_symbol(const DemodulateJob& job, unsigned index) {
    const OfdmTiming& timing = job.timing;
    const phy::detail::OfdmRow row = job.sizes.row(index);
    const std::uint64_t slot = job.first_slot + row.slot;
    return phy::detail::cuda::symbol_phase<TransformOps>(
        job.phases, timing.symbol_of_subframe(slot, row.symbol),
        timing.slot_start(slot) + timing.symbol_start(slot, row.symbol) +
            timing.prefix_samples(slot, row.symbol));
}

/// Two numbers side by side; aligned: at a multiple of 8 bytes.
template <bool aligned>
__device__ __forceinline__ void store_pair(const TransformNumber& number, cf32* to) {
    if constexpr (aligned) {
        *reinterpret_cast<float2*>(to) = {number.re, number.im};
    } else {
        reinterpret_cast<float*>(to)[0] = number.re;
        reinterpret_cast<float*>(to)[1] = number.im;
    }
}

/// A symbol's samples in the order of the transform.
template <SampleFormat format, bool aligned>
struct LoadSamples {
    const DemodulateJob& job;
    const std::byte* window;
    bool is_there = true;  ///< the block's last teams may have no symbol

    __device__ __forceinline__ TransformNumber operator()(unsigned point) const {
        if (!is_there) return {0.0F, 0.0F};
        unsigned sample = point + job.window_offset;
        if (sample >= job.fft.size) sample -= job.fft.size;
        const TransformNumber of_sample = number(window + std::size_t{sample} * size_of(format));
        return job.rotation == nullptr ? of_sample : turned(of_sample, job.rotation + point);
    }

    __device__ __forceinline__ TransformNumber number(const std::byte* sample) const {
        std::uint32_t words[(size_of(format) + 3) / 4];
        load_sample<format, aligned>(sample, words);
        float components[2];
        widen<format, 2>(words, job.unit, components);
        return {components[0], components[1]};
    }

    __device__ __forceinline__ TransformNumber turned(const TransformNumber& number, const cf32* turn) const {
        const float2 factor = __ldg(reinterpret_cast<const float2*>(turn));
        return phy::detail::cuda::product<TransformOps>(number, TransformNumber{factor.x, factor.y});
    }
};

template <bool aligned>
struct StoreElements {
    cf32* elements;
    unsigned size;
    unsigned zero;
    unsigned count;  ///< 0 if there is no symbol
    TransformNumber phase;

    __device__ __forceinline__ StoreElements(const DemodulateJob& job, cf32* of_symbol,
                                             const TransformNumber& factor, bool is_there = true)
        : elements(of_symbol),
          size(job.fft.size),
          zero(static_cast<unsigned>(job.timing.zero_subcarrier())),
          count(is_there ? static_cast<unsigned>(job.timing.subcarriers()) : 0),
          phase(factor) {}

    __device__ __forceinline__ void operator()(unsigned bin, const TransformNumber& value) const {
        unsigned element = bin + zero;
        if (element >= size) element -= size;
        if (element >= count) return;
        const TransformNumber rotated = phy::detail::cuda::product<TransformOps>(value, phase);
        store_pair<aligned>(phy::detail::cuda::with_one_nan<TransformOps>(rotated), elements + element);
    }
};

}  // namespace phy::gpu::detail
