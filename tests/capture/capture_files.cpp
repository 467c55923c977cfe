#include "capture/capture_files.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "phy/core/half.hpp"

namespace phy_test {

namespace {

using phy::hdf5::Dimensions;
using phy::hdf5::IqLayout;
using phy::hdf5::NumberKind;
using phy::hdf5::NumberType;

template <typename Number>
void store(std::byte* to, Number number, std::endian order) {
    std::memcpy(to, &number, sizeof(number));
    if (order != std::endian::native) std::reverse(to, to + sizeof(number));
}

void store_as(NumberType type, std::byte* to, int value) {
    switch (type.kind) {
        case NumberKind::float16:
            return store(to, phy::half(static_cast<float>(value)), type.order);
        case NumberKind::float32:
            return store(to, static_cast<float>(value), type.order);
        case NumberKind::float64:
            return store(to, static_cast<double>(value), type.order);
        case NumberKind::int8:
            return store(to, static_cast<std::int8_t>(value), type.order);
        case NumberKind::int16:
            return store(to, static_cast<std::int16_t>(value), type.order);
        case NumberKind::int32:
            return store(to, static_cast<std::int32_t>(value), type.order);
    }
}

std::vector<std::byte> stored(const IqLayout& layout, const Components& components) {
    std::vector<std::byte> bytes(components.size() / 2 * layout.symbol_bytes, std::byte{0xA5});
    for (std::size_t i = 0; i < components.size(); ++i) {
        const std::size_t offset = i % 2 == 0 ? layout.offset_i : layout.offset_q;
        store_as(layout.number, bytes.data() + i / 2 * layout.symbol_bytes + offset, components[i]);
    }
    return bytes;
}

phy::hdf5::TypeHandle type_of(const IqLayout& layout) {
    phy::hdf5::TypeHandle number = phy::hdf5::hdf5_type(layout.number);
    if (layout.kind != IqLayout::Kind::compound) return number;
    phy::hdf5::TypeHandle compound(H5Tcreate(H5T_COMPOUND, layout.symbol_bytes));
    H5Tinsert(compound, "first", layout.offset_i, number);
    H5Tinsert(compound, "second", layout.offset_q, number);
    return compound;
}

void require(herr_t status, const char* what) {
    if (status < 0) throw std::runtime_error(std::string("test file: ") + what);
}

}  // namespace

Components random_components(std::size_t symbols, std::mt19937& random) {
    std::uniform_int_distribution<int> component(-128, 127);
    Components components(2 * symbols);
    std::ranges::generate(components, [&] { return component(random); });
    return components;
}

CaptureFile::CaptureFile(const std::filesystem::path& path, hsize_t user_block) {
    const phy::hdf5::PropertiesHandle creation(H5Pcreate(H5P_FILE_CREATE));
    H5Pset_userblock(creation, user_block);
    file_ = phy::hdf5::FileHandle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT));
    require(file_ < 0 ? -1 : 0, "create");
}

CaptureFile& CaptureFile::dataset(const std::string& path, hid_t type, const Dimensions& dimensions,
                                  const void* data, const Storage& storage) {
    const phy::hdf5::PropertiesHandle creation(H5Pcreate(H5P_DATASET_CREATE));
    if (!storage.chunk.empty())
        H5Pset_chunk(creation, static_cast<int>(storage.chunk.size()), storage.chunk.data());
    if (storage.gzip) H5Pset_deflate(creation, 4);
    const int rank = static_cast<int>(dimensions.size());
    const phy::hdf5::SpaceHandle space(rank == 0 ? H5Screate(H5S_SCALAR)
                                                 : H5Screate_simple(rank, dimensions.data(), nullptr));
    const phy::hdf5::DatasetHandle dataset(
        H5Dcreate2(file_, path.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    require(dataset < 0 ? -1 : 0, "dataset");
    if (data != nullptr) require(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), "write");
    return *this;
}

CaptureFile& CaptureFile::iq(const std::string& path, const IqLayout& layout, const Dimensions& dimensions,
                             const Components& components, const Storage& storage) {
    Dimensions shape = dimensions;
    if (layout.kind == IqLayout::Kind::trailing) shape.push_back(2);
    if (layout.kind == IqLayout::Kind::interleaved) shape.back() *= 2;
    Storage chunks = storage;
    if (layout.kind == IqLayout::Kind::trailing && !chunks.chunk.empty()) chunks.chunk.push_back(2);
    return dataset(path, type_of(layout), shape, stored(layout, components).data(), chunks);
}

CaptureFile& CaptureFile::iq(const std::string& path, const Components& components) {
    return iq(path, packed_layout(IqLayout::Kind::compound, {}), {components.size() / 2}, components, {});
}

CaptureFile& CaptureFile::group(const std::string& path) {
    const phy::hdf5::Handle<H5Gclose> group(
        H5Gcreate2(file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    require(group < 0 ? -1 : 0, "group");
    return *this;
}

CaptureFile& CaptureFile::attribute(const std::string& path, const std::string& name, hid_t type,
                                    const void* value) {
    const phy::hdf5::SpaceHandle space(H5Screate(H5S_SCALAR));
    const phy::hdf5::AttributeHandle attribute(H5Acreate_by_name(
        file_, path.c_str(), name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    require(H5Awrite(attribute, type, value), "attribute");
    return *this;
}

CaptureFile& CaptureFile::number(const std::string& path, const std::string& name, double value) {
    return attribute(path, name, H5T_NATIVE_DOUBLE, &value);
}

CaptureFile& CaptureFile::text(const std::string& path, const std::string& name, const std::string& value) {
    const phy::hdf5::TypeHandle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, H5T_VARIABLE);
    const char* const data = value.c_str();
    return attribute(path, name, type, &data);
}

CaptureFile& CaptureFile::fixed_text(const std::string& path, const std::string& name,
                                     const std::string& value, std::size_t length, H5T_str_t padding) {
    const phy::hdf5::TypeHandle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, length);
    H5Tset_strpad(type, padding);
    std::string padded = value;
    padded.resize(length, padding == H5T_STR_SPACEPAD ? ' ' : '\0');
    return attribute(path, name, type, padded.data());
}

IqLayout packed_layout(IqLayout::Kind kind, NumberType number) {
    const std::size_t bytes = size_of(number.kind);
    return {.kind = kind,
            .number = number,
            .elements_per_symbol = kind == IqLayout::Kind::compound ? 1U : 2U,
            .symbol_bytes = 2 * bytes,
            .offset_i = 0,
            .offset_q = bytes};
}

std::vector<double> read_components(phy::CaptureReader& reader, std::uint64_t first, std::size_t count) {
    const phy::SampleFormat format = reader.description().format;
    std::vector<double> components;
    const auto read_as = [&](auto symbol) {
        std::vector<decltype(symbol)> symbols(count);
        reader.read(first, symbols);
        for (const auto& value : symbols) {
            if constexpr (std::is_same_v<decltype(symbol), phy::cf32>) {
                components.insert(components.end(), {value.real(), value.imag()});
            } else {
                components.push_back(static_cast<double>(static_cast<float>(value.re)));
                components.push_back(static_cast<double>(static_cast<float>(value.im)));
            }
        }
    };
    switch (format) {
        case phy::SampleFormat::cf32:
            read_as(phy::cf32{});
            break;
        case phy::SampleFormat::cf16:
            read_as(phy::cf16{});
            break;
        case phy::SampleFormat::ci16:
            read_as(phy::ci16{});
            break;
        case phy::SampleFormat::ci8:
            read_as(phy::ci8{});
            break;
    }
    return components;
}

std::vector<double> slice(const Components& components, std::uint64_t first, std::size_t count) {
    const auto begin = components.begin() + static_cast<std::ptrdiff_t>(2 * first);
    return {begin, begin + static_cast<std::ptrdiff_t>(2 * count)};
}

}  // namespace phy_test
