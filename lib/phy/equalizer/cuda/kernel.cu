#include "phy/cuda/dependent_launch.cuh"
#include "phy/cuda/device.hpp"
#include "phy/equalizer/cuda/equalize.cuh"

namespace phy::gpu::detail {
namespace {

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
            equalizer::erase_unless_finite<EqualizerOps>(x.re[i], x.im[i], n);
            symbols[2 * i] = __float_as_uint(x.re[i]);
            symbols[2 * i + 1] = __float_as_uint(x.im[i]);
            noises[i] = __float_as_uint(n);
        }
        const std::uint64_t at = (first_element + element) * layers;
        store<2 * layers>(symbols, out.symbols + 2 * at);
        store<layers>(noises, out.noise + at);
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

/// Symbols that share filters come first. Those that do not are equalised beside them: they do not depend on
/// them, and all earlier work is done when the first of the two kernels starts. The second has the blocks of
/// one slot more, which wait for the first, so that both are done when the second is. A wait after the work
/// would cost registers.
template <int layers, int antennas, bool mmse, bool shared>
__global__ void __launch_bounds__(equalizer_threads, 1)
    equalize_slots(const __grid_constant__ EqualizerJob job, const __grid_constant__ EqualizerOutput out) {
    if constexpr (shared) {
        let_next_get_ready();
    } else if (blockIdx.z == job.slot_count) {
        return wait_for_previous();
    }
    equalize_part<layers, antennas, mmse, shared>(
        job, Store<layers>{out, std::uint64_t{blockIdx.z} * job.elements, {}});
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
