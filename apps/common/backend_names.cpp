#include "common/backend_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/cuda_info.hpp"
#include "phy/core/version.hpp"

namespace phy::apps {

std::string names_of(const std::vector<Backend>& backends) {
    std::vector<std::string> names;
    for (const Backend& backend : backends)
        names.push_back(backend.name());
    return fmt::format("{}", fmt::join(names, ", "));
}

std::optional<std::string> devices_of(const std::vector<Backend>& backends) {
    if constexpr (built_with_cuda) {
        if (backends.front().kind() == Backend::Kind::cuda) {
            std::vector<std::string> names;
            for (const Backend& backend : backends)
                names.push_back(cuda_device_name(backend));
            return fmt::format("{}", fmt::join(names, ", "));
        }
    }
    return std::nullopt;
}

}  // namespace phy::apps
