#pragma once

#include <optional>
#include <string>
#include <vector>

#include "phy/pipeline/place.hpp"

namespace phy::apps {

/// The description of --backend.
inline constexpr const char* backend_option_text =
    "backend: auto (default: PHY_BACKEND, else CUDA, else cpu), scalar, cpu, cuda, or a name that phy_info "
    "lists";

/// Checks a value of --device and returns it: a number, comma-separated numbers, or "all". Throws
/// ArgumentError otherwise.
std::string parse_device(const std::string& text);

/// The warning that "auto" takes a CPU although the machine has an NVIDIA GPU; empty if it has none. why_not:
/// why phy cannot use a GPU; cpu: the name of the backend.
std::string cpu_warning(bool gpu_installed, const std::string& why_not, const std::string& cpu);

/// The places that --backend and --device select. A device that is not empty selects CUDA devices. "auto"
/// takes the backend in PHY_BACKEND, else a CUDA device, else the fastest backend of the CPU, with
/// cpu_warning() if this phy has CUDA. threads: CPU threads, as Host::Config::threads. Throws BackendError if
/// a place is unavailable, ArgumentError if the two contradict each other or a device is named twice.
std::vector<Place> choose_places(const std::string& backend, const std::string& device, int threads);

/// Such as "cuda[0], cuda[1]".
std::string names_of(const std::vector<Place>& places);

/// The names of their devices, such as "NVIDIA H200, NVIDIA H200"; none on a CPU.
std::optional<std::string> devices_of(const std::vector<Place>& places);

}  // namespace phy::apps
