#include "demod_mpi/run.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <sstream>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "common/interrupt.hpp"
#include "common/progress.hpp"
#include "demod/demodulation.hpp"
#include "demod_mpi/part_sums.hpp"
#include "mpi/mpi_app.hpp"
#include "mpi/parts_folder.hpp"
#include "phy/capture/write/join.hpp"
#include "phy/core/backend.hpp"
#include "phy/mpi/ranks.hpp"

namespace phy::apps {
namespace {

constexpr std::uint64_t symbols_per_range = std::uint64_t{1} << 24;
constexpr std::uint64_t slots_per_range = 10'000;
constexpr std::uint64_t max_parts = 1'000'000;
constexpr std::size_t max_lines = 10;  ///< of errors or warnings

/// What rank 0 tells the others.
struct Plan {
    WholeCapture whole;
    std::uint64_t range_size = 0;
    std::uint64_t before = 0;            ///< parts that were there
    std::vector<std::uint64_t> missing;  ///< first items of parts to be made
};

std::string to_text(const Plan& plan) {
    const auto number = [](std::optional<float> value) { return value ? fmt::format("{}", *value) : "-"; };
    std::string text = fmt::format("{} {} {} {} {}", plan.whole.items, number(plan.whole.gain),
                                   number(plan.whole.noise_variance), plan.range_size, plan.before);
    for (const std::uint64_t first : plan.missing)
        text += fmt::format(" {}", first);
    return text;
}

Plan parse_plan(const std::string& text) {
    std::istringstream in(text);
    Plan plan;
    std::string gain;
    std::string noise_variance;
    in >> plan.whole.items >> gain >> noise_variance >> plan.range_size >> plan.before;
    plan.whole.gain = parse_number<float>(gain);
    plan.whole.noise_variance = parse_number<float>(noise_variance);
    for (std::uint64_t first = 0; in >> first;)
        plan.missing.push_back(first);
    return plan;
}

/// Throws ArgumentError for options of a single process.
void check(const DemodOptions& options) {
    if (options.output.empty()) throw ArgumentError("--output is missing; --help lists the options");
    const auto refuse = [](bool is_given, const char* option) {
        if (is_given)
            throw ArgumentError(fmt::format("{}: not with demod_app_mpi, only with demod_app", option));
    };
    refuse(options.files.range.has_value(), "--range");
    refuse(!options.trace.empty(), "--trace");
    refuse(options.symbols.keep_shape, "--keep-shape");
    refuse(options.slots.diagnoses, "--diagnose");
    if (output_format(options.output) != OutputFormat::hdf5)
        throw ArgumentError(fmt::format(
            "--output {}: parts are joined to an HDF5 file; expected a name such as {}", options.output,
            std::filesystem::path(options.output).replace_extension(".h5").string()));
    require_force_if_exists(options.output, options.files.overwrite);
}

/// A rank takes its share of the machine's processors, and one GPU.
void share_machine(MachineOptions& machine, const mpi::Place& place) {
    if (!machine.threads) machine.threads = own_processors(place);
    if (!machine.device.empty() || (machine.backend != "auto" && machine.backend != "cuda")) return;
    if (Backend::forced()) return;
    const auto devices = std::ranges::count_if(Backend::all(), [](const Backend& each) {
        return each.kind() == Backend::Kind::cuda && each.supported();
    });
    if (devices > 0) machine.device = std::to_string(place.local_rank % static_cast<int>(devices));
}

void warn(const std::vector<std::string>& warnings) {
    const std::size_t count = std::min(warnings.size(), max_lines);
    for (const std::string& warning : std::span(warnings).first(count))
        spdlog::warn(warning);
    if (warnings.size() > count) spdlog::warn("{} more warnings of parts", warnings.size() - count);
}

/// Rows of which a plan has one part each.
std::vector<std::uint64_t> first_rows(std::uint64_t items, std::uint64_t range_size) {
    if ((items - 1) / range_size >= max_parts)
        throw ArgumentError(
            fmt::format("--range-size {}: {} items are more than {} parts; expected at least {}", range_size,
                        items, max_parts, (items + max_parts - 1) / max_parts));
    std::vector<std::uint64_t> firsts;
    for (std::uint64_t first = 0; first < items; first += std::min(range_size, items - first))
        firsts.push_back(first);
    return firsts;
}

Plan make_plan(const DemodMpiOptions& options, const PartsFolder& folder, bool quiet) {
    check(options.demod);
    folder.open(origin_of(options.command, input_files(options.demod)));
    Plan plan;
    plan.whole = measure_whole(options.demod, quiet);
    const bool has_symbols = plan.whole.gain.has_value();
    plan.range_size = options.range_size;
    if (plan.range_size == 0) plan.range_size = has_symbols ? symbols_per_range : slots_per_range;
    const std::vector<std::uint64_t> complete = folder.complete_parts();
    for (const std::uint64_t first : first_rows(plan.whole.items, plan.range_size)) {
        if (std::ranges::binary_search(complete, first))
            ++plan.before;
        else
            plan.missing.push_back(first);
    }
    warn(plan.whole.warnings);
    return plan;
}

/// With what was measured over the whole.
DemodOptions part_options(const DemodOptions& of_whole, const Plan& plan) {
    DemodOptions options = of_whole;
    if (plan.whole.gain) options.symbols.gain = plan.whole.gain;
    if (plan.whole.noise_variance) {
        options.symbols.estimate_noise = false;
        options.files.capture.noise_variance = plan.whole.noise_variance;
    }
    // A part without sums was not finished.
    options.files.overwrite = true;
    return options;
}

void make_part(const DemodOptions& of_parts, const Plan& plan, std::uint64_t first, const PartsFolder& folder,
               const std::function<void()>& each_chunk) {
    DemodOptions options = of_parts;
    options.files.range = {.first = first, .count = plan.range_size};
    options.output = folder.rows_file(first);
    options.each_chunk = each_chunk;
    folder.write_sums(first, to_text(sums_of(demodulate(options, true))), options.files.durable);
}

/// Throws FileError if any.
void require_no_failures(const std::vector<mpi::FailedTask>& failed, const Plan& plan) {
    if (failed.empty()) return;
    for (const mpi::FailedTask& task : std::span(failed).first(std::min(failed.size(), max_lines))) {
        const std::uint64_t first = plan.missing[task.task];
        spdlog::error("range {}:{}: {}", first, std::min(plan.range_size, plan.whole.items - first),
                      task.error.empty() ? "no rank began it" : task.error);
    }
    throw FileError(fmt::format("{} of {} parts are missing; the same command makes them", failed.size(),
                                plan.before + plan.missing.size()));
}

JoinedParts join(const DemodMpiOptions& options, const Plan& plan, const PartsFolder& folder, bool quiet) {
    std::vector<std::filesystem::path> parts;
    for (const std::uint64_t first : first_rows(plan.whole.items, plan.range_size))
        parts.emplace_back(folder.rows_file(first));
    Progress progress(0, quiet, Progress::Unit::bytes);
    const SoftBitFileOptions& files = options.demod.files;
    JoinOptions how = {.overwrite = files.overwrite, .durable = files.durable, .shards = options.shards};
    how.progress = [&progress](std::uint64_t done, std::uint64_t all) {
        throw_if_interrupted();
        progress.update(done, all);
    };
    return join_parts(parts, options.demod.output, how);
}

void report(const DemodMpiOptions& options, const Plan& plan, const PartsFolder& folder,
            const mpi::Place& place, const CommonOptions& common, double seconds) {
    PartSums sums;
    for (const std::uint64_t first : first_rows(plan.whole.items, plan.range_size))
        sums.add(parse_sums(folder.read_sums(first)));
    warn(sums.warnings);
    if (sums.slots > 0 && sums.slots_with_dmrs == 0)
        throw FileError(
            fmt::format("{}: the DM-RS were found in none of {} slots", options.demod.capture, sums.slots));
    const auto start = std::chrono::steady_clock::now();
    const JoinedParts joined = join(options, plan, folder, common.quiet);
    const std::chrono::duration<double> join_seconds = std::chrono::steady_clock::now() - start;
    if (!options.shards)
        if (const std::error_code error = folder.remove())
            spdlog::warn("{}.parts: cannot be removed: {}", options.demod.output, error.message());
    const std::uint64_t parts = plan.before + plan.missing.size();
    std::vector<Json::Member> members = {{"ranks", place.ranks},         {"parts", parts},
                                         {"parts_before", plan.before},  {"joined_rows", joined.rows},
                                         {"joined_bytes", joined.bytes}, {"soft_bits", sums.soft_bits},
                                         {"saturated", sums.saturated}};
    if (sums.compared_bits > 0) {
        members.emplace_back("bit_errors", sums.bit_errors);
        members.emplace_back("compared_bits", sums.compared_bits);
    }
    if (sums.transport_blocks > 0) {
        members.emplace_back("transport_blocks", sums.transport_blocks);
        members.emplace_back("valid_transport_blocks", sums.valid_transport_blocks);
    }
    members.emplace_back("seconds", seconds);
    members.emplace_back("join_seconds", join_seconds.count());
    std::string text = fmt::format(
        "{}: {} rows of {} parts, {} of them made before, by {} ranks in {:.3g} s; joined in {:.3g} s\n",
        options.demod.output, joined.rows, parts, plan.before, place.ranks, seconds, join_seconds.count());
    if (sums.compared_bits > 0)
        text += fmt::format("bit errors: {} of {}\n", sums.bit_errors, sums.compared_bits);
    if (sums.transport_blocks > 0)
        text += fmt::format("transport blocks: {} of {} valid\n", sums.valid_transport_blocks,
                            sums.transport_blocks);
    print_result(common, Json::object(members), text);
}

}  // namespace

void run_on_all_ranks(MPI_Comm comm, DemodMpiOptions options, const CommonOptions& common) {
    const mpi::Place place = mpi::place_in(comm);
    DemodOptions& demod = options.demod;
    const PartsFolder folder(demod.output + ".parts", true);
    if (demod.survey.empty()) {
        demod.survey = folder.survey_file();
        demod.surveys_if_slots = true;
    }
    const auto start = std::chrono::steady_clock::now();
    // What fails on one rank alone fails its tasks: it has to meet the others again.
    const Plan plan = parse_plan(mpi::from_first_rank(comm, [&] {
        share_machine(demod.machine, place);
        return to_text(make_plan(options, folder, common.quiet));
    }));
    DemodOptions of_parts = part_options(demod, plan);
    Progress progress(plan.missing.size(), common.quiet || place.rank != 0, Progress::Unit::parts);
    const auto failed =
        mpi::share_tasks(comm, plan.missing.size(), [&](std::uint64_t task, mpi::TaskCounter& counter) {
            throw_if_interrupted();
            share_machine(of_parts.machine, place);
            if (task > 0) progress.update(task, plan.missing.size());
            make_part(of_parts, plan, plan.missing[task], folder, [&counter] { counter.answer(); });
        });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    mpi::from_first_rank(comm, [&] {
        throw_if_interrupted();
        require_no_failures(failed, plan);
        report(options, plan, folder, place, common, seconds.count());
        return "";
    });
}

}  // namespace phy::apps
