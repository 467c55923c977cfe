#include "phy/capture/handle.hpp"

namespace phy::hdf5 {

void silence_errors() {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

std::string innermost_error() {
    // H5E_WALK_UPWARD starts at the cause; everything above it only says who had called.
    const auto keep_first = [](unsigned depth, const H5E_error2_t* error, void* text) -> herr_t {
        if (depth == 0) *static_cast<std::string*>(text) = error->desc;
        return 0;
    };
    std::string text;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
    return text.empty() ? "HDF5 gives no reason" : text;
}

}  // namespace phy::hdf5
