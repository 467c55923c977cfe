#include "phy/capture/hdf5/hdf5_storage.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

namespace phy::hdf5 {

namespace {

std::string filter_name(H5Z_filter_t filter, const char* name_in_file) {
    switch (filter) {
        case H5Z_FILTER_DEFLATE:
            return "gzip";
        case H5Z_FILTER_SHUFFLE:
            return "shuffle";
        case H5Z_FILTER_FLETCHER32:
            return "fletcher32";
        case H5Z_FILTER_SZIP:
            return "szip";
        case H5Z_FILTER_NBIT:
            return "nbit";
        case H5Z_FILTER_SCALEOFFSET:
            return "scaleoffset";
        default:
            return *name_in_file != '\0' ? name_in_file : "filter " + std::to_string(filter);
    }
}

struct Filter {
    H5Z_filter_t id;
    std::string name;
};

std::vector<Filter> filters_of(hid_t creation) {
    std::vector<Filter> filters;
    const int count = H5Pget_nfilters(creation);
    for (int i = 0; i < count; ++i) {
        unsigned flags = 0;
        unsigned configuration = 0;
        std::size_t values = 0;
        std::array<char, 64> name{};
        const H5Z_filter_t id = H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &values, nullptr,
                                               name.size() - 1, name.data(), &configuration);
        filters.push_back({id, filter_name(id, name.data())});
    }
    return filters;
}

std::string_view layout_name(H5D_layout_t layout) {
    switch (layout) {
        case H5D_CONTIGUOUS:
            return "contiguous";
        case H5D_CHUNKED:
            return "chunked";
        case H5D_COMPACT:
            return "compact";
        default:
            return "virtual";
    }
}

void require_bytes(const StoredDataset& stored) {
    const std::uint64_t bytes = H5Dget_storage_size(stored.dataset);
    if (bytes == 0) throw file_error(stored.name, "was never written: it has no samples");
    if (stored.elements > bytes / stored.element_bytes)
        throw file_error(stored.name, "damaged: " + std::to_string(stored.elements) + " elements of " +
                                          std::to_string(stored.element_bytes) + " bytes are stored in " +
                                          std::to_string(bytes) + " bytes");
}

void require_chunks(const StoredDataset& stored) {
#if H5_VERSION_GE(1, 10, 5)
    const Dimensions chunk = chunk_of(stored.creation, stored.dimensions, stored.name);
    hsize_t expected = 1;
    for (std::size_t i = 0; i < chunk.size(); ++i)
        expected *= (stored.dimensions[i] + chunk[i] - 1) / chunk[i];
    const SpaceHandle space(H5Dget_space(stored.dataset));
    hsize_t written = 0;
    checked(H5Dget_num_chunks(stored.dataset, space, &written), stored.name,
            "damaged: its chunks cannot be found");
    if (written < expected)
        throw file_error(stored.name, std::to_string(expected - written) + " of " + std::to_string(expected) +
                                          " chunks were never written: expected all of them");
#endif
}

/// Reads a name of any length from HDF5, which wants a buffer.
template <typename Read>
std::string read_name(Read read) {
    const ssize_t length = read(nullptr, 0);
    std::string text(static_cast<std::size_t>(std::max<ssize_t>(length, 0)) + 1, '\0');
    read(text.data(), text.size());
    text.resize(text.find('\0'));
    return text;
}

std::filesystem::path beside(const std::filesystem::path& file, const std::string& name) {
    return file.parent_path() / name;
}

/// One past the last index of a selection; empty if everything is selected.
Dimensions end_of(hid_t space, const std::string& name) {
    if (H5Sget_select_type(space) == H5S_SEL_ALL) return {};
    const auto rank = static_cast<std::size_t>(std::max(H5Sget_simple_extent_ndims(space), 0));
    Dimensions first(rank);
    Dimensions last(rank);
    checked(H5Sget_select_bounds(space, first.data(), last.data()), name, "damaged: a source has no bounds");
    for (hsize_t& index : last)
        ++index;
    return last;
}

}  // namespace

std::string storage_text(hid_t creation) {
    std::string text(layout_name(H5Pget_layout(creation)));
    if (H5Pget_external_count(creation) > 0) text += ", in other files";
    for (const Filter& filter : filters_of(creation))
        text += ", " + filter.name;
    return text;
}

PropertiesHandle access_properties() {
    PropertiesHandle access(H5Pcreate(H5P_DATASET_ACCESS));
    H5Pset_efile_prefix(access, "${ORIGIN}");
    H5Pset_virtual_prefix(access, "${ORIGIN}");
    return access;
}

Dimensions chunk_of(hid_t creation, const Dimensions& dimensions, const std::string& name) {
    Dimensions chunk(H5S_MAX_RANK);
    const int rank = H5Pget_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
    chunk.resize(static_cast<std::size_t>(std::max(rank, 0)));
    if (chunk.size() != dimensions.size() || std::ranges::find(chunk, hsize_t{0}) != chunk.end())
        throw file_error(
            name, "damaged: its chunks do not have its " + std::to_string(dimensions.size()) + " dimensions");
    return chunk;
}

std::size_t chunk_cache_bytes(const Dimensions& chunk, const Dimensions& dimensions,
                              std::size_t element_bytes) {
    constexpr std::size_t smallest = std::size_t{1} << 20;
    constexpr std::size_t largest_row = std::size_t{64} << 20;
    std::size_t chunk_bytes = element_bytes;
    for (const hsize_t length : chunk)
        chunk_bytes *= length;
    std::size_t row_bytes = chunk_bytes;
    for (std::size_t i = 1; i < chunk.size() && row_bytes < largest_row; ++i)
        row_bytes *= (dimensions[i] + chunk[i] - 1) / chunk[i];
    return std::max({smallest, chunk_bytes, std::min(row_bytes, largest_row)});
}

void require_filters(const StoredDataset& stored) {
    for (const Filter& filter : filters_of(stored.creation)) {
        if (H5Zfilter_avail(filter.id) <= 0)
            throw file_error(stored.name,
                             "is packed with '" + filter.name + "', which this HDF5 library cannot unpack");
    }
}

void require_written(const StoredDataset& stored) {
    if (stored.elements == 0) return;
    const H5D_layout_t layout = H5Pget_layout(stored.creation);
    if (layout == H5D_CHUNKED) require_chunks(stored);
    if (layout == H5D_CONTIGUOUS || layout == H5D_COMPACT) require_bytes(stored);
}

bool is_elsewhere(hid_t creation) {
    return H5Pget_external_count(creation) > 0 || H5Pget_layout(creation) == H5D_VIRTUAL;
}

void require_own_folder(const std::string& name) {
    for (const char* variable : {"HDF5_EXTFILE_PREFIX", "HDF5_VDS_PREFIX"}) {
        const char* const value = std::getenv(variable);
        if (value != nullptr && *value != '\0')
            throw file_error(name, "lies in other files, which are taken from the capture's folder: unset " +
                                       std::string(variable));
    }
}

std::vector<ExternalFile> external_files(const StoredDataset& stored) {
    const int count = H5Pget_external_count(stored.creation);
    std::vector<ExternalFile> files;
    for (int i = 0; i < count; ++i) {
        std::array<char, 4096> name{};
        off_t offset = 0;
        hsize_t bytes = 0;
        checked(H5Pget_external(stored.creation, static_cast<unsigned>(i), name.size() - 1, name.data(),
                                &offset, &bytes),
                stored.name, "damaged: its external files are not named");
        files.push_back({beside(stored.file, name.data()), offset, bytes});
    }
    return files;
}

void require_external_files(const StoredDataset& stored) {
    std::uint64_t missing = stored.elements * stored.element_bytes;
    for (const ExternalFile& file : external_files(stored)) {
        const std::uint64_t used = std::min(file.bytes, missing);
        std::error_code error;
        const std::uint64_t there = std::filesystem::is_regular_file(file.path, error)
                                        ? std::filesystem::file_size(file.path, error)
                                        : 0;
        if (error || file.offset < 0 || there < used ||
            there - used < static_cast<std::uint64_t>(file.offset))
            throw file_error(stored.name,
                             "lies in " + file.path.string() + ", which does not exist or is too short");
        missing -= used;
    }
    if (missing > 0) throw file_error(stored.name, "damaged: its external files are too short");
}

std::vector<VirtualSource> virtual_sources(const StoredDataset& stored) {
    std::vector<VirtualSource> sources;
    std::size_t count = 0;
    checked(H5Pget_virtual_count(stored.creation, &count), stored.name, "damaged: its sources are not named");
    std::uint64_t given = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string file = read_name([&](char* text, std::size_t size) {
            return H5Pget_virtual_filename(stored.creation, i, text, size);
        });
        std::string dataset = read_name([&](char* text, std::size_t size) {
            return H5Pget_virtual_dsetname(stored.creation, i, text, size);
        });
        if ((file + dataset).find('%') != std::string::npos)
            throw file_error(stored.name,
                             "is a virtual dataset whose sources are a pattern: expected their names");
        const SpaceHandle filled(H5Pget_virtual_vspace(stored.creation, i));
        const SpaceHandle taken(H5Pget_virtual_srcspace(stored.creation, i));
        const auto elements = static_cast<std::uint64_t>(
            checked(H5Sget_select_npoints(filled), stored.name, "damaged: a source has no size"));
        given += elements;
        sources.push_back({file == "." ? stored.file : beside(stored.file, file), std::move(dataset),
                           elements, end_of(taken, stored.name)});
    }
    if (given < stored.elements)
        throw file_error(stored.name, "is a virtual dataset whose sources have " + std::to_string(given) +
                                          " elements, expected all " + std::to_string(stored.elements));
    return sources;
}

}  // namespace phy::hdf5
