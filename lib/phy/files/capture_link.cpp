#include "phy/files/capture_link.hpp"

#include "phy/core/error.hpp"
#include "phy/files/common.hpp"

namespace phy::detail {

std::optional<Link> link_of(const CaptureDescription& capture) {
    if (!capture.link) return std::nullopt;
    try {
        return parse_link(*capture.link);
    } catch (const ArgumentError& error) {
        throw FileError(name_of(capture) + ": attribute link: " + error.what());
    }
}

std::uint64_t codeword_symbols(const Link& link) {
    const SlotAllocation& allocation = link.allocation;
    return ResourceMap(allocation).elements() * static_cast<std::uint64_t>(allocation.layers());
}

}  // namespace phy::detail
