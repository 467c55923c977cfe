// The covariance of noise and interference: residuals of pilots after the estimate.

#include "phy/cuda/samples.cuh"
#include "phy/estimator/cuda/device.cuh"
#include "phy/estimator/cuda/tuning.hpp"
#include "phy/estimator/math/statistics-inl.h"

namespace phy::gpu::detail {
namespace {

namespace math = phy::detail::cuda;

constexpr int max_subbands = phy::subbands(1, 275);
constexpr int covariance_warps = covariance_threads / warp_size;

static_assert(covariance_threads >= max_antennas * max_antennas);

/// (subbands, antennas, antennas) of a slot.
__device__ __forceinline__ float2* products_of(const EstimatorProgram& program, unsigned slot) {
    const int size = program.subbands.count * program.antennas * program.antennas;
    return reinterpret_cast<float2*>(program.products) + std::size_t{slot} * static_cast<unsigned>(size);
}

/// A subcarrier of a subband in a DM-RS symbol.
struct Place {
    unsigned slot;
    int symbol;
    int k;           ///< in the subband
    int subcarrier;  ///< in the carrier

    /// The sequence's number here; false if there is none.
    __device__ __forceinline__ bool has_pilot(const EstimatorProgram& program, const EstimatorJob& job,
                                              DeviceComplex& pilot) const {
        const int index = subcarrier < program.subcarriers ? __ldg(program.pilot_at + subcarrier) : -1;
        if (index < 0) return false;
        const std::size_t row =
            std::size_t{slot} * static_cast<unsigned>(program.symbols) + static_cast<unsigned>(symbol);
        const auto* const at =
            reinterpret_cast<const float*>(job.pilots + row * static_cast<unsigned>(program.pilots) + index);
        pilot = {__ldg(at), __ldg(at + 1)};
        return true;
    }

    /// The first antenna's coefficients of layer 0; other layers and antennas follow.
    __device__ __forceinline__ const float* channel(const EstimatorProgram& program,
                                                    const EstimatorJob& job) const {
        const std::size_t estimate = std::size_t{slot} * static_cast<unsigned>(program.estimates) +
                                     static_cast<unsigned>(symbol / program.symbols_averaged);
        const int of_estimate = 2 * program.antennas * program.layers * program.subcarriers;
        return job.channel + estimate * static_cast<unsigned>(of_estimate) +
               static_cast<unsigned>(subcarrier);
    }

    /// The index of the first antenna's sample.
    __device__ __forceinline__ std::size_t received(const EstimatorProgram& program) const {
        const std::size_t row =
            std::size_t{slot} * static_cast<unsigned>(program.antennas * symbols_per_slot) +
            static_cast<unsigned>(program.dmrs_symbols[symbol]);
        return row * static_cast<unsigned>(program.subcarriers) + static_cast<unsigned>(subcarrier);
    }

    /// Of the symbol, times the amplitude of pilots.
    __device__ __forceinline__ DeviceComplex phase(const EstimatorProgram& program) const {
        const SlotState& state = program.states[slot];
        const int l = program.dmrs_symbols[symbol];
        return {Ops::mul(program.amplitude, state.phase_re[l]),
                Ops::mul(program.amplitude, state.phase_im[l])};
    }
};

template <SampleFormat format>
__device__ __forceinline__ DeviceComplex sample_at(const EstimatorJob& job, std::size_t index) {
    constexpr unsigned bytes = size_of(format);
    const std::byte* const from = job.grid + index * bytes;
    std::uint32_t words[(bytes + 3) / 4];
    if (reinterpret_cast<std::uintptr_t>(from) % bytes == 0)
        load_words<Space::global, bytes>(from, words);
    else
        load_bytes<bytes>(from, words);
    float parts[2];
    widen<format, 2>(words, job.unit, parts);
    return {parts[0], parts[1]};
}

/// Writes the residuals of every second antenna from first_antenna on: (antennas, parts) that are `part`
/// floats apart.
template <SampleFormat format>
__device__ __forceinline__ void write_residuals(const EstimatorProgram& program, const EstimatorJob& job,
                                                const Place& place, int first_antenna, float* out, int part) {
    DeviceComplex pilot = {0.0F, 0.0F};
    const bool has_pilot = place.has_pilot(program, job, pilot);
    const int subcarriers = program.subcarriers;
    const int of_antenna = 2 * program.layers * subcarriers;
    const float* const channel = place.channel(program, job);
    const float* const signs = program.signs +
                               place.symbol % program.length * program.layers * program.subbands.subcarriers +
                               place.k;
    const DeviceComplex phase = place.phase(program);
    const std::size_t received = place.received(program);
#pragma unroll 2
    for (int antenna = first_antenna; antenna < program.antennas; antenna += 2) {
        DeviceComplex residual = {0.0F, 0.0F};
        if (has_pilot) {
            DeviceComplex sum = {0.0F, 0.0F};
            const float* h = channel + antenna * of_antenna;
#pragma unroll 4
            for (int layer = 0; layer < program.layers; ++layer, h += 2 * subcarriers) {
                const float sign = __ldg(signs + layer * program.subbands.subcarriers);
                sum = {Ops::fma(sign, h[0], sum.re), Ops::fma(sign, h[subcarriers], sum.im)};
            }
            residual = math::residual_of<Ops>(
                sample_at<format>(job,
                                  received + static_cast<unsigned>(antenna * symbols_per_slot * subcarriers)),
                pilot, math::times<Ops>(phase, sum));
        }
        out[2 * antenna * part] = residual.re;
        out[(2 * antenna + 1) * part] = residual.im;
    }
}

/// The sum of x conj(y) over `count` elements, in lanes 0 and 16; the imaginary parts are `count` further on.
__device__ __forceinline__ float product_of(const float* x, const float* y, int count) {
    const unsigned lane = threadIdx.x % warp_size;
    float parts[4] = {};  // re re, im im, im re, re im
#pragma unroll 3
    for (int k = static_cast<int>(lane); k < count; k += warp_size) {
        parts[0] = Ops::fma(x[k], y[k], parts[0]);
        parts[1] = Ops::fma(x[count + k], y[count + k], parts[1]);
        parts[2] = Ops::fma(x[count + k], y[k], parts[2]);
        parts[3] = Ops::fma(x[k], y[count + k], parts[3]);
    }
    float sums[2] = {Ops::add(parts[0], parts[1]), Ops::sub(parts[2], parts[3])};
    halve<2>(sums, warp_size / 2, lane);
#pragma unroll
    for (unsigned distance = warp_size / 4; distance > 0; distance /= 2)
        sums[0] = Ops::add(sums[0], __shfl_xor_sync(all_lanes, sums[0], distance));
    return sums[0];
}

/// Floats of residuals of a subband: (antennas, parts, symbols, subcarriers).
__host__ __device__ __forceinline__ int residuals_of(const EstimatorProgram& program) {
    return 2 * program.antennas * program.symbols * program.subbands.subcarriers;
}

/// A subband per block. A thread has some subcarriers of symbols; then a warp has some pairs of antennas.
/// Residuals are in shared memory where they fit.
template <bool is_shared>
__global__ void __launch_bounds__(residual_threads)
    correlate_residuals(const __grid_constant__ EstimatorProgram program,
                        const __grid_constant__ EstimatorJob job) {
    extern __shared__ float shared[];
    float* const residuals = is_shared
                                 ? shared
                                 : program.residuals + (std::size_t{blockIdx.y} * gridDim.x + blockIdx.x) *
                                                           static_cast<unsigned>(residuals_of(program));
    let_next_get_ready();
    wait_for_previous();
    const int of_subband = program.subbands.subcarriers;
    const int part = program.symbols * of_subband;
    const auto subband = static_cast<int>(blockIdx.x);
    with_constant_by_bits<SampleFormat, 4>(job.format, [&](auto format) {
        for (int i = thread(); i < 2 * part; i += residual_threads) {
            const int first_antenna = i < part ? 0 : 1;
            const int at = i - first_antenna * part;
            const int k = at % of_subband;
            write_residuals<format()>(program, job,
                                      {.slot = blockIdx.y,
                                       .symbol = at / of_subband,
                                       .k = k,
                                       .subcarrier = subband * of_subband + k},
                                      first_antenna, residuals + at, part);
        }
    });
    __syncthreads();
    float* const out = reinterpret_cast<float*>(products_of(program, blockIdx.y)) +
                       2 * subband * program.antennas * program.antennas;
    constexpr int warps = residual_threads / warp_size;
    int turn = thread() / warp_size;
    for (int a = 0; a < program.antennas; ++a) {
        for (int b = 0; b <= a; ++b, --turn) {
            if (turn != 0) continue;
            turn = warps;
            const float sum = product_of(residuals + 2 * a * part, residuals + 2 * b * part, part);
            const int lane = thread() % warp_size;
            if (lane % (warp_size / 2) == 0)
                out[2 * (a * program.antennas + b) + lane / (warp_size / 2)] = sum;
        }
    }
}

/// The matrices of a slot, as the class of this name on a host makes them; all threads of a block do.
class CovarianceOfSlot {
public:
    __device__ __forceinline__ CovarianceOfSlot(const EstimatorProgram& program, unsigned slot)
        : program_(program),
          state_(program.states[slot]),
          products_(products_of(program, slot)),
          antennas_(program.antennas),
          pairs_(antennas_ * antennas_) {
        load_pilots();
        wait_for_previous();
        add_subbands();
        __syncthreads();
        if (thread() == 0) set_scale();
        __syncthreads();
        set_elements();
        __syncthreads();
        compare_subbands();
        if (thread() == covariance_threads - 1) set_kept();
        __syncthreads();
        if (thread() < warp_size) set_share();
        __syncthreads();
    }

    /// out: (matrices, antennas, antennas).
    __device__ __forceinline__ void write(cf32* out, int matrices) const {
        auto* const elements = reinterpret_cast<float*>(out);
        for (int i = thread(); i < matrices * pairs_; i += covariance_threads) {
            const int pair = i % pairs_;
            if (!is_below(pair)) continue;
            const int a = pair / antennas_;
            const int b = pair % antennas_;
            const DeviceComplex x = element(matrices == 1 ? -1 : i / pairs_, pair, a == b);
            float* const mirrored = elements + 2 * (i - pair + b * antennas_ + a);
            mirrored[0] = x.re;
            mirrored[1] = -x.im;
            elements[2 * i] = x.re;
            elements[2 * i + 1] = x.im;
        }
    }

private:
    struct Shared {
        DeviceComplex of_slot[max_antennas * max_antennas];
        float weights[max_antennas];
        int pilots[max_subbands];
        float factors[max_subbands];  ///< 0 of a subband without pilots
        float differences[max_subbands];
        math::CovarianceScale scale;
        float factor;
        float share;
        float kept;
    };
    __device__ __forceinline__ static Shared& shared() {
        __shared__ Shared numbers;
        return numbers;
    }

    [[nodiscard]] __device__ __forceinline__ bool is_below(int pair) const {
        return pair < pairs_ && pair % antennas_ <= pair / antennas_;
    }

    /// Of a slot.
    [[nodiscard]] __device__ __forceinline__ int pilots_of(int subband) const {
        return shared().pilots[subband];
    }

    [[nodiscard]] __device__ __forceinline__ int all_pilots() const {
        return program_.symbols * program_.subbands.pilots;
    }

    [[nodiscard]] __device__ __forceinline__ DeviceComplex product(int subband, int pair) const {
        const float2 x = products_[subband * pairs_ + pair];
        return {x.x, x.y};
    }

    /// Before the first barrier.
    __device__ __forceinline__ void load_pilots() {
        if (thread() >= program_.subbands.count) return;
        const std::int32_t* const first = program_.first_pilot + thread();
        shared().pilots[thread()] = program_.symbols * (__ldg(first + 1) - __ldg(first));
    }

    /// A warp has some pairs of antennas.
    __device__ __forceinline__ void add_subbands() {
        int turn = thread() / warp_size;
        for (int pair = 0; pair < pairs_; ++pair) {
            if (!is_below(pair) || turn-- != 0) continue;
            turn = covariance_warps - 1;
            DeviceComplex sum = {0.0F, 0.0F};
            for (int subband = thread() % warp_size; subband < program_.subbands.count;
                 subband += warp_size) {
                const DeviceComplex x = product(subband, pair);
                sum = {Ops::add(sum.re, x.re), Ops::add(sum.im, x.im)};
            }
            sum = {joined_warp(sum.re), joined_warp(sum.im)};
            if (thread() % warp_size == 0) shared().of_slot[pair] = sum;
        }
    }

    __device__ __forceinline__ void set_scale() {
        float trace = 0.0F;
        for (int a = 0; a < antennas_; ++a)
            trace = Ops::add(trace, shared().of_slot[a * antennas_ + a].re);
        shared().scale = math::covariance_scale<Ops>(state_, trace, antennas_, all_pilots());
        shared().factor = math::covariance_factor<Ops>(shared().scale, all_pilots());
    }

    __device__ __forceinline__ void set_elements() {
        const int pair = thread();
        if (is_below(pair)) {
            const int a = pair / antennas_;
            const bool on_diagonal = pair % antennas_ == a;
            const DeviceComplex x =
                math::covariance_of<Ops>(state_, shared().of_slot[pair], shared().factor, on_diagonal);
            shared().of_slot[pair] = x;
            if (on_diagonal) shared().weights[a] = math::weight_of_variance<Ops>(x.re);
        }
        if (pair >= program_.subbands.count) return;
        const int pilots = pilots_of(pair);
        shared().factors[pair] = pilots == 0 ? 0.0F : math::covariance_factor<Ops>(shared().scale, pilots);
    }

    [[nodiscard]] __device__ __forceinline__ DeviceComplex own(int subband, int pair,
                                                               bool on_diagonal) const {
        return math::covariance_of<Ops>(state_, product(subband, pair), shared().factors[subband],
                                        on_diagonal);
    }

    __device__ __forceinline__ void compare_subbands() {
        const int subband = thread();
        if (subband >= program_.subbands.count) return;
        float difference = 0.0F;
        for (int a = 0; a < antennas_; ++a)
            for (int b = 0; b <= a; ++b)
                difference = Ops::add(
                    difference, math::squared_difference<Ops>(own(subband, a * antennas_ + b, a == b),
                                                              shared().of_slot[a * antennas_ + b],
                                                              shared().weights[a], shared().weights[b]));
        shared().differences[subband] = Ops::mul(static_cast<float>(pilots_of(subband)), difference);
    }

    /// In the first warp.
    __device__ __forceinline__ void set_share() {
        float sum = 0.0F;
        for (int subband = thread(); subband < program_.subbands.count; subband += warp_size)
            if (pilots_of(subband) > 0) sum = Ops::add(sum, shared().differences[subband]);
        sum = joined_warp(sum);
        if (thread() == 0)
            shared().share = math::slot_share<Ops>(math::chance_of_subbands<Ops>(
                sum, shared().scale.freedom, program_.subbands.used, antennas_ * (antennas_ + 1) / 2));
    }

    /// In one thread.
    __device__ __forceinline__ void set_kept() {
        float sum = 0.0F;
        for (int a = 1; a < antennas_; ++a)
            for (int b = 0; b < a; ++b)
                sum = Ops::add(sum, math::squared_correlation<Ops>(shared().of_slot[a * antennas_ + b],
                                                                   shared().weights[a], shared().weights[b]));
        const int others = antennas_ * (antennas_ - 1) / 2;
        shared().kept =
            math::kept_share<Ops>(others == 0 ? 0.0F : Ops::div(sum, static_cast<float>(others)),
                                  Ops::mul(shared().scale.freedom, static_cast<float>(all_pilots())));
    }

    /// subband: -1: of the slot's matrix.
    [[nodiscard]] __device__ __forceinline__ DeviceComplex element(int subband, int pair,
                                                                   bool on_diagonal) const {
        DeviceComplex of_slot = shared().of_slot[pair];
        if (!on_diagonal)
            of_slot = {Ops::mul(shared().kept, of_slot.re), Ops::mul(shared().kept, of_slot.im)};
        const float share =
            subband < 0 ? 1.0F : math::subband_share<Ops>(shared().share, antennas_, pilots_of(subband));
        if (share == 1.0F) return of_slot;
        return math::subband_element<Ops>(of_slot, own(subband, pair, on_diagonal), share, on_diagonal);
    }

    const EstimatorProgram& program_;
    const SlotState& state_;
    const float2* products_;
    int antennas_;
    int pairs_;
};

/// One block per slot.
__global__ void __launch_bounds__(covariance_threads)
    write_covariance(const __grid_constant__ EstimatorProgram program,
                     const __grid_constant__ EstimatorJob job) {
    const unsigned slot = blockIdx.x;
    const CovarianceOfSlot covariance(program, slot);
    covariance.write(job.covariance + std::size_t{slot} * static_cast<unsigned>(job.matrices) *
                                          static_cast<unsigned>(program.antennas * program.antennas),
                     job.matrices);
}

}  // namespace

void start_covariance(const EstimatorProgram& host, const EstimatorJob& job, cudaStream_t stream) {
    const dim3 blocks(static_cast<unsigned>(host.subbands.count), job.slots);
    const bool is_early = starts_early(job.slots);
    if (host.residuals == nullptr)
        launch_dependent(correlate_residuals<true>, is_early, blocks, residual_threads,
                         sizeof(float) * static_cast<unsigned>(residuals_of(host)), stream, host, job);
    else
        launch_dependent(correlate_residuals<false>, is_early, blocks, residual_threads, 0, stream, host,
                         job);
    launch_dependent(write_covariance, is_early, job.slots, covariance_threads, 0, stream, host, job);
}

void prepare_covariance() {
    load_code(correlate_residuals<true>);
    load_code(correlate_residuals<false>);
    load_code(write_covariance);
}

}  // namespace phy::gpu::detail
