#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "digests/calls.hpp"
#include "digests/outputs.hpp"
#include "phy/demapper/batch.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/demapper/slot_demapper.hpp"
#include "phy/mapper/mapper.hpp"
#include "phy/scrambling/gold_sequence.hpp"

namespace phy_test {
namespace {

using phy::gpu::DeviceBuffer;
using phy::gpu::DeviceSpan;

class GpuOutputs : public Outputs {
public:
    GpuOutputs() : stream_(device_) {}

    [[nodiscard]] std::string name() const override { return device_.name(); }

    Bytes soft(const SoftCall& call, const Signal& signal) override {
        phy::gpu::SoftDemapper& demap = demapper_for(call);
        const OnDevice input(*this, signal);
        const phy::gpu::NoiseVariance noise = input.noise_of(call);
        demap.prepare(noise, phy::parse_soft_bit_format(call.output));
        return counted(soft_bit_bytes(call, signal.symbols), [&](DeviceSpan<std::byte> llr, auto counters) {
            demap(input.symbols_of(call), noise, soft_bits_at(call, llr), stream_, call.first_symbol,
                  counters);
        });
    }

    Bytes batch(const std::vector<SoftCall>& calls, const std::vector<Signal>& signals) override {
        phy::gpu::BatchDemapper demap(device_, batch_config(calls.front()));
        std::vector<OnDevice> inputs;
        std::size_t size = 0;
        for (std::size_t n = 0; n < calls.size(); ++n) {
            const SoftCall& call = calls[n];
            inputs.emplace_back(*this, signals[n]);
            demap.prepare(phy::parse_modulation(call.modulation), inputs[n].noise_of(call),
                          phy::parse_soft_bit_format(call.output));
            size += soft_bit_bytes(call, signals[n].symbols);
        }
        return counted(size, [&](DeviceSpan<std::byte> llr, auto counters) {
            demap(allocations(calls, inputs, llr), stream_, counters);
        });
    }

    Bytes slot(const SoftCall& call, const Signal& signal) override {
        phy::gpu::SlotDemapper demap(device_, {.demapper = modulated_config(call),
                                               .input = phy::parse_sample_format(call.input),
                                               .output = phy::parse_soft_bit_format(call.output),
                                               .symbols = signal.symbols});
        demap.prepare(OnDevice(*this, signal).noise_of(call));
        std::ranges::copy(signal.samples, demap.input().begin());
        std::ranges::copy(signal.noise, demap.noise().begin());
        const auto llr =
            call.noise ? demap.demap(signal.symbols, *call.noise) : demap.demap_per_symbol(signal.symbols);
        return {llr.begin(), llr.end()};
    }

    Bytes stage(const SoftCall& call, const Signal& signal) override {
        return stage_on(device_, call, signal);
    }

    Bytes descrambled(const SoftCall& call, const Signal& signal) override {
        phy::gpu::SoftDemapper& demap = demapper_for(call);
        const OnDevice input(*this, signal);
        const phy::gpu::NoiseVariance noise = input.noise_of(call);
        demap.prepare(noise, phy::parse_soft_bit_format(call.output));
        DeviceBuffer<std::uint32_t> signs(device_, (soft_bit_count(call, signal.symbols) + 31) / 32);
        phy::gpu::gold_sequence(device_, descrambling_c_init, 0, signs, stream_);
        return counted(soft_bit_bytes(call, signal.symbols), [&](DeviceSpan<std::byte> llr, auto counters) {
            demap(input.symbols_of(call), noise, soft_bits_at(call, llr), stream_, call.first_symbol,
                  counters, signs);
        });
    }

    Bytes mapped(const MapCall& call, const std::vector<std::uint8_t>& bits) override {
        const phy::gpu::Mapper map(device_, map_config(call));
        const phy::SampleFormat format = phy::parse_sample_format(call.output);
        const DeviceBuffer<std::uint8_t> sent =
            on_device(std::span(bits).first(map_bytes(call, usual_symbols)));
        DeviceBuffer<std::byte> symbols = unwritten(usual_symbols * size_of(format));
        map(sent, {format, symbols.span()}, stream_, odd_first_symbol);
        return on_host(symbols);
    }

private:
    /// A signal in device memory.
    struct OnDevice {
        OnDevice(const GpuOutputs& gpu, const Signal& signal)
            : samples(gpu.on_device(std::span(signal.samples))),
              noise(gpu.on_device(std::span(signal.noise))),
              symbols(signal.symbols) {}

        [[nodiscard]] phy::gpu::SymbolView symbols_of(const SoftCall& call) const {
            return {phy::parse_sample_format(call.input), samples.span()};
        }
        [[nodiscard]] phy::gpu::NoiseVariance noise_of(const SoftCall& call) const {
            return call.noise ? phy::gpu::NoiseVariance(*call.noise) : phy::gpu::NoiseVariance(noise);
        }

        DeviceBuffer<std::byte> samples;
        DeviceBuffer<float> noise;
        std::size_t symbols;
    };

    phy::gpu::SoftDemapper& demapper_for(const SoftCall& call) {
        const auto key = [](const SoftCall& of) {
            return std::tie(of.modulation, of.method, of.evaluator, of.llr_scale, of.llr_clip, of.full_scale,
                            of.gain);
        };
        if (!demap_ || key(call) != key(configured_)) {
            demap_.emplace(device_, modulated_config(call));
            configured_ = call;
        }
        return *demap_;
    }

    /// Once without counters and once with them.
    template <typename Demap>
    Bytes counted(std::size_t size, Demap demap) const {
        DeviceBuffer<std::byte> plain = unwritten(size);
        demap(plain.span(), DeviceSpan<phy::DemapCounters>());
        DeviceBuffer<std::byte> llr = unwritten(size);
        DeviceBuffer<phy::DemapCounters> on_gpu(device_, 1);
        phy::gpu::fill_async(on_gpu, 0, stream_);
        demap(llr.span(), on_gpu.span());
        phy::DemapCounters counters;
        phy::gpu::copy_async(std::span(&counters, 1), on_gpu, stream_);
        return counted_output(on_host(plain), on_host(llr), counters);
    }

    static phy::gpu::SoftBitSpan soft_bits_at(const SoftCall& call, DeviceSpan<std::byte> bytes) {
        return {phy::parse_soft_bit_format(call.output), bytes};
    }

    static std::vector<phy::gpu::Allocation> allocations(const std::vector<SoftCall>& calls,
                                                         const std::vector<OnDevice>& inputs,
                                                         DeviceSpan<std::byte> llr) {
        std::vector<phy::gpu::Allocation> result;
        std::size_t first = 0;
        for (std::size_t n = 0; n < calls.size(); ++n) {
            const SoftCall& call = calls[n];
            const std::size_t bytes = soft_bit_bytes(call, inputs[n].symbols);
            result.push_back({phy::parse_modulation(call.modulation), inputs[n].symbols_of(call),
                              inputs[n].noise_of(call), soft_bits_at(call, llr.subspan(first, bytes)),
                              call.first_symbol});
            first += bytes;
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
