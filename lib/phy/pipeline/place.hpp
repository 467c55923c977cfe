#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <utility>

#include "phy/core/backend.hpp"
#include "phy/core/export.hpp"
#include "phy/machine/host.hpp"

namespace phy {

namespace gpu {
class Device;
}

/// Where a stage runs: a Host or a CUDA device. Both convert to Place.
class PHY_EXPORT Place {
public:
    Place(Host host) : backend_(host.backend()), host_(std::move(host)) {}

    template <std::same_as<gpu::Device> Device>
    Place(const Device& device) : backend_(Backend::cuda(device.ordinal())) {}

    [[nodiscard]] bool is_cuda() const { return !host_.has_value(); }
    [[nodiscard]] Backend backend() const { return backend_; }

    /// "scalar", "cpu[avx512]", "cuda[0]".
    [[nodiscard]] std::string name() const { return backend_.name(); }

    /// Precondition: not is_cuda().
    [[nodiscard]] const Host& host() const { return host_.value(); }

    /// The ordinal of the CUDA device.
    [[nodiscard]] int device() const { return backend_.device(); }

private:
    Backend backend_;
    std::optional<Host> host_;
};

}  // namespace phy
