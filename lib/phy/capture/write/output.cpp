#include "phy/capture/write/output.hpp"

#include <fcntl.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>

#include "phy/capture/hdf5/attribute.hpp"
#include "phy/capture/hdf5/box.hpp"
#include "phy/capture/hdf5/hdf5_type.hpp"
#include "phy/core/demapper_config.hpp"
#include "phy/core/version.hpp"

namespace phy::hdf5 {

namespace {

/// More than the headers and attributes of phy's files take.
constexpr std::uint64_t metadata_bytes = 64 << 10;

std::uint64_t product_of(std::span<const hsize_t> dimensions) {
    return std::accumulate(dimensions.begin(), dimensions.end(), std::uint64_t{1}, std::multiplies<>());
}

PropertiesHandle creation_properties(const Dimensions& dimensions, const Storage& storage) {
    PropertiesHandle creation(H5Pcreate(H5P_DATASET_CREATE));
    // No times, so that the same content gives the same bytes.
    H5Pset_obj_track_times(creation, false);
    if (storage.chunk.empty()) {
        H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
        H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
        return creation;
    }
    Dimensions chunk = storage.chunk;
    for (std::size_t i = 0; i < chunk.size(); ++i)
        chunk[i] = std::min(chunk[i], dimensions[i]);
    H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
    if (storage.gzip) {
        constexpr unsigned fast = 1;
        H5Pset_shuffle(creation);
        H5Pset_deflate(creation, fast);
    }
    return creation;
}

/// The dataset's cache holds all open chunks, so that each is packed once.
PropertiesHandle access_properties(const Storage& storage, std::size_t element_bytes) {
    constexpr std::size_t slots = 521;
    constexpr std::size_t smallest = std::size_t{1} << 20;
    PropertiesHandle access(H5Pcreate(H5P_DATASET_ACCESS));
    if (storage.chunk.empty()) return access;
    const std::size_t chunk_bytes = product_of(storage.chunk) * element_bytes;
    H5Pset_chunk_cache(access, slots, std::max(smallest, storage.open_chunks * chunk_bytes),
                       H5D_CHUNK_CACHE_W0_DEFAULT);
    return access;
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& target, const AtomicFile::Config& config,
                       std::uint64_t data_bytes, OutputFormat format)
    : format_(format), file_(target, config), bytes_(file_.path(), O_RDWR, 0, name()) {
    bytes().require_room(data_bytes + metadata_bytes);
    if (format != OutputFormat::hdf5) return;
    hdf5_ = FileHandle(checked(H5Fcreate(file_.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                               name(), "cannot be created"));
    // ext4 allocates the blocks of a truncated file when it is closed, so close it while it is empty.
    const detail::PosixFile closed_at_once(file_.path(), O_RDONLY, 0, name());
}

void OutputFile::flush() const {
    if (format_ != OutputFormat::hdf5) return;
    checked(H5Fflush(hdf5_, H5F_SCOPE_GLOBAL), name(), "cannot be written");
}

void OutputFile::commit() {
    if (format_ == OutputFormat::hdf5) checked(H5Fclose(hdf5_.release()), name(), "cannot be completed");
    file_.commit();
}

std::uint64_t total_bytes(const Dimensions& dimensions, std::size_t element_bytes) {
    // Sums over a few datasets still fit into 64 bits.
    constexpr std::uint64_t beyond_any_disk = std::uint64_t{1} << 60;
    std::uint64_t bytes = element_bytes;
    for (const hsize_t dimension : dimensions) {
        if (dimension > beyond_any_disk / bytes) return beyond_any_disk;
        bytes *= std::max<hsize_t>(dimension, 1);
    }
    return bytes;
}

OutputDataset::OutputDataset(const OutputFile& file, const std::string& path, hid_t type,
                             const Dimensions& dimensions, const Storage& storage,
                             std::uint64_t elements_per_item)
    : file_(&file),
      name_(file.format() == OutputFormat::hdf5 ? file.name() + ": dataset " + path : file.name()),
      dimensions_(dimensions),
      type_(checked(H5Tcopy(type), name_, "cannot be created")),
      elements_per_item_(elements_per_item != 0 ? elements_per_item
                                                : product_of(std::span(dimensions).subspan(1))),
      item_bytes_(elements_per_item_ * H5Tget_size(type)),
      items_(product_of(dimensions) / elements_per_item_) {
    if (file.format() == OutputFormat::hdf5) {
        create_dataset(path, storage);
    } else {
        create_array();
    }
    if (offset_) file.bytes().allocate(*offset_, items_ * item_bytes_);
}

void OutputDataset::create_array() {
    const std::string header =
        file_->format() == OutputFormat::npy ? npy_header(type_, dimensions_) : std::string();
    offset_ = header.size();
    file_->bytes().require_room(header.size() + items_ * item_bytes_);
    file_->bytes().write_at(0, std::as_bytes(std::span(header)));
}

void OutputDataset::create_dataset(const std::string& path, const Storage& storage) {
    const SpaceHandle space(
        H5Screate_simple(static_cast<int>(dimensions_.size()), dimensions_.data(), nullptr));
    const PropertiesHandle creation = creation_properties(dimensions_, storage);
    const PropertiesHandle access = access_properties(storage, H5Tget_size(type_));
    dataset_ = DatasetHandle(
        checked(H5Dcreate2(file_->id(), path.c_str(), type_, space, H5P_DEFAULT, creation, access), name_,
                "cannot be created"));
    if (storage.chunk.empty()) offset_ = H5Dget_offset(dataset_);
}

std::uint64_t OutputDataset::require_items(std::uint64_t first, std::span<const std::byte> items) const {
    const std::uint64_t count = items.size() / item_bytes_;
    if (count * item_bytes_ != items.size())
        throw ArgumentError(name_ + ": " + std::to_string(items.size()) +
                            " bytes written, expected a multiple of " + std::to_string(item_bytes_));
    const std::uint64_t left = items_ - std::min(first, items_);
    if (first > items_ || count > left)
        throw ArgumentError(name_ + ": " + std::to_string(count) + " items written from " +
                            std::to_string(first) + " on, expected at most " + std::to_string(left));
    return count;
}

void OutputDataset::require_appendable(std::span<const std::byte> items) const {
    static_cast<void>(require_items(appended_, items));
}

void OutputDataset::append(std::span<const std::byte> items) {
    write(appended_, items);
    appended_ += items.size() / item_bytes_;
}

void OutputDataset::write(std::uint64_t first, std::span<const std::byte> items) {
    const std::uint64_t count = require_items(first, items);
    if (count == 0) return;
    if (offset_) {
        file_->bytes().write_at(*offset_ + first * item_bytes_, items);
    } else {
        write_chunked(first * elements_per_item_, count * elements_per_item_, items.data());
    }
    written_ += count;
}

void OutputDataset::write_chunked(std::uint64_t first, std::uint64_t count, const std::byte* elements) const {
    const SpaceHandle space(H5Dget_space(dataset_));
    while (count > 0) {
        const Box box = largest_box(dimensions_, first, count);
        const auto rank = static_cast<int>(box.count.size());
        const SpaceHandle memory(H5Screate_simple(rank, box.count.data(), nullptr));
        H5Sselect_hyperslab(space, H5S_SELECT_SET, box.start.data(), nullptr, box.count.data(), nullptr);
        checked(H5Dwrite(dataset_, type_, memory, space, H5P_DEFAULT, elements), name_, "cannot be written");
        first += box.size;
        count -= box.size;
        elements += box.size * H5Tget_size(type_);
    }
}

void OutputDataset::require_complete() const {
    if (written_ != items_)
        throw ArgumentError(name_ + ": " + std::to_string(written_) + " items written, expected " +
                            std::to_string(items_));
}

void check_enums(SoftBitFormat format, Modulation modulation, const LlrConfig& llr) {
    detail::check_enum("soft-bit format", format, all_soft_bit_formats.back());
    detail::check_enum("modulation", modulation, all_modulations.back());
    detail::check_enums(llr);
}

void check_part(const std::optional<PartOfRows>& part, std::uint64_t rows) {
    if (part && (rows > part->all || part->first > part->all - rows))
        throw ArgumentError("a part of " + std::to_string(rows) + " rows from " +
                            std::to_string(part->first) + " on: expected at most all " +
                            std::to_string(part->all) + " rows");
}

void write_part(const OutputFile& file, const std::optional<PartOfRows>& part) {
    if (!part || file.format() != OutputFormat::hdf5) return;
    write_attribute(file.id(), part_first, part->first, file.name());
    write_attribute(file.id(), part_of, part->all, file.name());
    write_attribute(file.id(), part_settings, std::string_view(part->settings), file.name());
}

TypeHandle soft_bit_type(SoftBitFormat format) {
    const NumberKind kind =
        with_constant(format, [](auto constant) { return number_kind_of<SoftBitOf<constant()>>; });
    return hdf5_type({.kind = kind});
}

void write_soft_bit_attributes(const OutputDataset& llr, const SoftBitWriter::Config& config) {
    const auto write = [&](const char* name, auto value) {
        write_attribute(llr.id(), name, value, llr.name());
    };
    write("modulation", to_string(config.modulation));
    if (!config.hard) write("llr_sign", std::string_view("positive_is_zero"));
    if (!config.hard && config.format == SoftBitFormat::int8) {
        write("llr_scale", config.llr_config.scale);
        write("llr_clip", config.llr_config.clip);
    }
    if (config.noise_variance) write("noise_variance", *config.noise_variance);
    if (!config.noise_dataset.empty())
        write("noise_variance_dataset", std::string_view(config.noise_dataset));
    if (config.descrambled_c_init) write("descrambled_c_init", static_cast<int>(*config.descrambled_c_init));
    write("method", to_string(config.llr_config.method));
    write("source", std::string_view(config.source));
    if (config.source_shape) write("source_shape", std::span<const std::uint64_t>(*config.source_shape));
    if (config.sample_rate) write("sample_rate", *config.sample_rate);
    if (config.center_frequency) write("center_frequency", *config.center_frequency);
    write("phy_version", std::string_view(version));
}

}  // namespace phy::hdf5
