#pragma once

#include <filesystem>
#include <string>

#include "phy/capture/posix_file.hpp"

namespace phy::hdf5 {

/// A place in the table of files that remove_unfinished_outputs() unlinks.
class UnfinishedOutput {
public:
    /// Throws FileError if the path is too long or the table is full.
    UnfinishedOutput(const std::filesystem::path& path, std::string_view name);
    ~UnfinishedOutput();
    UnfinishedOutput(const UnfinishedOutput&) = delete;
    UnfinishedOutput& operator=(const UnfinishedOutput&) = delete;

private:
    std::size_t slot_;
};

/// A new file under a hidden name beside its target. It is removed unless published.
class TemporaryFile {
public:
    /// Throws FileError if the target may not be replaced, or nothing can be created beside it.
    TemporaryFile(const std::filesystem::path& target, bool overwrite);
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    /// What errors call the file: its target.
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] const PosixFile& bytes() const { return bytes_; }

    /// Gives the file its target's name. Throws FileError if that cannot be done, or if overwrite is false
    /// and another file has got the name meanwhile.
    void publish();

private:
    std::string name_;
    std::filesystem::path target_;
    std::filesystem::path path_;
    bool overwrite_;
    UnfinishedOutput listed_;
    PosixFile bytes_;
};

}  // namespace phy::hdf5
