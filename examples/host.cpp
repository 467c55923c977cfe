// Soft bits of noisy 256QAM symbols on a CPU, where each symbol has an N0 of its own, as from an equaliser.
//
// Called without arguments. Prints the bit error rate of the hard decisions, and the rate that the soft bits
// themselves predict: a soft bit of L nats is wrong with probability 1 / (1 + exp|L|). Exit status 1 if the
// two differ by more than 5 %, as they do if the demapper gets another N0 than that of the noise.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include <phy/phy.hpp>

int main() {
    constexpr phy::Modulation modulation = phy::Modulation::qam256;
    constexpr std::size_t count = 100'000;
    const phy::Host host({.threads = 0});  // one per processor

    // The transmitter: random bits, one per byte, become symbols of unit mean power.
    std::mt19937 random(1);
    std::vector<std::uint8_t> bits(count * bits_per_symbol(modulation));
    for (auto& bit : bits)
        bit = random() % 2;
    std::vector<phy::cf32> symbols(count);
    const phy::Mapper map(host, {.modulation = modulation});
    map(bits, symbols);

    // The channel: the SNR falls from 30 dB to 15 dB and rises again, every 1200 symbols. N0 is the variance
    // of the complex noise, so that I and Q each have half of it.
    std::vector<float> n0(count);
    std::normal_distribution<float> normal;
    for (std::size_t i = 0; i < count; ++i) {
        const float fading = std::abs(static_cast<float>(i % 1200) / 600.0F - 1.0F);  // 1 ... 0 ... 1
        n0[i] = std::pow(10.0F, -(15.0F + 15.0F * fading) / 10.0F);
        const float deviation = std::sqrt(n0[i] / 2.0F);
        const float re = normal(random), im = normal(random);
        symbols[i] += deviation * phy::cf32(re, im);
    }

    // The receiver. The types of the spans select the formats; an int8 holds 6 steps per nat unless scale is
    // given.
    const phy::DemapperConfig config = {.modulation = modulation, .llr = {.method = phy::Method::log_map}};
    phy::SoftDemapper demap(host, config);
    std::vector<std::int8_t> llr(bits.size());
    phy::DemapCounters counters;
    demap(symbols, n0, llr, 0, &counters);

    // Positive soft bits mean bit 0.
    std::size_t errors = 0;
    double expected = 0.0;
    for (std::size_t i = 0; i < bits.size(); ++i) {
        const std::uint8_t decision = llr[i] < 0 ? 1 : 0;
        errors += decision != bits[i] ? 1 : 0;
        expected += 1.0 / (1.0 + std::exp(std::abs(llr[i]) / static_cast<double>(config.llr.scale)));
    }
    const auto total = static_cast<double>(bits.size());
    std::printf("%zu symbols of 256QAM: bit error rate %.5f, the soft bits predict %.5f; %ju are erasures\n",
                count, static_cast<double>(errors) / total, expected / total,
                static_cast<std::uintmax_t>(counters.erasures));
    const bool right = std::abs(static_cast<double>(errors) - expected) < 0.05 * expected;
    return right && counters.erasures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
