#include "phy/capture/flat/posix_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <mutex>
#include <system_error>
#include <utility>

#include "phy/core/file_error.hpp"
#include "phy/machine/host.hpp"
#include "phy/machine/thread_pool.hpp"

namespace phy::detail {

namespace {

// Linux transfers at most about 2 GiB per call; macOS refuses more.
constexpr std::size_t largest_transfer = std::size_t{1} << 30;

constexpr std::size_t shared_piece = std::size_t{128} << 10;
constexpr std::size_t min_shared = 2 * shared_piece;
constexpr int max_readers = 8;
constexpr int processors_for_a_reader = 2;

/// In memory, allocating takes as long as writing.
bool is_in_memory(int descriptor) {
#ifdef __linux__
    struct statfs disk {};
    return ::fstatfs(descriptor, &disk) == 0 && disk.f_type == TMPFS_MAGIC;
#else
    static_cast<void>(descriptor);
    return true;
#endif
}

/// A pool of one thread if others cannot be started.
std::unique_ptr<ThreadPool> start_pool(int threads) {
    try {
        return std::make_unique<ThreadPool>(threads);
    } catch (const std::exception&) {
        return std::make_unique<ThreadPool>(1);
    }
}

}  // namespace

/// Started by the first large read.
struct PosixFile::Readers {
    std::once_flag started;
    std::unique_ptr<ThreadPool> pool;
};

PosixFile::PosixFile(const std::filesystem::path& path, int flags, mode_t mode, std::string name)
    : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, mode)),
      name_(std::move(name)),
      readers_(std::make_unique<Readers>()) {
    if (descriptor_ < 0) throw file_error(name_, "cannot be opened: " + system_error_text());
}

PosixFile::~PosixFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

PosixFile::PosixFile(PosixFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      name_(std::move(other.name_)),
      readers_(std::move(other.readers_)) {}

PosixFile& PosixFile::operator=(PosixFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(name_, other.name_);
    std::swap(readers_, other.readers_);
    return *this;
}

std::uint64_t PosixFile::size() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) throw file_error(name_, system_error_text());
    return static_cast<std::uint64_t>(status.st_size);
}

int PosixFile::readers() {
    static const int readers = std::clamp(Host::processors() / processors_for_a_reader, 1, max_readers);
    return readers;
}

void PosixFile::read_at(std::uint64_t offset, std::span<std::byte> bytes, int readers) const {
    if (readers == 1 || bytes.size() < min_shared) return read_alone(offset, bytes);
    std::call_once(readers_->started, [&] { readers_->pool = start_pool(readers); });
    const std::size_t pieces = (bytes.size() + shared_piece - 1) / shared_piece;
    std::mutex mutex;
    std::size_t first_failed = pieces;
    std::exception_ptr error;
    // Threads take pieces in order, because the kernel reads ahead of sequential reads.
    std::atomic<std::size_t> next = 0;
    readers_->pool->for_each(pieces, [&](int /*part*/, std::size_t /*item*/) noexcept {
        const std::size_t piece = next++;
        const std::size_t first = piece * shared_piece;
        try {
            read_alone(offset + first, bytes.subspan(first, std::min(shared_piece, bytes.size() - first)));
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (piece > first_failed) return;
            first_failed = piece;
            error = std::current_exception();
        }
    });
    if (error) std::rethrow_exception(error);
}

void PosixFile::read_alone(std::uint64_t offset, std::span<std::byte> bytes) const {
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

void PosixFile::sync() const {
    if (::fsync(descriptor_) != 0) throw file_error(name_, "cannot be written: " + system_error_text());
}

void PosixFile::close() {
    if (::close(std::exchange(descriptor_, -1)) != 0)
        throw file_error(name_, "cannot be written: " + system_error_text());
}

void PosixFile::require_room(std::uint64_t bytes) const {
    struct statvfs disk {};
    if (::fstatvfs(descriptor_, &disk) != 0) throw file_error(name_, system_error_text());
    const std::uint64_t free_bytes = std::uint64_t{disk.f_bavail} * disk.f_frsize;
    // File systems that do not count their blocks report none.
    if (disk.f_blocks != 0 && bytes > free_bytes)
        throw file_error(name_, "cannot be written: needs " + std::to_string(bytes) +
                                    " bytes and the file system has " + std::to_string(free_bytes) + " free");
    if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0)
        throw file_error(name_,
                         "cannot be written: " + std::to_string(bytes) + " bytes: " + system_error_text());
}

void PosixFile::allocate(std::uint64_t offset, std::uint64_t bytes) const {
#ifdef __linux__
    if (bytes == 0 || is_in_memory(descriptor_)) return;
    const int failed =
        ::fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    if (failed != 0 && (errno == ENOSPC || errno == EFBIG || errno == EDQUOT))
        throw file_error(name_,
                         "cannot be written: " + std::to_string(bytes) + " bytes: " + system_error_text());
#else
    static_cast<void>(offset);
    static_cast<void>(bytes);
#endif
}

PosixFile open_regular_file(const std::filesystem::path& path) {
    const std::string name = path.string();
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (status.type() == std::filesystem::file_type::not_found) throw file_error(name, "no such file");
    if (std::filesystem::is_directory(status)) throw file_error(name, "is a directory, expected a file");
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        throw file_error(name, "is not a regular file, expected one");
    return PosixFile(path, O_RDONLY, 0, name);
}

}  // namespace phy::detail
