#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "common/random.hpp"
#include "common/repeat.hpp"
#include "ladder/demap_steps.hpp"
#include "ladder/ladder.hpp"
#include "phy/phy_cuda.hpp"

namespace phy::apps {
namespace {

constexpr std::size_t qm = bits_per_symbol(Modulation::qam256);

/// So many different symbols, again and again.
constexpr std::size_t stretch = 1 << 20;

std::vector<cf32> noisy_symbols(std::size_t count, double noise_variance) {
    const RandomSequence random_bits(38211, 0);
    const RandomSequence noise(38211, 1);
    std::vector<std::uint8_t> bits(count * qm);
    for (std::size_t i = 0; i < bits.size(); ++i)
        bits[i] = static_cast<std::uint8_t>(random_bits.bits(i) >> 63);
    std::vector<cf32> symbols(count);
    Mapper({.modulation = Modulation::qam256})(bits, symbols);
    for (std::size_t i = 0; i < count; ++i)
        symbols[i] += cf32(std::sqrt(noise_variance) * noise.gaussian(i));
    return symbols;
}

/// As many elements as size, the values again and again.
template <typename T>
gpu::DeviceBuffer<T> on_device(const gpu::Device& device, const std::vector<T>& values, std::size_t size) {
    gpu::DeviceBuffer<T> buffer(device, size);
    fill_repeating(device, std::span<T>(buffer), std::span(values));
    return buffer;
}

template <typename T>
gpu::DeviceBuffer<T> on_device(const gpu::Device& device, const std::vector<T>& values) {
    return on_device(device, values, values.size());
}

/// The buffers of the ladder, and the check.
class Demap {
public:
    Demap(const gpu::Device& device, const LadderOptions& options)
        : device_(device),
          noise_variance_(static_cast<float>(std::pow(10.0, -options.snr_db / 10.0))),
          demap_(device, {.modulation = Modulation::qam256}),
          symbols_(on_device(device, noisy_symbols(std::min(options.symbols, stretch), noise_variance_),
                             options.symbols)),
          noise_(on_device(device, std::vector{noise_variance_})),
          llr_(device, options.symbols * qm),
          expected_(device, options.symbols * qm),
          difference_(device, 1) {
        const auto& config = demap_.config();
        // Beyond the outermost level and six standard deviations of the noise there are no symbols.
        const float reach = 1.16F + 6.0F * std::sqrt(0.5F * noise_variance_);
        table_ = on_device(
            device, demap_steps::make_table(reach, noise_variance_, config.llr_scale, config.llr_clip));
        work_ = {.symbols = symbols_.data(),
                 .size = symbols_.size(),
                 .noise = noise_.data(),
                 .llr_scale = config.llr_scale,
                 .llr_clip = config.llr_clip,
                 .llr = llr_.data(),
                 .table = table_.data(),
                 .table_reach = reach};
        const gpu::Stream stream(device);
        demap_(symbols_, NoiseVariance(noise_variance_), expected_, stream);
        stream.synchronize();
    }

    [[nodiscard]] Move move() const { return {symbols_.data(), symbols_.bytes(), llr_.data(), llr_.bytes()}; }

    [[nodiscard]] std::vector<Step> steps() const {
        std::vector<Step> all;
        for (const auto& step : demap_steps::all(device_)) {
            const auto launch = [this, step](cudaStream_t stream) {
                step.launch(work_, step.threads, device_.multiprocessors(), stream);
            };
            all.push_back({step.name, step.what, step.threads, launch});
        }
        const auto library = [this](cudaStream_t stream) {
            demap_(symbols_, NoiseVariance(noise_variance_), llr_, stream);
        };
        all.push_back({"phy", "the library's kernel: closed form, no table", 0, library});
        return all;
    }

    /// Throws unless llr_ is what the library gives; clears it for the next step.
    void check(const Step& step) const {
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
    const Demap demap(device, options);
    return climb(device,
                 fmt::format("256QAM, cf32 to int8, exact max-log, {} symbols at {:g} dB", options.symbols,
                             options.snr_db),
                 demap.move(), demap.steps(), [&demap](const Step& step) { demap.check(step); });
}

}  // namespace phy::apps
