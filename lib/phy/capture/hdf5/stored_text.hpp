#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "phy/capture/flat/posix_file.hpp"
#include "phy/capture/hdf5/handle.hpp"

namespace phy::hdf5 {

/// An attribute of one string of variable length, from the bytes of the file: HDF5 1.10 trusts the lengths
/// and sizes that a file gives for such strings. Empty if the file stores attributes otherwise than HDF5 does
/// by default: in version 2 of object headers, in a heap of attributes, or as shared messages. Throws
/// FileError if the string is not where the attribute says, or longer than 16 MiB.
std::optional<std::string> stored_text(const detail::PosixFile& bytes, hid_t object, const char* name,
                                       std::string_view subject);

}  // namespace phy::hdf5
