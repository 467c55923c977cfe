// cuFFT's part in a comparison with gpu::OfdmDemodulator: the transforms alone, of samples whose prefixes
// were removed. The library is loaded when the benchmark runs, so that no program needs it.

#include "bench/cuda_suite.hpp"

#if __has_include(<cufft.h>)

#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include <cufft.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include "common/repeat.hpp"

namespace phy::bench {
namespace {

constexpr std::size_t points = 4096;
constexpr std::size_t transforms_of_slot = std::size_t{4} * 14;  // antennas, OFDM symbols

void* open_library() {
    const auto name = fmt::format("libcufft.so.{}", CUFFT_VER_MAJOR);
    return dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
}

template <typename Function>
Function* function_of(void* library, const char* name) {
    auto* const function = reinterpret_cast<Function*>(dlsym(library, name));
    if (function == nullptr) throw Error(fmt::format("cuFFT has no {}", name));
    return function;
}

void check(cufftResult result) {
    if (result != CUFFT_SUCCESS) throw Error(fmt::format("cuFFT: error {}", static_cast<int>(result)));
}

/// Forward transforms of neighbouring rows.
class Transform {
public:
    Transform(void* library, std::size_t count)
        : set_stream_(function_of<decltype(cufftSetStream)>(library, "cufftSetStream")),
          run_(function_of<decltype(cufftExecC2C)>(library, "cufftExecC2C")),
          destroy_(function_of<decltype(cufftDestroy)>(library, "cufftDestroy")) {
        check(function_of<decltype(cufftPlan1d)>(library, "cufftPlan1d")(&plan_, static_cast<int>(points),
                                                                         CUFFT_C2C, static_cast<int>(count)));
    }
    Transform(const Transform&) = delete;
    Transform& operator=(const Transform&) = delete;
    ~Transform() { destroy_(plan_); }

    void operator()(gpu::DeviceSpan<cf32> in, gpu::DeviceSpan<cf32> out, cudaStream_t stream) const {
        check(set_stream_(plan_, stream));
        check(run_(plan_, reinterpret_cast<cufftComplex*>(in.data()),
                   reinterpret_cast<cufftComplex*>(out.data()), CUFFT_FORWARD));
    }

private:
    decltype(cufftSetStream)* set_stream_;
    decltype(cufftExecC2C)* run_;
    decltype(cufftDestroy)* destroy_;
    cufftHandle plan_ = 0;
};

void measure(Suite& suite, std::size_t slots) {
    const auto name = fmt::format("ofdm/4x273/cufft_alone/{}_slots", slots);
    if (!suite.wants(name)) return;
    static void* const library = open_library();
    if (library == nullptr) {
        fmt::print("{}: left out: {}\n", name, dlerror());
        return;
    }
    const gpu::Device& device = suite.device();
    const std::size_t count = slots * transforms_of_slot * points;
    const std::size_t bytes = count * sizeof(cf32);
    const std::size_t batches = 1 + (std::size_t{suite.quick() ? 16U : 256U} << 20) / bytes;
    gpu::DeviceBuffer<cf32> in(device, batches * count);
    gpu::DeviceBuffer<cf32> out(device, batches * count);
    std::mt19937 random(11);
    std::normal_distribution<float> gauss(0.0F, 0.1F);
    std::vector<cf32> noise(100'003);
    for (cf32& sample : noise)
        sample = {gauss(random), gauss(random)};
    apps::fill_repeating(device, gpu::as_bytes(in.span()), std::as_bytes(std::span(noise)));
    const Transform transform(library, slots * transforms_of_slot);
    Measurement measurement;
    measurement.symbols = count;
    measurement.graph = true;
    for (std::size_t batch = 0; batch < batches; ++batch)
        measurement.moves.push_back({in.data() + batch * count, bytes, out.data() + batch * count, bytes});
    measurement.work = [&](cudaStream_t stream) {
        for (std::size_t batch = 0; batch < batches; ++batch)
            transform(in.subspan(batch * count, count), out.subspan(batch * count, count), stream);
    };
    suite.record(name, measurement);
}

}  // namespace

void fft_benchmarks(Suite& suite) {
    for (const std::size_t slots : {1U, 64U})
        measure(suite, slots);
}

}  // namespace phy::bench

#else

#include <fmt/format.h>

void phy::bench::fft_benchmarks(Suite& suite) {
    constexpr auto name = "ofdm/4x273/cufft_alone";
    if (suite.wants(name)) fmt::print("{}: left out: this program was built without cufft.h\n", name);
}

#endif
