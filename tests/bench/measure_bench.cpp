// Sums of rows and over symbols, and means times a matrix, on a CPU against a plain read of the same bytes by
// as many threads, in turns, from memory and in a cache: as JSON. Usage: measure_bench [MiB]

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "common/machine.hpp"
#include "common/median.hpp"
#include "common/signal.hpp"
#include "phy/core/version.hpp"
#include "phy/machine/host.hpp"
#include "phy/machine/thread_pool.hpp"
#include "phy/measure/stage.hpp"
#include "phy/measure/symbol_meter.hpp"
#include "phy/reduce/average_matvec.hpp"
#include "phy/reduce/reduce_rows.hpp"

namespace {

using phy::Host;
using phy::apps::Json;
using phy::apps::median;
using phy::apps::Quartiles;
using Work = std::function<void()>;
using Words = std::span<const std::uint64_t>;

double seconds_of(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Every step-th word of it, so all of its cache lines where step is 8 or less.
template <std::size_t step>
std::uint64_t read(Words words) {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i + step <= words.size(); i += step)
        all ^= words[i];
    return all;
}

std::atomic<std::uint64_t> seen;

template <std::size_t step>
Work reader(const Host& host, Words words) {
    return [&host, words] {
        constexpr std::size_t piece = std::size_t{1} << 15;
        host.pool().for_each(words.size() / piece, [&](int /*part*/, std::size_t item) noexcept {
            seen ^= read<step>(words.subspan(item * piece, piece));
        });
    };
}

/// Of whole words and of a word a line, what is faster here.
Work fastest_reader(const Host& host, Words words) {
    const Work all = reader<1>(host, words);
    const Work lines = reader<8>(host, words);
    double of_all = 1e9;
    double of_lines = 1e9;
    for (int i = 0; i < 5; ++i) {
        of_all = std::min(of_all, seconds_of(all));
        of_lines = std::min(of_lines, seconds_of(lines));
    }
    return of_all < of_lines ? all : lines;
}

/// The work's time, as how many items a second, and the share of the speed of a read of the same bytes.
std::vector<Json::Member> timed(const std::string& name, const Host& host, Words words, std::size_t items,
                                const Work& work) {
    const Work reader = fastest_reader(host, words);
    const bool is_short = words.size_bytes() < (1U << 20);
    std::vector<double> times;
    std::vector<double> ratios;
    work();
    for (int turn = 0; turn < (is_short ? 1001 : 31); ++turn) {
        const double of_read = seconds_of(reader);
        times.push_back(seconds_of(work));
        ratios.push_back(of_read / times.back());
    }
    const Quartiles seconds = phy::apps::quartiles(times);
    return {{"name", name},
            {"threads", host.threads()},
            {"backend", host.backend().name()},
            {"bytes", words.size_bytes()},
            {"seconds", seconds.median},
            {"lower_quartile_seconds", seconds.lower},
            {"upper_quartile_seconds", seconds.upper},
            {"Gitem/s", static_cast<double>(items) / seconds.median * 1e-9},
            {"GB/s", static_cast<double>(words.size_bytes()) / seconds.median * 1e-9},
            {"of_read", median(ratios)}};
}

template <class Op>
Json reduce(const std::string& name, const Host& host, Words words, std::size_t rows) {
    using Element = typename Op::Element;
    const std::span in(reinterpret_cast<const Element*>(words.data()), words.size_bytes() / sizeof(Element));
    std::vector<typename Op::Result> out(rows);
    std::vector<std::byte> workspace(phy::reduce_rows_workspace_bytes<Op>(rows, in.size() / rows));
    auto members =
        timed(name, host, words, in.size(), [&] { phy::reduce_rows<Op>(host, in, rows, out, workspace); });
    members.emplace_back("rows", rows);
    members.emplace_back("length", in.size() / rows);
    return Json::object(members);
}

/// Power, offset, imbalance, gain, error and noise of 256QAM in cf32, by rows of so many symbols.
Json meter(const Host& host, Words words, std::size_t length) {
    const phy::SymbolView symbols(phy::SampleFormat::cf32, words.data(), words.size());
    phy::SymbolMeter measure(host, {.modulation = phy::Modulation::qam256});
    std::vector<phy::SymbolSums> sums((symbols.size() + length - 1) / length);
    auto members =
        timed("measure/256qam/cf32", host, words, symbols.size(), [&] { measure(symbols, length, sums); });
    members.emplace_back("rows", sums.size());
    members.emplace_back("length", length);
    return Json::object(members);
}

/// As many batches as there are words for.
template <class T>
Json average(const std::string& type, const Host& host, Words words, std::size_t length,
             std::size_t observations) {
    const std::size_t of_batch = length * observations;
    const std::size_t batches = std::max<std::size_t>(1, words.size_bytes() / sizeof(T) / of_batch);
    const Words used = words.first(batches * of_batch * sizeof(T) / sizeof(words[0]));
    const std::span in(reinterpret_cast<const T*>(used.data()), batches * of_batch);
    const phy::AverageShape shape{batches, length, observations};
    const std::span matrix(reinterpret_cast<const T*>(words.data()), length * length);
    std::vector<T> out(batches * length);
    std::vector<std::byte> workspace(phy::average_matvec_workspace_bytes<T>(shape));
    return Json::object(timed(fmt::format("average/{}/{}x{}x{}", type, batches, length, observations), host,
                              used, in.size(),
                              [&] { phy::average_matvec<T>(host, in, shape, matrix, out, workspace); }));
}

/// In the nearest caches: the symbols of a slot, and its pilots averaged and filtered.
void measure_in_cache(Words words, std::vector<Json>& results) {
    for (const phy::Backend& backend : phy::Backend::all()) {
        if (backend.kind() != phy::Backend::Kind::cpu || !backend.supported()) continue;
        const Host host({.backend = backend});
        results.push_back(meter(host, words.first(38'880), 38'880));
        results.push_back(average<phy::cf32>("cf32", host, words.first(38'880), 120, 4));
    }
}

void measure_in_memory(Words words, std::vector<Json>& results) {
    for (const int threads : {1, 2}) {
        const Host host({.threads = threads});
        for (const std::size_t rows : {std::size_t{1}, std::size_t{1} << 14}) {
            results.push_back(reduce<phy::Sum<float>>("sum/float", host, words, rows));
            results.push_back(reduce<phy::Sum<std::int32_t>>("sum/int32", host, words, rows));
        }
        for (const std::size_t length : {words.size(), phy::MeasureStage::Config().row})
            results.push_back(meter(host, words, length));
        results.push_back(average<float>("float", host, words, 512, 512));
        results.push_back(average<double>("double", host, words, 512, 512));
        results.push_back(average<phy::cf32>("cf32", host, words, 512, 512));
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::size_t mebibytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 512;
    std::vector<std::uint64_t> words(std::max<std::size_t>(1, mebibytes) << 17);
    const phy::apps::Signal signal(phy::Modulation::qam256, phy::SampleFormat::cf32, 30.0,
                                   phy::apps::signal_stretch);
    phy::apps::fill_repeating(std::as_writable_bytes(std::span(words)), signal.samples);
    std::vector<Json> results;
    measure_in_cache(words, results);
    measure_in_memory(words, results);
    const Json context = Json::object({{"date", phy::apps::date()},
                                       {"phy_version", phy::version},
                                       {"processor", phy::apps::processor()},
                                       {"processors", Host::processors()},
                                       {"backend", Host().backend().name()}});
    fmt::print("{{\"context\": {},\n\"benchmarks\": [", context.text());
    for (const Json& result : results)
        fmt::print("{}\n{}", &result == results.data() ? "" : ",", result.text());
    fmt::print("\n]}}\n");
}
