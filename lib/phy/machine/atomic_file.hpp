#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"

namespace phy {

/// A file that appears under its name only when it is complete. It is written under a temporary name beside
/// the target, and commit() renames it. The destructor removes the temporary file if commit() was not called.
/// The temporary name is unique among all processes: ".phy-", 16 hexadecimal digits and ".part".
///
/// If the name is a symbolic link, the link stays and the file is created or replaced at its target.
///
/// Each open file is listed for remove_unfinished_outputs(); the list has 64 entries. If the size of files is
/// limited (RLIMIT_FSIZE), a write beyond the limit throws FileError only in a process that ignores SIGXFSZ.
/// Not thread-safe, but threads may use different objects at the same time. Using a moved-from object throws
/// ArgumentError.
class PHY_EXPORT AtomicFile {
public:
    struct Config {
        bool overwrite = false;  ///< replace a file that exists when commit() is called

        /// commit() writes file and name to the storage device before it returns, the file first: after a
        /// loss of power the file is either complete or absent.
        bool durable = false;
    };

    /// Checks early what can be checked. Throws FileError if the file exists and overwrite is false, if the
    /// target is not a regular file, or if no file can be created beside it.
    AtomicFile(const std::filesystem::path& file, const Config& config);

    /// The name of the file as given, which errors use.
    [[nodiscard]] const std::string& name() const;

    /// The temporary path of the unfinished file.
    [[nodiscard]] const std::filesystem::path& path() const;

    /// Appends bytes. Throws FileError if they cannot be written, as on a full disk.
    void append(std::string_view bytes);

    /// Gives the file its name. Throws FileError if this fails, or if overwrite is false and another file has
    /// taken the name since. On file systems without hard links and without a rename that never replaces, a
    /// file that appears within the last microseconds is replaced all the same.
    void commit();

private:
    struct Impl;
    detail::Owned<Impl, "AtomicFile"> impl_;
};

/// True if both names lead to the same file, also through symbolic and hard links, or would do so if the file
/// existed.
[[nodiscard]] PHY_EXPORT bool is_same_file(const std::filesystem::path& one,
                                           const std::filesystem::path& other);

/// Deletes the temporary files of all open outputs of this process. Safe in a signal handler: it only
/// unlinks. The process must exit afterwards.
PHY_EXPORT void remove_unfinished_outputs() noexcept;

}  // namespace phy
