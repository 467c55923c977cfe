#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/app.hpp"
#include "common/interrupt.hpp"
#include "common/progress.hpp"
#include "phy/capture/write/join.hpp"

namespace {

using namespace phy::apps;

struct Arguments {
    std::string part;
    std::vector<std::string> more_parts;
    std::string output;
    phy::JoinOptions how;
};

void run(const Arguments& arguments, const CommonOptions& common) {
    if (arguments.output.empty()) throw phy::ArgumentError("--output is missing; --help lists the options");
    require_force_if_exists(arguments.output, arguments.how.overwrite);
    std::vector<std::filesystem::path> parts = {arguments.part};
    parts.insert(parts.end(), arguments.more_parts.begin(), arguments.more_parts.end());
    Progress progress(0, common.quiet, Progress::Unit::bytes);
    phy::JoinOptions how = arguments.how;
    how.progress = [&progress](std::uint64_t done, std::uint64_t all) {
        throw_if_interrupted();
        progress.update(done, all);
    };
    const auto start = std::chrono::steady_clock::now();
    const phy::JoinedParts joined = join_parts(parts, arguments.output, how);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    print_result(
        common,
        Json::object({{"parts", parts.size()},
                      {"joined_rows", joined.rows},
                      {"joined_bytes", joined.bytes},
                      {"seconds", seconds.count()}}),
        fmt::format("{}: {} rows of {} parts, {:.4g} MB in {:.3g} s\n", arguments.output, joined.rows,
                    parts.size(), 1e-6 * static_cast<double>(joined.bytes), seconds.count()));
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    App app;
    app.name = "phy_join";
    app.summary =
        "Joins the files that demod_app --range wrote for parts of a capture to the file of the whole. Each "
        "symbol or slot must be in one part.";
    app.examples = {{"phy_join part1.h5 part2.h5 -o soft_bits.h5", "two parts"},
                    {"phy_join parts/*.h5 -o soft_bits.h5 --force", "all files of a folder, in any order"}};
    app.operand = Operand{"PART", &arguments.part, &arguments.more_parts};
    app.options.add_options()                                                                //
        ("output,o", text(arguments.output, "FILE"), "output file for the soft bits: HDF5")  //
        ("force", flag(arguments.how.overwrite), "overwrite existing files: the output")     //
        ("shards", flag(arguments.how.shards),
         "do not copy the parts: the output refers to them, and they must stay where they are")  //
        ("durable", flag(arguments.how.durable), "wait until written files survive a loss of power");
    app.body = [&arguments](const CommonOptions& common) { run(arguments, common); };
    return run_app(app, argc, argv);
}
