#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "phy/capture/hdf5/handle.hpp"

/// How the elements of a dataset lie in its file, or in others.
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

/// Properties with which a dataset of this file is opened. Other files are looked for in its folder.
PropertiesHandle access_properties();

/// The chunks of a dataset. Throws FileError if they have not the dataset's rank.
Dimensions chunk_of(hid_t creation, const Dimensions& dimensions, const std::string& name);

/// Bytes of cache that hold the chunks of one row of chunks, so that reading in row-major order unpacks each
/// chunk once; a row beyond the limit would take more memory than that is worth.
std::size_t chunk_cache_bytes(const Dimensions& chunk, const Dimensions& dimensions,
                              std::size_t element_bytes);

/// Throws FileError for a filter that this HDF5 does not have.
void require_filters(const StoredDataset& stored);

/// HDF5 reads zeros, or beyond its memory, where elements are missing. Throws FileError if there are fewer
/// bytes than elements, or chunks that were never written.
void require_written(const StoredDataset& stored);

/// True if the elements lie in other files, or are those of other datasets.
bool is_elsewhere(hid_t creation);

/// Throws FileError if the environment has HDF5 look for other files in another folder than the capture's.
void require_own_folder(const std::string& name);

/// A part of a file, in which elements lie.
struct ExternalFile {
    std::filesystem::path path;
    off_t offset = 0;
    std::uint64_t bytes = 0;  ///< at most
};

/// None if the elements lie elsewhere.
std::vector<ExternalFile> external_files(const StoredDataset& stored);

/// Throws FileError unless all files with the elements are there, and long enough.
void require_external_files(const StoredDataset& stored);

/// One of the datasets of which a virtual one consists.
struct VirtualSource {
    std::filesystem::path file;
    std::string dataset;
    std::uint64_t elements = 0;  ///< that are taken of it
    Dimensions end;              ///< of them: one more than the last index; empty if all are taken
};

/// Throws FileError if they do not give all elements.
std::vector<VirtualSource> virtual_sources(const StoredDataset& stored);

}  // namespace phy::hdf5
