#include "phy/measure/symbol_meter.hpp"

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/cuda/workspace.hpp"
#include "phy/measure/cuda/symbol_launch.hpp"

namespace phy::gpu {
namespace {

/// Checks a call and starts its kernels.
void run(const Device& device, const SymbolMeterConfig& config, SymbolView symbols, const cf32* sent,
         const float* noise_variance, std::size_t row, DeviceSpan<SymbolSums> sums,
         DeviceSpan<std::byte> workspace, bool odd, cudaStream_t stream) {
    phy::detail::check_enum("sample format", symbols.format(), all_sample_formats.back());
    phy::detail::check_rows(symbols.size(), row, sums.size());
    auto* const nodes =
        detail::checked_workspace<SymbolSums>(workspace, SymbolMeter::workspace_bytes(symbols.size(), row));
    if (symbols.size() == 0) return;
    const CurrentDevice current(device);
    detail::launch({.format = symbols.format(),
                    .symbols = symbols.data(),
                    .size = symbols.size(),
                    .sent = reinterpret_cast<const float*>(sent),
                    .noise_variance = noise_variance,
                    .row = row,
                    .odd = odd,
                    .scale = phy::detail::symbol_scale(config, symbols.format()),
                    .sums = sums.data(),
                    .workspace = nodes},
                   detail::symbol_tuning(symbols.size()), stream);
}

}  // namespace

SymbolMeter::SymbolMeter(const Device& device, const Config& config) : device_(device), config_(config) {
    phy::detail::check_config(config);
}

std::size_t SymbolMeter::workspace_bytes(std::size_t symbols, std::size_t row) {
    return detail::symbol_workspace(symbols, row, detail::symbol_tuning(symbols)) * sizeof(SymbolSums);
}

void SymbolMeter::operator()(SymbolView symbols, std::size_t row, DeviceSpan<SymbolSums> sums,
                             DeviceSpan<std::byte> workspace, cudaStream_t stream,
                             std::uint64_t first_symbol) const {
    run(device_, config_, symbols, nullptr, nullptr, row, sums, workspace, first_symbol % 2 != 0, stream);
}

void SymbolMeter::operator()(SymbolView symbols, DeviceSpan<const cf32> sent, std::size_t row,
                             DeviceSpan<SymbolSums> sums, DeviceSpan<std::byte> workspace,
                             cudaStream_t stream) const {
    phy::detail::check_size("sent", sent.size(), symbols.size());
    run(device_, config_, symbols, sent.data(), nullptr, row, sums, workspace, false, stream);
}

void SymbolMeter::operator()(DeviceSpan<const cf32> symbols, DeviceSpan<const float> noise_variance,
                             std::size_t row, DeviceSpan<SymbolSums> sums, DeviceSpan<std::byte> workspace,
                             cudaStream_t stream, std::uint64_t first_symbol) const {
    phy::detail::check_size("noise_variance", noise_variance.size(), symbols.size());
    run(device_, config_, symbols, nullptr, noise_variance.data(), row, sums, workspace,
        first_symbol % 2 != 0, stream);
}

}  // namespace phy::gpu
