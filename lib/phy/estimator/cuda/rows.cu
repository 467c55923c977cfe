// From the grid to the rows of streams: least squares, offsets, codes.

#include "phy/cuda/samples.cuh"
#include "phy/cuda/shared_memory.hpp"
#include "phy/estimator/cuda/device.cuh"
#include "phy/estimator/cuda/tuning.hpp"
#include "phy/estimator/math/statistics-inl.h"

namespace phy::gpu::detail {
namespace {

constexpr int dmrs_of_block = 2;
constexpr int rows_at_once = 32;  ///< whose sums are joined
constexpr int batch = 2;          ///< pilots of a comb that a thread loads together
constexpr std::size_t shared_for_both_combs = 64 * 1024;

/// The rows of a block, all of one antenna, one group and one symbol of each DM-RS. Their pilots are in
/// shared memory as (loaded, combs, parts, comb_stride). The last loaded row may belong to another block; the
/// correlation with the row before it belongs to this one.
struct RowBlock {
    int antenna_group;
    int first_symbol;
    int own;
    int loaded;
    int combs;  ///< at a time
};

__host__ __device__ __forceinline__ int blocks_of_group(const EstimatorProgram& program) {
    const int dmrs = program.symbols / program.length;
    return program.length * ((dmrs + dmrs_of_block - 1) / dmrs_of_block);
}

__host__ __device__ __forceinline__ int max_loaded(const EstimatorProgram& program) {
    return min(program.symbols / program.length,
               program.constants.pairs > 0 ? dmrs_of_block + 1 : dmrs_of_block);
}

__device__ __forceinline__ RowBlock row_block(const EstimatorProgram& program, int combs) {
    const int blocks = blocks_of_group(program);
    const int in_group = static_cast<int>(blockIdx.x) % blocks;
    const int first = in_group / program.length * dmrs_of_block;
    const int left = program.symbols / program.length - first;
    return {.antenna_group = static_cast<int>(blockIdx.x) / blocks,
            .first_symbol = first * program.length + in_group % program.length,
            .own = min(left, dmrs_of_block),
            .loaded = min(left, max_loaded(program)),
            .combs = combs};
}

/// The elements of a row that a thread loads together, from both combs or one.
template <SampleFormat format, int count>
__device__ __forceinline__ void load_batch(const std::byte* samples, const float* pilots,
                                           const int (&subcarriers)[count], const int (&pilot)[count],
                                           std::uint32_t (&words)[count][(size_of(format) + 3) / 4],
                                           float (&parts)[count][2]) {
    constexpr unsigned bytes = size_of(format);
    if (reinterpret_cast<std::uintptr_t>(samples) % bytes == 0) {
#pragma unroll
        for (int i = 0; i < count; ++i)
            load_words<Space::global, bytes>(
                samples + static_cast<std::size_t>(max(subcarriers[i], 0)) * bytes, words[i]);
    } else {
#pragma unroll
        for (int i = 0; i < count; ++i) {
            load_bytes<bytes>(samples + static_cast<std::size_t>(max(subcarriers[i], 0)) * bytes, words[i]);
        }
    }
#pragma unroll
    for (int i = 0; i < count; ++i) {
        parts[i][0] = __ldg(pilots + 2 * max(pilot[i], 0));
        parts[i][1] = __ldg(pilots + 2 * max(pilot[i], 0) + 1);
    }
}

constexpr int erased_subcarrier = -2;

/// The elements of a row's pilots: m, m + threads ... of `combs` combs from first_comb on.
template <int combs>
struct Elements {
    int m;
    int first_comb;
    int subcarriers[batch * combs];  ///< of a group that begins at 0; -1: none; or erased_subcarrier
    int pilots[batch * combs];
};

template <int combs>
__device__ __forceinline__ Elements<combs> elements_of(const EstimatorProgram& program, int m, int first_comb,
                                                       int group) {
    Elements<combs> result;
    result.m = m;
    result.first_comb = first_comb;
#pragma unroll
    for (int b = 0; b < batch; ++b) {
        const int at = m + b * estimator_threads;
        const bool inside = at < program.comb_stride;
        const int subcarrier = inside ? __ldg(program.subcarrier_of + at) : -1;
        const int pilot = inside ? __ldg(program.pilot_of + at) : -1;
#pragma unroll
        for (int c = 0; c < combs; ++c) {
            const int comb = first_comb + c;
            result.subcarriers[c * batch + b] = subcarrier < 0 ? -1 : subcarrier + comb * program.comb_shift;
            result.pilots[c * batch + b] = pilot < 0 ? -1 : pilot + comb;
        }
    }
    for (int i = 0; i < program.erased_count; ++i)
#pragma unroll
        for (int& subcarrier : result.subcarriers)
            if (subcarrier + program.groups[group] == program.erased[i] && subcarrier >= 0)
                subcarrier = erased_subcarrier;
    return result;
}

__shared__ int is_spoiled;  ///< a pilot of the block spoils the slot

/// Writes least squares of a row's elements to shared memory and, if `out` is not null, to out.
template <SampleFormat format, int combs>
__device__ __forceinline__ void estimate_elements(const EstimatorProgram& program, const EstimatorJob& job,
                                                  unsigned slot, int row, const Elements<combs>& elements,
                                                  float* shared, float* out) {
    constexpr int count = batch * combs;
    const int stride = program.comb_stride;
    const int symbol = row % program.symbols;
    const int group = row / program.symbols % program.groups_count;
    const auto antenna = static_cast<unsigned>(row / program.symbols / program.groups_count);
    const std::size_t sample_row =
        (std::size_t{slot} * static_cast<unsigned>(program.antennas) + antenna) * symbols_per_slot +
        static_cast<unsigned>(program.dmrs_symbols[symbol]);
    const std::byte* const samples = job.grid + (sample_row * static_cast<unsigned>(program.subcarriers) +
                                                 static_cast<unsigned>(program.groups[group])) *
                                                    size_of(format);
    const cf32* const pilots = job.pilots + (std::size_t{slot} * static_cast<unsigned>(program.symbols) +
                                             static_cast<unsigned>(symbol)) *
                                                static_cast<unsigned>(program.pilots);
    std::uint32_t words[count][(size_of(format) + 3) / 4];
    float of_pilots[count][2];
    load_batch<format, count>(samples, reinterpret_cast<const float*>(pilots), elements.subcarriers,
                              elements.pilots, words, of_pilots);
#pragma unroll
    for (int i = 0; i < count; ++i) {
        const int m = elements.m + i % batch * estimator_threads;
        if (m >= stride) continue;
        float parts[2];
        widen<format, 2>(words[i], job.unit, parts);
        if (elements.subcarriers[i] == erased_subcarrier) parts[0] = parts[1] = 0.0F;
        float room = 0.0F;
        const DeviceComplex p = phy::detail::cuda::least_squares<Ops>(
            {parts[0], parts[1]}, {of_pilots[i][0], of_pilots[i][1]}, program.scale, room);
        const bool is_there = elements.subcarriers[i] != -1;
        const int at = 2 * (i / batch) * stride + m;
        shared[at] = is_there ? p.re : 0.0F;
        shared[at + stride] = is_there ? p.im : 0.0F;
        if (out == nullptr || !is_there) continue;
        if (!(room > 0.0F)) is_spoiled = 1;
        out[at + 2 * elements.first_comb * stride] = p.re;
        out[at + (2 * elements.first_comb + 1) * stride] = p.im;
    }
}

template <SampleFormat format, int combs>
__device__ __forceinline__ void estimate_block(const EstimatorProgram& program, const EstimatorJob& job,
                                               unsigned slot, const RowBlock& block, int first_comb,
                                               float* shared) {
    const int stride = program.comb_stride;
    for (int m = static_cast<int>(threadIdx.x); m < stride; m += batch * estimator_threads) {
        const Elements<combs> elements =
            elements_of<combs>(program, m, first_comb, block.antenna_group % program.groups_count);
        for (int i = 0; i < block.loaded; ++i) {
            const int row = block.antenna_group * program.symbols + block.first_symbol + i * program.length;
            float* const out = program.rows_at + slot * program.rows_size +
                               static_cast<std::size_t>(row) * 4 * static_cast<unsigned>(stride);
            estimate_elements<format, combs>(program, job, slot, row, elements,
                                             shared + 2 * i * combs * stride, i < block.own ? out : nullptr);
        }
    }
}

/// Writes the erased pilots of a block's rows to shared memory, and those of its own rows to device memory.
__device__ __forceinline__ void fill_erased(const EstimatorProgram& program, unsigned slot,
                                            const RowBlock& block, int first_comb, float* shared) {
    const int stride = program.comb_stride;
    const int group = block.antenna_group % program.groups_count;
    for (int i = static_cast<int>(threadIdx.x); i < program.fills_count * block.loaded;
         i += estimator_threads) {
        const EstimatorFill& fill = program.fills[i % program.fills_count];
        const int comb = fill.comb - first_comb;
        if (fill.group != group || comb < 0 || comb >= block.combs) continue;
        const int row = i / program.fills_count;
        float* const pilots = shared + 2 * (row * block.combs + comb) * stride;
        const DeviceComplex x =
            phy::detail::cuda::filled_pilot<Ops>(pilots + fill.first, stride, fill.of_rows, fill.count);
        pilots[fill.at] = x.re;
        pilots[stride + fill.at] = x.im;
        if (row >= block.own) continue;
        const int of_slot = block.antenna_group * program.symbols + block.first_symbol + row * program.length;
        float* const out = program.rows_at + slot * program.rows_size +
                           (static_cast<std::size_t>(of_slot) * 4 + 2 * static_cast<unsigned>(fill.comb)) *
                               static_cast<unsigned>(stride);
        out[fill.at] = x.re;
        out[stride + fill.at] = x.im;
    }
    __syncthreads();
}

/// A warp's part of a row's sums: its energy, and its correlations with itself one pilot on and with the next
/// DM-RS.
struct RowSums {
    float energy = 0.0F;
    DeviceComplex neighbours = {0.0F, 0.0F};
    DeviceComplex next = {0.0F, 0.0F};
};

/// Warp i: row i.
__device__ __forceinline__ void add_to_sums(const EstimatorProgram& program, const RowBlock& block,
                                            const float* shared, RowSums& sums) {
    const int stride = program.comb_stride;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int next = warp + 1 < block.loaded ? 2 * block.combs * stride : 0;
    for (int comb = 0; comb < block.combs; ++comb) {
        const float* const pilots = shared + 2 * (warp * block.combs + comb) * stride;
#pragma unroll 4
        for (int m = lane; m < program.comb_size; m += warp_size) {
            const DeviceComplex x = complex_at(pilots, stride, m);
            sums.energy = Ops::fma(x.im, x.im, Ops::fma(x.re, x.re, sums.energy));
            sums.neighbours = phy::detail::cuda::add_correlation<Ops>(sums.neighbours, x,
                                                                      complex_at(pilots, stride, m + 1));
            sums.next =
                phy::detail::cuda::add_correlation<Ops>(sums.next, x, complex_at(pilots, stride, m + next));
        }
    }
}

__device__ __forceinline__ void store_sums(const RowSums& sums, float* out) {
    const float numbers[] = {joined_warp(sums.energy), joined_warp(sums.neighbours.re),
                             joined_warp(sums.neighbours.im), joined_warp(sums.next.re),
                             joined_warp(sums.next.im)};
    if (threadIdx.x % warp_size != 0) return;
#pragma unroll
    for (int i = 0; i < row_sums_size; ++i)
        out[i] = numbers[i];
}

/// The sums of all rows, in order.
__device__ __forceinline__ void join_sums(const EstimatorProgram& program, unsigned slot, float* sums) {
    __shared__ float some[rows_at_once * row_sums_size];
    const float* const all =
        program.row_sums + std::size_t{slot} * static_cast<unsigned>(program.rows) * row_sums_size;
    constexpr int of_row = phy::detail::estimator_row_sums;
    const int i = static_cast<int>(threadIdx.x);
    const int pairs_end = of_row + 2 * program.constants.pairs;
    const int count = pairs_end + program.symbols / program.length;
    const bool is_pair = i >= of_row && i < pairs_end;
    const int column = is_pair ? of_row + (i - of_row) % 2 : i < of_row ? i : 0;
    const int dmrs = is_pair ? (i - of_row) / 2 : i - pairs_end;
    const int first_symbol = i < of_row ? 0 : dmrs * program.length;
    const int last_symbol = i < of_row ? program.symbols : first_symbol + program.length;
    float sum = 0.0F;
    int symbol = 0;
    for (int row0 = 0; row0 < program.rows; row0 += rows_at_once) {
        const int rows = min(rows_at_once, program.rows - row0);
        __syncthreads();
        for (int k = i; k < rows * row_sums_size; k += estimator_threads)
            some[k] = __ldcg(all + row0 * row_sums_size + k);
        __syncthreads();
        if (i >= count) continue;
#pragma unroll 4
        for (int row = 0; row < rows; ++row) {
            const float x = some[row * row_sums_size + column];
            if (symbol >= first_symbol && symbol < last_symbol) sum = Ops::add(sum, x);
            symbol = symbol + 1 == program.symbols ? 0 : symbol + 1;
        }
    }
    if (i < count) sums[i] = sum;
    __syncthreads();
}

/// The rotation from symbol to symbol, coherence and change.
__device__ __forceinline__ void measure_offsets(const EstimatorProgram& program, unsigned slot) {
    __shared__ float sums[phy::detail::estimator_slot_sums];
    join_sums(program, slot, sums);
    SlotState& state = program.states[slot];
    if (threadIdx.x / warp_size != 0) return;
    const float frequency = phy::detail::cuda::measured_frequency<Ops>(program.constants, sums);
    const unsigned lane = threadIdx.x % warp_size;
    if (lane == 0) phy::detail::cuda::set_offsets<Ops>(program.constants, sums, frequency, state);
    if (lane < symbols_per_slot) phy::detail::cuda::set_phase<Ops>(program.constants, lane, frequency, state);
}

/// A block processes some rows of a slot: it writes pilots to shared and device memory, then its warps sum
/// them. A slot's last block computes the offsets.
template <SampleFormat format>
__global__ void __launch_bounds__(estimator_threads, 4)
    estimate_rows(const __grid_constant__ EstimatorProgram program, const __grid_constant__ EstimatorJob job,
                  int combs) {
    extern __shared__ float shared[];
    let_next_get_ready();
    const unsigned slot = blockIdx.y;
    const RowBlock block = row_block(program, combs);
    const int row = static_cast<int>(threadIdx.x) / warp_size;
    RowSums sums;
    if (threadIdx.x == 0) is_spoiled = 0;
    for (int comb = 0; comb < 2; comb += combs) {
        __syncthreads();
        if (combs == 2)
            estimate_block<format, 2>(program, job, slot, block, 0, shared);
        else
            estimate_block<format, 1>(program, job, slot, block, comb, shared);
        __syncthreads();
        if (program.fills_count > 0) fill_erased(program, slot, block, comb, shared);
        if (row < block.own) add_to_sums(program, block, shared, sums);
    }
    if (threadIdx.x == 0 && is_spoiled != 0) program.states[slot].is_spoiled = 1;
    const int of_slot = block.antenna_group * program.symbols + block.first_symbol + row * program.length;
    if (row < block.own)
        store_sums(sums, program.row_sums + (std::size_t{slot} * static_cast<unsigned>(program.rows) +
                                             static_cast<unsigned>(of_slot)) *
                                                row_sums_size);
    if (is_last_block(program.arrivals + slot, gridDim.x)) measure_offsets(program, slot);
}

__device__ __forceinline__ void add_product(DeviceComplex (&sums)[4], DeviceComplex weight, float4 re,
                                            float4 im) {
    sums[0] = phy::detail::cuda::add_product<Ops>(sums[0], weight, {re.x, im.x});
    sums[1] = phy::detail::cuda::add_product<Ops>(sums[1], weight, {re.y, im.y});
    sums[2] = phy::detail::cuda::add_product<Ops>(sums[2], weight, {re.z, im.z});
    sums[3] = phy::detail::cuda::add_product<Ops>(sums[3], weight, {re.w, im.w});
}

/// One block per comb, row of a stream and slot; four pilots per thread.
__global__ void __launch_bounds__(estimator_threads)
    form_streams(const __grid_constant__ EstimatorProgram program) {
    let_next_get_ready();
    const unsigned slot = blockIdx.y;
    const int comb = static_cast<int>(blockIdx.x) % 2;
    const int row = static_cast<int>(blockIdx.x) / 2;
    const int stride = program.comb_stride;
    const int first_symbol = row % program.estimates * program.symbols_averaged;
    const EstimatorStream& stream = program.streams[row / program.estimates % program.streams_count];
    const int antenna = row / program.estimates / program.streams_count;
    const SlotState& state = program.states[slot];
    const std::size_t row_size = 4 * static_cast<std::size_t>(stride);
    const float* const from =
        program.rows_at + slot * program.rows_size + 2 * comb * stride +
        static_cast<std::size_t>((antenna * program.groups_count + stream.group) * program.symbols +
                                 first_symbol) *
            row_size;
    float* const out = program.streams_at + slot * program.streams_size + 2 * comb * stride +
                       static_cast<std::size_t>(row) * row_size;
    const float sign = comb == 1 && stream.layer[0] < 0 ? -1.0F : 1.0F;
    const float shift = static_cast<float>(program.groups[stream.group]);
    wait_for_previous();
    const float step = state.step;
    for (int m = 4 * static_cast<int>(threadIdx.x); m < program.comb_size; m += 4 * estimator_threads) {
        const int4 subcarriers =
            __ldg(reinterpret_cast<const int4*>(program.subcarrier_of + comb * stride + m));
        DeviceComplex sums[4] = {};
#pragma unroll 2
        for (int i = 0; i < program.symbols_averaged; ++i) {
            const float* const of_row = from + static_cast<std::size_t>(i) * row_size + m;
            const float4 re = *reinterpret_cast<const float4*>(of_row);
            const float4 im = *reinterpret_cast<const float4*>(of_row + stride);
            const int symbol = first_symbol + i;
            const float share = Ops::div(Ops::mul(sign, stream.in_time[symbol % program.length]),
                                         static_cast<float>(program.symbols_averaged));
            const int l = program.dmrs_symbols[symbol];
            add_product(sums, {Ops::mul(share, state.phase_re[l]), Ops::mul(-share, state.phase_im[l])}, re,
                        im);
        }
        const int index[] = {subcarriers.x, subcarriers.y, subcarriers.z, subcarriers.w};
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const DeviceComplex p = phy::detail::cuda::times<Ops>(
                sums[k], phy::detail::cuda::phasor<Ops>(Ops::add(static_cast<float>(index[k]), shift), step));
            sums[k] = index[k] < 0 ? DeviceComplex{0.0F, 0.0F} : p;
        }
        *reinterpret_cast<float4*>(out + m) = {sums[0].re, sums[1].re, sums[2].re, sums[3].re};
        *reinterpret_cast<float4*>(out + stride + m) = {sums[0].im, sums[1].im, sums[2].im, sums[3].im};
    }
    if (program.fills_count == 0) return;
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < program.fills_count; i += estimator_threads) {
        const EstimatorFill& fill = program.fills[i];
        if (fill.group != stream.group || fill.comb != comb) continue;
        const DeviceComplex x =
            phy::detail::cuda::filled_pilot<Ops>(out + fill.first, stride, fill.of_streams, fill.count);
        out[fill.at] = x.re;
        out[stride + fill.at] = x.im;
    }
}

std::size_t shared_of_combs(const EstimatorProgram& host, int combs) {
    return 2 * sizeof(float) * static_cast<std::size_t>(combs * max_loaded(host) * host.comb_stride);
}

/// Number of combs that a block has in shared memory at a time.
int combs_at_once(const EstimatorProgram& host) {
    return shared_of_combs(host, 2) <= shared_for_both_combs ? 2 : 1;
}

}  // namespace

void start_rows(const EstimatorProgram& host, const EstimatorJob& job, cudaStream_t stream) {
    const int combs = combs_at_once(host);
    const dim3 blocks(static_cast<unsigned>(host.antennas * host.groups_count * blocks_of_group(host)),
                      job.slots);
    with_constant(job.format, [&](auto constant) {
        estimate_rows<constant()>
            <<<blocks, estimator_threads, shared_of_combs(host, combs), stream>>>(host, job, combs);
    });
    check(cudaGetLastError());
}

void start_streams(const EstimatorProgram& host, const EstimatorJob& job, cudaStream_t stream) {
    launch_dependent(form_streams, starts_early(job.slots),
                     dim3(static_cast<unsigned>(2 * host.stream_rows), job.slots), estimator_threads, 0,
                     stream, host);
}

void prepare_rows() {
    for (const SampleFormat format : all_sample_formats) {
        with_constant(format,
                      [&](auto constant) { load_code_with_shared_memory(estimate_rows<constant()>); });
    }
    load_code(form_streams);
}

}  // namespace phy::gpu::detail
