// From received slots to descrambled soft bits on a GPU: Gold sequences, channel estimation, equalisation and
// demapping. Beside a copy of what has to cross the memory, the grid and the soft bits.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/channel_signal.hpp"
#include "bench/cuda_suite.hpp"
#include "common/repeat.hpp"

namespace phy::bench {
namespace {

constexpr Modulation modulation = Modulation::qam256;

struct Case {
    int layers;
    SampleFormat format;
    TimeInterpolation time;
    std::size_t slots;
};

ChannelEstimatorConfig estimator_config(const Case& of) {
    ChannelEstimatorConfig config = whole_carrier(4, 100e-9F);
    config.allocation.dmrs.ports.resize(static_cast<std::size_t>(of.layers));
    config.time = of.time;
    config.full_scale = 4.0F * 32768.0F / 10.0F;  // some samples are larger than 1
    return config;
}

std::vector<std::byte> stored(const std::vector<cf32>& samples, SampleFormat format, float full_scale) {
    std::vector<std::byte> bytes(samples.size() * size_of(format));
    if (format == SampleFormat::cf32) {
        std::ranges::copy(std::as_bytes(std::span(samples)), bytes.begin());
        return bytes;
    }
    const auto integer = [&](float x) {
        return static_cast<std::int16_t>(std::clamp(std::round(x * full_scale), -32768.0F, 32767.0F));
    };
    auto* const out = reinterpret_cast<ci16*>(bytes.data());
    std::ranges::transform(samples, out, [&](cf32 x) { return ci16{integer(x.real()), integer(x.imag())}; });
    return bytes;
}

/// The chain, and all that it works on.
class Chain {
public:
    Chain(const gpu::Device& device, const Case& of) : Chain(device, of, estimator_config(of)) {}

    void operator()(cudaStream_t stream) {
        gpu::gold_sequence(device_, c_init_, 0, signs_, stream);
        estimate_(grid(), pilots_, channel_, slots_, stream);
        equalize_(grid(), channel_, slots_, symbols_, noise_, stream);
        demap_(symbols_.span(), noise_.span(), llr_.span(), stream, 0, {}, signs_);
    }

    [[nodiscard]] Move move() {
        const std::size_t half = evened_bytes(grid_.size_bytes(), llr_.size_bytes());
        copied_ = gpu::DeviceBuffer<std::byte>(device_, 2 * half);
        apps::fill_repeating(device_, copied_.span(), std::as_bytes(std::span(received_)));
        return {copied_.data(), half, copied_.data() + half, half};
    }

    [[nodiscard]] std::size_t elements() const { return elements_; }

private:
    Chain(const gpu::Device& device, const Case& of, const ChannelEstimatorConfig& config)
        : device_(device),
          format_(of.format),
          estimate_(device, config, of.slots),
          equalize_(device,
                    {.allocation = config.allocation,
                     .antennas = config.antennas,
                     .time_weights = {estimate_.time_weights().begin(), estimate_.time_weights().end()},
                     .time_sets = estimate_.time_sets(),
                     .full_scale = config.full_scale}),
          demap_(device, {.modulation = modulation}),
          channel_(device, of.slots * estimate_.channel_size()),
          slots_(device, of.slots),
          symbols_(device, of.slots * equalize_.symbols_per_slot()),
          noise_(device, symbols_.size()),
          signs_(device, symbols_.size() * bits_per_symbol(modulation) / 32),
          c_init_(device, of.slots),
          llr_(device, symbols_.size() * bits_per_symbol(modulation)),
          elements_(of.slots * equalize_.elements_per_slot()) {
        std::vector<cf32> pilots(dmrs_pilot_count(config.allocation));
        dmrs_pilots(config.allocation, 0, pilots);
        received_ = received_slot(config, pilots);
        const auto samples = stored(received_, format_, config.full_scale.value_for(SampleFormat::ci16));
        grid_ = gpu::DeviceBuffer<std::byte>(device, of.slots * samples.size());
        pilots_ = gpu::DeviceBuffer<cf32>(device, of.slots * pilots.size());
        apps::fill_repeating(device, grid_.span(), std::span<const std::byte>(samples));
        apps::fill_repeating(device, gpu::as_bytes(pilots_.span()), std::as_bytes(std::span(pilots)));
        std::vector<std::uint32_t> c_init(of.slots);
        for (std::size_t i = 0; i < of.slots; ++i)
            c_init[i] = ScramblingIdentity{.rnti = static_cast<std::uint32_t>(1000 + i), .id = 1}.c_init();
        const gpu::Stream stream(device);
        copy_async(c_init_, c_init, stream);
        stream.synchronize();
    }

    [[nodiscard]] gpu::SymbolView grid() const { return {format_, grid_.span()}; }

    gpu::Device device_;
    SampleFormat format_;
    gpu::ChannelEstimator estimate_;
    gpu::Equalizer equalize_;
    gpu::SoftDemapper demap_;
    gpu::DeviceBuffer<std::byte> grid_;
    gpu::DeviceBuffer<std::byte> copied_;
    gpu::DeviceBuffer<cf32> pilots_;
    gpu::DeviceBuffer<float> channel_;
    gpu::DeviceBuffer<SlotEstimate> slots_;
    gpu::DeviceBuffer<cf32> symbols_;
    gpu::DeviceBuffer<float> noise_;
    gpu::DeviceBuffer<std::uint32_t> signs_;
    gpu::DeviceBuffer<std::uint32_t> c_init_;
    gpu::DeviceBuffer<std::int8_t> llr_;
    std::size_t elements_;
    std::vector<cf32> received_;
};

void measure_chain(Suite& suite, const Case& of) {
    const auto name = fmt::format("chain/{}x4/273/{}/{}/{}_slots", of.layers, to_string(of.format),
                                  of.time == TimeInterpolation::average ? "average" : "linear", of.slots);
    if (!suite.wants(name)) return;
    Chain chain(suite.device(), of);
    suite.record(name, {.symbols = chain.elements(),
                        .moves = {chain.move()},
                        .work = [&](cudaStream_t stream) { chain(stream); },
                        .graph = true});
}

}  // namespace

void chain_benchmarks(Suite& suite) {
    for (const std::size_t slots : {std::size_t{64}, std::size_t{1}}) {
        for (const TimeInterpolation time : {TimeInterpolation::average, TimeInterpolation::linear}) {
            measure_chain(suite, {4, SampleFormat::cf32, time, slots});
            measure_chain(suite, {4, SampleFormat::ci16, time, slots});
            measure_chain(suite, {1, SampleFormat::cf32, time, slots});
        }
    }
}

}  // namespace phy::bench
