// Means of observations times a matrix on a GPU, against a read of the observations by CUB.

#include <complex>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "bench/cuda_suite.hpp"
#include "common/cub_sums.hpp"
#include "common/random.hpp"
#include "common/repeat.hpp"
#include "common/signal.hpp"

namespace phy::bench {
namespace {

/// Noise, which repeats; no row of a usual length begins where another one did.
template <class R>
std::vector<R> noise() {
    const apps::RandomSequence random(7, sizeof(R));
    std::vector<R> values(apps::signal_stretch - 3);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<R>(random.gaussian(i).real());
    return values;
}

/// The arrays of a call, as components R of numbers T.
template <class T, class R>
class Average {
public:
    Average(const gpu::Device& device, const AverageShape& shape)
        : device_(device),
          shape_(shape),
          in_(device, shape.batches * shape.length * shape.observations * components),
          matrix_(device, shape.length * shape.length * components),
          out_(device, shape.batches * shape.length * components),
          workspace_(device, average_matvec_workspace_bytes<T>(shape)),
          cub_(device, in_.span(), 1) {
        const std::vector<R> values = noise<R>();
        apps::fill_repeating(device, in_.span(), std::span(values));
        apps::fill_repeating(device, matrix_.span(), std::span(values));
    }

    void record_all(Suite& suite, const std::string& name) {
        record(suite, name, [this](cudaStream_t stream) {
            gpu::average_matvec<T>(device_, numbers<const T>(in_), shape_, numbers<const T>(matrix_),
                                   numbers<T>(out_), workspace_, stream);
        });
    }

    void record_means(Suite& suite, const std::string& name) {
        record(suite, name, [this](cudaStream_t stream) {
            gpu::reduce_rows<Mean<T>>(device_, numbers<const T>(in_), shape_.batches * shape_.length,
                                      numbers<T>(out_), workspace_, stream);
        });
    }

private:
    static constexpr std::size_t components = std::is_same_v<T, R> ? 1 : 2;

    template <class U>
    static gpu::DeviceSpan<U> numbers(gpu::DeviceBuffer<R>& memory) {
        return gpu::device_span(reinterpret_cast<U*>(memory.data()), memory.size() / components);
    }

    void record(Suite& suite, const std::string& name, const Launch& work) {
        suite.record(name,
                     {.symbols = in_.size() / components,
                      .moves = {{in_.data(), in_.size() * sizeof(R), out_.data(), out_.size() * sizeof(R)}},
                      .work = work,
                      .read = [this](cudaStream_t stream) { cub_(stream); }});
    }

    gpu::Device device_;
    AverageShape shape_;
    gpu::DeviceBuffer<R> in_;
    gpu::DeviceBuffer<R> matrix_;
    gpu::DeviceBuffer<R> out_;
    gpu::DeviceBuffer<std::byte> workspace_;
    apps::CubSum<R> cub_;
};

/// means_alone: also the first of the two kernels.
template <class T, class R>
void average(Suite& suite, const char* type, AverageShape shape, bool means_alone = false) {
    if (suite.quick()) shape.batches /= 16;
    const auto of_shape = fmt::format("{}/{}x{}x{}", type, shape.batches, shape.length, shape.observations);
    const std::string whole = "average/" + of_shape;
    const std::string means = "average_means/" + of_shape;
    const bool wants_means = means_alone && suite.wants(means);
    if (!suite.wants(whole) && !wants_means) return;
    Average<T, R> arrays(suite.device(), shape);
    if (suite.wants(whole)) arrays.record_all(suite, whole);
    if (wants_means) arrays.record_means(suite, means);
}

}  // namespace

void average_benchmarks(Suite& suite) {
    constexpr AverageShape of_article{1024, 512, 512};
    average<float, float>(suite, "float", of_article);
    average<double, double>(suite, "double", of_article, true);
    average<cf32, float>(suite, "cf32", of_article, true);
    average<std::complex<double>, double>(suite, "cf64", of_article);
    average<double, double>(suite, "double", {4096, 512, 64});
    average<cf32, float>(suite, "cf32", {16384, 256, 16});
}

}  // namespace phy::bench
