#include "capture/hdf5_reading.hpp"

#include <stdexcept>

namespace phy_test {

namespace {

hid_t require(hid_t id, const std::string& what) {
    if (id < 0) throw std::runtime_error("test file: " + what);
    return id;
}

phy::hdf5::DatasetHandle open_dataset(hid_t file, const std::string& path) {
    return phy::hdf5::DatasetHandle(require(H5Dopen2(file, path.c_str(), H5P_DEFAULT), path));
}

phy::hdf5::AttributeHandle open_attribute(hid_t file, const std::string& path, const std::string& name) {
    return phy::hdf5::AttributeHandle(
        require(H5Aopen_by_name(file, path.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), name));
}

}  // namespace

phy::hdf5::FileHandle open_hdf5(const std::filesystem::path& path) {
    return phy::hdf5::FileHandle(require(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), path.string()));
}

phy::hdf5::Dimensions dimensions_in(hid_t file, const std::string& path) {
    const phy::hdf5::SpaceHandle space(H5Dget_space(open_dataset(file, path)));
    phy::hdf5::Dimensions dimensions(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, dimensions.data(), nullptr);
    return dimensions;
}

std::vector<std::string> attribute_names(hid_t file, const std::string& path) {
    const auto visit = [](hid_t, const char* name, const H5A_info_t*, void* names) -> herr_t {
        static_cast<std::vector<std::string>*>(names)->emplace_back(name);
        return 0;
    };
    std::vector<std::string> names;
    H5Aiterate_by_name(file, path.c_str(), H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &names, H5P_DEFAULT);
    return names;
}

std::string text_in(hid_t file, const std::string& path, const std::string& attribute) {
    const auto opened = open_attribute(file, path, attribute);
    const phy::hdf5::TypeHandle type(H5Aget_type(opened));
    char* data = nullptr;
    require(H5Aread(opened, type, &data), attribute);
    std::string text = data;
    H5free_memory(data);
    return text;
}

double number_in(hid_t file, const std::string& path, const std::string& attribute) {
    double value = 0.0;
    require(H5Aread(open_attribute(file, path, attribute), H5T_NATIVE_DOUBLE, &value), attribute);
    return value;
}

std::vector<char> stored_bytes(hid_t file, const std::string& path) {
    const auto dataset = open_dataset(file, path);
    const phy::hdf5::TypeHandle type(H5Dget_type(dataset));
    const phy::hdf5::SpaceHandle space(H5Dget_space(dataset));
    std::vector<char> bytes(H5Tget_size(type) *
                            static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    require(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), path);
    return bytes;
}

}  // namespace phy_test
