#include "digests/outputs.hpp"

#include <span>
#include <tuple>
#include <utility>

#include "digests/calls.hpp"
#include "phy/demapper/stage.hpp"
#include "phy/pipeline/memory.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/scrambling/gold_sequence.hpp"

namespace phy_test {
namespace {

/// Bytes that no output keeps by chance.
Bytes unwritten(std::size_t size) {
    return Bytes(size, std::byte{0xA5});
}

phy::SymbolView symbols_of(const SoftCall& call, const Signal& signal) {
    return {phy::parse_sample_format(call.input), signal.samples};
}

phy::NoiseVariance noise_of(const SoftCall& call, const Signal& signal) {
    return call.noise ? phy::NoiseVariance(*call.noise) : phy::NoiseVariance(signal.noise);
}

phy::SoftBitSpan soft_bits_at(const SoftCall& call, std::byte* memory, std::size_t symbols) {
    return {phy::parse_soft_bit_format(call.output), memory, soft_bit_count(call, symbols)};
}

phy::SoftDemapStage::Config stage_config(const SoftCall& call, bool counts) {
    return {.demapper = modulated_config(call),
            .input = phy::parse_sample_format(call.input),
            .output = phy::parse_soft_bit_format(call.output),
            .noise_variance = call.noise,
            .counts = counts};
}

std::pair<Bytes, phy::DemapCounters> run_stage(const phy::SoftDemapStage::Config& config,
                                               const phy::Place& place, const Signal& signal) {
    phy::SoftDemapStage stage(config);
    phy::Pipeline pipeline({place}, stage, {.chunk = 257});
    std::vector<std::span<const std::byte>> arrays = {signal.samples};
    if (!config.noise_variance) arrays.push_back(std::as_bytes(std::span(signal.noise)));
    Bytes llr = unwritten(stage.outputs()[0].bytes_of(signal.symbols));
    phy::MemorySource source(stage.inputs(), std::move(arrays));
    phy::MemorySink sink(stage.outputs(), {llr});
    pipeline.run(source, sink);
    return {std::move(llr), stage.counters()};
}

class CpuOutputs : public HostOutputs {
public:
    CpuOutputs(const phy::Backend& backend, int threads)
        : host_(phy::detail::host_of_exactly(threads, backend)) {}

    [[nodiscard]] std::string name() const override {
        return host_.backend().name() + ", threads: " + std::to_string(host_.threads());
    }

    Bytes soft(const SoftCall& call, const Signal& signal) override {
        phy::DemapCounters counters;
        const Bytes plain = demapped(call, signal, nullptr);
        return counted_output(plain, demapped(call, signal, &counters), counters);
    }

    Bytes slot(const SoftCall& call, const Signal& signal) override {
        return demapped(call, signal, nullptr);
    }

    Bytes stage(const SoftCall& call, const Signal& signal) override { return stage_on(host_, call, signal); }

    Bytes batch(const std::vector<SoftCall>& calls, const std::vector<Signal>& signals) override {
        phy::BatchDemapper demap(host_, batch_config(calls.front()));
        std::size_t size = 0;
        for (std::size_t n = 0; n < calls.size(); ++n)
            size += soft_bit_bytes(calls[n], signals[n].symbols);
        Bytes plain = unwritten(size);
        Bytes counted = unwritten(size);
        phy::DemapCounters counters;
        demap(allocations(calls, signals, plain.data()));
        demap(allocations(calls, signals, counted.data()), &counters);
        return counted_output(plain, std::move(counted), counters);
    }

    Bytes descrambled(const SoftCall& call, const Signal& signal) override {
        std::vector<std::uint32_t> signs((soft_bit_count(call, signal.symbols) + 31) / 32);
        phy::gold_sequence(host_, descrambling_c_init, 0, signs);
        phy::DemapCounters counters;
        const Bytes plain = demapped(call, signal, nullptr, signs);
        return counted_output(plain, demapped(call, signal, &counters, signs), counters);
    }

    Bytes mapped(const MapCall& call, const std::vector<std::uint8_t>& bits) override {
        const phy::Mapper map(host_, map_config(call));
        const phy::SampleFormat format = phy::parse_sample_format(call.output);
        Bytes symbols = unwritten(usual_symbols * size_of(format));
        map(std::span(bits).first(map_bytes(call, usual_symbols)), {format, symbols.data(), usual_symbols},
            odd_first_symbol);
        return symbols;
    }

private:
    /// Calls of one configuration that follow each other have one demapper, and so its tables.
    phy::SoftDemapper& demapper_for(const SoftCall& call) {
        const auto key = [](const SoftCall& of) {
            return std::tie(of.modulation, of.method, of.evaluator, of.llr_scale, of.llr_clip, of.full_scale,
                            of.gain);
        };
        if (!demap_ || key(call) != key(configured_)) {
            demap_.emplace(host_, modulated_config(call));
            configured_ = call;
        }
        return *demap_;
    }

    Bytes demapped(const SoftCall& call, const Signal& signal, phy::DemapCounters* counters,
                   std::span<const std::uint32_t> signs = {}) {
        phy::SoftDemapper& demap = demapper_for(call);
        Bytes llr = unwritten(soft_bit_bytes(call, signal.symbols));
        demap(symbols_of(call, signal), noise_of(call, signal),
              soft_bits_at(call, llr.data(), signal.symbols), call.first_symbol, counters, signs);
        return llr;
    }

    static std::vector<phy::Allocation> allocations(const std::vector<SoftCall>& calls,
                                                    const std::vector<Signal>& signals, std::byte* llr) {
        std::vector<phy::Allocation> result;
        for (std::size_t n = 0; n < calls.size(); ++n) {
            const SoftCall& call = calls[n];
            const Signal& signal = signals[n];
            result.push_back({phy::parse_modulation(call.modulation), symbols_of(call, signal),
                              noise_of(call, signal), soft_bits_at(call, llr, signal.symbols),
                              call.first_symbol});
            llr += soft_bit_bytes(call, signal.symbols);
        }
        return result;
    }

    phy::Host host_;
    SoftCall configured_;
    std::optional<phy::SoftDemapper> demap_;
};

}  // namespace

std::vector<std::unique_ptr<HostOutputs>> host_outputs(const std::vector<int>& threads) {
    std::vector<std::unique_ptr<HostOutputs>> outputs;
    for (const phy::Backend& backend : phy::Backend::all())
        if (backend.kind() != phy::Backend::Kind::cuda && backend.supported())
            for (const int count : threads)
                outputs.push_back(std::make_unique<CpuOutputs>(backend, count));
    return outputs;
}

Bytes stage_on(const phy::Place& place, const SoftCall& call, const Signal& signal) {
    const auto [plain, zeros] = run_stage(stage_config(call, false), place, signal);
    auto [counted, counters] = run_stage(stage_config(call, true), place, signal);
    return counted_output(plain, std::move(counted), counters);
}

}  // namespace phy_test
