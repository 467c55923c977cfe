#include "common/cuda_info.hpp"

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "phy/core/version.hpp"
#include "phy/cuda/device.hpp"

namespace phy::apps {

Json cuda_info() {
    std::istringstream list(cuda_architectures);
    const std::vector<Json> architectures{std::istream_iterator<std::string>(list), {}};
    std::vector<Json> devices;
    for (const gpu::Device& device : gpu::Device::all())
        devices.push_back(Json::object({{"ordinal", device.ordinal()},
                                        {"name", device.name()},
                                        {"compute_capability", device.compute_capability()},
                                        {"multiprocessors", device.multiprocessors()},
                                        {"memory_bytes", device.memory()}}));
    const std::string why_not = gpu::Device::why_not();
    return Json::object({{"architectures", Json::array(architectures)},
                         {"devices", Json::array(devices)},
                         {"why_not", why_not.empty() ? Json() : Json(why_not)}});
}

}  // namespace phy::apps
