#include "ladder/demap_steps.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <cuda_runtime.h>

namespace phy::apps::demap_steps {
namespace {

constexpr float a_inverse = 13.038405F;  // 1/A = sqrt(170): levels are at +-1, +-3 ... +-15
constexpr int bits = 4;                  // per axis

/// Soft bits per unit of distance: L = 4 A^2 / N0 times the distance.
__device__ float gain_of(const Work& work) {
    return work.llr_scale * (4.0F / 170.0F) / *work.noise;
}

__device__ int quantise(float llr, int clip) {
    const auto limit = static_cast<float>(clip);
    return __float2int_rn(fminf(fmaxf(llr, -limit), limit));
}

/// Finds the bits of one axis by comparison with the borders of the decision regions. put(k, distance) takes
/// bit k.
template <typename Put>
__device__ void by_regions(float x, Put put) {
    const float x0 = fabsf(x);
    const float sign0 = x < 0.0F ? -1.0F : 1.0F;
    if (x0 < 2.0F)
        put(0, sign0 * x0);
    else if (x0 < 4.0F)
        put(0, sign0 * 2.0F * (x0 - 1.0F));
    else if (x0 < 6.0F)
        put(0, sign0 * 3.0F * (x0 - 2.0F));
    else if (x0 < 8.0F)
        put(0, sign0 * 4.0F * (x0 - 3.0F));
    else if (x0 < 10.0F)
        put(0, sign0 * 5.0F * (x0 - 4.0F));
    else if (x0 < 12.0F)
        put(0, sign0 * 6.0F * (x0 - 5.0F));
    else if (x0 < 14.0F)
        put(0, sign0 * 7.0F * (x0 - 6.0F));
    else
        put(0, sign0 * 8.0F * (x0 - 7.0F));

    const float x1 = fabsf(8.0F - x0);
    const float sign1 = x0 > 8.0F ? -1.0F : 1.0F;
    if (x1 < 2.0F)
        put(1, sign1 * x1);
    else if (x1 < 4.0F)
        put(1, sign1 * 2.0F * (x1 - 1.0F));
    else if (x1 < 6.0F)
        put(1, sign1 * 3.0F * (x1 - 2.0F));
    else
        put(1, sign1 * 4.0F * (x1 - 3.0F));

    const float x2 = fabsf(4.0F - x1);
    const float sign2 = x1 > 4.0F ? -1.0F : 1.0F;
    if (x2 < 2.0F)
        put(2, sign2 * x2);
    else
        put(2, sign2 * 2.0F * (x2 - 1.0F));

    put(3, 2.0F - x2);
}

__device__ std::size_t first_symbol() {
    return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

__global__ void naive(Work work) {
    const std::size_t i = first_symbol();
    if (i >= work.size) return;
    const auto* components = reinterpret_cast<const float*>(work.symbols);
    const float re = components[2 * i];
    const float im = components[2 * i + 1];
    const float gain = gain_of(work);
    std::int8_t* out = work.llr + 2 * bits * i;
    by_regions(re * a_inverse, [&](int k, float d) {
        out[2 * k] = static_cast<std::int8_t>(quantise(gain * d, work.llr_clip));
    });
    by_regions(im * a_inverse, [&](int k, float d) {
        out[2 * k + 1] = static_cast<std::int8_t>(quantise(gain * d, work.llr_clip));
    });
}

/// The soft bits of a symbol, first one in the lowest byte.
__device__ uint2 packed_by_regions(float re, float im, float gain, int clip) {
    std::uint32_t words[2] = {};
    const auto put_into = [&](int axis) {
        return [&, axis](int k, float d) {
            const auto byte = static_cast<std::uint32_t>(quantise(gain * d, clip)) & 0xFFU;
            words[k / 2] |= byte << (8 * (2 * (k % 2) + axis));
        };
    };
    by_regions(re * a_inverse, put_into(0));
    by_regions(im * a_inverse, put_into(1));
    return {words[0], words[1]};
}

__global__ void packed_store(Work work) {
    const std::size_t i = first_symbol();
    if (i >= work.size) return;
    const auto* components = reinterpret_cast<const float*>(work.symbols);
    const float re = components[2 * i];
    const float im = components[2 * i + 1];
    reinterpret_cast<uint2*>(work.llr)[i] = packed_by_regions(re, im, gain_of(work), work.llr_clip);
}

__global__ void merged_load(Work work) {
    const std::size_t i = first_symbol();
    if (i >= work.size) return;
    const float2 symbol = reinterpret_cast<const float2*>(work.symbols)[i];
    reinterpret_cast<uint2*>(work.llr)[i] =
        packed_by_regions(symbol.x, symbol.y, gain_of(work), work.llr_clip);
}

/// The table in shared memory.
class Table {
public:
    __device__ explicit Table(const Work& work)
        : steps_a_unit_(table_entries / (2.0F * work.table_reach)), entries_(shared_copy(work.table)) {}

    __device__ uint2 operator()(float re, float im) const {
        const std::uint32_t even = entries_[index(re)];
        const std::uint32_t odd = entries_[index(im)];
        return {__byte_perm(even, odd, 0x5140), __byte_perm(even, odd, 0x7362)};
    }

private:
    __device__ static const std::uint32_t* shared_copy(const std::uint32_t* table) {
        __shared__ std::uint32_t entries[table_entries];
        for (int i = threadIdx.x; i < table_entries; i += blockDim.x)
            entries[i] = table[i];
        __syncthreads();
        return entries;
    }

    __device__ int index(float y) const {
        const int step = __float2int_rd(fmaf(y, steps_a_unit_, 0.5F * table_entries));
        return min(max(step, 0), table_entries - 1);
    }

    float steps_a_unit_;
    const std::uint32_t* entries_;
};

__global__ void look_up(Work work) {
    const Table table(work);
    const auto* symbols = reinterpret_cast<const float2*>(work.symbols);
    auto* out = reinterpret_cast<uint2*>(work.llr);
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = first_symbol(); i < work.size; i += stride) {
        const float2 symbol = symbols[i];
        out[i] = table(symbol.x, symbol.y);
    }
}

__global__ void unrolled(Work work) {
    constexpr int unroll = 4;
    const Table table(work);
    const auto* pairs = reinterpret_cast<const float4*>(work.symbols);
    auto* out = reinterpret_cast<uint4*>(work.llr);
    const auto both = [&table](float4 pair) -> uint4 {
        const uint2 first = table(pair.x, pair.y);
        const uint2 second = table(pair.z, pair.w);
        return {first.x, first.y, second.x, second.y};
    };
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    const std::size_t size = work.size / 2;
    std::size_t i = first_symbol();
    for (; i + (unroll - 1) * stride < size; i += unroll * stride) {
        float4 in[unroll];
#pragma unroll
        for (int j = 0; j < unroll; ++j)
            in[j] = pairs[i + j * stride];
#pragma unroll
        for (int j = 0; j < unroll; ++j)
            out[i + j * stride] = both(in[j]);
    }
    for (; i < size; i += stride)
        out[i] = both(pairs[i]);
    if (work.size % 2 != 0 && first_symbol() == 0) {
        const float2 last = reinterpret_cast<const float2*>(work.symbols)[work.size - 1];
        reinterpret_cast<uint2*>(work.llr)[work.size - 1] = table(last.x, last.y);
    }
}

template <void (*kernel)(Work)>
void launch_a_thread_a_symbol(const Work& work, int threads, int /*multiprocessors*/, cudaStream_t stream) {
    kernel<<<static_cast<unsigned>((work.size + threads - 1) / threads), threads, 0, stream>>>(work);
    gpu::check(cudaGetLastError());
}

template <void (*kernel)(Work)>
void launch_as_many_as_fit(const Work& work, int threads, int multiprocessors, cudaStream_t stream) {
    int blocks = 0;
    gpu::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0));
    kernel<<<blocks * multiprocessors, threads, 0, stream>>>(work);
    gpu::check(cudaGetLastError());
}

/// The block size, among those a beginner would try, that leaves most of a multiprocessor idle.
int poor_block_size(const gpu::Device& device) {
    int most = 0;
    gpu::check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor, device.ordinal()));
    constexpr std::array sizes = {1024, 768, 640, 512};
    return *std::max_element(sizes.begin(), sizes.end(),
                             [most](int a, int b) { return most % a < most % b; });
}

__global__ void largest_difference(const std::int8_t* a, const std::int8_t* b, std::size_t size,
                                   int* largest) {
    int mine = 0;
    const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = first_symbol(); i < size; i += stride)
        mine = max(mine, abs(a[i] - b[i]));
    if (mine > 0) atomicMax(largest, mine);
}

}  // namespace

std::vector<Step> all(const gpu::Device& device) {
    constexpr int good = 256;
    return {
        {"naive", "one thread per symbol, branches, 3 loads, 8 stores", poor_block_size(device),
         launch_a_thread_a_symbol<naive>},
        {"block size", "one that divides a multiprocessor's threads", good, launch_a_thread_a_symbol<naive>},
        {"packed store", "8 soft bits in one store", good, launch_a_thread_a_symbol<packed_store>},
        {"merged load", "I and Q in one load", good, launch_a_thread_a_symbol<merged_load>},
        {"table", "one look-up per axis in place of branches", good, launch_as_many_as_fit<look_up>},
        {"unrolled", "8 symbols per thread, 2 per load or store", good, launch_as_many_as_fit<unrolled>}};
}

std::vector<std::uint32_t> make_table(double reach, double noise_variance, double llr_scale, int llr_clip) {
    std::vector<std::uint32_t> table(table_entries);
    const double gain = llr_scale * 4.0 / 170.0 / noise_variance;
    for (int i = 0; i < table_entries; ++i) {
        double x = ((i + 0.5) * 2.0 / table_entries - 1.0) * reach * std::sqrt(170.0);
        for (int k = 0; k < bits; ++k) {
            const double last = (1 << (bits - 1 - k)) - 1;
            const double n = std::min(std::floor(std::abs(x) / 2.0), last);
            const double llr = std::copysign(gain * (n + 1.0) * (std::abs(x) - n), x);
            const double limited = std::clamp<double>(llr, -llr_clip, llr_clip);
            table[i] |= (static_cast<std::uint32_t>(std::lrint(limited)) & 0xFFU) << (8 * k);
            x = (1 << (bits - 1 - k)) - std::abs(x);
        }
    }
    return table;
}

void find_largest_difference(const std::int8_t* a, const std::int8_t* b, std::size_t size, int* difference,
                             cudaStream_t stream) {
    gpu::check(cudaMemsetAsync(difference, 0, sizeof *difference, stream));
    largest_difference<<<1024, 256, 0, stream>>>(a, b, size, difference);
    gpu::check(cudaGetLastError());
}

}  // namespace phy::apps::demap_steps
