#pragma once

#include <string>
#include <vector>

#include "phy/pipeline/place.hpp"

namespace phy::apps {

/// What --backend takes.
inline constexpr const char* backend_option_text =
    "backend: auto (default: PHY_BACKEND, else CUDA, else cpu), scalar, cpu, cuda, or a name that phy_info "
    "lists";

/// Returns the text if it is what --device takes: a number, numbers with commas, or "all". Throws
/// ArgumentError otherwise.
std::string parse_device(const std::string& text);

/// The places that --backend and --device ask for; device is empty or what --device takes, and then they are
/// its CUDA devices. "auto" means, in this order, the backend in PHY_BACKEND, a CUDA device, the fastest of
/// the CPU: the last with a warning on the log if this phy has CUDA. threads are those of a CPU, as
/// Host::Config::threads. Throws BackendError if a place does not run here, ArgumentError if the two do not
/// go together or a device is named twice.
std::vector<Place> choose_places(const std::string& backend, const std::string& device, int threads);

}  // namespace phy::apps
