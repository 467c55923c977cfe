#include "phy/capture/posix_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "phy/capture/handle.hpp"

namespace phy::hdf5 {

namespace {

// Linux transfers no more than about 2 GiB in one call, macOS refuses to.
constexpr std::size_t largest_transfer = std::size_t{1} << 30;

}  // namespace

PosixFile::PosixFile(const std::filesystem::path& path, int flags, mode_t mode, std::string name)
    : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, mode)), name_(std::move(name)) {
    if (descriptor_ < 0) throw file_error(name_, "cannot be opened: " + system_error_text());
}

PosixFile::~PosixFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

PosixFile::PosixFile(PosixFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), name_(std::move(other.name_)) {}

PosixFile& PosixFile::operator=(PosixFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(name_, other.name_);
    return *this;
}

std::uint64_t PosixFile::size() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) throw file_error(name_, system_error_text());
    return static_cast<std::uint64_t>(status.st_size);
}

void PosixFile::read_at(std::uint64_t offset, std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
        const ssize_t done = ::pread(descriptor_, bytes.data(), std::min(bytes.size(), largest_transfer),
                                     static_cast<off_t>(offset));
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) throw file_error(name_, "cannot be read: " + system_error_text());
        if (done == 0) throw file_error(name_, "truncated file: ends at byte " + std::to_string(offset));
        bytes = bytes.subspan(static_cast<std::size_t>(done));
        offset += static_cast<std::uint64_t>(done);
    }
}

void PosixFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
        const ssize_t done = ::pwrite(descriptor_, bytes.data(), std::min(bytes.size(), largest_transfer),
                                      static_cast<off_t>(offset));
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) throw file_error(name_, "cannot be written: " + system_error_text());
        bytes = bytes.subspan(static_cast<std::size_t>(done));
        offset += static_cast<std::uint64_t>(done);
    }
}

void PosixFile::require_room(std::uint64_t bytes) const {
    struct statvfs disk {};
    if (::fstatvfs(descriptor_, &disk) != 0) throw file_error(name_, system_error_text());
    const std::uint64_t free_bytes = std::uint64_t{disk.f_bavail} * disk.f_frsize;
    // File systems that do not count their blocks say that they have none.
    if (disk.f_blocks != 0 && bytes > free_bytes)
        throw file_error(name_, "cannot be written: needs " + std::to_string(bytes) +
                                    " bytes and the file system has " + std::to_string(free_bytes) + " free");
    if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0)
        throw file_error(name_,
                         "cannot be written: " + std::to_string(bytes) + " bytes: " + system_error_text());
}

}  // namespace phy::hdf5
