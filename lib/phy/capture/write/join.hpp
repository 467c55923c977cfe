#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"

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

/// Where the file of all rows has those of a dataset.
struct PHY_EXPORT RowsTarget {
    std::string dataset;
    std::uint64_t offset = 0;     ///< of the first row of all, bytes
    std::uint64_t row_bytes = 0;  ///< bytes per row
};

/// join_parts() in steps, so that several processes can copy rows: one has the object, and all call
/// copy_rows(). Not thread-safe.
class PHY_EXPORT PartsJoin {
public:
    /// Compares the parts, and writes all but their rows to an unfinished file. JoinOptions::progress and
    /// stop do not matter. Throws as join_parts() does.
    PartsJoin(std::span<const std::filesystem::path> parts, const std::filesystem::path& output,
              const JoinOptions& options = {});

    /// The unfinished file, beside the output. Without commit() the destructor removes it.
    [[nodiscard]] const std::filesystem::path& file() const;

    /// Of the datasets whose rows are to be copied; none with JoinOptions::shards.
    [[nodiscard]] const std::vector<RowsTarget>& targets() const;

    /// Of all rows.
    [[nodiscard]] std::uint64_t bytes() const;

    /// Gives the file its name. copied: bytes, the sum of the results of copy_rows() for all parts. Throws
    /// FileError if that is not bytes(), or if the file cannot be completed.
    JoinedParts commit(std::uint64_t copied);

private:
    struct Impl;
    detail::Owned<Impl, "PartsJoin"> impl_;
};

/// Copies the rows of a part to PartsJoin::file(). Processes and threads may copy different parts at the same
/// time. durable: waits until the rows are on the disk. each_piece is called with the bytes of each piece
/// before it is written; an exception from it ends the work. Returns the number of bytes. Throws FileError if
/// the part or the file has not the rows that the targets name.
PHY_EXPORT std::uint64_t copy_rows(const std::filesystem::path& part, const std::filesystem::path& file,
                                   std::span<const RowsTarget> targets, bool durable = false,
                                   const std::function<void(std::uint64_t)>& each_piece = {});

}  // namespace phy
