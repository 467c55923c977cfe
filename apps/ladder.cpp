#include "ladder/ladder.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/app.hpp"

namespace {

using phy::apps::Climb;
using phy::apps::Json;
using phy::apps::LadderOptions;

struct Ladder {
    std::string_view name;
    Climb (*climb)(const phy::gpu::Device&, const LadderOptions&);
};

constexpr std::array ladders = {Ladder{"demap", phy::apps::climb_demap},
                                Ladder{"streams", phy::apps::climb_streams}};

const Ladder& find_ladder(std::string_view name) {
    std::string names;
    for (const Ladder& ladder : ladders) {
        if (ladder.name == name) return ladder;
        names += (names.empty() ? "" : ", ") + std::string(ladder.name);
    }
    throw phy::ArgumentError(fmt::format("unknown ladder '{}': expected one of {}", name, names));
}

double before(const Climb& climb, std::size_t i) {
    return climb.rungs[i == 0 ? 0 : i - 1].seconds;
}

std::string to_text(const Climb& climb, const phy::gpu::Device& device, std::size_t symbols) {
    const auto gsym = [symbols](double seconds) { return static_cast<double>(symbols) / seconds * 1e-9; };
    std::string text = fmt::format("{}, on {}\n", climb.title, device.name());
    text += fmt::format("{:<14}{:>8}{:>10}{:>10}{:>10}{:>12}{:>12}  {}\n", "step", "threads", "us", "Gsym/s",
                        "of copy", "over last", "over first", "what");
    for (std::size_t i = 0; i < climb.rungs.size(); ++i) {
        const auto& rung = climb.rungs[i];
        text += fmt::format("{:<14}{:>8}{:>10.1f}{:>10.1f}{:>10.3f}{:>12.2f}{:>12.2f}  {}\n", rung.name,
                            rung.threads == 0 ? "" : std::to_string(rung.threads), rung.seconds * 1e6,
                            gsym(rung.seconds), rung.of_copy, before(climb, i) / rung.seconds,
                            climb.rungs.front().seconds / rung.seconds, rung.what);
    }
    return text + fmt::format("{:<14}{:>8}{:>10.1f}{:>10.1f}{:>10.3f}\n", climb.copy, "",
                              climb.copy_seconds * 1e6, gsym(climb.copy_seconds), 1.0);
}

Json to_json(std::string_view name, const Climb& climb, const phy::gpu::Device& device,
             const LadderOptions& options) {
    std::vector<Json> steps;
    for (std::size_t i = 0; i < climb.rungs.size(); ++i) {
        const auto& rung = climb.rungs[i];
        steps.push_back(
            Json::object({{"name", rung.name},
                          {"what", rung.what},
                          {"threads", rung.threads == 0 ? Json() : Json(rung.threads)},
                          {"seconds", rung.seconds},
                          {"symbols_per_second", static_cast<double>(options.symbols) / rung.seconds},
                          {"of_copy", rung.of_copy},
                          {"speed_up", before(climb, i) / rung.seconds},
                          {"speed_up_over_first", climb.rungs.front().seconds / rung.seconds}}));
    }
    return Json::object({{"context", Json::object(phy::apps::measurement_context(device))},
                         {"ladder", name},
                         {"title", climb.title},
                         {"symbols", options.symbols},
                         {"snr_db", options.snr_db},
                         {"copy", climb.copy},
                         {"copy_seconds", climb.copy_seconds},
                         {"steps", Json::array(steps)}});
}

}  // namespace

int main(int argc, char** argv) {
    using namespace phy::apps;
    std::string name = "demap";
    LadderOptions options{.symbols = 1 << 26, .snr_db = 25.0};
    int device_number = 0;

    App app;
    app.name = "ladder";
    app.summary =
        "Times the steps from a beginner's CUDA kernel to the library's, and checks what they compute.\n"
        "LADDER is one of: demap (default; a kernel), streams (from host memory to host memory).";
    app.operand = Operand{"LADDER", &name};
    app.options.add_options()  //
        ("symbols",
         number_within<std::size_t>(options.symbols, "--symbols", "N",
                                    {1, std::size_t{1} << 36, "a whole number from 1 to 2^36"}),
         "symbols of one run (default 67108864)")  //
        ("snr-db",
         number_within<double>(options.snr_db, "--snr-db", "X", {0.0, 30.0, "a number from 0 to 30"}),
         "signal-to-noise ratio of the symbols (default 25)")  //
        ("device", number<int>(device_number, "N"), "the GPU, from 0 on (default 0)");
    app.body = [&](const CommonOptions& common) {
        const Ladder& ladder = find_ladder(name);
        const phy::gpu::Device device(device_number);
        const Climb climb = ladder.climb(device, options);
        print_result(common, to_json(ladder.name, climb, device, options),
                     to_text(climb, device, options.symbols));
    };
    return run_app(app, argc, argv);
}
