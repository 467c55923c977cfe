#include "support/hdf5_file.hpp"

#include <functional>
#include <numeric>
#include <stdexcept>

#include <hdf5.h>

namespace phy::test {
namespace {

hid_t opened(hid_t id) {
    if (id < 0) throw std::runtime_error("HDF5 refuses");
    return id;
}

hid_t string_type(const std::string& value) {
    const hid_t type = opened(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, value.size());
    return type;
}

void write_dataset(hid_t file, const std::string& name, hid_t type, hid_t space, const void* values) {
    const hid_t dataset =
        opened(H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(dataset);
    H5Sclose(space);
}

hid_t simple_space(const std::vector<std::uint64_t>& shape) {
    const std::vector<hsize_t> extent(shape.begin(), shape.end());
    return opened(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr));
}

std::uint64_t product(const std::vector<std::uint64_t>& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

void create_elsewhere(hid_t file, const std::string& name, hid_t space, hid_t creation) {
    H5Dclose(
        opened(H5Dcreate2(file, name.c_str(), H5T_IEEE_F32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT)));
    H5Pclose(creation);
    H5Sclose(space);
}

void write_attribute(hid_t file, const std::string& name, hid_t type, const void* value) {
    const hid_t space = opened(H5Screate(H5S_SCALAR));
    const hid_t attribute = opened(H5Acreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
    H5Awrite(attribute, type, value);
    H5Aclose(attribute);
    H5Sclose(space);
}

herr_t add_attribute(hid_t /*object*/, const char* name, const H5A_info_t* /*info*/, void* names) {
    static_cast<Hdf5Names*>(names)->attributes.insert(name);
    return 0;
}

void add_attributes(hid_t object, Hdf5Names& names) {
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add_attribute, &names);
}

void add_members(hid_t type, Hdf5Names& names) {
    if (H5Tget_class(type) != H5T_COMPOUND) return;
    for (int i = 0; i < H5Tget_nmembers(type); ++i) {
        char* const name = H5Tget_member_name(type, static_cast<unsigned>(i));
        names.members.insert(name);
        H5free_memory(name);
    }
}

herr_t add_link(hid_t group, const char* name, const H5L_info_t* /*info*/, void* data) {
    auto& names = *static_cast<Hdf5Names*>(data);
    const hid_t object = opened(H5Oopen(group, name, H5P_DEFAULT));
    add_attributes(object, names);
    if (H5Iget_type(object) == H5I_DATASET) {
        names.datasets.insert(name);
        const hid_t type = opened(H5Dget_type(object));
        add_members(type, names);
        H5Tclose(type);
    }
    H5Oclose(object);
    return 0;
}

}  // namespace

Hdf5Names names_in(const std::filesystem::path& file) {
    const hid_t id = opened(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    Hdf5Names names;
    add_attributes(id, names);
    H5Lvisit(id, H5_INDEX_NAME, H5_ITER_NATIVE, add_link, &names);
    H5Fclose(id);
    return names;
}

Hdf5File::Hdf5File(const std::filesystem::path& file)
    : id_(opened(H5Fcreate(file.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT))) {}

Hdf5File::~Hdf5File() {
    H5Fclose(id_);
}

Hdf5File& Hdf5File::reals(const std::string& name, const std::vector<std::uint64_t>& shape, float value) {
    const std::vector<float> values(product(shape), value);
    write_dataset(id_, name, H5T_NATIVE_FLOAT, simple_space(shape), values.data());
    return *this;
}

Hdf5File& Hdf5File::checked(const std::string& name, const std::vector<std::uint64_t>& shape,
                            std::uint64_t rows, float value) {
    std::vector<hsize_t> chunk(shape.begin(), shape.end());
    chunk.front() = rows;
    const hid_t creation = opened(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
    H5Pset_fletcher32(creation);
    create_elsewhere(id_, name, simple_space(shape), creation);
    const hid_t dataset = opened(H5Dopen2(id_, name.c_str(), H5P_DEFAULT));
    const std::vector<float> values(product(shape), value);
    H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(dataset);
    return *this;
}

Hdf5File& Hdf5File::external(const std::string& name, const std::vector<std::uint64_t>& shape,
                             const std::string& file) {
    const hid_t creation = opened(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_external(creation, file.c_str(), 0, product(shape) * sizeof(float));
    create_elsewhere(id_, name, simple_space(shape), creation);
    return *this;
}

Hdf5File& Hdf5File::virtual_of(const std::string& name, const std::vector<std::uint64_t>& shape,
                               const std::string& file, const std::string& dataset) {
    const hid_t creation = opened(H5Pcreate(H5P_DATASET_CREATE));
    const hid_t space = simple_space(shape);
    H5Pset_virtual(creation, space, file.c_str(), dataset.c_str(), space);
    create_elsewhere(id_, name, space, creation);
    return *this;
}

Hdf5File& Hdf5File::text(const std::string& name, const std::string& value) {
    const hid_t type = string_type(value);
    write_dataset(id_, name, type, opened(H5Screate(H5S_SCALAR)), value.data());
    H5Tclose(type);
    return *this;
}

Hdf5File& Hdf5File::group(const std::string& name) {
    H5Gclose(opened(H5Gcreate2(id_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
    return *this;
}

Hdf5File& Hdf5File::attribute(const std::string& name, double value) {
    write_attribute(id_, name, H5T_NATIVE_DOUBLE, &value);
    return *this;
}

Hdf5File& Hdf5File::attribute(const std::string& name, const std::string& value) {
    const hid_t type = string_type(value);
    write_attribute(id_, name, type, value.data());
    H5Tclose(type);
    return *this;
}

std::vector<std::byte> read_dataset(const std::filesystem::path& file, const std::string& dataset) {
    const hid_t file_id = opened(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    const hid_t dataset_id = opened(H5Dopen2(file_id, dataset.c_str(), H5P_DEFAULT));
    const hid_t type = H5Dget_type(dataset_id);
    const hid_t space = H5Dget_space(dataset_id);
    std::vector<std::byte> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)) *
                                  H5Tget_size(type));
    const herr_t status = H5Dread(dataset_id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(dataset_id);
    H5Fclose(file_id);
    if (status < 0) throw std::runtime_error(dataset + " cannot be read");
    return values;
}

std::vector<std::uint64_t> read_dimensions(const std::filesystem::path& file, const std::string& dataset) {
    const hid_t file_id = opened(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    const hid_t dataset_id = opened(H5Dopen2(file_id, dataset.c_str(), H5P_DEFAULT));
    const hid_t space = H5Dget_space(dataset_id);
    std::vector<hsize_t> dimensions(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, dimensions.data(), nullptr);
    H5Sclose(space);
    H5Dclose(dataset_id);
    H5Fclose(file_id);
    return {dimensions.begin(), dimensions.end()};
}

std::uint64_t place_of_chunk(const std::filesystem::path& file, const std::string& dataset,
                             std::uint64_t row) {
    const hid_t id = opened(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    const hid_t data = opened(H5Dopen2(id, dataset.c_str(), H5P_DEFAULT));
    std::vector<hsize_t> first(read_dimensions(file, dataset).size());
    first.front() = row;
    unsigned filters = 0;
    haddr_t place = HADDR_UNDEF;
    hsize_t bytes = 0;
    H5Dget_chunk_info_by_coord(data, first.data(), &filters, &place, &bytes);
    H5Dclose(data);
    H5Fclose(id);
    return place;
}

std::optional<double> read_number(const std::filesystem::path& file, const std::string& dataset,
                                  const std::string& attribute) {
    const hid_t file_id = opened(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    std::optional<double> value;
    if (H5Aexists_by_name(file_id, dataset.c_str(), attribute.c_str(), H5P_DEFAULT) > 0) {
        const hid_t id =
            opened(H5Aopen_by_name(file_id, dataset.c_str(), attribute.c_str(), H5P_DEFAULT, H5P_DEFAULT));
        H5Aread(id, H5T_NATIVE_DOUBLE, &value.emplace());
        H5Aclose(id);
    }
    H5Fclose(file_id);
    return value;
}

}  // namespace phy::test
