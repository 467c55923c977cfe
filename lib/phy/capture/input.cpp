#include "phy/capture/input.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <vector>

namespace phy::hdf5 {

namespace {

/// Opens only what is a regular file: opening a pipe would wait for its writer.
PosixFile open_regular_file(const std::filesystem::path& path, const std::string& name) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (status.type() == std::filesystem::file_type::not_found) throw file_error(name, "no such file");
    if (std::filesystem::is_directory(status))
        throw file_error(name, "is a directory, expected an HDF5 file");
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        throw file_error(name, "is not a regular file, expected an HDF5 file");
    return PosixFile(path, O_RDONLY, 0, name);
}

void refuse_git_lfs_pointer(const PosixFile& bytes, const std::string& name) {
    constexpr std::string_view pointer = "version https://git-lfs";
    if (bytes.size() < pointer.size()) return;
    std::array<char, pointer.size()> head{};
    bytes.read_at(0, std::as_writable_bytes(std::span(head)));
    if (std::ranges::equal(head, pointer))
        throw file_error(name,
                         "is a git-LFS pointer, expected the HDF5 file itself (git lfs pull fetches it)");
}

FileHandle open_hdf5(const std::filesystem::path& path, const std::string& name) {
    const htri_t has_signature = H5Fis_hdf5(path.c_str());
    if (has_signature == 0) throw file_error(name, "is not an HDF5 file");
    return FileHandle(checked(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), name,
                              "is a truncated or damaged HDF5 file, or in use"));
}

std::uint64_t product(const Dimensions& dimensions, const std::string& name) {
    std::uint64_t result = 1;
    for (const hsize_t dimension : dimensions) {
        if (dimension != 0 && result > std::numeric_limits<std::uint64_t>::max() / dimension)
            throw file_error(name, "damaged: its dimensions overflow");
        result *= dimension;
    }
    return result;
}

/// Bytes of cache that hold the chunks of one row of chunks, so that reading in row-major order unpacks each
/// chunk once; a row beyond the limit would take more memory than that is worth.
std::size_t chunk_cache_bytes(hid_t creation, const Dimensions& dimensions, std::size_t element_bytes) {
    constexpr std::size_t smallest = std::size_t{1} << 20;
    constexpr std::size_t largest_row = std::size_t{64} << 20;
    Dimensions chunk(dimensions.size());
    H5Pget_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
    std::size_t chunk_bytes = element_bytes;
    for (const hsize_t length : chunk)
        chunk_bytes *= length;
    std::size_t row_bytes = chunk_bytes;
    for (std::size_t i = 1; i < chunk.size() && row_bytes < largest_row; ++i)
        row_bytes *= (dimensions[i] + chunk[i] - 1) / chunk[i];
    return std::max({smallest, chunk_bytes, std::min(row_bytes, largest_row)});
}

/// Opens the dataset again, with another cache for its chunks.
DatasetHandle reopen_chunked(hid_t file, const std::string& path, std::size_t cache_bytes) {
    constexpr std::size_t slots = 12421;
    const PropertiesHandle access(H5Pcreate(H5P_DATASET_ACCESS));
    H5Pset_chunk_cache(access, slots, cache_bytes, H5D_CHUNK_CACHE_W0_DEFAULT);
    return DatasetHandle(H5Dopen2(file, path.c_str(), access));
}

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

}  // namespace

InputFile::InputFile(const std::filesystem::path& path)
    : name_(path.string()), bytes_(open_regular_file(path, name_)) {
    refuse_git_lfs_pointer(bytes_, name_);
    hdf5_ = open_hdf5(path, name_);
}

bool InputFile::contains(const std::string& path) const {
    // H5Lexists fails unless every link on the way exists.
    for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
        if (H5Lexists(hdf5_, path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
    }
    return path == "/" || H5Lexists(hdf5_, path.c_str(), H5P_DEFAULT) > 0;
}

Dimensions dimensions_of(hid_t dataset) {
    const SpaceHandle space(H5Dget_space(dataset));
    if (H5Sget_simple_extent_type(space) != H5S_SIMPLE)
        return H5Sget_simple_extent_type(space) == H5S_SCALAR ? Dimensions{} : Dimensions{0};
    Dimensions dimensions(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, dimensions.data(), nullptr);
    return dimensions;
}

namespace {

/// An external link leads to another file, whose offsets would be taken for those of this one.
bool is_in_another_file(hid_t dataset, hid_t file) {
    H5O_info_t of_dataset{};
    H5O_info_t of_root{};
    return H5Oget_info2(dataset, &of_dataset, H5O_INFO_BASIC) < 0 ||
           H5Oget_info2(file, &of_root, H5O_INFO_BASIC) < 0 || of_dataset.fileno != of_root.fileno;
}

}  // namespace

InputDataset::InputDataset(const InputFile& file, const std::string& path)
    : file_(&file), name_(file.name() + ": dataset " + path) {
    dataset_ = DatasetHandle(
        checked(H5Dopen2(file.id(), path.c_str(), H5P_DEFAULT), name_, "cannot be opened as a dataset"));
    if (is_in_another_file(dataset_, file.id()))
        throw file_error(name_, "is an external link, which is not followed: open the file that it names");
    type_ = TypeHandle(checked(H5Dget_type(dataset_), name_, "has no readable type"));
    space_ = SpaceHandle(checked(H5Dget_space(dataset_), name_, "has no readable shape"));
    dimensions_ = dimensions_of(dataset_);
    size_ = product(dimensions_, name_);
    element_bytes_ = H5Tget_size(type_);

    const PropertiesHandle creation(H5Dget_create_plist(dataset_));
    const H5D_layout_t layout = H5Pget_layout(creation);
    if (layout == H5D_CHUNKED) {
        dataset_ =
            checked(reopen_chunked(file.id(), path, chunk_cache_bytes(creation, dimensions_, element_bytes_)),
                    name_, "cannot be opened");
    }
    // The offset counts a user block in; data in other files, or not there yet, has none.
    const haddr_t offset = layout == H5D_CONTIGUOUS ? H5Dget_offset(dataset_) : HADDR_UNDEF;
    if (offset != HADDR_UNDEF) offset_ = offset;
}

std::string InputDataset::storage() const {
    const PropertiesHandle creation(H5Dget_create_plist(dataset_));
    std::string text;
    switch (H5Pget_layout(creation)) {
        case H5D_CONTIGUOUS:
            text = "contiguous";
            break;
        case H5D_CHUNKED:
            text = "chunked";
            break;
        case H5D_COMPACT:
            text = "compact";
            break;
        default:
            text = "virtual";
            break;
    }
    for (const Filter& filter : filters_of(creation))
        text += ", " + filter.name;
    return text;
}

void InputDataset::require_readable() const {
    const PropertiesHandle creation(H5Dget_create_plist(dataset_));
    for (const Filter& filter : filters_of(creation)) {
        if (H5Zfilter_avail(filter.id) <= 0)
            throw file_error(name_,
                             "is packed with '" + filter.name + "', which this HDF5 library cannot unpack");
    }
    if (!offset_) return;
    const std::uint64_t end = file_->bytes().size();
    if (*offset_ > end || size_ > (end - *offset_) / element_bytes_)
        throw file_error(name_, "truncated file: " + std::to_string(size_) + " elements of " +
                                    std::to_string(element_bytes_) + " bytes at byte " +
                                    std::to_string(*offset_) + " do not fit into " + std::to_string(end) +
                                    " bytes");
}

void InputDataset::read_box(const Box& box, std::byte* elements) const {
    H5Sselect_hyperslab(space_, H5S_SELECT_SET, box.start.data(), nullptr, box.count.data(), nullptr);
    // In memory the box has as many dimensions as in the file: from one to several HDF5 moves element by
    // element.
    const auto rank = static_cast<int>(box.count.size());
    const SpaceHandle memory(H5Screate_simple(rank, box.count.data(), nullptr));
    checked(H5Dread(dataset_, type_, memory, space_, H5P_DEFAULT, elements), name_, "cannot be read");
}

void InputDataset::read(std::uint64_t first, std::uint64_t count, std::byte* elements) const {
    if (offset_) {
        file_->bytes().read_at(*offset_ + first * element_bytes_, {elements, count * element_bytes_});
        return;
    }
    if (dimensions_.empty()) {
        checked(H5Dread(dataset_, type_, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements), name_, "cannot be read");
        return;
    }
    while (count > 0) {
        const Box box = largest_box(dimensions_, first, count);
        read_box(box, elements);
        first += box.size;
        count -= box.size;
        elements += box.size * element_bytes_;
    }
}

}  // namespace phy::hdf5
