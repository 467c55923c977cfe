// What a slot brings, on a GPU: so few symbols that launches count, timed in a graph, where those of the host
// do not.

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/cuda_suite.hpp"
#include "common/repeat.hpp"
#include "common/signal.hpp"

namespace phy::bench {
namespace {

using apps::Signal;
using apps::signal_stretch;
using apps::working_snr;

constexpr std::size_t slot = 45864;         // 273 resource blocks of 12 subcarriers, 14 OFDM symbols
constexpr std::size_t beyond_l2 = 1 << 28;  // bytes that push what came before them out of the cache
constexpr std::size_t min_launches = 100;

gpu::DeviceSpan<const std::byte> source_of(const Move& move) {
    return gpu::device_span(static_cast<const std::byte*>(move.from), move.bytes_in);
}

gpu::DeviceSpan<std::byte> target_of(const Move& move) {
    return gpu::device_span(static_cast<std::byte*>(move.to), move.bytes_out);
}

/// One size again and again. Cold: every launch on memory that no launch has touched for long.
void measure_size(Suite& suite, std::size_t symbols, bool cold) {
    const auto name = fmt::format("slot/256qam/cf32/int8/{}/{}", cold ? "cold" : "warm", symbols);
    if (!suite.wants(name)) return;
    constexpr std::size_t qm = bits_per_symbol(Modulation::qam256);
    const std::size_t bytes = symbols * (sizeof(cf32) + qm);
    const std::size_t launches = std::max(min_launches, cold && !suite.quick() ? beyond_l2 / bytes : 0);
    const std::size_t places = cold ? launches : 1;

    const gpu::Device& device = suite.device();
    const Signal signal(Modulation::qam256, SampleFormat::cf32, 25.0, signal_stretch);
    gpu::DeviceBuffer<std::byte> input(device, places * symbols * sizeof(cf32));
    gpu::DeviceBuffer<std::byte> output(device, places * symbols * qm);
    apps::fill_repeating(device, input.span(), std::span(signal.samples));
    std::vector<Move> moves;
    for (std::size_t i = 0; i < launches; ++i) {
        const std::size_t first = i % places * symbols;
        moves.push_back({input.data() + first * sizeof(cf32), symbols * sizeof(cf32),
                         output.data() + first * qm, symbols * qm});
    }
    const gpu::SoftDemapper demap(device, {.modulation = Modulation::qam256});
    const auto work = [&](cudaStream_t stream) {
        for (const Move& move : moves)
            demap({SampleFormat::cf32, source_of(move)}, signal.noise_variance,
                  {SoftBitFormat::int8, target_of(move)}, stream);
    };
    suite.record(name, {.symbols = symbols, .moves = moves, .work = work, .graph = true});
}

/// QPSK to 1024QAM in turns; 64QAM comes once less, which makes six soft bits a symbol.
std::vector<Modulation> mixed_modulations() {
    constexpr std::array in_turns = {Modulation::qpsk, Modulation::qam16, Modulation::qam64,
                                     Modulation::qam256, Modulation::qam1024};
    std::vector<Modulation> mix;
    for (std::size_t i = 0; i < 65; ++i)
        mix.push_back(in_turns[i % in_turns.size()]);
    mix.erase(mix.begin() + 2);
    return mix;
}

/// The allocations of one slot, all in one array, and where the next slot's would be.
struct Slot {
    std::vector<std::byte> samples;
    std::vector<float> noise_variances;
    std::size_t soft_bits = 0;
};

Slot make_slot(std::span<const Modulation> mix) {
    Slot all;
    for (const Modulation modulation : mix) {
        const Signal signal(modulation, SampleFormat::cf32, working_snr(modulation), slot);
        all.samples.insert(all.samples.end(), signal.samples.begin(), signal.samples.end());
        all.noise_variances.push_back(signal.noise_variance);
        all.soft_bits += slot * bits_per_symbol(modulation);
    }
    return all;
}

std::vector<gpu::Allocation> allocations_at(const Move& place, std::span<const Modulation> mix,
                                            std::span<const float> noise_variances) {
    std::vector<gpu::Allocation> allocations;
    std::size_t from = 0;
    std::size_t to = 0;
    for (std::size_t i = 0; i < mix.size(); ++i) {
        const std::size_t soft_bits = slot * bits_per_symbol(mix[i]);
        allocations.push_back({mix[i],
                               {SampleFormat::cf32, source_of(place).subspan(from, slot * sizeof(cf32))},
                               noise_variances[i],
                               {SoftBitFormat::int8, target_of(place).subspan(to, soft_bits)}});
        from += slot * sizeof(cf32);
        to += soft_bits;
    }
    return allocations;
}

void measure_batch(Suite& suite) {
    const std::vector<Modulation> mix = mixed_modulations();
    const auto name = fmt::format("batch/mixed/cf32/int8/{}x{}", mix.size(), slot);
    if (!suite.wants(name)) return;
    const std::size_t places = suite.quick() ? 4 : 26;  // 1 GB
    const gpu::Device& device = suite.device();
    const Slot one = make_slot(mix);
    gpu::DeviceBuffer<std::byte> input(device, places * one.samples.size());
    gpu::DeviceBuffer<std::byte> output(device, places * one.soft_bits);
    apps::fill_repeating(device, input.span(), std::span(one.samples));

    std::vector<Move> moves;
    std::vector<std::vector<gpu::Allocation>> batches;
    for (std::size_t i = 0; i < places; ++i) {
        moves.push_back({input.data() + i * one.samples.size(), one.samples.size(),
                         output.data() + i * one.soft_bits, one.soft_bits});
        batches.push_back(allocations_at(moves.back(), mix, one.noise_variances));
    }
    const gpu::BatchDemapper demap(device, {});
    const auto work = [&](cudaStream_t stream) {
        for (const auto& batch : batches)
            demap(batch, stream);
    };
    suite.record(name, {.symbols = mix.size() * slot, .moves = moves, .work = work, .graph = true});
}

}  // namespace

void slot_benchmarks(Suite& suite) {
    for (const bool cold : {true, false}) {
        for (const std::size_t symbols : {std::size_t{1024}, std::size_t{4096}, slot, 4 * slot, 16 * slot})
            measure_size(suite, symbols, cold);
    }
    measure_batch(suite);
}

}  // namespace phy::bench
