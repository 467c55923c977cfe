#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "common/app.hpp"
#include "common/bench_options.hpp"
#include "common/load.hpp"
#include "common/places.hpp"
#include "common/progress.hpp"
#include "common/signal.hpp"
#include "phy/phy.hpp"
#include "stream_bench/bench.hpp"
#include "stream_bench/grid.hpp"

namespace {

using namespace phy::apps;

/// Places that work together.
using Places = std::vector<phy::Place>;

struct Options {
    phy::Modulation modulation = phy::Modulation::qam256;
    Grid grid;
    std::string backend = "auto";
    std::vector<std::string> devices;
    int threads = 0;
    int rounds = 11;
};

/// The measurement and its places.
struct Setting {
    phy::Modulation modulation;
    std::vector<Places> sets;
    int rounds;
};

struct Result {
    std::vector<StreamRow> rows;
    std::string limit;
    Json warnings;
};

/// An option that may be repeated.
auto* parsed_each(std::vector<std::string>& target, std::string (*parse)(const std::string&),
                  const char* value_name) {
    return po::value<std::vector<std::string>>()
        ->composing()
        ->value_name(value_name)
        ->notifier([&target, parse](const std::vector<std::string>& texts) {
            std::ranges::transform(texts, std::back_inserter(target), parse);
        });
}

void add_options(Options& options, po::options_description& list) {
    Grid& grid = options.grid;
    add_signal_options(list, options.modulation, grid.formats);
    list.add_options()  //
        ("symbols", parsed(grid.symbols, parse_symbols, "N[,N...]"),
         "number of symbols, per run; default: 2^14, 2^16, 2^18, 2^20, 2^23, 2^25 and 2^27, as memory "
         "allows")  //
        ("streams", parsed(grid.streams, parse_streams, "N[,N...]"),
         "chunks in flight on each device; default auto: chosen for the backend")  //
        ("chunk", parsed(grid.chunks, parse_chunks, "N[,N...]"),
         "items per chunk: symbols; default auto: chosen for the backend")  //
        ("order", parsed(grid.orders, parse_orders, "ORDER[,ORDER...]"),
         "order of a device's work: sequential (default: chunk by chunk), parallel (step by step) or serial "
         "(nothing overlaps)")                                              //
        ("backend", text(options.backend, "BACKEND"), backend_option_text)  //
        ("device", parsed_each(options.devices, parse_device, "N[,N...]|all"),
         "CUDA devices, which take chunks in turn: N means cuda[N]; repeated: every combination is measured "
         "on each set of devices")  //
        ("threads",
         number_within<int>(options.threads, "--threads", "N", {0, 1024, "a whole number from 0 to 1024"}),
         "CPU threads (0, default: all processors)")  //
        ("rounds",
         number_within<int>(options.rounds, "--rounds", "N", {1, 10000, "a whole number from 1 to 10000"}),
         "timed rounds, after one that is not timed (default 11)");
}

bool on_cuda(const Setting& setting) {
    return setting.sets.front().front().is_cuda();
}

std::string all_backends(const Setting& setting) {
    std::vector<std::string> names;
    std::ranges::transform(setting.sets, std::back_inserter(names), names_of);
    return fmt::format("{}", fmt::join(names, "; "));
}

/// None on a CPU.
std::optional<std::string> all_devices(const Setting& setting) {
    if (!on_cuda(setting)) return std::nullopt;
    std::vector<std::string> names;
    for (const Places& set : setting.sets)
        names.push_back(devices_of(set).value());
    return fmt::format("{}", fmt::join(names, "; "));
}

BenchPlace place_of(const Setting& setting) {
    const int threads = on_cuda(setting) ? 0 : setting.sets.front().front().host().threads();
    return {all_backends(setting), all_devices(setting), threads};
}

/// Per second.
double rate(std::uint64_t count, const StreamRow& row) {
    return static_cast<double>(count) / row.seconds.median;
}

/// The given value, or the pipeline's choice.
std::string text_of(const Choice& asked, std::size_t chosen) {
    return asked ? fmt::format("{}", *asked) : fmt::format("auto {}", chosen);
}

Json json_of(const Choice& asked) {
    return asked ? Json(*asked) : Json("auto");
}

std::string line(const StreamRow& row, std::size_t width) {
    const Combination& of = row.combination;
    return fmt::format(
        "{:<{}}  {:<13}{:>10}{:>9}{:>15}{:>8}  {:<11}{:>9.3f}{:>7.1f} "
        "%{:>11.3f}{:>9.2f}{:>10.2f}{:>10.3f}{:>11.2f}\n",
        names_of(row.places), width, to_string(of.formats), of.symbols, text_of(of.streams, row.streams),
        text_of(of.chunk, row.largest_chunk), row.chunks, to_string(of.order), row.seconds.median * 1e3,
        row.seconds.spread_percent(), 1e-9 * rate(of.symbols, row), 1e-9 * rate(row.bytes_in, row),
        1e-9 * rate(row.bytes_out, row), row.of_limit, row.of_serial);
}

std::string to_text(const Result& result, const Setting& setting) {
    std::string text =
        fmt::format("pipeline from memory to memory: {} at {:g} dB on {} ({}), medians of {} rounds\n",
                    to_string(setting.modulation), working_snr(setting.modulation),
                    place_of(setting).backends, place_of(setting).hardware(), setting.rounds);
    constexpr std::string_view first = "backend";
    std::size_t width = first.size();
    for (const Places& set : setting.sets)
        width = std::max(width, names_of(set).size());
    text +=
        fmt::format("{:<{}}  {:<13}{:>10}{:>9}{:>15}{:>8}  {:<11}{:>9}{:>9}{:>11}{:>9}{:>10}{:>10}{:>11}\n",
                    first, width, "formats", "symbols", "streams", "chunk", "chunks", "order", "ms", "spread",
                    "Gsymbol/s", "GB/s in", "GB/s out", "of limit", "of serial");
    for (const StreamRow& row : result.rows)
        text += line(row, width);
    text += spread_text;
    text += fmt::format("of limit: 1 is as fast as the limit, {}\n", result.limit);
    text += "of serial: times as fast as one chunk after another, nothing at the same time\n";
    return text;
}

Json to_json(const StreamRow& row) {
    const Combination& of = row.combination;
    std::vector<Json::Member> busy;
    for (const phy::PipelineReport::Busy& step : row.busy)
        busy.emplace_back(step.step, step.seconds);
    return Json::object({{"symbols", of.symbols},
                         {"streams", json_of(of.streams)},
                         {"chosen_streams", row.streams},
                         {"chunk", json_of(of.chunk)},
                         {"chunks", row.chunks},
                         {"largest_chunk", row.largest_chunk},
                         {"order", to_string(of.order)},
                         {"formats", to_string(of.formats)},
                         {"backend", names_of(row.places)},
                         {"seconds", row.seconds.median},
                         {"lower_quartile_seconds", row.seconds.lower},
                         {"upper_quartile_seconds", row.seconds.upper},
                         {"symbols_per_second", rate(of.symbols, row)},
                         {"bytes_in_per_second", rate(row.bytes_in, row)},
                         {"bytes_out_per_second", rate(row.bytes_out, row)},
                         {"limit_seconds", row.limit_seconds},
                         {"of_limit", row.of_limit},
                         {"serial_seconds", row.serial_seconds},
                         {"of_serial", row.of_serial},
                         {"busy_seconds", Json::object(busy)}});
}

Json to_json(const Result& result, const Setting& setting) {
    std::vector<Json> all;
    for (const StreamRow& row : result.rows)
        all.push_back(to_json(row));
    std::vector<Json::Member> context = bench_context(place_of(setting), setting.modulation);
    context.emplace_back("rounds", setting.rounds);
    context.emplace_back("limit", result.limit);
    return Json::object(
        {{"context", Json::object(context)}, {"warnings", result.warnings}, {"rows", Json::array(all)}});
}

std::vector<Places> choose_sets(const Options& options) {
    if (options.devices.empty()) return {choose_places(options.backend, "", options.threads)};
    std::vector<Places> sets;
    for (const std::string& device : options.devices)
        sets.push_back(choose_places(options.backend, device, options.threads));
    return sets;
}

std::vector<StreamBench::Config> configs_of(const Setting& setting) {
    std::vector<StreamBench::Config> configs;
    for (const Places& set : setting.sets)
        configs.push_back({.modulation = setting.modulation, .places = set, .rounds = setting.rounds});
    return configs;
}

/// Measures everything on each set of devices in turn.
Result measure(const Setting& setting, const std::vector<Combination>& all, bool quiet) {
    const std::vector<StreamBench::Config> configs = configs_of(setting);
    std::uint64_t work = 0;
    for (const StreamBench::Config& config : configs) {
        StreamBench::try_pipelines(config, all);
        work += StreamBench::work(config, all);
    }
    Result result;
    result.warnings = warn_of_load();
    Progress progress(work, quiet);
    for (const StreamBench::Config& config : configs) {
        StreamBench bench(config, all);
        // The description for several devices also fits one.
        if (result.limit.empty() || config.places.size() > 1) result.limit = bench.limit();
        for (const Combination& each : all)
            result.rows.push_back(bench.measure(each, progress));
    }
    return result;
}

void run(Options options, const CommonOptions& common) {
    const std::string left_out =
        fit_symbols(options.grid, options.modulation, static_cast<double>(phy::machine_memory()));
    if (!left_out.empty()) spdlog::warn(left_out);
    const Setting setting = {options.modulation, choose_sets(options), options.rounds};
    const Result result = measure(setting, combinations(options.grid), common.quiet);
    print_result(common, to_json(result, setting), to_text(result, setting));
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    App app;
    app.name = "stream_bench";
    app.summary =
        "Times the pipeline from memory to memory for every combination of the given lists, each against\n"
        "copies of the same bytes and against a pipeline that overlaps nothing.";
    app.examples = {{"stream_bench --symbols 1M,16M", "the pipeline for two lengths"},
                    {"stream_bench --backend cpu --threads 2 --json", "on two threads of the CPU"}};
    add_options(options, app.options);
    app.body = [&options](const CommonOptions& common) { run(options, common); };
    return run_app(app, argc, argv);
}
