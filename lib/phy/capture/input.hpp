#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "phy/capture/box.hpp"
#include "phy/capture/handle.hpp"
#include "phy/capture/iq_layout.hpp"
#include "phy/capture/posix_file.hpp"

namespace phy::hdf5 {

/// An HDF5 file that is open for reading.
class InputFile {
public:
    /// Throws FileError that tells a missing file, a directory, a git-LFS pointer, a file that is not HDF5,
    /// and a damaged one apart.
    explicit InputFile(const std::filesystem::path& path);

    /// What errors call the file.
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] hid_t id() const { return hdf5_; }
    [[nodiscard]] const PosixFile& bytes() const { return bytes_; }

    /// True if there is something at this absolute path.
    [[nodiscard]] bool contains(const std::string& path) const;

private:
    std::string name_;
    PosixFile bytes_;
    FileHandle hdf5_;
};

/// The lengths of a dataset's dimensions: none of a scalar, one of 0 if the dataset has no extent.
Dimensions dimensions_of(hid_t dataset);

/// The elements of a dataset, counted in row-major order whatever its rank, as the bytes in the file.
///
/// HDF5's type conversion is many times slower than a disk, so it is never asked for any.
class InputDataset {
public:
    /// The file must outlive the dataset.
    InputDataset(const InputFile& file, const std::string& path);

    /// What errors call the dataset.
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] hid_t id() const { return dataset_; }
    [[nodiscard]] hid_t type() const { return type_; }
    [[nodiscard]] const Dimensions& dimensions() const { return dimensions_; }
    [[nodiscard]] std::uint64_t size() const { return size_; }
    [[nodiscard]] std::size_t element_bytes() const { return element_bytes_; }

    /// A phrase such as "chunked, shuffle, gzip".
    [[nodiscard]] std::string storage() const;

    /// Throws FileError if the elements cannot be there: beyond the end of the file, or behind a filter that
    /// this HDF5 does not have.
    void require_readable() const;

    /// Reads elements first ... first + count - 1, which the caller knows to be in the dataset.
    void read(std::uint64_t first, std::uint64_t count, std::byte* elements) const;

private:
    void read_box(const Box& box, std::byte* elements) const;

    const InputFile* file_;
    std::string name_;
    DatasetHandle dataset_;
    TypeHandle type_;
    SpaceHandle space_;
    Dimensions dimensions_;
    std::uint64_t size_ = 0;
    std::size_t element_bytes_ = 0;
    std::optional<std::uint64_t> offset_;  ///< in the file, if the elements lie there in order
};

}  // namespace phy::hdf5
