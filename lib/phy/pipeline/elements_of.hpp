#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "phy/core/error.hpp"

namespace phy::detail {

/// The elements in bytes, which lent memory may place at any address. Throws ArgumentError, which begins with
/// the port, if they are not aligned for elements.
template <typename T, typename Byte>
std::span<T> elements_of(std::span<Byte> bytes, const char* port) {
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) != 0)
        throw ArgumentError(std::string(port) + ": expected memory aligned to " + std::to_string(alignof(T)) +
                            " bytes");
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

}  // namespace phy::detail
