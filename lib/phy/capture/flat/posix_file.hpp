#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace phy::detail {

class ThreadPool;

/// A file by its bytes: what HDF5 would only copy once more is read and written here. Throws FileError.
class PosixFile {
public:
    /// As open(2); name is what errors call the file.
    PosixFile(const std::filesystem::path& path, int flags, mode_t mode, std::string name);
    ~PosixFile();
    PosixFile(PosixFile&& other) noexcept;
    PosixFile& operator=(PosixFile&& other) noexcept;

    [[nodiscard]] std::uint64_t size() const;

    /// Several threads share what is large: one copies less out of the page cache than memory can deliver.
    /// For one caller at a time.
    void read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
        read_at(offset, bytes, readers());
    }
    void read_at(std::uint64_t offset, std::span<std::byte> bytes, int readers) const;
    void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;

    /// Throws unless the file system has room for this many bytes and permits a file of that size. Leaves the
    /// file with that size.
    void require_room(std::uint64_t bytes) const;

    /// Has the file system take blocks for these bytes, which are then written sooner; the size stays. Where
    /// that takes as long as writing, or cannot be done, nothing. Throws where there is no room.
    void allocate(std::uint64_t offset, std::uint64_t bytes) const;

private:
    /// As many as this machine's page cache is worth.
    static int readers();
    void read_alone(std::uint64_t offset, std::span<std::byte> bytes) const;

    int descriptor_ = -1;
    std::string name_;
    mutable std::unique_ptr<ThreadPool> pool_;  ///< once something large is read
};

/// Opens for reading only what is a regular file: opening a pipe would wait for its writer. Throws FileError
/// that tells a missing file and a directory apart.
PosixFile open_regular_file(const std::filesystem::path& path);

}  // namespace phy::detail
