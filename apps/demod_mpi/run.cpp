#include "demod_mpi/run.hpp"

#include <chrono>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "common/interrupt.hpp"
#include "common/progress.hpp"
#include "demod/demodulation.hpp"
#include "demod_mpi/join.hpp"
#include "demod_mpi/part_sums.hpp"
#include "mpi/parts_folder.hpp"
#include "mpi/share.hpp"
#include "phy/mpi/ranks.hpp"

namespace phy::apps {
namespace {

/// What rank 0 tells the others.
struct Plan {
    WholeCapture whole;
    SharedParts parts;
};

std::string to_text(const Plan& plan) {
    const auto number = [](std::optional<float> value) { return value ? fmt::format("{}", *value) : "-"; };
    return fmt::format("{} {}\n{}", number(plan.whole.gain), number(plan.whole.noise_variance),
                       to_text(plan.parts));
}

Plan parse_plan(const std::string& text) {
    std::istringstream in(text);
    Plan plan;
    std::string gain;
    std::string noise_variance;
    std::string parts;
    in >> gain >> noise_variance >> std::ws;
    std::getline(in, parts);
    plan.parts = parse_parts(parts);
    plan.whole.items = plan.parts.items;
    plan.whole.gain = parse_number<float>(gain);
    plan.whole.noise_variance = parse_number<float>(noise_variance);
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

Plan make_plan(const DemodMpiOptions& options, const PartsFolder& folder, bool quiet) {
    Plan plan;
    plan.whole = measure_whole(options.demod, quiet);
    const bool has_symbols = plan.whole.gain.has_value();
    std::uint64_t range_size = options.range_size;
    if (range_size == 0) range_size = has_symbols ? symbols_per_range : slots_per_range;
    plan.parts = find_parts(folder, plan.whole.items, range_size);
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
    options.files.range = plan.parts.range_from(first);
    options.output = folder.rows_file(first);
    options.each_chunk = each_chunk;
    folder.write_sums(first, to_text(sums_of(demodulate(options, true))), options.files.durable);
}

/// Of all parts. Throws FileError if none of its slots has the DM-RS.
PartSums sums_of_parts(const DemodMpiOptions& options, const Plan& plan, const PartsFolder& folder) {
    PartSums sums;
    for (const std::uint64_t first : plan.parts.firsts())
        sums.add(parse_sums(folder.read_sums(first)));
    warn(sums.warnings);
    if (sums.slots > 0 && sums.slots_with_dmrs == 0)
        throw FileError(
            fmt::format("{}: the DM-RS were found in none of {} slots", options.demod.capture, sums.slots));
    return sums;
}

/// Collective.
JoinedParts join(MPI_Comm comm, const DemodMpiOptions& options, const Plan& plan, const PartsFolder& folder,
                 bool quiet) {
    std::vector<std::filesystem::path> parts;
    for (const std::uint64_t first : plan.parts.firsts())
        parts.emplace_back(folder.rows_file(first));
    Progress progress(0, quiet, Progress::Unit::bytes);
    const SoftBitFileOptions& files = options.demod.files;
    JoinOptions how = {.overwrite = files.overwrite, .durable = files.durable, .shards = options.shards};
    how.progress = [&progress](std::uint64_t done, std::uint64_t all) {
        throw_if_interrupted();
        progress.update(done, all);
    };
    return join_on_all_ranks(comm, parts, options.demod.output, how);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Seconds {
    double of_parts = 0.0;
    double of_joining = 0.0;
};

void report(const DemodMpiOptions& options, const Plan& plan, const PartSums& sums, const JoinedParts& joined,
            const mpi::Place& place, const CommonOptions& common, const Seconds& seconds) {
    const std::uint64_t parts = plan.parts.count();
    std::vector<Json::Member> members = {{"ranks", place.ranks},
                                         {"parts", parts},
                                         {"parts_before", plan.parts.before},
                                         {"joined_rows", joined.rows},
                                         {"joined_bytes", joined.bytes},
                                         {"soft_bits", sums.soft_bits},
                                         {"saturated", sums.saturated}};
    if (sums.compared_bits > 0) {
        members.emplace_back("bit_errors", sums.bit_errors);
        members.emplace_back("compared_bits", sums.compared_bits);
    }
    if (sums.transport_blocks > 0) {
        members.emplace_back("transport_blocks", sums.transport_blocks);
        members.emplace_back("valid_transport_blocks", sums.valid_transport_blocks);
    }
    members.emplace_back("seconds", seconds.of_parts);
    members.emplace_back("join_seconds", seconds.of_joining);
    std::string text = fmt::format(
        "{}: {} rows of {} parts, {} of them made before, by {} ranks in {:.3g} s; joined in {:.3g} s\n",
        options.demod.output, joined.rows, parts, plan.parts.before, place.ranks, seconds.of_parts,
        seconds.of_joining);
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
    PartsFolder folder(demod.output + ".parts", true);
    if (demod.survey.empty()) {
        demod.survey = folder.survey_file();
        demod.surveys_if_slots = true;
    }
    const auto start = std::chrono::steady_clock::now();
    open_on_all_ranks(comm, folder, [&] {
        check(demod);
        return origin_of(options.command, input_files(demod));
    });
    const Plan plan = parse_plan(mpi::from_first_rank(comm, [&] {
        share_machine(demod.machine, place);
        return to_text(make_plan(options, folder, common.quiet));
    }));
    DemodOptions of_parts = part_options(demod, plan);
    const auto failed = share_parts(comm, plan.parts, of_parts.machine, common.quiet,
                                    [&](std::uint64_t first, const auto& each_chunk) {
                                        make_part(of_parts, plan, first, folder, each_chunk);
                                    });
    Seconds seconds = {.of_parts = seconds_since(start)};
    PartSums sums;
    mpi::from_first_rank(comm, [&] {
        throw_if_interrupted();
        require_no_failures(failed, plan.parts);
        sums = sums_of_parts(options, plan, folder);
        return "";
    });
    const auto start_of_joining = std::chrono::steady_clock::now();
    const JoinedParts joined = join(comm, options, plan, folder, common.quiet || place.rank != 0);
    seconds.of_joining = seconds_since(start_of_joining);
    mpi::from_first_rank(comm, [&] {
        if (const std::error_code error = options.shards ? std::error_code() : folder.remove())
            spdlog::warn("{}.parts: cannot be removed: {}", demod.output, error.message());
        report(options, plan, sums, joined, place, common, seconds);
        return "";
    });
}

}  // namespace phy::apps
