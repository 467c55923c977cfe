#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/cub_sums.hpp"
#include "common/random.hpp"
#include "ladder/average_steps.hpp"
#include "ladder/ladder.hpp"
#include "phy/phy.hpp"

namespace phy::apps {
namespace {

constexpr std::string_view library_step = "phy";
constexpr std::string_view cub = "CUB";

/// Positive numbers, so that nothing cancels and relative differences are meaningful. They repeat, but no two
/// rows begin at the same place.
std::vector<double> random_numbers(std::size_t count, std::uint64_t sequence) {
    const RandomSequence random(1, sequence);
    std::vector<double> numbers(count);
    const std::size_t drawn = std::min(count, signal_stretch - 3);
    for (std::size_t i = 0; i < drawn; ++i)
        numbers[i] = random.uniform(i);
    for (std::size_t i = drawn; i < count; ++i)
        numbers[i] = numbers[i - drawn];
    return numbers;
}

template <class Work>
double seconds_of(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The obvious implementation for a CPU.
std::vector<double> plain_loops(const AverageShape& shape, std::span<const double> in,
                                std::span<const double> matrix) {
    std::vector<double> out(shape.batches * shape.length);
    std::vector<double> means(shape.length);
    const double* next = in.data();
    for (std::size_t n = 0; n < shape.batches; ++n) {
        for (double& mean : means) {
            double sum = 0.0;
            for (std::size_t m = 0; m < shape.observations; ++m)
                sum += *next++;
            mean = sum / static_cast<double>(shape.observations);
        }
        for (std::size_t l = 0; l < shape.length; ++l)
            out[n * shape.length + l] =
                std::inner_product(means.begin(), means.end(), &matrix[l * shape.length], 0.0);
    }
    return out;
}

/// The buffers of the ladder, the result and time of a CPU, and the check.
class Average {
public:
    Average(const gpu::Device& device, const AverageShape& shape)
        : Average(device, shape, random_numbers(shape.batches * shape.length * shape.observations, 0),
                  random_numbers(shape.length * shape.length, 1)) {}

    Average(const gpu::Device& device, const AverageShape& shape, const std::vector<double>& in,
            const std::vector<double>& matrix)
        : device_(device),
          shape_(shape),
          in_(device, in.size()),
          matrix_(device, matrix.size()),
          out_(device, shape.batches * shape.length),
          workspace_(device, average_matvec_workspace_bytes<double>(shape)),
          cub_(device, in_.span(), 1),
          on_host_(out_.size()) {
        const gpu::Stream stream(device);
        gpu::copy_async(in_, in, stream);
        gpu::copy_async(matrix_, matrix, stream);
        stream.synchronize();
        run_on_cpu(in, matrix);
        check_cub(std::accumulate(in.begin(), in.end(), 0.0));
        spoil();
    }

    void read(cudaStream_t stream) { cub_(stream); }

    [[nodiscard]] std::vector<Step> steps() {
        const average_steps::Work work{.in = in_.data(),
                                       .matrix = matrix_.data(),
                                       .out = out_.data(),
                                       .batches = shape_.batches,
                                       .length = shape_.length,
                                       .observations = shape_.observations};
        std::vector<Step> all;
        for (const auto& step : average_steps::all())
            all.push_back({step.name, step.what, step.threads,
                           [work, step](cudaStream_t stream) { step.launch(work, stream); }});
        const auto library = [this](cudaStream_t stream) {
            gpu::average_matvec<double>(device_, in_, shape_, matrix_, out_, workspace_, stream);
        };
        all.push_back({std::string(library_step),
                       "the library's average_matvec(): means as reduce_rows(), then a product of matrices",
                       0, library});
        return all;
    }

    /// Throws unless the output equals that of the plain loops up to rounding, and the library's bytes those
    /// of the host. Overwrites everything but the input for the next step.
    void check(const Step& step) {
        std::vector<double> out(out_.size());
        const gpu::Stream stream(device_);
        gpu::copy_async(out, out_, stream);
        stream.synchronize();
        compare(step.name, out);
        if (step.name == library_step && std::memcmp(out.data(), on_host_.data(), out_.size_bytes()) != 0)
            throw Error(fmt::format("step '{}': the outputs are not those of the host", step.name));
        spoil();
    }

    [[nodiscard]] std::string note() const {
        return fmt::format("CPU: {:.1f} ms by plain loops, {:.1f} ms by phy on {} threads",
                           loops_seconds_ * 1e3, host_seconds_ * 1e3, host_threads_);
    }
    [[nodiscard]] std::vector<Json::Member> settings() const {
        return {{"batches", shape_.batches},           {"length", shape_.length},
                {"observations", shape_.observations}, {"cpu_loops_seconds", loops_seconds_},
                {"cpu_phy_seconds", host_seconds_},    {"cpu_phy_threads", host_threads_}};
    }
    [[nodiscard]] double largest_difference() const { return largest_difference_; }

private:
    void run_on_cpu(const std::vector<double>& in, const std::vector<double>& matrix) {
        loops_seconds_ = seconds_of([&] { expected_ = plain_loops(shape_, in, matrix); });
        const Host host({.threads = 0});
        host_threads_ = host.threads();
        std::vector<std::byte> workspace(average_matvec_workspace_bytes<double>(shape_));
        const auto run = [&] { average_matvec<double>(host, in, shape_, matrix, on_host_, workspace); };
        run();
        host_seconds_ = seconds_of(run);
        compare("CPU", on_host_);
    }

    /// Both sums lose less than half a unit in the last place per addition, in both implementations.
    void compare(std::string_view step, std::span<const double> out) {
        const double bound = static_cast<double>(2 * (shape_.observations + shape_.length) + 64) * 0x1p-53;
        for (std::size_t i = 0; i < out.size(); ++i) {
            const double difference = std::abs(out[i] - expected_[i]) / expected_[i];
            if (!(difference <= bound))
                throw Error(fmt::format("step '{}': output {} is {}, expected {} within {:.2g} of it", step,
                                        i, out[i], expected_[i], bound));
            largest_difference_ = std::max(largest_difference_, difference);
        }
    }

    void check_cub(double expected) {
        const gpu::Stream stream(device_);
        cub_(stream);
        double sum = 0.0;
        gpu::copy_async(std::span(&sum, 1), cub_.sums(), stream);
        stream.synchronize();
        if (!(std::abs(sum - expected) <= 1e-9 * expected))
            throw Error(fmt::format("{}: the sum is {}, expected {}", cub, sum, expected));
    }

    void spoil() {
        constexpr int nonsense = 0x55;
        const gpu::Stream stream(device_);
        gpu::fill_async(out_, nonsense, stream);
        gpu::fill_async(workspace_, nonsense, stream);
        stream.synchronize();
    }

    gpu::Device device_;
    AverageShape shape_;
    gpu::DeviceBuffer<double> in_;
    gpu::DeviceBuffer<double> matrix_;
    gpu::DeviceBuffer<double> out_;
    gpu::DeviceBuffer<std::byte> workspace_;
    CubSum<double> cub_;
    std::vector<double> expected_;
    std::vector<double> on_host_;
    double loops_seconds_ = 0.0;
    double host_seconds_ = 0.0;
    int host_threads_ = 0;
    double largest_difference_ = 0.0;
};

}  // namespace

Climb climb_average(const gpu::Device& device, const LadderOptions& options) {
    const AverageShape shape{options.batches, options.length, options.observations};
    const std::size_t elements = shape.batches * shape.length * shape.observations;
    const gpu::CurrentDevice current(device);
    Average average(device, shape);
    Climb result =
        climb(device,
              {.title = fmt::format("mean over {} and a matrix of {} x {}, {} times, double",
                                    shape.observations, shape.length, shape.length, shape.batches),
               .count = elements,
               .unit = "elements",
               .rate = "Gelem/s",
               .bytes = elements * sizeof(double),
               .settings = average.settings(),
               .note = average.note()},
              {"read", std::string(cub), [&average](cudaStream_t stream) { average.read(stream); }},
              average.steps(), [&average](const Step& step) { average.check(step); });
    result.task.settings.emplace_back("largest_relative_difference", average.largest_difference());
    result.task.note += fmt::format("; largest relative difference {:.2g}", average.largest_difference());
    return result;
}

}  // namespace phy::apps
