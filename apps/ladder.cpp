#include "ladder/ladder.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/app.hpp"
#include "common/load.hpp"

namespace {

using phy::apps::Climb;
using phy::apps::Json;
using phy::apps::LadderOptions;
using phy::apps::spread_text;

struct Ladder {
    std::string_view name;
    Climb (*climb)(const phy::gpu::Device&, const LadderOptions&);
};

constexpr std::array ladders = {
    Ladder{"demap", phy::apps::climb_demap}, Ladder{"streams", phy::apps::climb_streams},
    Ladder{"reduce", phy::apps::climb_reduce}, Ladder{"average", phy::apps::climb_average}};

const Ladder& find_ladder(std::string_view name) {
    std::string names;
    for (const Ladder& ladder : ladders) {
        if (ladder.name == name) return ladder;
        names += (names.empty() ? "" : ", ") + std::string(ladder.name);
    }
    throw phy::ArgumentError(fmt::format("unknown ladder '{}': expected one of {}", name, names));
}

double before(const Climb& climb, std::size_t i) {
    return climb.rungs[i == 0 ? 0 : i - 1].seconds.median;
}

/// In units of 10^9 per second.
double giga(std::size_t count, double seconds) {
    return static_cast<double>(count) / seconds * 1e-9;
}

std::string to_text(const Climb& climb, const phy::gpu::Device& device) {
    const auto& task = climb.task;
    std::string text = fmt::format("{}, on {}\n", task.title, device.name());
    if (!task.note.empty()) text += task.note + "\n";
    text += fmt::format("{:<14}{:>15}{:>10}{:>9}{:>10}{:>10}{:>10}{:>12}{:>12}  {}\n", "step",
                        "threads/block", "us", "spread", task.rate, "GB/s", "of " + climb.limit_kind,
                        "over last", "over first", "what");
    const auto line = [&task](std::string_view name, int threads, double seconds, std::string_view spread,
                              double of_limit) {
        return fmt::format("{:<14}{:>15}{:>10.1f}{:>9}{:>10.1f}{:>10.1f}{:>10.3f}", name,
                           threads == 0 ? "" : std::to_string(threads), seconds * 1e6, spread,
                           giga(task.count, seconds), giga(task.bytes, seconds), of_limit);
    };
    for (std::size_t i = 0; i < climb.rungs.size(); ++i) {
        const auto& rung = climb.rungs[i];
        const double seconds = rung.seconds.median;
        text += line(rung.name, rung.threads, seconds, fmt::format("{:.1f} %", rung.seconds.spread_percent()),
                     rung.of_limit) +
                fmt::format("{:>12.2f}{:>12.2f}  {}\n", before(climb, i) / seconds,
                            before(climb, 0) / seconds, rung.what);
    }
    return text + line(climb.limit, 0, climb.limit_seconds, "", 1.0) + "\n" + spread_text;
}

Json to_json(std::string_view name, const Climb& climb, const phy::gpu::Device& device,
             const Json& warnings) {
    const auto& task = climb.task;
    const std::string units_per_second = task.unit + "_per_second";
    const std::string of_limit = "of_" + climb.limit_kind;
    std::vector<Json> steps;
    for (std::size_t i = 0; i < climb.rungs.size(); ++i) {
        const auto& rung = climb.rungs[i];
        const double seconds = rung.seconds.median;
        steps.push_back(Json::object({{"name", rung.name},
                                      {"what", rung.what},
                                      {"threads", rung.threads == 0 ? Json() : Json(rung.threads)},
                                      {"seconds", seconds},
                                      {"lower_quartile_seconds", rung.seconds.lower},
                                      {"upper_quartile_seconds", rung.seconds.upper},
                                      {units_per_second, static_cast<double>(task.count) / seconds},
                                      {"bytes_per_second", static_cast<double>(task.bytes) / seconds},
                                      {of_limit, rung.of_limit},
                                      {"speed_up", before(climb, i) / seconds},
                                      {"speed_up_over_first", before(climb, 0) / seconds}}));
    }
    const std::string limit_seconds = climb.limit_kind + "_seconds";
    std::vector<Json::Member> members = {{"context", Json::object(phy::apps::measurement_context(device))},
                                         {"warnings", warnings},
                                         {"ladder", name},
                                         {"title", task.title},
                                         {task.unit, task.count}};
    members.insert(members.end(), task.settings.begin(), task.settings.end());
    members.insert(members.end(), {{"bytes", task.bytes},
                                   {climb.limit_kind, climb.limit},
                                   {limit_seconds, climb.limit_seconds},
                                   {"steps", Json::array(steps)}});
    return Json::object(members);
}

}  // namespace

int main(int argc, char** argv) {
    using namespace phy::apps;
    std::string name = "demap";
    LadderOptions options{.symbols = 1 << 26,
                          .snr_db = 25.0,
                          .elements = 1 << 26,
                          .batches = 1024,
                          .length = 512,
                          .observations = 512};
    int device_number = 0;

    App app;
    app.name = "ladder";
    app.summary =
        "Times the steps from a beginner's CUDA kernel to the library's, and checks what they compute.\n"
        "LADDER is one of: demap (default; a kernel), streams (from host memory to host memory),\n"
        "reduce (the sum of int32), average (means of rows, times a matrix).";
    app.examples = {{"ladder demap", "steps of a demapper"},
                    {"ladder streams --json", "copies and kernels that overlap"}};
    app.operand = Operand{"LADDER", &name};
    app.options.add_options()  //
        ("symbols",
         number_within<std::size_t>(options.symbols, "--symbols", "N",
                                    {1, std::size_t{1} << 36, "a whole number from 1 to 2^36"}),
         "demap, streams: number of symbols, per run (default 67108864)")  //
        ("snr-db",
         number_within<double>(options.snr_db, "--snr-db", "X", {0.0, 30.0, "a number from 0 to 30"}),
         "demap, streams: SNR in dB (default 25): Es/N0 of the symbols")  //
        ("elements",
         number_within<std::size_t>(options.elements, "--elements", "N",
                                    {1, std::size_t{1} << 34, "a whole number from 1 to 2^34"}),
         "reduce: elements per sum (default 67108864)")  //
        ("batches",
         number_within<std::size_t>(options.batches, "--batches", "N",
                                    {1, std::size_t{1} << 20, "a whole number from 1 to 2^20"}),
         "average: number of means that are multiplied by the matrix (default 1024)")  //
        ("length",
         number_within<std::size_t>(options.length, "--length", "L",
                                    {1, max_average_length, "a whole number from 1 to 4096"}),
         "average: rows and columns of the matrix (default 512)")  //
        ("observations",
         number_within<std::size_t>(options.observations, "--observations", "M",
                                    {1, std::size_t{1} << 20, "a whole number from 1 to 2^20"}),
         "average: observations per mean (default 512)")  //
        ("device", number<int>(device_number, "N"), "CUDA device: N means cuda[N] (default 0)");
    app.body = [&](const CommonOptions& common) {
        const Ladder& ladder = find_ladder(name);
        const phy::gpu::Device device(device_number);
        const Json warnings = warn_of_load();
        const Climb climb = ladder.climb(device, options);
        print_result(common, to_json(ladder.name, climb, device, warnings), to_text(climb, device));
    };
    return run_app(app, argc, argv);
}
