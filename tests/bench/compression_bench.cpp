// Block floating point on a CPU against a memcpy that reads as much and writes as much, in turns, in a cache
// (one slot of one antenna) and in memory: as JSON. Usage: compression_bench [MiB]

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "common/machine.hpp"
#include "common/median.hpp"
#include "common/signal.hpp"
#include "phy/compression/block_float.hpp"
#include "phy/core/version.hpp"

namespace {

using phy::BlockFloatConfig;
using phy::Host;
using phy::SampleFormat;
using phy::apps::Json;
using phy::apps::median;
using phy::apps::Quartiles;
using Bytes = std::vector<std::byte>;

double seconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The work's time as bytes a second, read and written, and its speed over that of a copy by one thread.
Json timed(const std::string& name, const Host& host, const Bytes& in, Bytes& out,
           const std::function<void()>& work) {
    // A copy reads and writes the same number of bytes: the mean of both.
    const std::size_t moved = (in.size() + out.size()) / 2;
    Bytes from(moved, std::byte{1});
    Bytes to(moved);
    std::vector<double> times;
    std::vector<double> ratios;
    work();
    for (int turn = 0; turn < (moved < (1U << 22) ? 501 : 15); ++turn) {
        const double of_copy = seconds_of([&] { std::memcpy(to.data(), from.data(), moved); });
        times.push_back(seconds_of(work));
        ratios.push_back(of_copy / times.back());
    }
    const Quartiles seconds = phy::apps::quartiles(times);
    return Json::object({{"name", name},
                         {"backend", host.backend().name()},
                         {"threads", host.threads()},
                         {"bytes_in", in.size()},
                         {"bytes_out", out.size()},
                         {"seconds", seconds.median},
                         {"lower_quartile_seconds", seconds.lower},
                         {"upper_quartile_seconds", seconds.upper},
                         {"GB/s", static_cast<double>(in.size() + out.size()) / seconds.median * 1e-9},
                         {"of_copy", median(ratios)}});
}

void measure(const Host& host, int width, SampleFormat format, std::size_t blocks,
             std::vector<Json>& results) {
    const BlockFloatConfig config = {.width = width};
    const phy::apps::Signal signal(phy::Modulation::qam256, SampleFormat::ci16, 30.0, 1 << 16);
    Bytes integers(blocks * 12 * sizeof(phy::ci16));
    phy::apps::fill_repeating(integers, signal.samples);
    Bytes compressed(blocks * bytes_per_block(config));
    const phy::BlockFloatCompressor compress(host, config);
    const phy::BlockFloatDecompressor decompress(host, config);
    compress({SampleFormat::ci16, integers}, compressed);
    Bytes elements(blocks * 12 * size_of(format));
    const std::string of = fmt::format("{}_bits/{}/{}_blocks", width, to_string(format), blocks);
    results.push_back(timed("decompress/" + of, host, compressed, elements, [&] {
        decompress(compressed, {format, elements});
    }));
    if (format == SampleFormat::ci16)
        results.push_back(timed("compress/" + of, host, integers, compressed, [&] {
            compress({SampleFormat::ci16, integers}, compressed);
        }));
}

}  // namespace

int main(int argc, char** argv) {
    const std::size_t mebibytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 256;
    constexpr std::size_t of_slot = 14 * 273;
    const std::size_t of_memory = std::max<std::size_t>(of_slot, (mebibytes << 20) / 96);
    std::vector<Json> results;
    for (const phy::Backend& backend : phy::Backend::all()) {
        if (backend.kind() == phy::Backend::Kind::cuda || !backend.supported()) continue;
        const Host host({.backend = backend});
        for (const int width : {9, 14, 16}) {
            for (const SampleFormat format : {SampleFormat::ci16, SampleFormat::cf32})
                measure(host, width, format, of_slot, results);
        }
    }
    for (const SampleFormat format : {SampleFormat::ci16, SampleFormat::cf32})
        measure(Host(), 9, format, of_memory, results);
    const Json context = Json::object({{"date", phy::apps::date()},
                                       {"phy_version", phy::version},
                                       {"processor", phy::apps::processor()},
                                       {"processors", Host::processors()}});
    fmt::print("{{\"context\": {},\n\"benchmarks\": [", context.text());
    for (const Json& result : results)
        fmt::print("{}\n{}", &result == results.data() ? "" : ",", result.text());
    fmt::print("\n]}}\n");
}
