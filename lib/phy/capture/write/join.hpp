#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <stop_token>

#include "phy/core/export.hpp"

namespace phy {

/// Options of join_parts().
struct PHY_EXPORT JoinOptions {
    bool overwrite = false;  ///< the output replaces an existing file
    bool durable = false;    ///< see AtomicFile

    /// The output has virtual datasets, which take their rows from the parts, instead of a copy. Output and
    /// parts must stay as they lie to each other: HDF5 reads the rows of a missing part as NaN, integers as
    /// 0, without an error. The names of parts may have no %.
    bool shards = false;

    /// Called after each piece with the number of bytes written and of all bytes. An exception from it ends
    /// the work and reaches the caller.
    std::function<void(std::uint64_t done, std::uint64_t all)> progress = {};
    std::stop_token stop = {};
};

/// Result of join_parts().
struct PHY_EXPORT JoinedParts {
    std::uint64_t rows = 0;   ///< symbols or slots
    std::uint64_t bytes = 0;  ///< of all datasets, copied or not
    bool cancelled = false;   ///< stopped on request: no file
};

/// Joins parts of one output, which SoftBitWriter or SlotWriter have written with Config::part, to the file
/// of all rows: its datasets and attributes are those of a file that was written at once. The parts may come
/// in any order. The file appears when it is complete.
///
/// Throws FileError for a file that is not such a part, for rows that no part or several parts have, which it
/// names, and for parts that differ in a dataset or an attribute, such as the capture, N0 or the format;
/// ArgumentError without parts, for an output in another format than HDF5, and for one that is also a part.
PHY_EXPORT JoinedParts join_parts(std::span<const std::filesystem::path> parts,
                                  const std::filesystem::path& output, const JoinOptions& options = {});

}  // namespace phy
