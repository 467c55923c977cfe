#include "digests/outputs.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "digests/calls.hpp"
#include "phy/pipeline/memory.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/pipeline/soft_demap_stage.hpp"

namespace phy_test {
namespace {

/// Bytes that no output keeps by chance.
Bytes unwritten(std::size_t size) {
    return Bytes(size, std::byte{0xA5});
}

/// Symbols with an N0 each, as the stage takes them.
class SignalSource : public phy::Source {
public:
    SignalSource(const phy::SoftDemapStage& stage, const Signal& signal) : stage_(stage), signal_(signal) {}

    [[nodiscard]] std::uint64_t items() const override { return signal_.symbols; }

    std::size_t fill(const phy::Chunk& chunk, std::span<std::byte> input) override {
        const std::size_t sample = signal_.samples.size() / signal_.symbols;
        std::memcpy(stage_.samples_of(input, chunk.items).data(),
                    signal_.samples.data() + chunk.first * sample, chunk.items * sample);
        std::ranges::copy(std::span(signal_.noise).subspan(chunk.first, chunk.items),
                          stage_.noise_of(input, chunk.items).begin());
        return chunk.items;
    }

private:
    const phy::SoftDemapStage& stage_;
    const Signal& signal_;
};

phy::SoftDemapStage::Config stage_config(const SoftCall& call, int threads, bool counts) {
    auto config = modulated_config<phy::SoftDemapStage::Config>(call);
    config.input = phy::parse_sample_format(call.input);
    config.output = phy::parse_soft_bit_format(call.output);
    config.noise_variance = call.noise;
    config.threads = threads;
    config.counts = counts;
    return config;
}

std::pair<Bytes, phy::DemapCounters> run_stage(const phy::SoftDemapStage::Config& config,
                                               const std::string& backend, const Signal& signal) {
    phy::SoftDemapStage stage(config);
    phy::Pipeline pipeline({.backends = {phy::Backend::parse(backend)}, .chunk = 257}, stage);
    Bytes llr = unwritten(stage.output_bytes(signal.symbols));
    phy::MemorySink sink(llr, stage.output_bytes(1));
    if (config.noise_variance) {
        phy::MemorySource source(signal.samples, stage.input_bytes(1));
        pipeline.run(source, sink);
    } else {
        SignalSource source(stage, signal);
        pipeline.run(source, sink);
    }
    return {std::move(llr), stage.counters()};
}

class CpuOutputs : public HostOutputs {
public:
    CpuOutputs(const phy::Backend& backend, int threads) : backend_(backend), threads_(threads) {}

    [[nodiscard]] std::string name() const override {
        return backend_.name() + ", threads: " + std::to_string(threads_);
    }

    Bytes soft(const SoftCall& call, const Signal& signal) override {
        phy::DemapCounters counters;
        const Bytes plain = demapped(call, signal, nullptr);
        return counted_output(plain, demapped(call, signal, &counters), counters);
    }

    Bytes slot(const SoftCall& call, const Signal& signal) override {
        return demapped(call, signal, nullptr);
    }

    Bytes stage(const SoftCall& call, const Signal& signal) override {
        return stage_on(backend_.name(), threads_, call, signal);
    }

    Bytes batch(const std::vector<SoftCall>& calls, const std::vector<Signal>& signals) override {
        auto config = soft_config<phy::BatchDemapper::Config>(calls.front());
        phy::BatchDemapper demap(on_this(config));
        std::size_t size = 0;
        for (std::size_t n = 0; n < calls.size(); ++n)
            size += soft_bit_bytes(calls[n], signals[n].symbols);
        Bytes plain = unwritten(size);
        Bytes counted = unwritten(size);
        phy::DemapCounters counters;
        demap(allocations(calls, signals, plain.data()));
        demap(allocations(calls, signals, counted.data()), counters);
        return counted_output(plain, std::move(counted), counters);
    }

    Bytes mapped(const MapCall& call, const std::vector<std::uint8_t>& bits) override {
        const phy::Mapper map(map_config(call));
        const phy::SampleFormat format = phy::parse_sample_format(call.output);
        Bytes symbols = unwritten(usual_symbols * size_of(format));
        map(std::span(bits).first(map_bytes(call, usual_symbols)), {format, symbols.data(), usual_symbols},
            odd_first_symbol);
        return symbols;
    }

    Bytes hard(const std::string& modulation, const std::string& input, const Signal& signal) override {
        phy::HardDemapper demap(
            on_this(phy::HardDemapper::Config{.modulation = phy::parse_modulation(modulation)}));
        const SoftCall call{.modulation = modulation, .input = input};
        std::vector<std::uint8_t> bits(soft_bit_count(call, signal.symbols), 0xA5);
        demap(symbols_at(call, signal.samples.data(), signal.symbols), bits, odd_first_symbol);
        const std::span bytes = std::as_bytes(std::span(bits));
        return {bytes.begin(), bytes.end()};
    }

private:
    template <typename Config>
    Config on_this(Config config) const {
        config.threads = threads_;
        config.backend = backend_;
        return config;
    }

    /// Calls of one configuration that follow each other have one demapper, and so its tables.
    phy::SoftDemapper& demapper_for(const SoftCall& call) {
        const auto key = [](const SoftCall& of) {
            return std::tie(of.modulation, of.method, of.evaluator, of.llr_scale, of.llr_clip, of.full_scale);
        };
        if (!demap_ || key(call) != key(configured_)) {
            demap_.emplace(on_this(modulated_config<phy::SoftDemapper::Config>(call)));
            configured_ = call;
        }
        return *demap_;
    }

    Bytes demapped(const SoftCall& call, const Signal& signal, phy::DemapCounters* counters) {
        phy::SoftDemapper& demap = demapper_for(call);
        Bytes llr = unwritten(soft_bit_bytes(call, signal.symbols));
        const phy::SymbolView symbols = symbols_at(call, signal.samples.data(), signal.symbols);
        const phy::NoiseVariance noise = noise_at(call, signal.noise);
        const phy::SoftBitSpan out = soft_bits_at(call, llr.data(), signal.symbols);
        if (counters == nullptr)
            demap(symbols, noise, out, call.first_symbol);
        else
            demap(symbols, noise, out, *counters, call.first_symbol);
        return llr;
    }

    static std::vector<phy::Allocation> allocations(const std::vector<SoftCall>& calls,
                                                    const std::vector<Signal>& signals, std::byte* llr) {
        std::vector<phy::Allocation> result;
        for (std::size_t n = 0; n < calls.size(); ++n) {
            const SoftCall& call = calls[n];
            const Signal& signal = signals[n];
            result.push_back({phy::parse_modulation(call.modulation),
                              symbols_at(call, signal.samples.data(), signal.symbols),
                              noise_at(call, signal.noise), soft_bits_at(call, llr, signal.symbols),
                              call.first_symbol});
            llr += soft_bit_bytes(call, signal.symbols);
        }
        return result;
    }

    phy::Backend backend_;
    int threads_;
    SoftCall configured_;
    std::optional<phy::SoftDemapper> demap_;
};

}  // namespace

std::vector<std::unique_ptr<HostOutputs>> host_outputs() {
    std::vector<std::unique_ptr<HostOutputs>> outputs;
    for (const phy::Backend& backend : phy::Backend::all())
        if (backend.kind() != phy::Backend::Kind::cuda && backend.supported())
            for (const int threads : {1, 3})
                outputs.push_back(std::make_unique<CpuOutputs>(backend, threads));
    return outputs;
}

Bytes stage_on(const std::string& backend, int threads, const SoftCall& call, const Signal& signal) {
    const auto [plain, zeros] = run_stage(stage_config(call, threads, false), backend, signal);
    auto [counted, counters] = run_stage(stage_config(call, threads, true), backend, signal);
    return counted_output(plain, std::move(counted), counters);
}

}  // namespace phy_test
