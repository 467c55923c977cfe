#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "capture/machine_options.hpp"
#include "mpi/parts_folder.hpp"
#include "phy/files/options.hpp"
#include "phy/mpi/ranks.hpp"

/// How ranks share a capture by ranges.
namespace phy::apps {

/// Symbols or slots that a rank takes at a time, unless --range-size is given.
inline constexpr std::uint64_t symbols_per_range = std::uint64_t{1} << 24;
inline constexpr std::uint64_t slots_per_range = 10'000;

/// A rank takes its share of the machine's processors, and one GPU.
void share_machine(MachineOptions& machine, const mpi::Place& place);

/// Logs the first ones, and the number of the others.
void warn(const std::vector<std::string>& warnings);

/// Parts of a capture. A folder has some of them.
struct SharedParts {
    std::uint64_t items = 0;  ///< of the capture
    std::uint64_t range_size = 0;
    std::uint64_t before = 0;            ///< parts that were there
    std::vector<std::uint64_t> missing;  ///< first items of parts to be made

    [[nodiscard]] std::vector<std::uint64_t> firsts() const;
    [[nodiscard]] std::uint64_t count() const { return before + missing.size(); }
    [[nodiscard]] ItemRange range_from(std::uint64_t first) const;
};

/// Throws ArgumentError, which names --range-size, for too many parts.
SharedParts find_parts(const PartsFolder& folder, std::uint64_t items, std::uint64_t range_size);

/// One line without a break.
std::string to_text(const SharedParts& parts);
SharedParts parse_parts(const std::string& text);

/// Makes the missing parts on all ranks. make(first, each_chunk) makes one, on the machine's share of its
/// rank, and calls each_chunk() now and then. Collective. Returns what failed.
std::vector<mpi::FailedTask> share_parts(
    MPI_Comm comm, const SharedParts& parts, MachineOptions& machine, bool quiet,
    const std::function<void(std::uint64_t first, const std::function<void()>& each_chunk)>& make);

/// Logs errors. Throws FileError if there are any.
void require_no_failures(const std::vector<mpi::FailedTask>& failed, const SharedParts& parts);

}  // namespace phy::apps
