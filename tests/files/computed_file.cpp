#include "computed_file.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

namespace phy_test {
namespace {

const ComputedFile* the_file = nullptr;

}  // namespace

ComputedFile::ComputedFile(const std::filesystem::path& path, std::uint64_t size, Compute compute)
    : size_(size), compute_(std::move(compute)) {
    std::ofstream(path).close();
    std::filesystem::resize_file(path, size);
    struct stat status {};
    ::stat(path.c_str(), &status);
    device_ = status.st_dev;
    inode_ = status.st_ino;
    the_file = this;
}

ComputedFile::~ComputedFile() {
    the_file = nullptr;
}

bool ComputedFile::is(int descriptor) const {
    struct stat status {};
    return ::fstat(descriptor, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

std::size_t ComputedFile::read(std::span<std::byte> bytes, std::uint64_t offset) const {
    const std::uint64_t count = std::min<std::uint64_t>(bytes.size(), size_ - std::min(offset, size_));
    compute_(offset, bytes.first(count));
    return count;
}

}  // namespace phy_test

/// Hides that of the C library.
extern "C" ssize_t pread(int file, void* bytes, size_t count, off_t offset) {
    static const auto hidden =
        reinterpret_cast<ssize_t (*)(int, void*, size_t, off_t)>(dlsym(RTLD_NEXT, "pread"));
    const phy_test::ComputedFile* const computed = phy_test::the_file;
    if (computed == nullptr || !computed->is(file)) return hidden(file, bytes, count, offset);
    return static_cast<ssize_t>(
        computed->read({static_cast<std::byte*>(bytes), count}, static_cast<std::uint64_t>(offset)));
}
