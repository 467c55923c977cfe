// A pipeline with a stage of your own, which rotates symbols back and demaps them.
//
// Called without arguments. Each OFDM symbol of 1200 subcarriers arrives rotated by a phase of its own, which
// the stage gets on a second port. Prints the bit error rate: without the rotation it would be above 0.4.
// Exit status 1 if more than 1 % of the bits are wrong, or if other chunks and threads give other bytes.

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include <phy/phy.hpp>

constexpr std::size_t subcarriers = 1200;
constexpr std::size_t ofdm_symbols = 200;
constexpr phy::Modulation modulation = phy::Modulation::qam64;
constexpr float n0 = 0.005F;

/// What the stage does on a host. The pipeline calls it with one chunk at a time.
class RotateAndDemap : public phy::StageRunner {
public:
    explicit RotateAndDemap(const phy::Host& host) : demap_(host, {.modulation = modulation}) {}

    void run_on_host(const phy::HostWork& work) override {
        // Arrays are bytes. Those of a source may begin anywhere, so values are copied out of them.
        const std::size_t count = work.chunk.items;
        const std::span rotated(reinterpret_cast<phy::cf32*>(work.scratch.data()), count);
        std::memcpy(rotated.data(), work.in[0].data(), count * sizeof(phy::cf32));
        for (std::size_t i = 0; i < count; ++i) {
            float phase = 0.0F;
            std::memcpy(&phase, work.in[1].data() + i / subcarriers * sizeof phase, sizeof phase);
            rotated[i] *= std::polar(1.0F, -phase);
        }
        demap_(rotated, n0, {phy::SoftBitFormat::int8, work.out[0]}, work.chunk.first);
    }

private:
    phy::SoftDemapper demap_;
};

/// An item is a symbol. Chunks hold whole OFDM symbols, because 1200 items share the record of a phase.
class RotateAndDemapStage : public phy::Stage {
public:
    [[nodiscard]] std::string_view name() const override { return "rotate and demap"; }
    [[nodiscard]] std::vector<phy::Port> inputs() const override {
        return {{.name = "symbols", .bytes = sizeof(phy::cf32)},
                {.name = "phases", .bytes = sizeof(float), .items = subcarriers}};
    }
    [[nodiscard]] std::vector<phy::Port> outputs() const override {
        return {{.name = "llr", .bytes = bits_per_symbol(modulation)}};
    }
    [[nodiscard]] std::size_t granularity() const override { return subcarriers; }
    [[nodiscard]] std::size_t scratch_bytes(std::size_t items) const override {
        return items * sizeof(phy::cf32);  // memory of the pipeline for each chunk, aligned to 64 bytes
    }
    std::unique_ptr<phy::StageRunner> on(const phy::Place& place) override {
        if (place.is_cuda()) throw phy::BackendError("this stage runs on a CPU only");
        return std::make_unique<RotateAndDemap>(place.host());
    }
};

std::vector<std::int8_t> demodulate(const std::vector<phy::cf32>& symbols, const std::vector<float>& phases,
                                    int threads, std::size_t chunk) {
    std::vector<std::int8_t> llr(symbols.size() * bits_per_symbol(modulation));
    RotateAndDemapStage stage;
    phy::Pipeline pipeline({phy::Host({.threads = threads})}, stage, {.chunk = chunk});
    phy::MemorySource source(stage.inputs(),
                             {std::as_bytes(std::span(symbols)), std::as_bytes(std::span(phases))});
    phy::MemorySink sink(stage.outputs(), {std::as_writable_bytes(std::span(llr))});
    pipeline.run(source, sink);
    return llr;
}

int main() {
    // In place of a transmitter and an oscillator with phase noise.
    std::mt19937 random(1);
    std::vector<phy::cf32> symbols(subcarriers * ofdm_symbols);
    std::vector<std::uint8_t> bits(symbols.size() * bits_per_symbol(modulation));
    for (auto& bit : bits)
        bit = random() % 2;
    phy::Mapper(phy::Host(), {.modulation = modulation})(bits, symbols);
    std::normal_distribution<float> normal;
    std::vector<float> phases(ofdm_symbols);
    float phase = 0.0F;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        if (i % subcarriers == 0) phases[i / subcarriers] = phase += 0.1F * normal(random);
        const float re = normal(random), im = normal(random);
        symbols[i] = symbols[i] * std::polar(1.0F, phase) + std::sqrt(n0 / 2.0F) * phy::cf32(re, im);
    }

    const std::vector<std::int8_t> llr = demodulate(symbols, phases, 2, 0);  // 0: chunks of a fast size
    const bool same = llr == demodulate(symbols, phases, 1, 7 * subcarriers);
    std::size_t errors = 0;
    for (std::size_t i = 0; i < bits.size(); ++i)
        errors += (llr[i] < 0) != (bits[i] == 1) ? 1 : 0;
    const double rate = static_cast<double>(errors) / static_cast<double>(bits.size());
    std::printf("bit error rate %.4f; other chunks and threads give %s bytes\n", rate,
                same ? "the same" : "other");
    return same && rate < 0.01 ? EXIT_SUCCESS : EXIT_FAILURE;
}
