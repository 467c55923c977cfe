#include "phy/capture/hdf5/handle.hpp"

namespace phy::hdf5 {

namespace {

std::unique_lock<std::recursive_mutex> take_turn() {
    // Never destroyed, because handles may be closed while the program ends.
    static auto& one_at_a_time = *new std::recursive_mutex;
    hbool_t is_thread_safe = false;
    if (H5is_library_threadsafe(&is_thread_safe) >= 0 && is_thread_safe) return {};
    return std::unique_lock(one_at_a_time);
}

}  // namespace

Session::Session() : turn_(take_turn()) {
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
    // H5E_WALK_UPWARD starts at the cause; the rest only names callers.
    const auto keep_first = [](unsigned depth, const H5E_error2_t* error, void* text) -> herr_t {
        if (depth == 0) *static_cast<std::string*>(text) = error->desc;
        return 0;
    };
    std::string text;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
    // An unknown version is from a later library, unless the file is damaged.
    if (text.find("version") != std::string::npos) text += ", possibly too new for HDF5 " + library_version();
    return text.empty() ? "HDF5 gives no reason" : text;
}

}  // namespace phy::hdf5
