#include "bench/cuda_suite.hpp"

#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "common/machine.hpp"

namespace phy::bench {

using apps::Json;

namespace {

std::string name_of_limit(const Measurement& measurement) {
    if (measurement.read) return "read";
    return measurement.moves.front().bytes_in == 0 ? "write" : "copy";
}

}  // namespace

std::size_t evened_bytes(std::size_t bytes_in, std::size_t bytes_out) {
    constexpr std::size_t piece = 16;  // of a copy kernel
    return (bytes_in + bytes_out) / 2 / piece * piece;
}

Move evened(const Move& move) {
    const std::size_t bytes = evened_bytes(move.bytes_in, move.bytes_out);
    return {move.from, bytes, move.to, bytes};
}

Suite::Suite(const gpu::Device& device, Options options) : device_(device), options_(std::move(options)) {}

bool Suite::wants(const std::string& name) const {
    return name.find(options_.filter) != std::string::npos;
}

std::size_t Suite::symbols_for(std::size_t bytes_a_symbol) const {
    std::size_t symbols = std::size_t{1} << (options_.quick ? 22 : 28);
    while (symbols * bytes_a_symbol > device_.free_memory() / 10 * 9)
        symbols /= 2;
    return symbols;
}

void Suite::record(const std::string& name, const Measurement& measurement) {
    const auto& moves = measurement.moves;
    const std::string limit = name_of_limit(measurement);
    const Launch copy =
        measurement.read ? measurement.read : apps::fastest_copy(device_, moves, measurement.graph);
    const Launch work = measurement.graph ? apps::as_graph(device_, measurement.work) : measurement.work;
    const apps::PairedTime time = apps::time_paired(device_, copy, work, options_.quick ? 3 : 20);

    const auto launches = static_cast<double>(moves.size());
    const double seconds = time.seconds.median / launches;
    const double gsym = static_cast<double>(measurement.symbols) / seconds * 1e-9;
    const double gbytes =
        static_cast<double>(moves.front().bytes_in + moves.front().bytes_out) / seconds * 1e-9;
    results_.push_back(Json::object({{"name", name},
                                     {"symbols", measurement.symbols},
                                     {"launches", moves.size()},
                                     {"seconds", seconds},
                                     {"lower_quartile_seconds", time.seconds.lower / launches},
                                     {"upper_quartile_seconds", time.seconds.upper / launches},
                                     {"Gsym/s", gsym},
                                     {"GB/s", gbytes},
                                     {limit + "_seconds", time.reference_seconds / launches},
                                     {"of_" + limit, time.share}}));
    fmt::print("{:<60} {:>10.2f} us, spread {:>5.1f} %, {:>8.2f} Gsym/s {:>7.0f} GB/s {:>6.3f} of {}\n", name,
               seconds * 1e6, time.seconds.spread_percent(), gsym, gbytes, time.share, limit);
    std::fflush(stdout);
}

void Suite::keep(const Json& result) {
    results_.push_back(result);
    fmt::print("{}\n", result.text());
    std::fflush(stdout);
}

std::string Suite::json() const {
    auto context = apps::measurement_context(device_);
    context.emplace_back("processor", apps::processor());
    context.emplace_back("quick", options_.quick ? 1 : 0);
    std::string text = "{\"context\": " + Json::object(context).text() + ",\n\"benchmarks\": [";
    for (const Json& result : results_)
        text += (&result == results_.data() ? "\n" : ",\n") + result.text();
    return text + "\n]}\n";
}

}  // namespace phy::bench
