#include "common/places.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "common/app.hpp"
#include "phy/core/error.hpp"
#include "phy/core/version.hpp"
#include "phy/cuda/device.hpp"

namespace phy::apps {
namespace {

bool is_cuda(const Backend& backend) {
    return backend.kind() == Backend::Kind::cuda;
}

Backend choose_automatically() {
    if (const auto forced = Backend::forced()) return *forced;
    const Backend best = Backend::best();
    if (!built_with_cuda) return best;
    const auto& all = Backend::all();
    const auto device = std::ranges::find_if(
        all, [](const Backend& backend) { return is_cuda(backend) && backend.supported(); });
    if (device != all.end()) return *device;
    if constexpr (built_with_cuda) {
        const std::string warning =
            cpu_warning(gpu::Device::installed(), all.front().description(), best.name());
        if (!warning.empty()) spdlog::warn(warning);
    }
    return best;
}

std::vector<Backend> every_device() {
    std::vector<Backend> devices;
    std::ranges::copy_if(Backend::all(), std::back_inserter(devices),
                         [](const Backend& backend) { return is_cuda(backend) && backend.supported(); });
    if (devices.empty()) devices.push_back(Backend::parse("cuda"));  // its error says why there is none
    return devices;
}

bool is_number(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

std::vector<Backend> listed_devices(const std::string& list) {
    std::vector<Backend> devices;
    for (const std::string& number : split(list))
        devices.push_back(Backend::parse(fmt::format("cuda[{}]", number)));
    return devices;
}

std::vector<Backend> choose_devices(const std::string& backend, const std::string& device) {
    if (backend != "auto" && backend != "cuda" && backend != fmt::format("cuda[{}]", device))
        throw ArgumentError(
            fmt::format("--device {}: expected --backend cuda or none, not {}", device, backend));
    try {
        return device == "all" ? every_device() : listed_devices(device);
    } catch (const BackendError& error) {
        throw BackendError(fmt::format("--device {}: {}", device, error.what()));
    }
}

std::vector<Backend> choose_backends(const std::string& backend, const std::string& device) {
    if (!device.empty()) return choose_devices(backend, device);
    return {backend == "auto" ? choose_automatically() : Backend::parse(backend)};
}

Place place_of(const Backend& backend, int threads) {
    if constexpr (built_with_cuda) {
        if (is_cuda(backend)) return gpu::Device(backend.device());
    }
    return Host({.threads = threads, .backend = backend});
}

}  // namespace

std::string parse_device(const std::string& text) {
    if (text == "all") return text;
    std::set<std::string> seen;
    for (const std::string& number : split(text)) {
        if (!is_number(number))
            throw ArgumentError(fmt::format(
                "--device {}: expected a number from 0 on, such numbers with commas, or 'all'", text));
        const std::size_t digits = std::min(number.find_first_not_of('0'), number.size() - 1);
        if (!seen.insert(number.substr(digits)).second)
            throw ArgumentError(fmt::format("--device {}: {} given twice, expected once", text, number));
    }
    return text;
}

std::string cpu_warning(bool gpu_installed, const std::string& why_not, const std::string& cpu) {
    if (!gpu_installed) return "";
    return fmt::format(
        "this machine has an NVIDIA GPU that cannot be used: {}. Using {} (--backend cpu avoids this "
        "warning)",
        why_not, cpu);
}

std::vector<Place> choose_places(const std::string& backend, const std::string& device, int threads) {
    std::vector<Place> places;
    try {
        for (const Backend& each : choose_backends(backend, device))
            places.push_back(place_of(each, threads));
    } catch (const BackendError& error) {
        throw BackendError(fmt::format("{}; phy_info lists the backends that run here", error.what()));
    }
    return places;
}

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
