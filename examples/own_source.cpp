// A pipeline with a source and a sink of your own: symbols from a generator, soft bits to a container.
//
// Called without arguments. The source makes 256QAM symbols and their N0 until it has no more: the pipeline
// does not know their number. The sink keeps the soft bits of each codeword of 3000 symbols. Prints how many
// codewords there are and the bit error rate. Exit status 1 if a codeword is missing or more than 2 % of the
// bits are wrong.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <span>
#include <vector>

#include <phy/phy.hpp>

constexpr phy::Modulation modulation = phy::Modulation::qam256;
constexpr std::size_t codeword_symbols = 3000, codewords = 100;
constexpr std::size_t codeword_bits = codeword_symbols * bits_per_symbol(modulation);

/// Fills memory of the pipeline, as a radio could. A source whose data are in memory already lends them by
/// view(): see phy::MemorySource.
class Radio : public phy::Source {
public:
    [[nodiscard]] std::uint64_t items() const override { return endless; }

    /// Called by one thread at a time, with chunks in order. arrays: one for each input port of the stage.
    std::size_t fill(const phy::Chunk& chunk, std::span<const std::span<std::byte>> arrays) override {
        const std::size_t count =
            std::min<std::size_t>(chunk.items, codeword_symbols * codewords - chunk.first);
        for (std::size_t i = 0; i < count; ++i) {
            const auto label = static_cast<unsigned>(random_() % 256);
            labels.push_back(static_cast<std::uint8_t>(label));
            const float n0 = (chunk.first + i) % 2 == 0 ? 0.001F : 0.003F;
            const float deviation = std::sqrt(n0 / 2.0F), re = normal_(random_), im = normal_(random_);
            const phy::cf32 symbol =
                phy::constellation_point(modulation, label) + deviation * phy::cf32(re, im);
            std::memcpy(arrays[0].data() + i * sizeof symbol, &symbol, sizeof symbol);
            std::memcpy(arrays[1].data() + i * sizeof n0, &n0, sizeof n0);
        }
        return count;  // fewer than chunk.items end the run
    }

    std::vector<std::uint8_t> labels;  ///< sent: a label is the bits of a symbol, the first most significant

private:
    std::mt19937 random_{1};
    std::normal_distribution<float> normal_;
};

/// Cuts the stream into codewords. Chunks arrive in order, and end anywhere. What it throws ends the run.
class Codewords : public phy::Sink {
public:
    void take(const phy::Chunk& /*chunk*/, std::span<const std::span<const std::byte>> arrays) override {
        for (std::span llr = arrays[0]; !llr.empty();) {
            if (complete.empty() || complete.back().size() == codeword_bits) complete.emplace_back();
            std::vector<std::int8_t>& last = complete.back();
            const std::size_t count = std::min(llr.size(), codeword_bits - last.size());
            const auto* first = reinterpret_cast<const std::int8_t*>(llr.data());
            last.insert(last.end(), first, first + count);
            llr = llr.subspan(count);
        }
    }

    std::deque<std::vector<std::int8_t>>
        complete;  ///< all but the last, which is complete at the end of a run
};

int main() {
    phy::SoftDemapStage demap({.demapper = {.modulation = modulation}});  // no N0: each symbol has its own
    phy::Pipeline pipeline({phy::Host({.threads = 2})}, demap, {.chunk = 4096});
    Radio radio;
    Codewords received;
    const phy::PipelineReport report = pipeline.run(radio, received);

    std::size_t errors = 0, bit = 0;
    for (const std::vector<std::int8_t>& codeword : received.complete)
        for (const std::int8_t soft_bit : codeword) {
            const unsigned sent = radio.labels[bit / 8] >> (7 - bit % 8) & 1U;
            errors += (soft_bit < 0) != (sent == 1) ? 1 : 0;
            ++bit;
        }
    const double rate = static_cast<double>(errors) / static_cast<double>(bit);
    std::printf("%ju symbols in %ju chunks, %zu codewords, bit error rate %.4f\n",
                static_cast<std::uintmax_t>(report.items), static_cast<std::uintmax_t>(report.chunks),
                received.complete.size(), rate);
    return received.complete.size() == codewords && bit == codewords * codeword_bits && rate < 0.02
               ? EXIT_SUCCESS
               : EXIT_FAILURE;
}
