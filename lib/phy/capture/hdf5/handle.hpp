#pragma once

// Newer releases of HDF5 keep the interface of 1.10 under this macro.
#define H5_USE_110_API
#include <hdf5.h>

// The macros of HDF5 end a program whose libhdf5 has another patch version than these headers, also a later
// one with the same SONAME, such as an update of the distribution.
#undef H5CHECK
#define H5CHECK

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "phy/core/file_error.hpp"

/// The HDF5 C interface for the rest of capture/: owned identifiers, and errors as exceptions.
namespace phy::hdf5 {

using detail::file_error;
using detail::system_error_text;

using Dimensions = std::vector<hsize_t>;

/// Every public function of capture/ that calls HDF5 has a session. While it lives, no other thread of phy
/// calls HDF5, unless that library is thread-safe. A thread may have several. It turns off HDF5's error
/// printing in this thread for good, because HDF5 may also print at the end of a program that met a damaged
/// file.
class Session {
public:
    Session();

private:
    std::unique_lock<std::recursive_mutex> turn_;
};

/// Owns an identifier of HDF5.
template <herr_t (*close)(hid_t)>
class Handle {
public:
    Handle() = default;
    explicit Handle(hid_t id) : id_(id) {}
    ~Handle() { reset(); }
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(id_, other.id_);
        return *this;
    }

    /// Implicit, for the C interface.
    operator hid_t() const { return id_; }

    [[nodiscard]] hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }

    void reset() noexcept {
        if (id_ < 0) return;
        const Session session;
        H5E_BEGIN_TRY {
            close(release());
        }
        H5E_END_TRY
    }

private:
    hid_t id_ = H5I_INVALID_HID;
};

using FileHandle = Handle<H5Fclose>;
using DatasetHandle = Handle<H5Dclose>;
using TypeHandle = Handle<H5Tclose>;
using SpaceHandle = Handle<H5Sclose>;
using AttributeHandle = Handle<H5Aclose>;
using PropertiesHandle = Handle<H5Pclose>;

/// The version of the HDF5 library in use, such as "1.10.8".
std::string library_version();

/// The cause of this thread's last failure in HDF5.
std::string innermost_error();

/// Returns a result of HDF5, or throws "subject: problem: cause" if it is a failure.
template <typename Result>
Result checked(Result result, std::string_view subject, std::string_view problem) {
    if (result < 0) throw file_error(subject, std::string(problem) + ": " + innermost_error());
    return result;
}

}  // namespace phy::hdf5
