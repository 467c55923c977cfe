#include "phy/capture/input.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "phy/capture/file_error.hpp"
#include "phy/capture/hdf5_input.hpp"
#include "phy/capture/posix_file.hpp"

namespace phy::detail {

namespace {

std::uint64_t product(const Dimensions& dimensions, const std::string& name) {
    std::uint64_t result = 1;
    for (const std::uint64_t dimension : dimensions) {
        if (dimension != 0 && result > std::numeric_limits<std::uint64_t>::max() / dimension)
            throw file_error(name, "damaged: its dimensions overflow");
        result *= dimension;
    }
    return result;
}

/// Opens only what is a regular file: opening a pipe would wait for its writer.
hdf5::PosixFile open_regular_file(const std::filesystem::path& path) {
    const std::string name = path.string();
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (status.type() == std::filesystem::file_type::not_found) throw file_error(name, "no such file");
    if (std::filesystem::is_directory(status))
        throw file_error(name, "is a directory, expected an HDF5 file");
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        throw file_error(name, "is not a regular file, expected an HDF5 file");
    return hdf5::PosixFile(path, O_RDONLY, 0, name);
}

void refuse_git_lfs_pointer(const hdf5::PosixFile& bytes, const std::string& name) {
    constexpr std::string_view pointer = "version https://git-lfs";
    if (bytes.size() < pointer.size()) return;
    std::array<char, pointer.size()> head{};
    bytes.read_at(0, std::as_writable_bytes(std::span(head)));
    if (std::ranges::equal(head, pointer))
        throw file_error(name,
                         "is a git-LFS pointer, expected the HDF5 file itself (git lfs pull fetches it)");
}

}  // namespace

InputDataset::InputDataset(std::string name, ElementType type, Dimensions dimensions)
    : name_(std::move(name)),
      type_(std::move(type)),
      dimensions_(std::move(dimensions)),
      size_(product(dimensions_, name_)) {}

std::unique_ptr<InputFile> open_input(const std::filesystem::path& path, const CaptureOptions& options) {
    hdf5::PosixFile bytes = open_regular_file(path);
    refuse_git_lfs_pointer(bytes, path.string());
    return hdf5::open_input(path, std::move(bytes), options.external_files);
}

}  // namespace phy::detail
