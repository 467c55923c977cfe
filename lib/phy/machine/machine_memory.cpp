#include "phy/machine/machine_memory.hpp"

#include <unistd.h>

#include <algorithm>

#include "phy/machine/control_group.hpp"

namespace phy {

std::uint64_t machine_memory() {
    const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return std::min(pages * page, detail::control_group_limit("/"));
}

}  // namespace phy
