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

/// A file as bytes. Reading and writing here saves a copy that HDF5 would make. Throws FileError.
class PosixFile {
public:
    /// As open(2); name: for errors.
    PosixFile(const std::filesystem::path& path, int flags, mode_t mode, std::string name);
    ~PosixFile();
    PosixFile(PosixFile&& other) noexcept;
    PosixFile& operator=(PosixFile&& other) noexcept;

    [[nodiscard]] std::uint64_t size() const;

    /// Several threads share large reads, because one thread cannot copy from the page cache at the speed of
    /// the memory. Several threads may call it; while one call is shared, others read alone.
    void read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
        read_at(offset, bytes, readers());
    }
    void read_at(std::uint64_t offset, std::span<std::byte> bytes, int readers) const;
    void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;

    /// Waits until what was written is on the disk.
    void sync() const;

    /// Some file systems, as NFS, say only now that they could not write.
    void close();

    /// Throws unless the file system has room for this many bytes and permits a file of that size. Sets the
    /// file to that size.
    void require_room(std::uint64_t bytes) const;

    /// Allocates blocks for these bytes, so that writing is faster; the size stays. Does nothing if
    /// allocating takes as long as writing or is not supported. Throws if the disk is full.
    void allocate(std::uint64_t offset, std::uint64_t bytes) const;

private:
    /// Number of threads that the page cache of this machine can feed.
    static int readers();
    void read_alone(std::uint64_t offset, std::span<std::byte> bytes) const;

    int descriptor_ = -1;
    std::string name_;
    struct Readers;
    std::unique_ptr<Readers> readers_;
};

/// Opens a regular file for reading; opening a pipe would wait for its writer. The FileError distinguishes a
/// missing file from a directory.
PosixFile open_regular_file(const std::filesystem::path& path);

}  // namespace phy::detail
