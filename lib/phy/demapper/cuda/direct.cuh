#pragma once

#include "phy/demapper/cuda/tile.cuh"

namespace phy::gpu::detail {

/// Evaluates by the closed form or, with Formula::log_sum, by log-sum-exp.
template <Constellation of, SoftBitFormat to, Formula formula, CallSize size>
struct Direct {
    static constexpr Constellation constellation = of;
    static constexpr SoftBitFormat format = to;
    static constexpr Shape shape =
        formula == Formula::log_sum ? log_sum_shape(of, to) : closed_form_shape(of, to, size);
    static constexpr bool is_early = formula != Formula::log_sum && tuning_of(size).is_early;

    const Job& job;

    __device__ explicit Direct(const Job& of_job) : job(of_job) {}

    __device__ __forceinline__ void operator()(const float* y, const float* scale, const float* limit,
                                               std::uint32_t* words) const {
        constexpr int bits = bits_of(constellation);
        constexpr int axes = constellation == Constellation::bpsk ? 1 : 2;
        float llrs[shape.symbols * bits * axes];
#pragma unroll
        for (int s = 0; s < shape.symbols; ++s) {
#pragma unroll
            for (int axis = 0; axis < axes; ++axis) {
                float distances[bits];
                float out_scale = scale[s];
                if constexpr (constellation == Constellation::bpsk) {
                    axis_distances<Ops, 1, formula>(diagonal(y[2 * s], y[2 * s + 1], s), limit[s], distances);
                } else if constexpr (formula == Formula::log_sum) {
                    evaluate_axis<Ops, bits, formula>(y[2 * s + axis], scale[s], limit[s], job.nats,
                                                      distances, out_scale);
                } else {
                    axis_distances<Ops, bits, formula>(y[2 * s + axis], limit[s], distances);
                }
#pragma unroll
                for (int k = 0; k < bits; ++k)
                    llrs[(s * bits + k) * axes + axis] = output(out_scale, distances[k]);
            }
        }
        pack<format, shape.symbols * bits * axes>(llrs, words);
    }

private:
    /// The axis of BPSK. A lane's first symbol has an even index in the call.
    __device__ __forceinline__ float diagonal(float i, float q, int symbol) const {
        static_assert(constellation != Constellation::bpsk || shape.symbols % 2 == 0);
        const bool rotated = job.rotating && (symbol % 2 != 0) != job.odd;
        return Ops::add(rotated ? -i : i, q);
    }

    static __device__ __forceinline__ float output(float scale, float distance) {
        if constexpr (format == SoftBitFormat::int8) return quantise<Ops>(scale, distance);
        return scaled<Ops>(scale, distance);
    }
};

}  // namespace phy::gpu::detail
