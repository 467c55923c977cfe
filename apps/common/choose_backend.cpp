#include "common/choose_backend.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "phy/core/error.hpp"
#include "phy/core/version.hpp"

namespace phy::apps {
namespace {

Backend choose_automatically() {
    if (const auto forced = Backend::forced()) return *forced;
    const Backend best = Backend::best();
    if (!built_with_cuda) return best;
    const auto& all = Backend::all();
    const auto device = std::find_if(all.begin(), all.end(), [](const Backend& backend) {
        return backend.kind() == Backend::Kind::cuda && backend.supported();
    });
    if (device != all.end()) return *device;
    spdlog::warn("{}: using {} (--backend cpu asks for that)", all.front().description(), best.name());
    return best;
}

Backend device_backend(const std::string& backend, const std::string& device) {
    const std::string name = fmt::format("cuda[{}]", device);
    if (backend != "auto" && backend != "cuda" && backend != name)
        throw ArgumentError(
            fmt::format("--device {}: expected --backend cuda or none, not {}", device, backend));
    try {
        return Backend::parse(name);
    } catch (const BackendError& error) {
        throw BackendError(fmt::format("--device {}: {}", device, error.what()));
    }
}

}  // namespace

Backend choose_backend(const std::string& backend, const std::string& device) {
    if (!device.empty()) return device_backend(backend, device);
    return backend == "auto" ? choose_automatically() : Backend::parse(backend);
}

}  // namespace phy::apps
