#pragma once

#include <filesystem>
#include <optional>
#include <span>

#include <mpi.h>

#include "phy/capture/write/join.hpp"

namespace phy::apps {

/// join_parts() by all ranks: rank 0 begins and completes the file, and all copy rows. parts, output and
/// durable count on all ranks, the other options and the result on rank 0. Collective. Rank 0 throws as
/// join_parts() does, and FileError if the rows of a part could not be copied; the others throw
/// mpi::FirstRankError then.
JoinedParts join_on_all_ranks(MPI_Comm comm, std::span<const std::filesystem::path> parts,
                              const std::filesystem::path& output, const JoinOptions& options);

}  // namespace phy::apps
