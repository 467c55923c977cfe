#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capture_gen/options.hpp"
#include "common/app.hpp"
#include "common/bench_options.hpp"
#include "demod/options.hpp"
#include "fuzz/target.hpp"
#include "link_sim/options.hpp"
#include "measure/options.hpp"
#include "stream_bench/grid.hpp"

namespace {

using namespace phy::apps;

/// An app as its main() has it, but that it only looks at its options.
struct Subject {
    App app;
    std::function<void()> clear;
};

template <typename Options, typename Look>
Subject subject(void (*add)(Options&, po::options_description&), std::string Options::*operand, Look look) {
    const auto options = std::make_shared<Options>();
    Subject subject;
    if (operand != nullptr) subject.app.operand = Operand{"FILE", &((*options).*operand)};
    add(*options, subject.app.options);
    subject.app.body = [options, look](const CommonOptions& /*common*/) { look(*options); };
    subject.clear = [options] { *options = {}; };
    return subject;
}

constexpr auto nothing = [](const auto& /*options*/) {};

void look_at_points(const LinkSimOptions& options) {
    if (options.snr_db.size() > 50) return;
    points_of(options);
    stop_rule_of(options);
}

struct ListOptions {
    phy::Modulation modulation = phy::Modulation::qam256;
    Grid grid;
    std::vector<std::string> devices;
};

/// The lists that benchmarks take.
void add_list_options(ListOptions& options, po::options_description& list) {
    add_signal_options(list, options.modulation, options.grid.formats);
    list.add_options()                                                     //
        ("symbols", parsed(options.grid.symbols, parse_symbols, "N"), "")  //
        ("streams", parsed(options.grid.streams, parse_streams, "N"), "")  //
        ("chunk", parsed(options.grid.chunks, parse_chunks, "N"), "")      //
        ("order", parsed(options.grid.orders, parse_orders, "N"), "");
}

void look_at_lists(const ListOptions& options) {
    Grid grid = options.grid;
    fit_symbols(grid, options.modulation, 1e9);
}

std::vector<const char*> arguments_of(std::string& lines) {
    std::vector<const char*> arguments = {"app"};
    for (std::size_t first = 0; first < lines.size();) {
        const std::size_t end = std::min(lines.find('\n', first), lines.size());
        arguments.push_back(lines.data() + first);
        if (end < lines.size()) lines[end] = '\0';
        first = end + 1;
    }
    return arguments;
}

}  // namespace

/// The input is a digit that chooses an app, and its arguments, a line each.
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's own name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::array subjects = {
        subject(add_demod_options, &DemodOptions::capture, nothing),
        subject(add_measure_app_options, &MeasureAppOptions::capture, nothing),
        subject(add_capture_gen_options, &CaptureGenOptions::output, checked_kind),
        subject<LinkSimOptions>(add_link_sim_options, nullptr, look_at_points),
        subject<ListOptions>(add_list_options, nullptr, look_at_lists)};

    phy_fuzz::Input input(data, size);
    const auto digit = static_cast<std::uint8_t>(input.take<std::uint8_t>() - '0');
    const Subject& chosen = subjects[digit % subjects.size()];
    const auto bytes = input.rest();
    std::string lines(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::vector<const char*> arguments = arguments_of(lines);
    chosen.clear();
    // Messages have the arguments as they are; report_failure() makes a line of them.
    try {
        const CommandLine line =
            read_command_line(chosen.app, static_cast<int>(arguments.size()), arguments.data());
        if (line.to_print.empty()) chosen.app.body(line.common);
    } catch (const phy::Error&) {
    } catch (const po::error&) {
    }
    return 0;
}
