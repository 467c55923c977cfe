#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "common/app.hpp"
#include "common/backend_names.hpp"
#include "common/choose_backend.hpp"
#include "common/machine.hpp"
#include "common/progress.hpp"
#include "phy/phy.hpp"
#include "stream_bench/bench.hpp"
#include "stream_bench/grid.hpp"

namespace {

using namespace phy::apps;

struct Options {
    phy::Modulation modulation = phy::Modulation::qam256;
    Grid grid;
    std::string backend = "auto";
    std::string device;
    int threads = 0;
    int rounds = 11;
};

/// What is measured, and where.
struct Setting {
    phy::Modulation modulation;
    double snr_db;
    std::vector<phy::Backend> backends;
    int threads;
    int rounds;
    std::string limit;
};

void add_options(Options& options, po::options_description& list) {
    Grid& grid = options.grid;
    list.add_options()  //
        ("modulation", parsed(options.modulation, phy::parse_modulation, "M"),
         "pi2-bpsk, bpsk, qpsk, 16qam, 64qam, 256qam (default) or 1024qam")  //
        ("symbols", parsed(grid.symbols, parse_symbols, "N[,N...]"),
         "of one run; default: 2^14, 2^16, 2^18, 2^20, 2^23, 2^25 and 2^27, as memory allows")  //
        ("streams", parsed(grid.streams, parse_streams, "N[,N...]"),
         "chunks in flight, for each device; default auto: what is fast with the backend")  //
        ("chunk", parsed(grid.chunks, parse_chunks, "N[,N...]"),
         "symbols that go through as one; default auto: what is fast with the backend")  //
        ("order", parsed(grid.orders, parse_orders, "ORDER[,ORDER...]"),
         "of a device's work: sequential (default), parallel, serial")  //
        ("formats", parsed(grid.formats, parse_formats, "IN:OUT[,IN:OUT...]"),
         "of symbols (cf32, cf16, ci16, ci8) and soft bits (int8, float16, float32); default cf32:int8")  //
        ("backend", text(options.backend, "BACKEND"),
         "auto (default: PHY_BACKEND, else CUDA, else cpu), scalar, cpu, cuda, or a name that phy_info "
         "lists")  //
        ("device", parsed(options.device, parse_device, "N[,N...]|all"),
         "CUDA devices, which take chunks in turn: N means cuda[N]")  //
        ("threads",
         number_within<int>(options.threads, "--threads", "N", {0, 1024, "a whole number from 0 to 1024"}),
         "that demap on the CPU; 0 (default): one a processor")  //
        ("rounds",
         number_within<int>(options.rounds, "--rounds", "N", {1, 10000, "a whole number from 1 to 10000"}),
         "that are counted, after one that is not (default 11)");
}

bool on_cuda(const Setting& setting) {
    return setting.backends.front().kind() == phy::Backend::Kind::cuda;
}

/// In units of 10^9 a second.
double rate(double count, const StreamRow& row) {
    return count / row.seconds * 1e-9;
}

double gsym(const StreamRow& row) {
    return rate(static_cast<double>(row.combination.symbols), row);
}

double gbytes_in(const StreamRow& row) {
    return rate(static_cast<double>(row.bytes_in), row);
}

double gbytes_out(const StreamRow& row) {
    return rate(static_cast<double>(row.bytes_out), row);
}

/// What was asked for, or what the pipeline chose.
std::string text_of(const Choice& asked, std::size_t chosen) {
    return asked ? fmt::format("{}", *asked) : fmt::format("auto {}", chosen);
}

Json json_of(const Choice& asked) {
    return asked ? Json(*asked) : Json("auto");
}

std::string line(const StreamRow& row) {
    const Combination& of = row.combination;
    return fmt::format(
        "{:<13}{:>10}{:>9}{:>15}{:>8}  {:<11}{:>9.3f}{:>9.3f}{:>9.2f}{:>10.2f}{:>10.3f}{:>11.2f}\n",
        to_string(of.formats), of.symbols, text_of(of.streams, row.streams),
        text_of(of.chunk, row.largest_chunk), row.chunks, to_string(of.order), row.seconds * 1e3, gsym(row),
        gbytes_in(row), gbytes_out(row), row.of_limit, row.of_serial);
}

std::string to_text(const std::vector<StreamRow>& rows, const Setting& setting) {
    std::string text =
        fmt::format("pipeline from memory to memory: {} at {:g} dB on {} ({}), medians of {} rounds\n",
                    to_string(setting.modulation), setting.snr_db, names_of(setting.backends),
                    devices_of(setting.backends).value_or(processor()), setting.rounds);
    text += fmt::format("{:<13}{:>10}{:>9}{:>15}{:>8}  {:<11}{:>9}{:>9}{:>9}{:>10}{:>10}{:>11}\n", "formats",
                        "symbols", "streams", "chunk", "chunks", "order", "ms", "Gsym/s", "GB/s in",
                        "GB/s out", "of limit", "of serial");
    for (const StreamRow& row : rows)
        text += line(row);
    text += fmt::format("of limit: 1 is as fast as the limit, {}\n", setting.limit);
    text += "of serial: times as fast as one chunk after another, nothing at the same time\n";
    return text;
}

Json to_json(const StreamRow& row, const Setting& setting) {
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
                         {"backend", names_of(setting.backends)},
                         {"seconds", row.seconds},
                         {"Gsym/s", gsym(row)},
                         {"GB/s in", gbytes_in(row)},
                         {"GB/s out", gbytes_out(row)},
                         {"limit_seconds", row.limit_seconds},
                         {"of_limit", row.of_limit},
                         {"serial_seconds", row.serial_seconds},
                         {"of_serial", row.of_serial},
                         {"busy", Json::object(busy)}});
}

Json to_json(const std::vector<StreamRow>& rows, const Setting& setting) {
    std::vector<Json> all;
    for (const StreamRow& row : rows)
        all.push_back(to_json(row, setting));
    const Json context = Json::object({{"date", date()},
                                       {"phy_version", phy::version},
                                       {"backend", names_of(setting.backends)},
                                       {"device", devices_of(setting.backends)},
                                       {"processor", processor()},
                                       {"threads", on_cuda(setting) ? Json() : Json(setting.threads)},
                                       {"modulation", to_string(setting.modulation)},
                                       {"snr_db", setting.snr_db},
                                       {"rounds", setting.rounds},
                                       {"limit", setting.limit}});
    return Json::object({{"context", context}, {"rows", Json::array(all)}});
}

void run(Options options, const CommonOptions& common) {
    const std::string left_out = fit_symbols(options.grid, options.modulation, physical_memory());
    if (!left_out.empty()) spdlog::warn(left_out);
    if (options.threads == 0) options.threads = processors();
    const std::vector<phy::Backend> backends = choose_backends(options.backend, options.device);
    const std::vector<Combination> all = combinations(options.grid);
    StreamBench bench({.modulation = options.modulation,
                       .backends = backends,
                       .threads = options.threads,
                       .rounds = options.rounds},
                      all);
    std::uint64_t work = 0;
    for (const Combination& each : all)
        work += bench.work(each);
    std::vector<StreamRow> rows;
    {
        Progress progress(work, common.quiet);
        for (const Combination& each : all)
            rows.push_back(bench.measure(each, progress));
    }
    const Setting setting = {options.modulation, bench.snr_db(), backends,
                             options.threads,    options.rounds, bench.limit()};
    print_result(common, to_json(rows, setting), to_text(rows, setting));
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    App app;
    app.name = "stream_bench";
    app.summary =
        "Times the pipeline from memory to memory: every combination of the lists that are given, each\n"
        "against what only moves the same bytes and against one chunk after another.";
    add_options(options, app.options);
    app.body = [&options](const CommonOptions& common) { run(options, common); };
    return run_app(app, argc, argv);
}
