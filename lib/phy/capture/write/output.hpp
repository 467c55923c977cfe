#pragma once

#include <array>
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

/// A file that appears under its name only when complete: HDF5, or one array after a header, if any.
class OutputFile {
public:
    /// data_bytes: bytes that will be written, to check the free space of the disk. Throws FileError.
    OutputFile(const std::filesystem::path& target, const AtomicFile::Config& config,
               std::uint64_t data_bytes, OutputFormat format = OutputFormat::hdf5);

    [[nodiscard]] const std::string& name() const { return file_.name(); }
    [[nodiscard]] const std::filesystem::path& path() const { return file_.path(); }  ///< unfinished
    [[nodiscard]] OutputFormat format() const { return format_; }
    [[nodiscard]] hid_t id() const { return hdf5_; }  ///< invalid without HDF5
    [[nodiscard]] const detail::PosixFile& bytes() const { return bytes_; }

    /// Writes HDF5's caches. Errors show here, but not when a destructor closes a dataset.
    void flush() const;

    /// Call after flush(), and after all datasets of the file are destroyed.
    void commit();

private:
    OutputFormat format_;
    AtomicFile file_;
    detail::PosixFile bytes_;
    FileHandle hdf5_;
};

/// Bytes of a dataset. If 64 bits would overflow: more than any disk has.
std::uint64_t total_bytes(const Dimensions& dimensions, std::size_t element_bytes);

/// The header of a .npy file, version 1.0: a multiple of 64 bytes.
std::string npy_header(hid_t type, const Dimensions& dimensions);

/// The storage of a dataset: contiguous unless it has chunks.
struct Storage {
    Dimensions chunk;  ///< limited to the dataset's dimensions
    bool gzip = false;
    std::size_t open_chunks = 1;  ///< chunks that are filled at the same time
};

/// A dataset that is written in items of neighbouring elements, in row-major order, each once. In a file
/// without HDF5 it is the only array, contiguous, and its path is ignored.
class OutputDataset {
public:
    /// The file must outlive the dataset. item: elements per item; 0: a row, which is all elements of one
    /// index of the first dimension.
    OutputDataset(const OutputFile& file, const std::string& path, hid_t type, const Dimensions& dimensions,
                  const Storage& storage = {}, std::uint64_t elements_per_item = 0);

    [[nodiscard]] hid_t id() const { return dataset_; }  ///< invalid without HDF5
    [[nodiscard]] const std::string& name() const { return name_; }

    // In the file; of a contiguous dataset.
    [[nodiscard]] std::uint64_t offset() const { return offset_.value(); }
    [[nodiscard]] std::size_t item_bytes() const { return item_bytes_; }

    /// Throws ArgumentError unless the bytes are whole items and at most what append() has left.
    void require_appendable(std::span<const std::byte> items) const;

    /// Appends items. Throws as require_appendable() does.
    void append(std::span<const std::byte> items);

    /// Writes items first, first + 1 ... Throws ArgumentError unless the bytes are items of the dataset.
    void write(std::uint64_t first, std::span<const std::byte> items);

    /// Throws ArgumentError unless all items were written.
    void require_complete() const;

private:
    void create_array();
    void create_dataset(const std::string& path, const Storage& storage);
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
    std::uint64_t written_ = 0;            ///< including appended ones
    std::optional<std::uint64_t> offset_;  ///< of a contiguous dataset or an array, in the file
};

/// Throws ArgumentError if an enum value is out of range.
void check_enums(SoftBitFormat format, Modulation modulation, const LlrConfig& llr);

/// Attributes of the root of a file that is a part.
inline constexpr const char* part_first = "part_first";
inline constexpr const char* part_of = "part_of";
inline constexpr const char* part_settings = "part_settings";

/// All others of the root and the datasets of files that SoftBitWriter and SlotWriter write.
inline constexpr std::array soft_bit_attributes = {"center_frequency",
                                                   "descrambled_c_init",
                                                   "link",
                                                   "llr_clip",
                                                   "llr_scale",
                                                   "llr_sign",
                                                   "method",
                                                   "modulation",
                                                   "noise_variance",
                                                   "noise_variance_dataset",
                                                   "phy_version",
                                                   "sample_rate",
                                                   "source",
                                                   "source_shape"};

/// Throws ArgumentError unless the rows are among all.
void check_part(const std::optional<PartOfRows>& part, std::uint64_t rows);

/// Writes these attributes, if the file has any.
void write_part(const OutputFile& file, const std::optional<PartOfRows>& part);

/// The HDF5 type of soft bits.
TypeHandle soft_bit_type(SoftBitFormat format);

/// Writes the attributes that say how soft bits were made.
void write_soft_bit_attributes(const OutputDataset& llr, const SoftBitWriter::Config& config);

}  // namespace phy::hdf5
