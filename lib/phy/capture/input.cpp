#include "phy/capture/input.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>

#include "phy/capture/flat/npy_input.hpp"
#include "phy/capture/flat/posix_file.hpp"
#include "phy/capture/flat/raw_input.hpp"
#include "phy/capture/flat/regular_file.hpp"
#include "phy/capture/flat/sigmf_input.hpp"
#include "phy/capture/foreign_format.hpp"
#include "phy/capture/hdf5/hdf5_input.hpp"
#include "phy/core/file_error.hpp"

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

void require_no_shape(const CaptureOptions& options) {
    if (!options.shape.empty())
        throw ArgumentError("shape: expected none but with raw files and SigMF recordings");
}

}  // namespace

InputDataset::InputDataset(std::string name, ElementType type, Dimensions dimensions)
    : name_(std::move(name)),
      type_(std::move(type)),
      dimensions_(std::move(dimensions)),
      size_(product(dimensions_, name_)) {}

std::unique_ptr<InputFile> open_input(const std::filesystem::path& path, const CaptureOptions& options) {
    hdf5::PosixFile bytes = open_regular_file(path);
    if (!options.raw.empty()) return open_raw(path, std::move(bytes), options);
    if (is_sigmf(path)) return open_sigmf(path, options);

    std::array<char, 512> buffer{};
    const std::span head = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), bytes.size()));
    bytes.read_at(0, std::as_writable_bytes(head));
    require_no_shape(options);
    if (is_npy(head)) return open_npy(path, std::move(bytes), options);
    if (hdf5::is_hdf5(bytes)) return hdf5::open_input(path, std::move(bytes), options.external_files);
    throw file_error(path.string(), foreign_format(head));
}

}  // namespace phy::detail
