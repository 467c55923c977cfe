#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace phy::hdf5 {

/// A file by its bytes: what HDF5 would only copy once more is read and written here. Throws FileError.
class PosixFile {
public:
    /// As open(2); name is what errors call the file.
    PosixFile(const std::filesystem::path& path, int flags, mode_t mode, std::string name);
    ~PosixFile();
    PosixFile(PosixFile&& other) noexcept;
    PosixFile& operator=(PosixFile&& other) noexcept;

    [[nodiscard]] std::uint64_t size() const;
    void read_at(std::uint64_t offset, std::span<std::byte> bytes) const;
    void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;

    /// Throws unless the file system has room for this many bytes and permits a file of that size. Leaves the
    /// file with that size.
    void require_room(std::uint64_t bytes) const;

private:
    int descriptor_ = -1;
    std::string name_;
};

}  // namespace phy::hdf5
