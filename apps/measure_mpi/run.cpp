#include "measure_mpi/run.hpp"

#include <chrono>
#include <functional>
#include <iterator>
#include <limits>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "common/interrupt.hpp"
#include "common/number.hpp"
#include "measure/measurement.hpp"
#include "measure/report.hpp"
#include "measure_mpi/part_file.hpp"
#include "mpi/parts_folder.hpp"
#include "mpi/share.hpp"
#include "phy/mpi/ranks.hpp"

namespace phy::apps {
namespace {

/// What rank 0 tells the others.
struct Plan {
    MeasurePlan measurement;
    SharedParts parts;
};

/// A line each for numbers, parts and failure of the gain; the rest is the survey.
std::string to_text(const Plan& plan) {
    const MeasurePlan& measurement = plan.measurement;
    return fmt::format("{} {}\n{}\n{}\n{}", measurement.unit, measurement.gain, to_text(plan.parts),
                       measurement.no_gain, measurement.survey);
}

Plan parse_plan(const std::string& text) {
    std::istringstream in(text);
    Plan plan;
    MeasurePlan& measurement = plan.measurement;
    std::string gain;
    std::string parts;
    in >> measurement.unit >> gain >> std::ws;
    std::getline(in, parts);
    std::getline(in, measurement.no_gain);
    measurement.survey.assign(std::istreambuf_iterator<char>(in), {});
    measurement.gain = parse_number<float>(gain).value_or(1.0F);
    plan.parts = parse_parts(parts);
    measurement.items = plan.parts.items;
    return plan;
}

/// --range-size, or the default, in whole units.
std::uint64_t range_size_of(const MeasureMpiOptions& options, const PlannedMeasurement& planned) {
    std::uint64_t size = options.range_size;
    if (size == 0) size = planned.has_symbols ? symbols_per_range : slots_per_range;
    const std::uint64_t unit = planned.plan.unit;
    const std::uint64_t units = (size - 1) / unit + 1;
    return units > std::numeric_limits<std::uint64_t>::max() / unit ? planned.plan.items : units * unit;
}

Plan make_plan(const MeasureMpiOptions& options, const PartsFolder& folder, bool quiet) {
    PlannedMeasurement planned = plan_measurement(options.measure, quiet);
    Plan plan;
    plan.parts = find_parts(folder, planned.plan.items, range_size_of(options, planned));
    plan.measurement = std::move(planned.plan);
    return plan;
}

void make_part(const MeasureAppOptions& options, const Plan& plan, std::uint64_t first,
               const PartsFolder& folder, const std::function<void()>& each_chunk) {
    const MeasuredPart part =
        measure_part(options, plan.measurement, plan.parts.range_from(first), each_chunk);
    folder.write_sums(first, to_bytes(part), false);
}

void report(const MeasureMpiOptions& options, const Plan& plan, const PartsFolder& folder,
            const mpi::Place& place, const CommonOptions& common, double seconds) {
    std::vector<MeasuredPart> parts;
    for (const std::uint64_t first : plan.parts.firsts())
        parts.push_back(parse_part(folder.read_sums(first)));
    Measured done = join_measured(options.measure, plan.measurement, std::move(parts));
    done.seconds = seconds;
    warn(done.warnings);
    if (!done.no_gain.empty()) spdlog::warn(done.no_gain);
    std::vector<Json::Member> members = members_of(done);
    members.emplace_back("ranks", place.ranks);
    members.emplace_back("parts", plan.parts.count());
    members.emplace_back("parts_before", plan.parts.before);
    print_result(common, Json::object(members), text_of(done));
    if (const std::error_code error = folder.remove())
        spdlog::warn("{}: cannot be removed: {}", options.parts, error.message());
}

}  // namespace

void run_on_all_ranks(MPI_Comm comm, MeasureMpiOptions options, const CommonOptions& common) {
    const mpi::Place place = mpi::place_in(comm);
    MeasureAppOptions& measure = options.measure;
    PartsFolder folder(options.parts, false);
    if (measure.survey.empty()) {
        measure.survey = folder.survey_file();
        measure.surveys_if_slots = true;
    }
    const auto start = std::chrono::steady_clock::now();
    open_on_all_ranks(comm, folder, [&] {
        if (measure.how.range)
            throw ArgumentError("--range: not with measure_app_mpi, only with measure_app");
        return origin_of(options.command, input_files(measure));
    });
    const Plan plan = parse_plan(mpi::from_first_rank(comm, [&] {
        share_machine(measure.machine, place);
        return to_text(make_plan(options, folder, common.quiet));
    }));
    const auto failed = share_parts(comm, plan.parts, measure.machine, common.quiet,
                                    [&](std::uint64_t first, const auto& each_chunk) {
                                        make_part(measure, plan, first, folder, each_chunk);
                                    });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    mpi::from_first_rank(comm, [&] {
        throw_if_interrupted();
        require_no_failures(failed, plan.parts);
        report(options, plan, folder, place, common, seconds.count());
        return "";
    });
}

}  // namespace phy::apps
