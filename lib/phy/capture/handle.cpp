#include "phy/capture/handle.hpp"

namespace phy::hdf5 {

void silence_errors() {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

std::string library_version() {
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    H5get_libversion(&major, &minor, &release);
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

std::string innermost_error() {
    // H5E_WALK_UPWARD starts at the cause; everything above it only says who had called.
    const auto keep_first = [](unsigned depth, const H5E_error2_t* error, void* text) -> herr_t {
        if (depth == 0) *static_cast<std::string*>(text) = error->desc;
        return 0;
    };
    std::string text;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
    // A version that it does not know is of a later library, unless the file is damaged.
    if (text.find("version") != std::string::npos)
        text += ", newer than HDF5 " + library_version() + " knows?";
    return text.empty() ? "HDF5 gives no reason" : text;
}

}  // namespace phy::hdf5
