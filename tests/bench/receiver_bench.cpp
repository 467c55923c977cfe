// The receiver on a CPU: a slot of 100 MHz, 273 resource blocks, 4 antennas, samples in ci16, 256QAM, two
// DM-RS symbols, 1 and 4 layers, in turns with a memcpy of the bytes in and out; on one thread also its
// operators by themselves. As JSON. Usage: receiver_bench [THREADS...]

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "channel_signal.hpp"
#include "common/json.hpp"
#include "common/machine.hpp"
#include "common/median.hpp"
#include "phy/core/version.hpp"
#include "phy/ofdm/transform_deprecoder.hpp"
#include "phy/receiver/receiver.hpp"

namespace {

using phy::cf32;
using phy::ci16;
using phy::Host;
using phy::apps::Json;
using phy::apps::median;
using phy::apps::Quartiles;
using Work = std::function<void()>;

constexpr double slot_seconds = 0.5e-3;

double seconds_of(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

phy::ReceiverConfig receiver_config(int layers, std::optional<float> delay_spread) {
    phy::ReceiverConfig config = {.antennas = 4, .full_scale = 1.0F, .delay_spread = delay_spread};
    config.link.modulation = phy::Modulation::qam256;
    config.link.scrambling = {.rnti = 17921, .id = 1};
    config.link.carrier.sample_rate = 122.88e6;
    config.link.carrier.center_frequency = 3.75e9;
    config.link.allocation = phy::bench::whole_carrier(layers).allocation;
    return config;
}

/// One slot, and the full scale that the configuration is given for it.
std::vector<ci16> slot_of_samples(phy::ReceiverConfig& config) {
    phy::ChannelEstimatorConfig channel;
    channel.allocation = config.link.allocation;
    channel.antennas = config.antennas;
    std::vector<cf32> pilots(phy::dmrs_pilot_count(channel.allocation));
    phy::dmrs_pilots(channel.allocation, 0, pilots);
    std::vector<cf32> grid = phy::bench::received_slot(channel, pilots);
    if (config.phase_tracking) phy::bench::turn_symbols(grid, static_cast<std::size_t>(config.antennas));
    phy::OfdmModulator modulate(Host(), ofdm_config(config.link, config.antennas));
    std::vector<cf32> samples(static_cast<std::size_t>(config.antennas) * modulate.timing().slot_samples(0));
    modulate(grid, {}, samples);
    double power = 0.0;
    for (const cf32& sample : samples)
        power += std::norm(sample) / static_cast<double>(samples.size());
    const auto full_scale = static_cast<float>(4096.0 / std::sqrt(power));
    config.full_scale = full_scale;
    std::vector<ci16> integers;
    for (const cf32& sample : samples)
        integers.push_back({static_cast<std::int16_t>(std::lround(sample.real() * full_scale)),
                            static_cast<std::int16_t>(std::lround(sample.imag() * full_scale))});
    return integers;
}

/// Seconds of a slot, and how many times as fast as a copy and as real time that is.
Json timed(const std::string& name, const Host& host, std::size_t slots, std::size_t bytes,
           const Work& work) {
    constexpr int turns = 101;
    std::vector<std::byte> from(bytes / 2 * slots, std::byte{1});
    std::vector<std::byte> to(from.size());
    std::vector<double> seconds;
    std::vector<double> of_copy;
    for (int turn = -2; turn < turns; ++turn) {
        const double of_work = seconds_of(work) / static_cast<double>(slots);
        const double copy = seconds_of([&] { std::memcpy(to.data(), from.data(), from.size()); }) /
                            static_cast<double>(slots);
        if (turn < 0) continue;
        seconds.push_back(of_work);
        of_copy.push_back(copy / of_work);
    }
    const Quartiles of_slot = phy::apps::quartiles(seconds);
    return Json::object({{"name", name},
                         {"backend", host.backend().name()},
                         {"threads", host.threads()},
                         {"slots", slots},
                         {"us_per_slot", of_slot.median * 1e6},
                         {"lower_quartile_us", of_slot.lower * 1e6},
                         {"upper_quartile_us", of_slot.upper * 1e6},
                         {"best_us", *std::min_element(seconds.begin(), seconds.end()) * 1e6},
                         {"of_copy", median(of_copy)},
                         {"of_real_time", slot_seconds / of_slot.median}});
}

std::string named(const char* what, int layers) {
    return fmt::format("{} {} layers", what, layers);
}

/// How a slot is received.
struct Choice {
    std::optional<float> delay_spread = 1e-7F;
    bool rejects_interference = true;
    bool joint_detection = false;
    bool phase_tracking = false;
    bool ptrs = false;

    [[nodiscard]] const char* name() const {
        if (joint_detection) return "slot, joint detection,";
        if (ptrs) return "slot, phase tracking by PT-RS,";
        if (phase_tracking) return "slot, phase tracking,";
        if (!rejects_interference) return "slot, interference not rejected,";
        return delay_spread ? "slot," : "slot, delay spread measured,";
    }
};

/// A call of so many slots.
Json receive(const Host& host, int layers, const Choice& choice, std::size_t slots) {
    phy::ReceiverConfig config = receiver_config(layers, choice.delay_spread);
    config.interference_rejection = choice.rejects_interference;
    config.joint_detection = choice.joint_detection;
    config.phase_tracking = choice.phase_tracking;
    if (choice.ptrs) config.link.allocation.ptrs = phy::PtrsConfig{.rnti = config.link.scrambling.rnti};
    const std::vector<ci16> slot = slot_of_samples(config);
    std::vector<ci16> input;
    for (std::size_t i = 0; i < slots; ++i)
        input.insert(input.end(), slot.begin(), slot.end());
    config.link.slots = {0};
    phy::Receiver receiver(host, config);
    std::vector<std::int8_t> llr(slots * receiver.soft_bits_per_slot());
    std::vector<phy::ReceivedSlot> reports(slots);
    Json json =
        timed(named(choice.name(), layers), host, slots, slot.size() * sizeof(ci16) + llr.size() / slots,
              [&] { receiver(input, 0, {.llr = llr, .slots = reports}); });
    const phy::SlotReport report = slot_report(reports.back(), config, 0);
    if (!(report.evm < 0.2)) {
        fmt::print(stderr, "evm {}: the slot was not received\n", report.evm);
        std::exit(1);
    }
    return json;
}

/// The operators of a slot one by one, each on what the one before has made.
std::vector<Json> operators(const Host& host, int layers, std::optional<float> delay_spread) {
    phy::ReceiverConfig config = receiver_config(layers, delay_spread);
    const std::vector<ci16> samples = slot_of_samples(config);
    const phy::SlotAllocation& allocation = config.link.allocation;
    phy::OfdmDemodulator demodulate(
        host, {.ofdm = ofdm_config(config.link, config.antennas), .full_scale = config.full_scale});
    phy::ChannelEstimator estimate(host, {.allocation = allocation,
                                          .antennas = config.antennas,
                                          .subcarrier_spacing = 30000.0,
                                          .delay_spread = delay_spread,
                                          .time = config.time});
    phy::Equalizer equalize(host,
                            {.allocation = allocation,
                             .antennas = config.antennas,
                             .time_weights = {estimate.time_weights().begin(), estimate.time_weights().end()},
                             .time_sets = estimate.time_sets()});
    phy::SymbolMeter measure(host, {.modulation = config.link.modulation});
    phy::SoftDemapper demap(host, {.modulation = config.link.modulation});
    std::vector<cf32> pilots(phy::dmrs_pilot_count(allocation));
    phy::dmrs_pilots(allocation, 0, pilots);
    std::vector<cf32> grid(samples.size() / demodulate.timing().slot_samples(0) *
                           demodulate.timing().slot_elements());
    std::vector<float> channel(estimate.channel_size());
    std::vector<phy::SlotEstimate> slot(1);
    std::vector<cf32> symbols(equalize.symbols_per_slot());
    std::vector<float> noise(symbols.size());
    const int subbands = phy::subbands(config.antennas, allocation.carrier_resource_blocks);
    std::vector<cf32> covariance(static_cast<std::size_t>(subbands * config.antennas * config.antennas));
    std::vector<std::int8_t> llr(symbols.size() * 8);
    std::vector<std::uint32_t> signs((llr.size() + 31) / 32);
    phy::gold_sequence(config.link.scrambling.c_init(), 0, signs);
    phy::SymbolSums sums;
    const std::size_t grid_bytes = grid.size() * sizeof(cf32);
    const std::size_t channel_bytes = channel.size() * sizeof(float);
    const std::size_t symbol_bytes = symbols.size() * (sizeof(cf32) + sizeof(float));
    return {timed(named("ofdm", layers), host, 1, samples.size() * sizeof(ci16) + grid_bytes,
                  [&] { demodulate(samples, {}, grid); }),
            timed(named("estimate", layers), host, 1, grid_bytes / 7 + channel_bytes,
                  [&] { estimate(grid, pilots, channel, slot); }),
            timed(named("estimate, covariance,", layers), host, 1, grid_bytes / 7 + channel_bytes,
                  [&] { estimate(grid, pilots, channel, slot, covariance); }),
            timed(named("equalise", layers), host, 1, grid_bytes + channel_bytes + symbol_bytes,
                  [&] { equalize(grid, channel, slot, symbols, noise); }),
            timed(named("equalise, covariance,", layers), host, 1, grid_bytes + channel_bytes + symbol_bytes,
                  [&] { equalize(grid, channel, slot, symbols, noise, covariance); }),
            timed(named("measure", layers), host, 1, symbols.size() * sizeof(cf32),
                  [&] { sums = measure(symbols); }),
            timed(named("demap", layers), host, 1, symbol_bytes + llr.size(),
                  [&] { demap(symbols, noise, llr, 0, nullptr, signs); })};
}

/// Joint detection of two layers in 39312 resource elements: 273 resource blocks in 12 OFDM symbols.
Json detect(const Host& host, phy::Modulation modulation) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0.0F, 0.7F);
    std::vector<phy::LayerPair> pairs(39312);
    for (phy::LayerPair& pair : pairs) {
        const cf32 h[2][2] = {{{normal(random), normal(random)}, {normal(random), normal(random)}},
                              {{normal(random), normal(random)}, {normal(random), normal(random)}}};
        constexpr float inverse_noise = 100.0F;
        for (int i = 0; i < 2; ++i) {
            pair.power[i] = inverse_noise * (std::norm(h[i][0]) + std::norm(h[i][1]));
            pair.matched[i] = pair.power[i] * cf32(normal(random), normal(random));
        }
        pair.cross = inverse_noise * (std::conj(h[1][0]) * h[0][0] + std::conj(h[1][1]) * h[0][1]);
    }
    phy::JointDetector detector(host, {.modulation = modulation});
    std::vector<std::int8_t> llr(2 * pairs.size() * bits_per_symbol(modulation));
    return timed(fmt::format("detect {}", to_string(modulation)), host, 1,
                 pairs.size() * sizeof(phy::LayerPair) + llr.size(), [&] { detector(pairs, llr); });
}

/// What transform precoding adds: 270 resource blocks in 12 OFDM symbols.
Json undo_precoding(const Host& host) {
    constexpr std::size_t subcarriers = 3240;
    std::mt19937 random(1);
    std::uniform_real_distribution<float> part(-1.0F, 1.0F);
    std::vector<cf32> given(12 * subcarriers);
    for (cf32& symbol : given)
        symbol = {part(random), part(random)};
    std::vector<float> given_noise(given.size());
    for (float& noise : given_noise)
        noise = 0.01F * (2.0F + part(random));
    std::vector<cf32> symbols(given.size());
    std::vector<float> noise(given.size());
    phy::TransformDeprecoder undo(host, {.subcarriers = subcarriers});
    const std::size_t bytes = given.size() * (sizeof(cf32) + sizeof(float));
    return timed("copy, undo transform precoding", host, 1, 2 * bytes, [&] {
        std::ranges::copy(given, symbols.begin());
        std::ranges::copy(given_noise, noise.begin());
        undo(symbols, noise);
    });
}

}  // namespace

int main(int argc, char** argv) try {
    std::vector<int> threads;
    for (int i = 1; i < argc; ++i)
        threads.push_back(std::atoi(argv[i]));
    if (threads.empty()) threads = {1, Host::processors()};
    std::vector<Json> results;
    for (const int layers : {1, 4}) {
        for (const int count : threads) {
            const Host host({.threads = count});
            for (const Choice& choice :
                 {Choice{}, Choice{.delay_spread = {}}, Choice{.rejects_interference = false},
                  Choice{.phase_tracking = true}, Choice{.phase_tracking = true, .ptrs = true}})
                results.push_back(receive(host, layers, choice, 1));
            results.push_back(
                receive(host, layers, {}, std::size_t{4} * static_cast<std::size_t>(host.threads())));
        }
        for (const Json& json : operators(Host(), layers, 1e-7F))
            results.push_back(json);
    }
    for (const int count : threads)
        for (const bool joint : {false, true})
            results.push_back(receive(Host({.threads = count}), 2, {.joint_detection = joint}, 1));
    for (const phy::Modulation modulation :
         {phy::Modulation::qpsk, phy::Modulation::qam16, phy::Modulation::qam64, phy::Modulation::qam256})
        results.push_back(detect(Host({.threads = 1}), modulation));
    results.push_back(undo_precoding(Host()));
    const Json context = Json::object({{"date", phy::apps::date()},
                                       {"phy_version", phy::version},
                                       {"processor", phy::apps::processor()},
                                       {"processors", Host::processors()}});
    fmt::print("{{\"context\": {},\n\"benchmarks\": [", context.text());
    for (const Json& result : results)
        fmt::print("{}\n{}", &result == results.data() ? "" : ",", result.text());
    fmt::print("\n]}}\n");
} catch (const std::exception& error) {
    fmt::print(stderr, "receiver_bench: {}\n", error.what());
    return 1;
}
