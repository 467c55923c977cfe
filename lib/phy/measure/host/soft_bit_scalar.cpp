// One soft bit at a time: the reference that every instruction set is compared with.

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "phy/measure/host/soft_bit_kernels.hpp"

namespace phy::detail {
namespace {

template <typename T>
T load(const SoftBitBlock& block, std::size_t index) {
    T value;
    std::memcpy(&value, block.soft_bits + index * sizeof value, sizeof value);
    return value;
}

void compare(const SoftBitBlock& block, std::size_t index, bool is_negative, SoftBitSums& sums) {
    if (block.truth == nullptr) return;
    ++sums.compared;
    sums.bit_errors += is_negative != (block.truth[index] != 0) ? 1 : 0;
}

SoftBitSums sum_integers(const SoftBitBlock& block, int clip) {
    SoftBitSums sums;
    int magnitude = 0;
    for (std::size_t i = 0; i < block.count; ++i) {
        const auto soft_bit = load<std::int8_t>(block, i);
        magnitude += std::abs(soft_bit);
        sums.saturated += std::abs(soft_bit) == clip ? 1 : 0;
        sums.zeros += soft_bit == 0 ? 1 : 0;
        compare(block, i, soft_bit < 0, sums);
    }
    sums.magnitude = magnitude;
    sums.soft_bits = block.count;
    return sums;
}

template <typename T>
SoftBitSums sum_numbers(const SoftBitBlock& block, int) {
    SoftBitSums sums;
    MagnitudeLanes lanes;
    for (std::size_t i = 0; i < block.count; ++i) {
        const auto soft_bit = static_cast<float>(load<T>(block, i));
        if (!std::isfinite(soft_bit)) {
            ++sums.not_finite;
            continue;
        }
        ++sums.soft_bits;
        lanes.sums[i % row_tree.lanes] += std::fabs(soft_bit);
        sums.saturated += std::fabs(soft_bit) >= saturation_of<T>() ? 1 : 0;
        sums.zeros += soft_bit == 0.0F ? 1 : 0;
        compare(block, i, soft_bit < 0.0F, sums);
    }
    sums.magnitude = lanes.root();
    return sums;
}

}  // namespace

constinit const SoftBitKernels scalar_soft_bit_kernels = {
    {&sum_integers, &sum_numbers<half>, &sum_numbers<float>}};

}  // namespace phy::detail
