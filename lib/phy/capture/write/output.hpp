#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "phy/capture/capture.hpp"
#include "phy/capture/flat/posix_file.hpp"
#include "phy/capture/hdf5/handle.hpp"
#include "phy/machine/atomic_file.hpp"

namespace phy::hdf5 {

/// An HDF5 file that appears under its name when it is complete.
class OutputFile {
public:
    /// data_bytes is what will be written, for the check that the disk has room. Throws FileError.
    OutputFile(const std::filesystem::path& target, const AtomicFile::Config& config,
               std::uint64_t data_bytes);

    [[nodiscard]] const std::string& name() const { return file_.name(); }
    [[nodiscard]] hid_t id() const { return hdf5_; }
    [[nodiscard]] const detail::PosixFile& bytes() const { return bytes_; }

    /// Writes what HDF5 holds back. An error shows here, but not when a dataset is closed by its destructor.
    void flush() const;

    /// After flush(), and after every dataset of the file is gone.
    void commit();

private:
    AtomicFile file_;
    detail::PosixFile bytes_;
    FileHandle hdf5_;
};

/// Bytes of a dataset; more than any disk has room for instead of more than 64 bits can tell.
std::uint64_t total_bytes(const Dimensions& dimensions, std::size_t element_bytes);

/// How a dataset is stored: contiguous unless it has chunks.
struct Storage {
    Dimensions chunk;  ///< at most the dataset's dimensions count
    bool gzip = false;
    std::size_t open_chunks = 1;  ///< that are filled at the same time
};

/// A dataset that is filled by items: neighbouring elements, in row-major order. Each is written once.
class OutputDataset {
public:
    /// The file must outlive the dataset. An item is that many elements; 0: a row, all of one index of the
    /// first dimension.
    OutputDataset(const OutputFile& file, const std::string& path, hid_t type, const Dimensions& dimensions,
                  const Storage& storage = {}, std::uint64_t elements_per_item = 0);

    [[nodiscard]] hid_t id() const { return dataset_; }
    [[nodiscard]] const std::string& name() const { return name_; }

    /// Throws ArgumentError unless the bytes are whole items and no more than append() has left.
    void require_appendable(std::span<const std::byte> items) const;

    /// Appends items; ArgumentError as require_appendable().
    void append(std::span<const std::byte> items);

    /// Writes items first, first + 1 ...; ArgumentError unless the bytes are items of the dataset.
    void write(std::uint64_t first, std::span<const std::byte> items);

    /// Throws ArgumentError unless as many items were written as the dataset has.
    void require_complete() const;

private:
    [[nodiscard]] std::uint64_t require_items(std::uint64_t first, std::span<const std::byte> items) const;
    void write_chunked(std::uint64_t first, std::uint64_t count, const std::byte* elements) const;

    const OutputFile* file_;
    std::string name_;
    Dimensions dimensions_;
    TypeHandle type_;
    DatasetHandle dataset_;
    std::uint64_t elements_per_item_;
    std::size_t item_bytes_ = 0;
    std::uint64_t items_ = 0;
    std::uint64_t appended_ = 0;
    std::uint64_t written_ = 0;            ///< appended ones among them
    std::optional<std::uint64_t> offset_;  ///< in the file, of a contiguous dataset
};

/// Throws ArgumentError if a number that names no enumerator says of soft bits what they are.
void check_enums(SoftBitFormat format, const DemapperConfig& demapper);

/// The HDF5 type of soft bits.
TypeHandle soft_bit_type(SoftBitFormat format);

/// Says on a dataset of soft bits how they were made.
void write_soft_bit_attributes(const OutputDataset& llr, const SoftBitWriter::Config& config);

}  // namespace phy::hdf5
