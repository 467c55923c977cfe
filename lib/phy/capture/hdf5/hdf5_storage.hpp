#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "phy/capture/hdf5/handle.hpp"

/// How the elements of a dataset are stored, in its file or in others.
namespace phy::hdf5 {

struct StoredDataset {
    hid_t dataset;
    hid_t creation;  ///< its properties
    const std::string& name;
    const std::filesystem::path& file;
    const Dimensions& dimensions;
    std::uint64_t elements;
    std::size_t element_bytes;
};

/// A phrase such as "chunked, shuffle, gzip".
std::string storage_text(hid_t creation);

/// Properties to open a dataset with. Other files are searched for in the folder of the dataset's file.
PropertiesHandle access_properties();

/// The chunk dimensions of a dataset. Throws FileError if their rank is not the dataset's.
Dimensions chunk_of(hid_t creation, const Dimensions& dimensions, const std::string& name);

/// Cache size in bytes for one row of chunks, so that reading in row-major order unpacks each chunk once.
/// Limited, because larger rows are not worth the memory.
std::size_t chunk_cache_bytes(const Dimensions& chunk, const Dimensions& dimensions,
                              std::size_t element_bytes);

/// Throws FileError for a filter that this HDF5 lacks.
void require_filters(const StoredDataset& stored);

/// Throws FileError if bytes are missing or chunks were never written. HDF5 would read zeros, or beyond its
/// memory.
void require_written(const StoredDataset& stored);

/// True if the elements are in other files or datasets.
bool is_elsewhere(hid_t creation);

/// Throws FileError if the environment makes HDF5 search for other files outside the capture's folder.
void require_own_folder(const std::string& name);

/// A part of a file that holds elements.
struct ExternalFile {
    std::filesystem::path path;
    off_t offset = 0;
    std::uint64_t bytes = 0;  ///< max
};

/// Empty if the elements lie elsewhere.
std::vector<ExternalFile> external_files(const StoredDataset& stored);

/// Throws FileError unless all files with elements exist and are long enough.
void require_external_files(const StoredDataset& stored);

/// A source of a virtual dataset.
struct VirtualSource {
    std::filesystem::path file;
    std::string dataset;
    std::uint64_t elements = 0;  ///< elements taken from it
    Dimensions end;              ///< one past the last index taken; empty: all
};

/// Throws FileError if the sources do not cover all elements.
std::vector<VirtualSource> virtual_sources(const StoredDataset& stored);

}  // namespace phy::hdf5
