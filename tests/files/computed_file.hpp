#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

namespace phy_test {

/// A file whose bytes are computed when this program reads them: it stores none. One at a time; writing and
/// mapping it are not covered.
class ComputedFile {
public:
    /// Sets the bytes from an offset on. Several threads may call it at once.
    using Compute = std::function<void(std::uint64_t offset, std::span<std::byte> bytes)>;

    ComputedFile(const std::filesystem::path& path, std::uint64_t size, Compute compute);
    ~ComputedFile();
    ComputedFile(const ComputedFile&) = delete;
    ComputedFile& operator=(const ComputedFile&) = delete;

    [[nodiscard]] bool is(int descriptor) const;

    /// As pread(), of this file.
    std::size_t read(std::span<std::byte> bytes, std::uint64_t offset) const;

private:
    std::uint64_t device_ = 0;
    std::uint64_t inode_ = 0;
    std::uint64_t size_;
    Compute compute_;
};

}  // namespace phy_test
