#include "mpi/share.hpp"

#include <algorithm>
#include <span>
#include <sstream>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "common/interrupt.hpp"
#include "common/progress.hpp"
#include "mpi/mpi_app.hpp"
#include "phy/core/backend.hpp"
#include "phy/core/error.hpp"

namespace phy::apps {
namespace {

constexpr std::uint64_t max_parts = 1'000'000;
constexpr std::size_t max_lines = 10;  ///< of errors or warnings

}  // namespace

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

std::vector<std::uint64_t> SharedParts::firsts() const {
    std::vector<std::uint64_t> firsts;
    for (std::uint64_t first = 0; first < items; first += std::min(range_size, items - first))
        firsts.push_back(first);
    return firsts;
}

ItemRange SharedParts::range_from(std::uint64_t first) const {
    return {first, std::min(range_size, items - first)};
}

SharedParts find_parts(const PartsFolder& folder, std::uint64_t items, std::uint64_t range_size) {
    if ((items - 1) / range_size >= max_parts)
        throw ArgumentError(
            fmt::format("--range-size {}: {} items are more than {} parts; expected at least {}", range_size,
                        items, max_parts, (items + max_parts - 1) / max_parts));
    SharedParts parts = {.items = items, .range_size = range_size, .before = 0, .missing = {}};
    const std::vector<std::uint64_t> complete = folder.complete_parts();
    for (const std::uint64_t first : parts.firsts()) {
        if (std::ranges::binary_search(complete, first))
            ++parts.before;
        else
            parts.missing.push_back(first);
    }
    return parts;
}

std::string to_text(const SharedParts& parts) {
    std::string text = fmt::format("{} {} {}", parts.items, parts.range_size, parts.before);
    for (const std::uint64_t first : parts.missing)
        text += fmt::format(" {}", first);
    return text;
}

SharedParts parse_parts(const std::string& text) {
    std::istringstream in(text);
    SharedParts parts;
    in >> parts.items >> parts.range_size >> parts.before;
    for (std::uint64_t first = 0; in >> first;)
        parts.missing.push_back(first);
    return parts;
}

std::vector<mpi::FailedTask> share_parts(
    MPI_Comm comm, const SharedParts& parts, MachineOptions& machine, bool quiet,
    const std::function<void(std::uint64_t first, const std::function<void()>& each_chunk)>& make) {
    const mpi::Place place = mpi::place_in(comm);
    const std::vector<std::uint64_t>& missing = parts.missing;
    Progress progress(missing.size(), quiet || place.rank != 0, Progress::Unit::parts);
    return mpi::share_tasks(comm, missing.size(), [&](std::uint64_t task, mpi::TaskCounter& counter) {
        throw_if_interrupted();
        // What fails on one rank alone fails its tasks: it has to meet the others again.
        share_machine(machine, place);
        if (task > 0) progress.update(task, missing.size());
        make(missing[task], [&counter] { counter.answer(); });
    });
}

void require_no_failures(const std::vector<mpi::FailedTask>& failed, const SharedParts& parts) {
    if (failed.empty()) return;
    for (const mpi::FailedTask& task : std::span(failed).first(std::min(failed.size(), max_lines))) {
        const ItemRange range = parts.range_from(parts.missing[task.task]);
        spdlog::error("range {}:{}: {}", range.first, range.count,
                      task.error.empty() ? "no rank began it" : task.error);
    }
    throw FileError(
        fmt::format("{} of {} parts are missing; the same command makes them", failed.size(), parts.count()));
}

}  // namespace phy::apps
