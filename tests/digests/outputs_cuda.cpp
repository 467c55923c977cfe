#include <tuple>
#include <utility>

#include "digests/calls.hpp"
#include "digests/outputs.hpp"
#include "phy/core/cuda.hpp"
#include "phy/demapper/demapper_cuda.hpp"
#include "phy/demapper/slot_demapper_cuda.hpp"
#include "phy/mapper/mapper_cuda.hpp"

namespace phy_test {
namespace {

using phy::gpu::DeviceBuffer;

class GpuOutputs : public Outputs {
public:
    GpuOutputs() : stream_(device_) {}

    [[nodiscard]] std::string name() const override { return device_.name(); }

    Bytes soft(const SoftCall& call, const Signal& signal) override {
        phy::gpu::SoftDemapper& demap = demapper_for(call);
        const OnDevice input(*this, signal);
        const auto noise = noise_at(call, input.noise_of_each());
        demap.prepare(noise, phy::parse_soft_bit_format(call.output));
        return counted(soft_bit_bytes(call, signal.symbols), [&](std::byte* llr, auto* counters) {
            demap(symbols_at(call, input.samples.data(), signal.symbols), noise,
                  soft_bits_at(call, llr, signal.symbols), stream_, call.first_symbol, counters);
        });
    }

    Bytes batch(const std::vector<SoftCall>& calls, const std::vector<Signal>& signals) override {
        phy::gpu::BatchDemapper demap(device_, soft_config<phy::gpu::BatchDemapper::Config>(calls.front()));
        std::vector<OnDevice> inputs;
        std::size_t size = 0;
        for (std::size_t n = 0; n < calls.size(); ++n) {
            const SoftCall& call = calls[n];
            inputs.emplace_back(*this, signals[n]);
            demap.prepare(phy::parse_modulation(call.modulation), noise_at(call, inputs[n].noise_of_each()),
                          phy::parse_soft_bit_format(call.output));
            size += soft_bit_bytes(call, signals[n].symbols);
        }
        return counted(size, [&](std::byte* llr, auto* counters) {
            demap(allocations(calls, inputs, llr), stream_, counters);
        });
    }

    Bytes slot(const SoftCall& call, const Signal& signal) override {
        phy::gpu::SlotDemapper demap(device_,
                                     {.demapper = modulated_config<phy::gpu::SoftDemapper::Config>(call),
                                      .input = phy::parse_sample_format(call.input),
                                      .output = phy::parse_soft_bit_format(call.output),
                                      .symbols = signal.symbols});
        demap.prepare(noise_at(call, signal.noise));
        std::ranges::copy(signal.samples, demap.input().begin());
        std::ranges::copy(signal.noise, demap.noise().begin());
        const auto llr =
            call.noise ? demap.demap(signal.symbols, *call.noise) : demap.demap_per_symbol(signal.symbols);
        return {llr.begin(), llr.end()};
    }

    Bytes stage(const SoftCall& call, const Signal& signal) override {
        return stage_on("cuda[" + std::to_string(device_.ordinal()) + "]", 1, call, signal);
    }

    Bytes mapped(const MapCall& call, const std::vector<std::uint8_t>& bits) override {
        const phy::gpu::Mapper map(device_, map_config(call));
        const phy::SampleFormat format = phy::parse_sample_format(call.output);
        const DeviceBuffer<std::uint8_t> sent =
            on_device(std::span(bits).first(map_bytes(call, usual_symbols)));
        const DeviceBuffer<std::byte> symbols = unwritten(usual_symbols * size_of(format));
        map(sent, {format, symbols.data(), usual_symbols}, stream_, odd_first_symbol);
        return on_host(symbols);
    }

private:
    /// A signal in device memory.
    struct OnDevice {
        OnDevice(const GpuOutputs& gpu, const Signal& signal)
            : samples(gpu.on_device(std::span(signal.samples))),
              noise(gpu.on_device(std::span(signal.noise))),
              symbols(signal.symbols) {}

        [[nodiscard]] std::span<const float> noise_of_each() const { return {noise.data(), symbols}; }

        DeviceBuffer<std::byte> samples;
        DeviceBuffer<float> noise;
        std::size_t symbols;
    };

    phy::gpu::SoftDemapper& demapper_for(const SoftCall& call) {
        const auto key = [](const SoftCall& of) {
            return std::tie(of.modulation, of.method, of.evaluator, of.llr_scale, of.llr_clip, of.full_scale);
        };
        if (!demap_ || key(call) != key(configured_)) {
            demap_.emplace(device_, modulated_config<phy::gpu::SoftDemapper::Config>(call));
            configured_ = call;
        }
        return *demap_;
    }

    /// Once without counters and once with them.
    template <typename Demap>
    Bytes counted(std::size_t size, Demap demap) const {
        const DeviceBuffer<std::byte> plain = unwritten(size);
        demap(plain.data(), static_cast<phy::DemapCounters*>(nullptr));
        const DeviceBuffer<std::byte> llr = unwritten(size);
        const DeviceBuffer<phy::DemapCounters> on_gpu(device_, 1);
        phy::gpu::fill_async(on_gpu, 0, stream_);
        demap(llr.data(), on_gpu.data());
        phy::DemapCounters counters;
        phy::gpu::copy_async(std::span(&counters, 1), on_gpu, stream_);
        return counted_output(on_host(plain), on_host(llr), counters);
    }

    static std::vector<phy::Allocation> allocations(const std::vector<SoftCall>& calls,
                                                    const std::vector<OnDevice>& inputs, std::byte* llr) {
        std::vector<phy::Allocation> result;
        for (std::size_t n = 0; n < calls.size(); ++n) {
            const SoftCall& call = calls[n];
            const std::size_t symbols = inputs[n].symbols;
            result.push_back({phy::parse_modulation(call.modulation),
                              symbols_at(call, inputs[n].samples.data(), symbols),
                              noise_at(call, inputs[n].noise_of_each()), soft_bits_at(call, llr, symbols),
                              call.first_symbol});
            llr += soft_bit_bytes(call, symbols);
        }
        return result;
    }

    template <typename T>
    DeviceBuffer<T> on_device(std::span<const T> values) const {
        DeviceBuffer<T> buffer(device_, values.size());
        phy::gpu::copy_async(buffer, values, stream_);
        return buffer;
    }

    [[nodiscard]] DeviceBuffer<std::byte> unwritten(std::size_t size) const {
        DeviceBuffer<std::byte> buffer(device_, size);
        phy::gpu::fill_async(buffer, 0xA5, stream_);
        return buffer;
    }

    /// Waits for the stream.
    [[nodiscard]] Bytes on_host(const DeviceBuffer<std::byte>& buffer) const {
        Bytes bytes(buffer.size());
        phy::gpu::copy_async(bytes, buffer, stream_);
        stream_.synchronize();
        return bytes;
    }

    phy::gpu::Device device_;
    phy::gpu::Stream stream_;
    SoftCall configured_;
    std::optional<phy::gpu::SoftDemapper> demap_;
};

}  // namespace

std::unique_ptr<Outputs> gpu_outputs() {
    return std::make_unique<GpuOutputs>();
}

}  // namespace phy_test
