// Soft demapping on the CPU: every case beside a memcpy of the same bytes in the same run.

#include <benchmark/benchmark.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "bench/paired.hpp"
#include "common/signal.hpp"

namespace phy::bench {
namespace {

using apps::Signal;
using apps::working_snr;

constexpr std::size_t in_l2 = 38880;
constexpr std::size_t in_dram = 1 << 25;

struct Case {
    Modulation modulation = Modulation::qam256;
    SampleFormat input = SampleFormat::cf32;
    SoftBitFormat output = SoftBitFormat::int8;
    double snr_db = 30.0;
    bool noise_per_symbol = false;
    Method method = Method::max_log;
    Evaluator evaluator = Evaluator::arithmetic;
    Backend backend = Backend::best();
    std::size_t symbols = in_l2;
    int threads = 1;

    [[nodiscard]] std::string name() const {
        return fmt::format("demap/{}/{}/{}/{:g}dB/{}/{}/{}/{}/threads:{}/{}", to_string(modulation),
                           to_string(input), to_string(output), snr_db,
                           noise_per_symbol ? "per_symbol" : "scalar", to_string(method),
                           to_string(evaluator), backend.name(), threads, symbols);
    }

    [[nodiscard]] DemapperConfig config(FullScale full_scale) const {
        return {.modulation = modulation,
                .llr = {.method = method, .evaluator = evaluator},
                .full_scale = full_scale};
    }
};

/// A case with its buffers.
class Run {
public:
    explicit Run(const Case& of)
        : signal_(of.modulation, of.input, of.snr_db, of.symbols),
          noise_(of.noise_per_symbol ? NoiseVariance(signal_.noise_per_symbol)
                                     : NoiseVariance(signal_.noise_variance)),
          llr_(of.symbols * bits_per_symbol(of.modulation) * size_of(of.output)),
          output_(of.output),
          demap_(Host({.threads = of.threads, .backend = of.backend}), of.config(signal_.full_scale)) {}

    void operator()() { demap_(signal_.view(), noise_, {output_, llr_}); }

    [[nodiscard]] Traffic traffic() const {
        const std::size_t noise_bytes = noise_.is_per_symbol() ? signal_.symbols * sizeof(float) : 0;
        return {signal_.symbols, signal_.samples.size() + noise_bytes, llr_.size()};
    }

private:
    Signal signal_;
    NoiseVariance noise_;
    std::vector<std::byte> llr_;
    SoftBitFormat output_;
    SoftDemapper demap_;
};

void add(const Case& c) {
    benchmark::RegisterBenchmark(c.name().c_str(),
                                 [c](benchmark::State& state) {
                                     Run run(c);
                                     run_paired(state, run.traffic(), [&] { run(); });
                                 })
        ->UseManualTime()
        ->Iterations(rounds_for(c.symbols));
}

// How the speed of one call grows with threads; both run on the same symbols, which stay in the caches.
void add_threads(std::size_t symbols, int threads) {
    const auto name = fmt::format("threads/256qam/{}/{}", threads, symbols);
    benchmark::RegisterBenchmark(name.c_str(),
                                 [=](benchmark::State& state) {
                                     Run one({.symbols = symbols});
                                     Run several({.symbols = symbols, .threads = threads});
                                     run_paired_with(
                                         state, several.traffic(), "of_one_thread", [&] { one(); },
                                         [&] { several(); });
                                 })
        ->UseManualTime()
        ->Iterations(rounds_for(symbols));
}

void add_per_symbol_cost(const Backend& backend, double snr_db, std::size_t symbols) {
    const auto name = fmt::format("per_symbol_cost/256qam/{:g}dB/{}/{}", snr_db, backend.name(), symbols);
    benchmark::RegisterBenchmark(
        name.c_str(),
        [=](benchmark::State& state) {
            Run scalar({.snr_db = snr_db, .backend = backend, .symbols = symbols});
            Run per_symbol(
                {.snr_db = snr_db, .noise_per_symbol = true, .backend = backend, .symbols = symbols});
            run_paired_with(
                state, per_symbol.traffic(), "of_scalar_noise", [&] { scalar(); }, [&] { per_symbol(); });
        })
        ->UseManualTime()
        ->Iterations(rounds_for(symbols));
}

// Many small allocations, each with an N0 of its own, against the same symbols in one call: what a batch
// costs.
void add_batch(Method method, std::size_t allocations) {
    constexpr std::size_t of_each = 24;
    const auto name = fmt::format("batch/256qam/{}/{}x{}", to_string(method), allocations, of_each);
    benchmark::RegisterBenchmark(
        name.c_str(),
        [=](benchmark::State& state) {
            const Modulation modulation = Modulation::qam256;
            const Signal signal(modulation, SampleFormat::cf32, 45.0, allocations * of_each);
            const std::size_t bits = of_each * bits_per_symbol(modulation);
            std::vector<std::int8_t> llr(allocations * bits);
            std::vector<Allocation> calls;
            for (std::size_t i = 0; i < allocations; ++i)
                calls.push_back({modulation, signal.view().subspan(i * of_each, of_each),
                                 signal.noise_variance * (1.0F + 1e-4F * static_cast<float>(i)),
                                 std::span(llr).subspan(i * bits, bits)});
            SoftDemapper one(Host({.threads = 1}), {.modulation = modulation});
            BatchDemapper batch(Host({.threads = 1}), {.llr = {.method = method}});
            run_paired_with(
                state, {signal.symbols, signal.samples.size(), llr.size()}, "of_one_call",
                [&] { one(signal.view(), signal.noise_variance, llr); }, [&] { batch(calls); });
        })
        ->UseManualTime()
        ->Iterations(rounds_for(allocations * of_each));
}

const bool registered = [] {
    for (const Backend& backend : Backend::all()) {
        if (backend.kind() == Backend::Kind::cuda || !backend.supported()) continue;
        for (const std::size_t symbols : {in_l2, in_dram}) {
            if (backend == Backend::scalar() && symbols == in_dram) continue;
            for (const double snr_db : {10.0, 20.0, 25.0, 30.0}) {
                add({.snr_db = snr_db, .backend = backend, .symbols = symbols});
                add_per_symbol_cost(backend, snr_db, symbols);
            }
        }
    }
    for (const Modulation modulation : all_modulations) {
        add({.modulation = modulation, .snr_db = working_snr(modulation)});
    }
    for (const SampleFormat input : all_sample_formats) {
        for (const SoftBitFormat output : all_soft_bit_formats) {
            add({.input = input, .output = output});
            add({.input = input, .output = output, .symbols = in_dram});
        }
    }
    for (const double snr_db : {15.0, 25.0}) {
        add({.snr_db = snr_db, .evaluator = Evaluator::table});
        add({.snr_db = snr_db, .method = Method::log_map, .evaluator = Evaluator::table});
        add({.snr_db = snr_db, .method = Method::log_map});
        add({.output = SoftBitFormat::float32,
             .snr_db = snr_db,
             .method = Method::log_map,
             .evaluator = Evaluator::table});
    }
    for (const Method method : {Method::max_log, Method::log_map})
        add_batch(method, 1000);
    for (const std::size_t symbols : {in_l2, 2 * in_l2})
        add_threads(symbols, 2);
    return true;
}();

}  // namespace
}  // namespace phy::bench
