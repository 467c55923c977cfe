#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "common/repeat.hpp"
#include "ladder/demap_steps.hpp"
#include "ladder/ladder.hpp"
#include "phy/phy.hpp"

namespace phy::apps {
namespace {

constexpr std::size_t qm = bits_per_symbol(Modulation::qam256);

template <typename T>
gpu::DeviceBuffer<T> on_device(const gpu::Device& device, const std::vector<T>& values) {
    gpu::DeviceBuffer<T> buffer(device, values.size());
    fill_repeating(device, buffer.span(), std::span(values));
    return buffer;
}

/// The signal, repeated to the given number of symbols.
gpu::DeviceBuffer<cf32> on_device(const gpu::Device& device, const Signal& signal, std::size_t symbols) {
    gpu::DeviceBuffer<cf32> buffer(device, symbols);
    fill_repeating(device, as_bytes(buffer.span()), std::span(signal.samples));
    return buffer;
}

/// The buffers of the ladder, and the check.
class Demap {
public:
    Demap(const gpu::Device& device, const LadderOptions& options)
        : Demap(device, options, make_signal(options)) {}

    Demap(const gpu::Device& device, const LadderOptions& options, const Signal& signal)
        : device_(device),
          noise_variance_(signal.noise_variance),
          demap_(device, {.modulation = Modulation::qam256}),
          symbols_(on_device(device, signal, options.symbols)),
          noise_(on_device(device, std::vector{noise_variance_})),
          llr_(device, options.symbols * qm),
          expected_(device, options.symbols * qm),
          difference_(device, 1) {
        const LlrConfig& llr = demap_.config().llr;
        // No symbols lie beyond the outermost level and six standard deviations of the noise.
        const float reach = 1.16F + 6.0F * std::sqrt(0.5F * noise_variance_);
        table_ = on_device(device, demap_steps::make_table(reach, noise_variance_, llr.scale, llr.clip));
        work_ = {.symbols = symbols_.data(),
                 .size = symbols_.size(),
                 .noise = noise_.data(),
                 .llr_scale = llr.scale,
                 .llr_clip = llr.clip,
                 .llr = llr_.data(),
                 .table = table_.data(),
                 .table_reach = reach};
        const gpu::Stream stream(device);
        demap_(symbols_, noise_variance_, expected_, stream);
        stream.synchronize();
    }

    [[nodiscard]] Move move() {
        return {symbols_.data(), symbols_.size_bytes(), llr_.data(), llr_.size_bytes()};
    }

    [[nodiscard]] std::vector<Step> steps() {
        std::vector<Step> all;
        for (const auto& step : demap_steps::all(device_)) {
            const auto launch = [this, step](cudaStream_t stream) {
                step.launch(work_, step.threads, device_.multiprocessors(), stream);
            };
            all.push_back({step.name, step.what, step.threads, launch});
        }
        const auto library = [this](cudaStream_t stream) { demap_(symbols_, noise_variance_, llr_, stream); };
        all.push_back({"phy", "the library's kernel: closed form, no table", 0, library});
        return all;
    }

    /// Throws unless llr_ equals the library's; clears it for the next step.
    void check(const Step& step) {
        const gpu::Stream stream(device_);
        demap_steps::find_largest_difference(llr_.data(), expected_.data(), llr_.size(), difference_.data(),
                                             stream);
        int difference = 0;
        gpu::copy_async(std::span(&difference, 1), difference_, stream);
        gpu::fill_async(llr_, 0x55, stream);
        stream.synchronize();
        if (difference > 1)
            throw Error(fmt::format("step '{}': soft bits differ by up to {} from the library's, expected 1",
                                    step.name, difference));
    }

private:
    gpu::Device device_;
    float noise_variance_;
    gpu::SoftDemapper demap_;
    gpu::DeviceBuffer<cf32> symbols_;
    gpu::DeviceBuffer<float> noise_;
    gpu::DeviceBuffer<std::int8_t> llr_;
    gpu::DeviceBuffer<std::int8_t> expected_;
    gpu::DeviceBuffer<int> difference_;
    gpu::DeviceBuffer<std::uint32_t> table_;
    demap_steps::Work work_;
};

}  // namespace

Climb climb_demap(const gpu::Device& device, const LadderOptions& options) {
    const gpu::CurrentDevice current(device);
    Demap demap(device, options);
    const Move move = demap.move();
    return climb(device, demap_task("256QAM, cf32 to int8, exact max-log", options),
                 {"copy", "copy kernel", fastest_copy(device, {&move, 1})}, demap.steps(),
                 [&demap](const Step& step) { demap.check(step); });
}

}  // namespace phy::apps
