#include "phy/core/check_size.hpp"
#include "phy/scaling/cuda/launch.hpp"
#include "phy/scaling/math/factor.hpp"
#include "phy/scaling/scaler_cuda.hpp"

namespace phy::gpu {

SymbolScaler::SymbolScaler(const Device& device, const Config& config) : device_(device), config_(config) {
    phy::detail::check_config(config);
    multiprocessors_ = device.multiprocessors();
}

void SymbolScaler::operator()(SymbolView symbols, DeviceSpan<cf32> scaled, cudaStream_t stream) const {
    phy::detail::check_size("scaled", scaled.size(), symbols.size());
    const float factor = phy::detail::scaling_factor(config_, symbols.format());
    if (symbols.size() == 0) return;
    const CurrentDevice current(device_);
    detail::launch({.format = symbols.format(),
                    .in = symbols.data(),
                    .out = reinterpret_cast<std::byte*>(scaled.data()),
                    .symbols = symbols.size(),
                    .factor = factor},
                   multiprocessors_, stream);
}

}  // namespace phy::gpu
