#include "phy/capture/formats.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "phy/capture/hdf5/attribute.hpp"
#include "phy/capture/hdf5/box.hpp"
#include "phy/capture/hdf5/handle.hpp"
#include "phy/capture/hdf5/hdf5_storage.hpp"
#include "phy/capture/hdf5/hdf5_type.hpp"

namespace phy::hdf5 {

namespace {

constexpr std::uint64_t smallest_user_block = 512;

/// Groups within groups that are searched for datasets: HDF5's time grows with the cube of the depth.
constexpr int max_depth = 100;
constexpr herr_t too_deep = 1;  ///< ends a search

/// The version of the file's superblock; none without its signature, which follows a user block.
std::optional<int> superblock_version(const detail::PosixFile& bytes) {
    constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
    std::array<char, signature.size() + 1> head{};
    const std::uint64_t size = bytes.size();
    for (std::uint64_t at = 0; size >= head.size() && at <= size - head.size();
         at = at == 0 ? smallest_user_block : 2 * at) {
        bytes.read_at(at, std::as_writable_bytes(std::span(head)));
        if (std::string_view(head.data(), signature.size()) == signature)
            return static_cast<unsigned char>(head.back());
    }
    return std::nullopt;
}

FileHandle open_hdf5(const std::filesystem::path& path, const detail::PosixFile& bytes,
                     const std::string& name) {
    constexpr int newest_superblock = 3;
    const std::optional<int> version = superblock_version(bytes);
    if (version.value_or(0) > newest_superblock)
        throw file_error(name, "has version " + std::to_string(*version) +
                                   " of the HDF5 format: too new for HDF5 " + library_version() +
                                   ", or damaged");
    return FileHandle(checked(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), name,
                              "is a truncated or damaged HDF5 file, or in use"));
}

/// Reopens the dataset with another chunk cache.
DatasetHandle reopen_chunked(hid_t file, const std::string& path, std::size_t cache_bytes) {
    constexpr std::size_t slots = 12421;
    const PropertiesHandle access = access_properties();
    H5Pset_chunk_cache(access, slots, cache_bytes, H5D_CHUNK_CACHE_W0_DEFAULT);
    return DatasetHandle(H5Dopen2(file, path.c_str(), access));
}

class Hdf5File : public detail::InputFile {
public:
    Hdf5File(const std::filesystem::path& path, detail::PosixFile bytes, bool external_files);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] bool follows_external_files() const { return external_files_; }
    [[nodiscard]] hid_t id() const { return hdf5_; }
    [[nodiscard]] const detail::PosixFile& bytes() const { return bytes_; }

    [[nodiscard]] bool contains(const std::string& path) const override;
    [[nodiscard]] bool is_group(const std::string& path) const override;
    [[nodiscard]] std::vector<std::string> datasets() const override;
    [[nodiscard]] std::unique_ptr<detail::InputDataset> open(const std::string& path) const override;

private:
    std::filesystem::path path_;
    detail::PosixFile bytes_;
    bool external_files_;
    FileHandle hdf5_;
};

/// Never lets HDF5 convert types: that is many times slower than a disk.
class Hdf5Dataset : public detail::InputDataset {
public:
    Hdf5Dataset(const Hdf5File& file, const std::string& path, DatasetHandle dataset);

    [[nodiscard]] std::string storage() const override;
    void require_readable() const override;
    void read(std::uint64_t first, std::uint64_t count, std::byte* elements) const override;
    [[nodiscard]] std::vector<std::filesystem::path> other_files() const override;
    [[nodiscard]] std::optional<double> number(const char* attribute) const override;
    [[nodiscard]] std::optional<std::string> text(const char* attribute) const override;

private:
    [[nodiscard]] StoredDataset stored() const;
    void require_inside() const;
    void require_elsewhere() const;
    void require_source(const VirtualSource& source) const;
    void read_box(const Box& box, std::byte* elements) const;

    const Hdf5File* file_;
    DatasetHandle dataset_;
    TypeHandle type_;
    SpaceHandle space_;
    PropertiesHandle creation_;
    Dimensions extent_;
    std::optional<std::uint64_t> offset_;  ///< in the file, if its elements are contiguous there
};

/// A dataset's dimensions: empty for a scalar; one of 0 if it has no extent.
Dimensions dimensions_of(hid_t dataset) {
    const SpaceHandle space(H5Dget_space(dataset));
    if (H5Sget_simple_extent_type(space) != H5S_SIMPLE)
        return H5Sget_simple_extent_type(space) == H5S_SCALAR ? Dimensions{} : Dimensions{0};
    Dimensions dimensions(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, dimensions.data(), nullptr);
    return dimensions;
}

/// An external link leads to another file, whose offsets do not apply to this one.
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

Hdf5File::Hdf5File(const std::filesystem::path& path, detail::PosixFile bytes, bool external_files)
    : InputFile(path.string(), {path}),
      path_(path),
      bytes_(std::move(bytes)),
      external_files_(external_files) {
    const Session session;
    hdf5_ = open_hdf5(path, bytes_, name());
}

bool Hdf5File::contains(const std::string& path) const {
    const Session session;
    // Group by group: H5Lexists fails unless every link before the last exists, and its time grows with the
    // path.
    Handle<H5Gclose> group;
    std::size_t first = path.find_first_not_of('/');
    while (first != std::string::npos) {
        const std::size_t end = std::min(path.find('/', first), path.size());
        const std::string name = path.substr(first, end - first);
        const hid_t parent = group < 0 ? hid_t{hdf5_} : hid_t{group};
        if (H5Lexists(parent, name.c_str(), H5P_DEFAULT) <= 0) return false;
        first = path.find_first_not_of('/', end);
        if (first == std::string::npos) break;
        Handle<H5Gclose> next(H5Gopen2(parent, name.c_str(), H5P_DEFAULT));
        if (next < 0) return false;
        group = std::move(next);
    }
    return true;
}

bool Hdf5File::is_group(const std::string& path) const {
    const Session session;
    const Handle<H5Gclose> group(H5Gopen2(hdf5_, path.c_str(), H5P_DEFAULT));
    return group >= 0;
}

std::vector<std::string> Hdf5File::datasets() const {
    const auto visit = [](hid_t, const char* name, const H5O_info_t* info, void* paths) -> herr_t {
        if (std::ranges::count(std::string_view(name), '/') >= max_depth) return too_deep;
        // Exceptions must not pass through HDF5.
        try {
            if (info->type == H5O_TYPE_DATASET)
                static_cast<std::vector<std::string>*>(paths)->push_back(std::string("/") + name);
            return 0;
        } catch (...) {
            return -1;
        }
    };
    const Session session;
    std::vector<std::string> paths;
    const herr_t found =
        checked(H5Ovisit2(hdf5_, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &paths, H5O_INFO_BASIC), name(),
                "cannot be searched for datasets, damaged HDF5 file");
    if (found == too_deep)
        throw file_error(name(), "has groups nested deeper than " + std::to_string(max_depth) +
                                     " levels: expected the name of a dataset");
    std::ranges::sort(paths);
    return paths;
}

std::unique_ptr<detail::InputDataset> Hdf5File::open(const std::string& path) const {
    const Session session;
    const std::string dataset_name = name_of(*this, path);
    DatasetHandle dataset(checked(H5Dopen2(hdf5_, path.c_str(), access_properties()), dataset_name,
                                  "cannot be opened as a dataset"));
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
      creation_(checked(H5Dget_create_plist(dataset_), name(), "has no readable properties")),
      extent_(dimensions_of(dataset_)) {
    if (type().bytes == 0) throw file_error(name(), "damaged: its elements have no bytes");
    const H5D_layout_t layout = H5Pget_layout(creation_);
    if (layout == H5D_CHUNKED) {
        const Dimensions chunk = chunk_of(creation_, extent_, name());
        // A dataset that is still open would keep its cache.
        dataset_.reset();
        dataset_ = checked(reopen_chunked(file.id(), path, chunk_cache_bytes(chunk, extent_, type().bytes)),
                           name(), "cannot be opened");
    }
    // The offset includes a user block. Data that are in other files or not written have none.
    const haddr_t offset = layout == H5D_CONTIGUOUS ? H5Dget_offset(dataset_) : HADDR_UNDEF;
    if (offset != HADDR_UNDEF) offset_ = offset;
}

std::optional<double> Hdf5Dataset::number(const char* attribute) const {
    const Session session;
    const auto value = read_number(dataset_, attribute, name());
    return value ? value : read_number(file_->id(), attribute, file_->name());
}

std::optional<std::string> Hdf5Dataset::text(const char* attribute) const {
    const Session session;
    auto value = read_text(file_->bytes(), dataset_, attribute, name());
    return value ? value : read_text(file_->bytes(), file_->id(), attribute, file_->name());
}

std::string Hdf5Dataset::storage() const {
    const Session session;
    return storage_text(creation_);
}

StoredDataset Hdf5Dataset::stored() const {
    return {dataset_, creation_, name(), file_->path(), extent_, size(), type().bytes};
}

void Hdf5Dataset::require_readable() const {
    const Session session;
    require_filters(stored());
    if (is_elsewhere(creation_)) {
        require_elsewhere();
    } else {
        require_written(stored());
        require_inside();
    }
}

std::vector<std::filesystem::path> Hdf5Dataset::other_files() const {
    const Session session;
    std::vector<std::filesystem::path> files;
    if (H5Pget_external_count(creation_) > 0) {
        for (const ExternalFile& file : external_files(stored()))
            files.push_back(file.path);
    } else if (H5Pget_layout(creation_) == H5D_VIRTUAL) {
        for (const VirtualSource& source : virtual_sources(stored()))
            files.push_back(source.file);
    }
    return files;
}

/// The file may be shorter than HDF5 says.
void Hdf5Dataset::require_inside() const {
    if (!offset_) return;
    const std::uint64_t end = file_->bytes().size();
    if (*offset_ > end || size() > (end - *offset_) / type().bytes)
        throw file_error(name(), "truncated file: " + std::to_string(size()) + " elements of " +
                                     std::to_string(type().bytes) + " bytes at byte " +
                                     std::to_string(*offset_) + " do not fit into " + std::to_string(end) +
                                     " bytes");
}

void Hdf5Dataset::require_elsewhere() const {
    const bool is_virtual = H5Pget_layout(creation_) == H5D_VIRTUAL;
    if (!file_->follows_external_files())
        throw file_error(name(), std::string(is_virtual ? "is a virtual dataset" : "lies in other files") +
                                     ", which needs the option --external-files");
    require_own_folder(name());
    if (!is_virtual) return require_external_files(stored());
    for (const VirtualSource& source : virtual_sources(stored()))
        require_source(source);
}

void Hdf5Dataset::require_source(const VirtualSource& source) const {
    detail::PosixFile bytes = detail::open_regular_file(source.file);
    if (!is_hdf5(bytes))
        throw file_error(name(), "has a source that is not an HDF5 file: " + source.file.string());
    // A source that lies elsewhere itself is not followed, so that this ends.
    const Hdf5File file(source.file, std::move(bytes), false);
    if (!file.contains(source.dataset))
        throw file_error(name(), "has a source that does not exist: " + file.name() + ": " + source.dataset);
    const auto dataset = file.open(source.dataset);
    dataset->require_readable();
    const bool fits = source.end.empty()
                          ? dataset->size() == source.elements
                          : std::ranges::equal(source.end, dataset->dimensions(), std::less_equal<>());
    if (!fits) throw file_error(name(), "has a source of another size: " + dataset->name());
}

void Hdf5Dataset::read_box(const Box& box, std::byte* elements) const {
    H5Sselect_hyperslab(space_, H5S_SELECT_SET, box.start.data(), nullptr, box.count.data(), nullptr);
    // The box has the same rank in memory as in the file: between ranks HDF5 copies element by element.
    const auto rank = static_cast<int>(box.count.size());
    const SpaceHandle memory(H5Screate_simple(rank, box.count.data(), nullptr));
    checked(H5Dread(dataset_, type_, memory, space_, H5P_DEFAULT, elements), name(), "cannot be read");
}

void Hdf5Dataset::read(std::uint64_t first, std::uint64_t count, std::byte* elements) const {
    if (offset_) {
        file_->bytes().read_at(*offset_ + first * type().bytes, {elements, count * type().bytes});
        return;
    }
    const Session session;
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

bool is_hdf5(const detail::PosixFile& bytes) {
    return superblock_version(bytes).has_value();
}

std::unique_ptr<detail::InputFile> open_input(const std::filesystem::path& path, detail::PosixFile bytes,
                                              bool external_files) {
    return std::make_unique<Hdf5File>(path, std::move(bytes), external_files);
}

}  // namespace phy::hdf5
