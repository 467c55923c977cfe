#include "phy/capture/output.hpp"

#include <fcntl.h>

#include <algorithm>

namespace phy::hdf5 {

namespace {

/// More than the headers and attributes of our files take.
constexpr std::uint64_t metadata_bytes = 64 << 10;

PropertiesHandle creation_properties(const Dimensions& dimensions, const Storage& storage) {
    PropertiesHandle creation(H5Pcreate(H5P_DATASET_CREATE));
    // The same content makes the same file, whenever it is written.
    H5Pset_obj_track_times(creation, false);
    if (!storage.rows_per_chunk) {
        H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
        H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
        return creation;
    }
    Dimensions chunk = dimensions;
    chunk.front() = std::min(*storage.rows_per_chunk, dimensions.front());
    H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
    if (storage.gzip) {
        constexpr unsigned fast = 1;
        H5Pset_shuffle(creation);
        H5Pset_deflate(creation, fast);
    }
    return creation;
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& target, bool overwrite, std::uint64_t data_bytes)
    : temporary_(target, overwrite) {
    bytes().require_room(data_bytes + metadata_bytes);
    hdf5_ = FileHandle(checked(H5Fcreate(temporary_.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                               name(), "cannot be created"));
    // When a truncated file is closed, ext4 has its blocks allocated at once. So close it while it is empty.
    const PosixFile closed_at_once(temporary_.path(), O_RDONLY, 0, name());
}

void OutputFile::flush() const {
    checked(H5Fflush(hdf5_, H5F_SCOPE_GLOBAL), name(), "cannot be written");
}

void OutputFile::commit() {
    checked(H5Fclose(hdf5_.release()), name(), "cannot be completed");
    temporary_.publish();
}

std::uint64_t total_bytes(std::uint64_t count, std::size_t item_bytes) {
    constexpr std::uint64_t beyond_any_disk = std::uint64_t{1} << 60;
    return std::min(count, beyond_any_disk / item_bytes) * item_bytes;
}

OutputDataset::OutputDataset(const OutputFile& file, const std::string& path, hid_t type,
                             const Dimensions& dimensions, const Storage& storage)
    : file_(&file),
      name_(file.name() + ": dataset " + path),
      dimensions_(dimensions),
      type_(checked(H5Tcopy(type), name_, "cannot be created")),
      row_bytes_(H5Tget_size(type)) {
    for (std::size_t i = 1; i < dimensions.size(); ++i)
        row_bytes_ *= dimensions[i];
    const SpaceHandle space(
        H5Screate_simple(static_cast<int>(dimensions.size()), dimensions.data(), nullptr));
    const PropertiesHandle creation = creation_properties(dimensions, storage);
    dataset_ = DatasetHandle(
        checked(H5Dcreate2(file.id(), path.c_str(), type_, space, H5P_DEFAULT, creation, H5P_DEFAULT), name_,
                "cannot be created"));
    if (!storage.rows_per_chunk) offset_ = H5Dget_offset(dataset_);
}

void OutputDataset::append(std::span<const std::byte> rows) {
    const hsize_t count = rows.size() / row_bytes_;
    if (count * row_bytes_ != rows.size())
        throw ArgumentError(name_ + ": " + std::to_string(rows.size()) +
                            " bytes appended, expected a multiple of " + std::to_string(row_bytes_));
    if (count > dimensions_.front() - rows_done_)
        throw ArgumentError(name_ + ": " + std::to_string(count) + " symbols appended, expected at most " +
                            std::to_string(dimensions_.front() - rows_done_));
    if (count == 0) return;
    if (offset_) {
        file_->bytes().write_at(*offset_ + rows_done_ * row_bytes_, rows);
    } else {
        write_rows(count, rows.data());
    }
    rows_done_ += count;
}

void OutputDataset::write_rows(hsize_t count, const std::byte* rows) const {
    Dimensions start(dimensions_.size(), 0);
    Dimensions extent = dimensions_;
    start.front() = rows_done_;
    extent.front() = count;
    const SpaceHandle memory(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr));
    const SpaceHandle space(H5Dget_space(dataset_));
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr);
    checked(H5Dwrite(dataset_, type_, memory, space, H5P_DEFAULT, rows), name_, "cannot be written");
}

void OutputDataset::require_complete() const {
    if (rows_done_ != dimensions_.front())
        throw ArgumentError(name_ + ": " + std::to_string(rows_done_) + " symbols appended, expected " +
                            std::to_string(dimensions_.front()));
}

}  // namespace phy::hdf5
