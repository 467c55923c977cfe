#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"

namespace phy {

/// A file that appears under its name only when it is complete: it is written to a temporary name beside the
/// target and renamed by commit(); destroying it before removes the temporary file. No two files, of this run
/// or of others, have the same temporary name: ".phy-", 16 hexadecimal digits and ".part".
///
/// A symbolic link stays what it is: the file appears where it points, be there a file already or not.
///
/// While one is open it is also listed for remove_unfinished_outputs(), of which the list has 64 places.
/// Where the size of files is limited (RLIMIT_FSIZE), a write beyond the limit is a FileError only in a
/// process that ignores SIGXFSZ. Not thread-safe; different ones may be used from different threads.
/// Every call on one that was moved from is an ArgumentError.
class PHY_EXPORT AtomicFile {
public:
    struct Config {
        bool overwrite = false;  ///< take the place of a file that is there when commit() is called

        /// commit() returns when the file and its name are where a loss of power does not take them away, and
        /// before that there is no name: complete or none.
        bool durable = false;
    };

    /// Everything that can be checked before the work is: throws FileError if there is a file and overwrite
    /// is false, if the target is no regular file, or if nothing can be created beside it.
    AtomicFile(const std::filesystem::path& file, const Config& config);
    ~AtomicFile();
    AtomicFile(AtomicFile&&) noexcept;
    AtomicFile& operator=(AtomicFile&&) noexcept;

    /// What errors call the file: as it was given.
    [[nodiscard]] const std::string& name() const;

    /// By which the unfinished file can be opened.
    [[nodiscard]] const std::filesystem::path& path() const;

    /// Appends. Throws FileError if the disk is full.
    void append(std::string_view bytes);

    /// Gives the file its name. Throws FileError if that cannot be done, or if another file has got the name
    /// meanwhile and overwrite is false. On file systems that have neither hard links nor a rename that
    /// replaces nothing, one that appears within the last microseconds is replaced nevertheless.
    void commit();

private:
    struct Impl;
    detail::Owned<Impl, "AtomicFile"> impl_;
};

/// True if both names lead to one file, through symbolic and hard links too, or would where a file is not
/// there yet.
[[nodiscard]] PHY_EXPORT bool is_same_file(const std::filesystem::path& one,
                                           const std::filesystem::path& other);

/// Deletes the temporary files of all outputs that are open in this process. Safe to call from a signal
/// handler (it only unlinks); the process is expected to exit afterwards.
PHY_EXPORT void remove_unfinished_outputs() noexcept;

}  // namespace phy
