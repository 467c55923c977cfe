#include "phy/capture/kind.hpp"

#include <cstddef>

#include "phy/core/names.hpp"

namespace phy {

std::string_view to_string(CaptureKind kind) {
    constexpr std::array<std::string_view, all_capture_kinds.size()> names = {"symbols", "grid", "samples"};
    return names[static_cast<std::size_t>(kind)];
}

CaptureKind parse_capture_kind(std::string_view name) {
    return detail::parse_name("kind of capture", name, all_capture_kinds);
}

std::string_view default_dataset(CaptureKind kind) {
    constexpr std::array<std::string_view, all_capture_kinds.size()> paths = {"/iq", "/grid", "/samples"};
    return paths[static_cast<std::size_t>(kind)];
}

}  // namespace phy
