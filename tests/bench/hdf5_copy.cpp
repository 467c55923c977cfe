// The least that demod_app could do on a 256QAM capture: H5Dread the symbols and H5Dwrite as many bytes, in
// one plain loop. Usage: hdf5_copy CAPTURE.h5 OUT.h5

#include <hdf5.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace {

int fail(const char* what) {
    std::fprintf(stderr, "hdf5_copy: %s\n", what);
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return fail("expected CAPTURE.h5 OUT.h5");
    constexpr hsize_t slab = 1 << 20;
    constexpr hsize_t bytes_a_symbol = 8;

    const hid_t in = H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t iq = H5Dopen2(in, "/iq", H5P_DEFAULT);
    const hid_t type = H5Dget_type(iq);
    if (iq < 0 || H5Tget_size(type) != bytes_a_symbol) return fail("expected /iq with 8 bytes a symbol");
    const hid_t in_space = H5Dget_space(iq);
    hsize_t symbols = 0;
    if (H5Sget_simple_extent_ndims(in_space) != 1) return fail("expected one dimension");
    H5Sget_simple_extent_dims(in_space, &symbols, nullptr);

    const hid_t out = H5Fcreate(argv[2], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t dims[2] = {symbols, bytes_a_symbol};
    const hid_t out_space = H5Screate_simple(2, dims, nullptr);
    const hid_t llr =
        H5Dcreate2(out, "/llr", H5T_NATIVE_INT8, out_space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    std::vector<char> buffer(slab * bytes_a_symbol);
    for (hsize_t first = 0; first < symbols; first += slab) {
        const hsize_t count = std::min(slab, symbols - first);
        const hsize_t out_first[2] = {first, 0};
        const hsize_t out_count[2] = {count, bytes_a_symbol};
        const hid_t in_memory = H5Screate_simple(1, &count, nullptr);
        const hid_t out_memory = H5Screate_simple(2, out_count, nullptr);
        H5Sselect_hyperslab(in_space, H5S_SELECT_SET, &first, nullptr, &count, nullptr);
        H5Sselect_hyperslab(out_space, H5S_SELECT_SET, out_first, nullptr, out_count, nullptr);
        if (H5Dread(iq, type, in_memory, in_space, H5P_DEFAULT, buffer.data()) < 0)
            return fail("cannot read");
        if (H5Dwrite(llr, H5T_NATIVE_INT8, out_memory, out_space, H5P_DEFAULT, buffer.data()) < 0) {
            return fail("cannot write");
        }
        H5Sclose(in_memory);
        H5Sclose(out_memory);
    }
    H5Dclose(llr);
    H5Fclose(out);
    H5Fclose(in);
    return 0;
}
