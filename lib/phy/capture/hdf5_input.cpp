#include "phy/capture/hdf5_input.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "phy/capture/attribute.hpp"
#include "phy/capture/box.hpp"
#include "phy/capture/handle.hpp"
#include "phy/capture/hdf5_type.hpp"

namespace phy::hdf5 {

namespace {

FileHandle open_hdf5(const std::filesystem::path& path, const std::string& name) {
    const htri_t has_signature = H5Fis_hdf5(path.c_str());
    if (has_signature == 0) throw file_error(name, "is not an HDF5 file");
    return FileHandle(checked(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), name,
                              "is a truncated or damaged HDF5 file, or in use"));
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

class Hdf5File : public detail::InputFile {
public:
    Hdf5File(const std::filesystem::path& path, PosixFile bytes);

    [[nodiscard]] hid_t id() const { return hdf5_; }
    [[nodiscard]] const PosixFile& bytes() const { return bytes_; }

    [[nodiscard]] bool contains(const std::string& path) const override;
    [[nodiscard]] bool is_group(const std::string& path) const override;
    [[nodiscard]] std::vector<std::string> datasets() const override;
    [[nodiscard]] std::unique_ptr<detail::InputDataset> open(const std::string& path) const override;

private:
    PosixFile bytes_;
    FileHandle hdf5_;
};

/// HDF5's type conversion is many times slower than a disk, so it is never asked for any.
class Hdf5Dataset : public detail::InputDataset {
public:
    Hdf5Dataset(const Hdf5File& file, const std::string& path, DatasetHandle dataset);

    [[nodiscard]] std::string storage() const override;
    void require_readable() const override;
    void read(std::uint64_t first, std::uint64_t count, std::byte* elements) const override;
    [[nodiscard]] std::optional<double> number(const char* attribute) const override;
    [[nodiscard]] std::optional<std::string> text(const char* attribute) const override;

private:
    void read_box(const Box& box, std::byte* elements) const;

    const Hdf5File* file_;
    DatasetHandle dataset_;
    TypeHandle type_;
    SpaceHandle space_;
    Dimensions extent_;
    std::optional<std::uint64_t> offset_;  ///< in the file, if the elements lie there in order
};

/// The lengths of a dataset's dimensions: none of a scalar, one of 0 if the dataset has no extent.
Dimensions dimensions_of(hid_t dataset) {
    const SpaceHandle space(H5Dget_space(dataset));
    if (H5Sget_simple_extent_type(space) != H5S_SIMPLE)
        return H5Sget_simple_extent_type(space) == H5S_SCALAR ? Dimensions{} : Dimensions{0};
    Dimensions dimensions(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, dimensions.data(), nullptr);
    return dimensions;
}

/// An external link leads to another file, whose offsets would be taken for those of this one.
bool is_in_another_file(hid_t dataset, hid_t file) {
    H5O_info_t of_dataset{};
    H5O_info_t of_root{};
    return H5Oget_info2(dataset, &of_dataset, H5O_INFO_BASIC) < 0 ||
           H5Oget_info2(file, &of_root, H5O_INFO_BASIC) < 0 || of_dataset.fileno != of_root.fileno;
}

std::string name_of(const Hdf5File& file, const std::string& path) {
    return file.name() + ": dataset " + path;
}

detail::ElementType readable_type_of(hid_t dataset, const std::string& name) {
    const TypeHandle type(checked(H5Dget_type(dataset), name, "has no readable type"));
    return element_type_of(type);
}

detail::Dimensions to_lengths(const Dimensions& dimensions) {
    return {dimensions.begin(), dimensions.end()};
}

Hdf5File::Hdf5File(const std::filesystem::path& path, PosixFile bytes)
    : InputFile(path.string()), bytes_(std::move(bytes)) {
    silence_errors();
    hdf5_ = open_hdf5(path, name());
}

bool Hdf5File::contains(const std::string& path) const {
    // H5Lexists fails unless every link on the way exists.
    for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
        if (H5Lexists(hdf5_, path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
    }
    return path == "/" || H5Lexists(hdf5_, path.c_str(), H5P_DEFAULT) > 0;
}

bool Hdf5File::is_group(const std::string& path) const {
    const Handle<H5Gclose> group(H5Gopen2(hdf5_, path.c_str(), H5P_DEFAULT));
    return group >= 0;
}

std::vector<std::string> Hdf5File::datasets() const {
    const auto visit = [](hid_t, const char* name, const H5O_info_t* info, void* paths) -> herr_t {
        // An exception must not pass through the frames of HDF5.
        try {
            if (info->type == H5O_TYPE_DATASET)
                static_cast<std::vector<std::string>*>(paths)->push_back(std::string("/") + name);
            return 0;
        } catch (...) {
            return -1;
        }
    };
    std::vector<std::string> paths;
    checked(H5Ovisit2(hdf5_, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &paths, H5O_INFO_BASIC), name(),
            "cannot be searched for datasets, damaged HDF5 file");
    std::ranges::sort(paths);
    return paths;
}

std::unique_ptr<detail::InputDataset> Hdf5File::open(const std::string& path) const {
    const std::string dataset_name = name_of(*this, path);
    DatasetHandle dataset(
        checked(H5Dopen2(hdf5_, path.c_str(), H5P_DEFAULT), dataset_name, "cannot be opened as a dataset"));
    if (is_in_another_file(dataset, hdf5_))
        throw file_error(dataset_name,
                         "is an external link, which is not followed: open the file that it names");
    return std::make_unique<Hdf5Dataset>(*this, path, std::move(dataset));
}

Hdf5Dataset::Hdf5Dataset(const Hdf5File& file, const std::string& path, DatasetHandle dataset)
    : InputDataset(name_of(file, path), readable_type_of(dataset, name_of(file, path)),
                   to_lengths(dimensions_of(dataset))),
      file_(&file),
      dataset_(std::move(dataset)),
      type_(checked(H5Dget_type(dataset_), name(), "has no readable type")),
      space_(checked(H5Dget_space(dataset_), name(), "has no readable shape")),
      extent_(dimensions_of(dataset_)) {
    const PropertiesHandle creation(H5Dget_create_plist(dataset_));
    const H5D_layout_t layout = H5Pget_layout(creation);
    if (layout == H5D_CHUNKED) {
        dataset_ =
            checked(reopen_chunked(file.id(), path, chunk_cache_bytes(creation, extent_, type().bytes)),
                    name(), "cannot be opened");
    }
    // The offset counts a user block in; data in other files, or not there yet, has none.
    const haddr_t offset = layout == H5D_CONTIGUOUS ? H5Dget_offset(dataset_) : HADDR_UNDEF;
    if (offset != HADDR_UNDEF) offset_ = offset;
}

std::optional<double> Hdf5Dataset::number(const char* attribute) const {
    const auto value = read_number(dataset_, attribute, name());
    return value ? value : read_number(file_->id(), attribute, file_->name());
}

std::optional<std::string> Hdf5Dataset::text(const char* attribute) const {
    auto value = read_text(dataset_, attribute, name());
    return value ? value : read_text(file_->id(), attribute, file_->name());
}

std::string Hdf5Dataset::storage() const {
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

void Hdf5Dataset::require_readable() const {
    const PropertiesHandle creation(H5Dget_create_plist(dataset_));
    for (const Filter& filter : filters_of(creation)) {
        if (H5Zfilter_avail(filter.id) <= 0)
            throw file_error(name(),
                             "is packed with '" + filter.name + "', which this HDF5 library cannot unpack");
    }
    if (!offset_) return;
    const std::uint64_t end = file_->bytes().size();
    if (*offset_ > end || size() > (end - *offset_) / type().bytes)
        throw file_error(name(), "truncated file: " + std::to_string(size()) + " elements of " +
                                     std::to_string(type().bytes) + " bytes at byte " +
                                     std::to_string(*offset_) + " do not fit into " + std::to_string(end) +
                                     " bytes");
}

void Hdf5Dataset::read_box(const Box& box, std::byte* elements) const {
    H5Sselect_hyperslab(space_, H5S_SELECT_SET, box.start.data(), nullptr, box.count.data(), nullptr);
    // In memory the box has as many dimensions as in the file: from one to several HDF5 moves element by
    // element.
    const auto rank = static_cast<int>(box.count.size());
    const SpaceHandle memory(H5Screate_simple(rank, box.count.data(), nullptr));
    checked(H5Dread(dataset_, type_, memory, space_, H5P_DEFAULT, elements), name(), "cannot be read");
}

void Hdf5Dataset::read(std::uint64_t first, std::uint64_t count, std::byte* elements) const {
    silence_errors();
    if (offset_) {
        file_->bytes().read_at(*offset_ + first * type().bytes, {elements, count * type().bytes});
        return;
    }
    if (extent_.empty()) {
        checked(H5Dread(dataset_, type_, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements), name(), "cannot be read");
        return;
    }
    while (count > 0) {
        const Box box = largest_box(extent_, first, count);
        read_box(box, elements);
        first += box.size;
        count -= box.size;
        elements += box.size * type().bytes;
    }
}

}  // namespace

std::unique_ptr<detail::InputFile> open_input(const std::filesystem::path& path, PosixFile bytes) {
    return std::make_unique<Hdf5File>(path, std::move(bytes));
}

}  // namespace phy::hdf5
