// Soft demapping of more symbols than any cache holds, on a GPU.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <fmt/format.h>

#include "bench/cuda_suite.hpp"
#include "common/repeat.hpp"
#include "common/signal.hpp"

namespace phy::bench {
namespace {

using apps::Signal;
using apps::signal_stretch;
using apps::working_snr;

struct Case {
    Modulation modulation = Modulation::qam256;
    SampleFormat input = SampleFormat::cf32;
    SoftBitFormat output = SoftBitFormat::int8;
    double snr_db = 25.0;
    bool noise_per_symbol = false;
    Method method = Method::max_log;
    Evaluator evaluator = Evaluator::arithmetic;
    bool counters = false;

    /// Where the work is not a matter of memory, so few will do; 0: as many as memory holds.
    std::size_t symbols = 0;

    [[nodiscard]] std::string name() const {
        return fmt::format("demap/{}/{}/{}/{:g}dB/{}/{}/{}{}", to_string(modulation), to_string(input),
                           to_string(output), snr_db, noise_per_symbol ? "per_symbol" : "scalar",
                           to_string(method), to_string(evaluator), counters ? "/counters" : "");
    }

    [[nodiscard]] std::size_t bytes_in() const {
        return size_of(input) + (noise_per_symbol ? sizeof(float) : 0);
    }
    [[nodiscard]] std::size_t bytes_out() const { return bits_per_symbol(modulation) * size_of(output); }
};

void measure(Suite& suite, const Case& c) {
    if (!suite.wants(c.name())) return;
    const gpu::Device& device = suite.device();
    std::size_t symbols = suite.symbols_for(c.bytes_in() + c.bytes_out());
    if (c.symbols != 0) symbols = std::min(symbols, c.symbols);
    const Signal signal(c.modulation, c.input, c.snr_db, std::min(symbols, signal_stretch));

    // The noise lies behind the samples, so that the copy kernel reads both as one array.
    gpu::DeviceBuffer<std::byte> input(device, symbols * c.bytes_in());
    gpu::DeviceBuffer<std::byte> output(device, symbols * c.bytes_out());
    const std::size_t sample_bytes = symbols * size_of(c.input);
    const auto samples = input.first(sample_bytes);
    apps::fill_repeating(device, samples, std::span(signal.samples));
    std::optional<gpu::NoiseVariance> noise(signal.noise_variance);
    if (c.noise_per_symbol) {
        const auto values = gpu::elements_of<float>(input.subspan(sample_bytes, input.size() - sample_bytes));
        apps::fill_repeating(device, values, std::span(signal.noise_per_symbol));
        noise.emplace(values);
    }
    gpu::DeviceBuffer<DemapCounters> counters(device, 1);

    gpu::SoftDemapper demap(device, {.modulation = c.modulation,
                                     .llr = {.method = c.method, .evaluator = c.evaluator},
                                     .full_scale = signal.full_scale});
    if (!c.noise_per_symbol) demap.prepare(signal.noise_variance, c.output);
    const auto work = [&](cudaStream_t stream) {
        demap({c.input, samples}, *noise, {c.output, output.span()}, stream, 0,
              counters.first(c.counters ? 1 : 0));
    };
    suite.record(c.name(), {.symbols = symbols,
                            .moves = {{input.data(), input.size_bytes(), output.data(), output.size_bytes()}},
                            .work = work});
}

}  // namespace

void demapper_benchmarks(Suite& suite) {
    for (const SampleFormat input : all_sample_formats) {
        for (const SoftBitFormat output : all_soft_bit_formats)
            measure(suite, {.input = input, .output = output});
    }
    for (const SampleFormat input : {SampleFormat::cf32, SampleFormat::cf16})
        measure(suite, {.input = input, .counters = true});
    for (const SoftBitFormat output : {SoftBitFormat::int8, SoftBitFormat::float16})
        measure(suite, {.output = output, .noise_per_symbol = true});
    for (const Modulation modulation : all_modulations) {
        for (const SoftBitFormat output : {SoftBitFormat::int8, SoftBitFormat::float16})
            measure(suite, {.modulation = modulation, .output = output, .snr_db = working_snr(modulation)});
    }
    for (const double snr_db : {15.0, 25.0}) {
        for (const SoftBitFormat output : all_soft_bit_formats) {
            for (const Method method : {Method::max_log, Method::log_map})
                measure(
                    suite,
                    {.output = output, .snr_db = snr_db, .method = method, .evaluator = Evaluator::table});
        }
        measure(suite, {.snr_db = snr_db, .method = Method::log_map, .symbols = std::size_t{1} << 24});
    }
}

}  // namespace phy::bench
