#include "phy/capture/input.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "phy/capture/flat/posix_file.hpp"
#include "phy/capture/formats.hpp"
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
    if (!options.shape.empty()) throw ArgumentError("shape: only for raw files and SigMF recordings");
}

using namespace std::string_view_literals;

struct Format {
    std::string_view begin;
    std::string_view is;
    std::size_t at = 0;
};

constexpr std::array<Format, 17> formats = {{
    {"version https://git-lfs"sv,
     "is a git-LFS pointer, expected the file itself (git lfs pull fetches it)"sv},
    {"WAVE"sv,
     "is a WAV file: 'sox FILE.wav -t raw FILE.raw' writes its samples without a header, as raw ci16 or "
     "another type"sv,
     8},
    {"MATLAB 5.0 MAT-file"sv, "is a MATLAB file of version 5: save(..., '-v7.3') writes HDF5"sv},
    {"\x1F\x8B"sv, "is packed with gzip: gunzip unpacks it"sv},
    {"BZh"sv, "is packed with bzip2: bunzip2 unpacks it"sv},
    {"\xFD"
     "7zXZ\0"sv,
     "is packed with xz: unxz unpacks it"sv},
    {"\x28\xB5\x2F\xFD"sv, "is packed with zstd: unzstd unpacks it"sv},
    {"PK\x03\x04"sv, "is a ZIP archive, as .npz is: numpy.save() writes one array, as .npy"sv},
    {"ustar"sv, "is a tar archive, as .sigmf is: 'tar -xf' unpacks it"sv, 257},
    {"\x0E\x03\x13\x01"sv, "is an HDF4 file: h4toh5 converts it to HDF5"sv},
    {"CDF\x01"sv, "is a classic netCDF file: 'nccopy -k nc4' converts it to HDF5"sv},
    {"CDF\x02"sv, "is a classic netCDF file: 'nccopy -k nc4' converts it to HDF5"sv},
    {"CDF\x05"sv, "is a classic netCDF file: 'nccopy -k nc4' converts it to HDF5"sv},
    {"BLUE"sv, "is a MIDAS Blue file: write its samples as a SigMF recording or as HDF5"sv},
    {"# Created by Octave"sv, "is an Octave text file: save -hdf5 writes HDF5"sv},
    {"{"sv, "is JSON: the metadata of a SigMF recording has the ending .sigmf-meta"sv},
    {"\x80\x04\x95"sv, "is a Python pickle: numpy.save() writes .npy, h5py HDF5"sv},
}};

bool is_text(std::string_view head) {
    return !head.empty() && std::ranges::all_of(head, [](char c) {
        return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t';
    });
}

/// The name of an unsupported format by its first bytes, and how to convert it to a capture.
std::string foreign_format(std::span<const char> head) {
    const std::string_view bytes(head.data(), head.size());
    for (const Format& format : formats) {
        if (bytes.size() > format.at && bytes.substr(format.at).starts_with(format.begin))
            return std::string(format.is);
    }
    const std::string none = "is not an HDF5 file, a .npy array or a SigMF recording";
    if (is_text(bytes))
        return none + ", but text: with numpy, save('x.npy', loadtxt('x.csv', complex)) converts a table";
    return none + "; for samples without a header, give their type with the option --raw";
}

}  // namespace

InputDataset::InputDataset(std::string name, ElementType type, Dimensions dimensions)
    : name_(std::move(name)),
      type_(std::move(type)),
      dimensions_(std::move(dimensions)),
      size_(product(dimensions_, name_)) {}

std::unique_ptr<InputFile> open_input(const std::filesystem::path& path, const CaptureOptions& options) {
    PosixFile bytes = open_regular_file(path);
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
