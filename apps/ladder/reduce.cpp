#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/cub_sums.hpp"
#include "common/random.hpp"
#include "common/repeat.hpp"
#include "ladder/ladder.hpp"
#include "ladder/reduce_steps.hpp"
#include "phy/phy.hpp"

namespace phy::apps {
namespace {

using Op = Sum<std::int32_t>;

constexpr std::string_view library_step = "phy";
constexpr std::string_view cub = "CUB";

/// None is 0, so that a missing one shows. Both signs keep sums small, so that 32 bits do not overflow.
std::vector<std::int32_t> random_elements(std::size_t count) {
    const RandomSequence random(1, 0);
    std::vector<std::int32_t> elements(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t bits = random.bits(i);
        const auto size = static_cast<std::int32_t>(1 + (bits >> 1) % 100);
        elements[i] = bits % 2 == 0 ? size : -size;
    }
    return elements;
}

/// The sum over all elements, which repeat these.
std::int64_t sum_of_repeated(std::span<const std::int32_t> elements, std::size_t all) {
    const auto sum = [](std::span<const std::int32_t> some) {
        return std::accumulate(some.begin(), some.end(), std::int64_t{0});
    };
    return static_cast<std::int64_t>(all / elements.size()) * sum(elements) +
           sum(elements.first(all % elements.size()));
}

/// The buffers of the ladder, and the check.
class Reduce {
public:
    Reduce(const gpu::Device& device, std::size_t size)
        : Reduce(device, size, random_elements(std::min(size, signal_stretch - 3))) {}

    Reduce(const gpu::Device& device, std::size_t size, const std::vector<std::int32_t>& stretch)
        : device_(device),
          elements_(device, size),
          first_partial_sums_(device, reduce_steps::max_partial_sums(size)),
          second_partial_sums_(device, reduce_steps::max_partial_sums(size)),
          sum_(device, 1),
          library_sum_(device, 1),
          workspace_(device, reduce_rows_workspace_bytes<Op>(1, size)),
          cub_(device, elements_.span(), 1),
          expected_(sum_of_repeated(stretch, size)) {
        fill_repeating(device, elements_.span(), std::span(stretch));
        work_ = {.elements = elements_.data(),
                 .size = elements_.size(),
                 .partial_sums = {first_partial_sums_.data(), second_partial_sums_.data()},
                 .sum = sum_.data()};
        check_cub();
        spoil();
    }

    void read(cudaStream_t stream) { cub_(stream); }

    [[nodiscard]] std::vector<Step> steps() {
        std::vector<Step> all;
        for (const auto& step : reduce_steps::all()) {
            const auto launch = [this, step](cudaStream_t stream) {
                step.launch(work_, device_.multiprocessors(), stream);
            };
            all.push_back({step.name, step.what, step.threads, launch});
        }
        const auto library = [this](cudaStream_t stream) {
            gpu::reduce_rows<Op>(device_, elements_, 1, library_sum_, workspace_, stream);
        };
        all.push_back(
            {std::string(library_step), "the library's reduce_rows(), which sums in 64 bits", 0, library});
        return all;
    }

    /// Throws unless the sum equals the host's; overwrites everything but the input for the next step.
    void check(const Step& step) {
        if (step.name == library_step)
            expect_sum(step.name, library_sum_, expected_);
        else
            expect_sum(step.name, sum_, static_cast<std::int32_t>(expected_));
        spoil();
    }

private:
    void check_cub() {
        const gpu::Stream stream(device_);
        cub_(stream);
        stream.synchronize();
        expect_sum(cub, cub_.sums(), static_cast<std::int32_t>(expected_));
    }

    template <typename Memory, typename T>
    void expect_sum(std::string_view step, const Memory& sum, T expected) {
        const gpu::Stream stream(device_);
        T found{};
        gpu::copy_async(std::span(&found, 1), sum, stream);
        stream.synchronize();
        if (found != expected)
            throw Error(fmt::format("step '{}': the sum is {}, expected {}", step, found, expected));
    }

    void spoil() {
        constexpr int nonsense = 0x55;
        const gpu::Stream stream(device_);
        gpu::fill_async(first_partial_sums_, nonsense, stream);
        gpu::fill_async(second_partial_sums_, nonsense, stream);
        gpu::fill_async(sum_, nonsense, stream);
        gpu::fill_async(library_sum_, nonsense, stream);
        gpu::fill_async(workspace_, nonsense, stream);
        stream.synchronize();
    }

    gpu::Device device_;
    gpu::DeviceBuffer<std::int32_t> elements_;
    gpu::DeviceBuffer<std::int32_t> first_partial_sums_;
    gpu::DeviceBuffer<std::int32_t> second_partial_sums_;
    gpu::DeviceBuffer<std::int32_t> sum_;
    gpu::DeviceBuffer<Op::Result> library_sum_;
    gpu::DeviceBuffer<std::byte> workspace_;
    CubSum<std::int32_t> cub_;
    std::int64_t expected_;
    reduce_steps::Work work_;
};

}  // namespace

Climb climb_reduce(const gpu::Device& device, const LadderOptions& options) {
    const gpu::CurrentDevice current(device);
    Reduce reduce(device, options.elements);
    return climb(device,
                 {.title = fmt::format("sum of {} int32", options.elements),
                  .count = options.elements,
                  .unit = "elements",
                  .rate = "Gelem/s",
                  .bytes = options.elements * sizeof(std::int32_t),
                  .settings = {}},
                 {"read", std::string(cub), [&reduce](cudaStream_t stream) { reduce.read(stream); }},
                 reduce.steps(), [&reduce](const Step& step) { reduce.check(step); });
}

}  // namespace phy::apps
