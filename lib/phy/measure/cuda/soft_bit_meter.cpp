#include "phy/measure/soft_bit_meter_cuda.hpp"

#include <optional>

#include "phy/core/check.hpp"
#include "phy/cuda/workspace.hpp"
#include "phy/measure/cuda/soft_bit_launch.hpp"
#include "phy/measure/math/soft_bit_check.hpp"

namespace phy::gpu {
namespace {

/// The arrays of a call.
struct Call {
    SoftBitView soft_bits;
    std::optional<DeviceSpan<const std::uint8_t>> truth;
    std::size_t row;
    DeviceSpan<SoftBitSums> sums;
    DeviceSpan<std::byte> workspace;
};

void run(const Device& device, const SoftBitMeterConfig& config, const Call& call, cudaStream_t stream) {
    const std::size_t size = call.soft_bits.size();
    phy::detail::check_call(call.soft_bits.format(),
                            {.soft_bits = size,
                             .truth = call.truth ? std::optional(call.truth->size()) : std::nullopt,
                             .row = call.row,
                             .sums = call.sums.size()});
    auto* const nodes =
        detail::checked_workspace<SoftBitSums>(call.workspace, SoftBitMeter::workspace_bytes(size, call.row));
    if (size == 0) return;
    const CurrentDevice current(device);
    detail::launch({.format = call.soft_bits.format(),
                    .soft_bits = call.soft_bits.data(),
                    .truth = call.truth ? call.truth->data() : nullptr,
                    .size = size,
                    .row = call.row,
                    .clip = config.llr_clip,
                    .sums = call.sums.data(),
                    .workspace = nodes},
                   detail::soft_bit_tuning(size), stream);
}

}  // namespace

SoftBitMeter::SoftBitMeter(const Device& device, const Config& config) : device_(device), config_(config) {
    phy::detail::check_config(config);
}

std::size_t SoftBitMeter::workspace_bytes(std::size_t soft_bits, std::size_t row) {
    return detail::soft_bit_workspace(soft_bits, row, detail::soft_bit_tuning(soft_bits)) *
           sizeof(SoftBitSums);
}

void SoftBitMeter::operator()(SoftBitView soft_bits, std::size_t row, DeviceSpan<SoftBitSums> sums,
                              DeviceSpan<std::byte> workspace, cudaStream_t stream) const {
    run(device_, config_, {soft_bits, std::nullopt, row, sums, workspace}, stream);
}

void SoftBitMeter::operator()(SoftBitView soft_bits, DeviceSpan<const std::uint8_t> truth, std::size_t row,
                              DeviceSpan<SoftBitSums> sums, DeviceSpan<std::byte> workspace,
                              cudaStream_t stream) const {
    run(device_, config_, {soft_bits, truth, row, sums, workspace}, stream);
}

}  // namespace phy::gpu
