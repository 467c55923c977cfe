#include "phy/demapper/host/block_runner.hpp"

#include "phy/core/integers.hpp"
#include "phy/demapper/math/plan.hpp"

#define PHY_KERNELS "phy/demapper/host/kernels-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy::detail {

Stretch::Stretch(Modulation modulation, SymbolView symbols_of_it, std::uint64_t index_of_first)
    : symbols(symbols_of_it),
      first_symbol(index_of_first),
      constellation(constellation_of(modulation)),
      rotating(modulation == Modulation::pi2_bpsk) {}

BlockRunner::BlockRunner(const Host& host, const BatchDemapperConfig& config)
    : host_(host),
      arrays_(&array_kernels(host.backend())),
      kernels_(&PHY_KERNELS_FOR(host.backend(), DemapKernels)),
      units_{},
      scales_{},
      workspaces_(static_cast<std::size_t>(host.threads())) {
    for (const SampleFormat format : all_sample_formats) {
        units_[static_cast<std::size_t>(format)] = unit_of(config, format);
        scales_[static_cast<std::size_t>(format)] = scales_floats(config, format);
    }
}

std::size_t BlockRunner::symbols_of_item(std::size_t symbols, std::size_t stretches) const {
    const auto threads = static_cast<std::size_t>(host_.threads());
    if (threads == 1) return std::max<std::size_t>(symbols, 1);
    // For less work, waking a thread costs more than it saves. But a symbol of one stretch may take ten times
    // as long as one of another.
    const std::size_t smallest = stretches == 1 ? 4096 : 1024;
    constexpr std::size_t items_of_thread = 8;
    return std::max(smallest, multiple_from(symbols / (threads * items_of_thread)));
}

namespace {

bool are_floats(SymbolView symbols) {
    const bool aligned = is_aligned(symbols.data(), alignof(float));
    return symbols.format() == SampleFormat::cf32 && aligned;
}

}  // namespace

bool BlockRunner::goes_through_workspace(SymbolView symbols) const {
    return !are_floats(symbols) || scales_[static_cast<std::size_t>(symbols.format())];
}

const float* BlockRunner::load(SymbolView symbols, Workspace& workspace) const {
    const auto format = static_cast<std::size_t>(symbols.format());
    const float* iq = reinterpret_cast<const float*>(symbols.data());
    if (!are_floats(symbols)) {
        arrays_->widen[format](symbols.data(), workspace.iq, 2 * symbols.size(), units_[format]);
        iq = workspace.iq;
    }
    if (!scales_[format]) return iq;
    kernels_->multiply(iq, workspace.iq, 2 * symbols.size(), units_[format]);
    return workspace.iq;
}

}  // namespace phy::detail
