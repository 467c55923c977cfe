#include "demod_mpi/join.hpp"

#include <cstdint>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "phy/core/error.hpp"
#include "phy/mpi/ranks.hpp"

namespace phy::apps {
namespace {

/// Where rows go.
struct Destination {
    std::filesystem::path file;
    std::vector<RowsTarget> targets;
    std::uint64_t bytes = 0;  ///< of all rows
};

/// The number of targets and of bytes, a line for each target, and the file.
std::string to_text(const PartsJoin& join) {
    std::string text = fmt::format("{} {}\n", join.targets().size(), join.bytes());
    for (const RowsTarget& target : join.targets())
        text += fmt::format("{} {} {}\n", target.offset, target.row_bytes, target.dataset);
    return text + join.file().string();
}

Destination parse_destination(const std::string& text) {
    std::istringstream in(text);
    Destination to;
    std::size_t targets = 0;
    in >> targets >> to.bytes;
    for (std::size_t i = 0; i < targets; ++i) {
        RowsTarget target;
        in >> target.offset >> target.row_bytes >> std::ws;
        std::getline(in, target.dataset);
        to.targets.push_back(target);
    }
    if (targets == 0) in.get();
    to.file = std::string(std::istreambuf_iterator<char>(in), {});
    return to;
}

void require_no_failures(const std::vector<mpi::FailedTask>& failed,
                         std::span<const std::filesystem::path> parts) {
    if (failed.empty()) return;
    const mpi::FailedTask& first = failed.front();
    throw FileError(fmt::format("{} parts cannot be copied, first {}: {}", failed.size(),
                                parts[first.task].string(),
                                first.error.empty() ? "no rank began it" : first.error));
}

}  // namespace

JoinedParts join_on_all_ranks(MPI_Comm comm, std::span<const std::filesystem::path> parts,
                              const std::filesystem::path& output, const JoinOptions& options) {
    std::optional<PartsJoin> join;
    const Destination to = parse_destination(mpi::from_first_rank(comm, [&] {
        join.emplace(parts, output, options);
        return to_text(*join);
    }));
    std::uint64_t own = 0;
    const auto failed = mpi::share_tasks(
        comm, to.targets.empty() ? 0 : parts.size(), [&](std::uint64_t task, mpi::TaskCounter& counter) {
            own += copy_rows(parts[task], to.file, to.targets, options.durable, [&](std::uint64_t) {
                counter.answer();
                // Tasks are taken in order.
                if (options.progress) options.progress(to.bytes / parts.size() * task, to.bytes);
            });
        });
    const std::vector<std::string> of_ranks = mpi::gather(comm, std::to_string(own));
    JoinedParts joined;
    mpi::from_first_rank(comm, [&] {
        require_no_failures(failed, parts);
        std::uint64_t copied = 0;
        for (const std::string& of_rank : of_ranks)
            copied += std::stoull(of_rank);
        joined = join->commit(copied);
        return "";
    });
    return joined;
}

}  // namespace phy::apps
