#include "common/place_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "phy/core/version.hpp"
#include "phy/cuda/device.hpp"

namespace phy::apps {

std::string names_of(const std::vector<Place>& places) {
    std::vector<std::string> names;
    for (const Place& place : places)
        names.push_back(place.name());
    return fmt::format("{}", fmt::join(names, ", "));
}

std::optional<std::string> devices_of(const std::vector<Place>& places) {
    if constexpr (built_with_cuda) {
        if (places.front().is_cuda()) {
            std::vector<std::string> names;
            for (const Place& place : places)
                names.push_back(gpu::Device(place.device()).name());
            return fmt::format("{}", fmt::join(names, ", "));
        }
    }
    return std::nullopt;
}

}  // namespace phy::apps
