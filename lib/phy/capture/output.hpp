#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "phy/capture/handle.hpp"
#include "phy/capture/iq_layout.hpp"
#include "phy/capture/temporary_file.hpp"

namespace phy::hdf5 {

/// An HDF5 file that appears under its name when it is complete.
class OutputFile {
public:
    /// data_bytes is what will be written, for the check that the disk has room. Throws FileError.
    OutputFile(const std::filesystem::path& target, bool overwrite, std::uint64_t data_bytes);

    [[nodiscard]] const std::string& name() const { return temporary_.name(); }
    [[nodiscard]] hid_t id() const { return hdf5_; }
    [[nodiscard]] const PosixFile& bytes() const { return temporary_.bytes(); }

    /// Writes what HDF5 holds back. An error shows here, but not when a dataset is closed by its destructor.
    void flush() const;

    /// After flush(), and after every dataset of the file is gone.
    void commit();

private:
    TemporaryFile temporary_;
    FileHandle hdf5_;
};

/// Bytes of count items; more than any disk has room for instead of more than 64 bits can tell.
std::uint64_t total_bytes(std::uint64_t count, std::size_t item_bytes);

/// How a dataset is stored: contiguous unless it has a chunk length.
struct Storage {
    std::optional<hsize_t> rows_per_chunk;
    bool gzip = false;
};

/// A dataset that is filled from its first row to its last.
class OutputDataset {
public:
    /// The file must outlive the dataset.
    OutputDataset(const OutputFile& file, const std::string& path, hid_t type, const Dimensions& dimensions,
                  const Storage& storage = {});

    [[nodiscard]] hid_t id() const { return dataset_; }
    [[nodiscard]] const std::string& name() const { return name_; }

    /// Appends whole rows; ArgumentError if the bytes are none, or more rows than the dataset has left.
    void append(std::span<const std::byte> rows);

    /// Throws ArgumentError unless every row was appended.
    void require_complete() const;

private:
    void write_rows(hsize_t count, const std::byte* rows) const;

    const OutputFile* file_;
    std::string name_;
    Dimensions dimensions_;
    TypeHandle type_;
    DatasetHandle dataset_;
    std::size_t row_bytes_ = 0;
    hsize_t rows_done_ = 0;
    std::optional<std::uint64_t> offset_;  ///< in the file, of a contiguous dataset
};

}  // namespace phy::hdf5
