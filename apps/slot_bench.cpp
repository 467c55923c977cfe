#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/app.hpp"
#include "common/bench_options.hpp"
#include "common/formats.hpp"
#include "common/load.hpp"
#include "common/places.hpp"
#include "common/signal.hpp"
#include "phy/phy.hpp"
#include "slot_bench/latency.hpp"

namespace {

using namespace phy::apps;

constexpr std::uint64_t slot_symbols = 45864;  // 273 resource blocks of 12 subcarriers, 14 OFDM symbols

struct Options {
    phy::Modulation modulation = phy::Modulation::qam256;
    std::vector<std::uint64_t> symbols = {slot_symbols};
    std::vector<Formats> formats = {{}};
    std::string backend = "auto";
    std::string device;
    int threads = 1;
    int slots = 10000;
};

/// All paths of one slot.
struct Result {
    std::uint64_t symbols;
    Formats formats;
    std::vector<LatencyRow> rows;
};

struct Setting {
    Options options;
    std::vector<phy::Place> places;

    [[nodiscard]] BenchPlace place() const {
        const int threads = places.front().is_cuda() ? 0 : places.front().host().threads();
        return {names_of(places), devices_of(places), threads};
    }
};

std::string parse_one_device(const std::string& value) {
    if (!parse_number<int>(value))
        throw phy::ArgumentError("--device " + value + ": expected a whole number");
    return parse_device(value);
}

void add_options(Options& options, po::options_description& list) {
    add_signal_options(list, options.modulation, options.formats);
    list.add_options()  //
        ("symbols", parsed(options.symbols, parse_symbols, "N[,N...]"),
         "number of symbols, per slot; default 45864: 273 resource blocks, 14 OFDM symbols")       //
        ("backend", text(options.backend, "BACKEND"), backend_option_text)                         //
        ("device", parsed(options.device, parse_one_device, "N"), "CUDA device: N means cuda[N]")  //
        ("threads",
         number_within<int>(options.threads, "--threads", "N", {1, 1024, "a whole number from 1 to 1024"}),
         "CPU threads (default 1)")  //
        ("slots",
         number_within<int>(options.slots, "--slots", "N",
                            {1, 10'000'000, "a whole number from 1 to 10000000"}),
         "number of slots, timed one after another (default 10000)");
}

Result measure(const Setting& setting, std::uint64_t symbols, const Formats& formats) {
    const Options& options = setting.options;
    const Signal signal(options.modulation, formats.in, working_snr(options.modulation), symbols);
    phy::SoftDemapStage stage(stage_config(options.modulation, signal, formats.out));
    return {symbols, formats, measure_latency({signal, stage, setting.places.front(), options.slots})};
}

std::string to_text(const std::vector<Result>& results, const Setting& setting) {
    std::string text = fmt::format(
        "one slot at a time, from host memory to host memory: {} at {:g} dB on {} ({}), {} slots\n",
        to_string(setting.options.modulation), working_snr(setting.options.modulation),
        setting.place().backends, setting.place().hardware(), setting.options.slots);
    text += fmt::format("{:<13}{:>10}  {:<18}{:>11}{:>9}{:>9}{:>10}\n", "formats", "symbols", "way",
                        "median us", "spread", "p99 us", "of parts");
    bool has_parts = false;
    for (const Result& result : results) {
        for (const LatencyRow& row : result.rows) {
            text += fmt::format("{:<13}{:>10}  {:<18}{:>11.2f}{:>7.1f} %{:>9.2f}{:>10}\n",
                                to_string(result.formats), result.symbols, row.name, row.latency.median * 1e6,
                                row.latency.spread_percent(), row.latency.p99 * 1e6,
                                row.of_parts ? fmt::format("{:.2f}", *row.of_parts) : "");
            has_parts = has_parts || row.of_parts;
        }
    }
    text += spread_text;
    if (has_parts)
        text += "of parts: the median divided by the sum of the parts alone, each with its own wait\n";
    return text;
}

Json to_json(const std::vector<Result>& results, const Json& warnings, const Setting& setting) {
    std::vector<Json> rows;
    for (const Result& result : results) {
        for (const LatencyRow& row : result.rows) {
            rows.push_back(Json::object({{"symbols", result.symbols},
                                         {"formats", to_string(result.formats)},
                                         {"way", row.name},
                                         {"median_seconds", row.latency.median},
                                         {"lower_quartile_seconds", row.latency.lower},
                                         {"upper_quartile_seconds", row.latency.upper},
                                         {"p99_seconds", row.latency.p99},
                                         {"of_parts", row.of_parts ? Json(*row.of_parts) : Json()}}));
        }
    }
    std::vector<Json::Member> context = bench_context(setting.place(), setting.options.modulation);
    context.emplace_back("slots", setting.options.slots);
    return Json::object(
        {{"context", Json::object(context)}, {"warnings", warnings}, {"rows", Json::array(rows)}});
}

/// The bench has several copies of samples and soft bits.
void check_sizes(const Options& options) {
    constexpr double copies = 3.0;
    const SymbolBytes each = max_symbol_bytes(options.modulation, options.formats);
    for (const std::uint64_t symbols : options.symbols)
        check_memory(symbols, each, static_cast<double>(phy::machine_memory()) / copies);
}

void run(const Options& options, const CommonOptions& common) {
    const Setting setting = {options, choose_places(options.backend, options.device, options.threads)};
    check_sizes(options);
    const Json warnings = warn_of_load();
    std::vector<Result> results;
    for (const Formats& formats : options.formats) {
        for (const std::uint64_t symbols : options.symbols)
            results.push_back(measure(setting, symbols, formats));
    }
    print_result(common, to_json(results, warnings, setting), to_text(results, setting));
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    App app;
    app.name = "slot_bench";
    app.summary =
        "Times single slots from host memory to host memory, for receivers that wait for each slot: every\n"
        "way that phy offers and, on a GPU, the steps of the plain way (copy, demap, copy).";
    app.examples = {{"slot_bench", "a slot of 100 MHz"},
                    {"slot_bench --symbols 12k --slots 1k --json", "small slots"}};
    add_options(options, app.options);
    app.body = [&options](const CommonOptions& common) { run(options, common); };
    return run_app(app, argc, argv);
}
