#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>

#include "support/temporary_directory.hpp"

namespace phy_fuzz {

/// A file that each input replaces, in one common folder. Fast if TMPDIR is in memory.
class ScratchFile {
public:
    explicit ScratchFile(const std::string& name)
        : path_(directory() / name), descriptor_(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {}
    ~ScratchFile() { ::close(descriptor_); }
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

    const std::filesystem::path& write(std::span<const std::byte> bytes) const {
        if (::ftruncate(descriptor_, static_cast<off_t>(bytes.size())) != 0 ||
            ::pwrite(descriptor_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
            throw std::runtime_error("no room for " + path_.string());
        return path_;
    }

private:
    static const phy_test::TemporaryDirectory& directory() {
        static const phy_test::TemporaryDirectory only;
        return only;
    }

    std::filesystem::path path_;
    int descriptor_;
};

}  // namespace phy_fuzz
