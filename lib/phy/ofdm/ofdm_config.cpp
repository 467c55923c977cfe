#include "phy/ofdm/ofdm_config.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/ofdm/math/check.hpp"
#include "phy/ofdm/math/fft_plan.hpp"

namespace phy {
namespace {

using detail::number_text;

constexpr std::size_t smallest_fft = 128;
using detail::largest_fft;

int checked_numerology(double spacing) {
    for (int mu = 0; mu < 4; ++mu)
        if (spacing == 15000.0 * (1 << mu)) return mu;
    throw ArgumentError("subcarrier_spacing " + number_text(spacing) +
                        ": expected 15000, 30000, 60000 or 120000 Hz");
}

std::size_t checked_size(const OfdmConfig& config) {
    const double size = config.sample_rate / config.subcarrier_spacing;
    const bool is_whole = size >= smallest_fft && size <= largest_fft && size == std::floor(size);
    const auto whole = is_whole ? static_cast<std::size_t>(size) : 0;
    if (whole != 0 && whole % smallest_fft == 0 && detail::has_small_factors(whole)) return whole;
    throw ArgumentError("sample_rate " + number_text(config.sample_rate) + " with subcarrier_spacing " +
                        number_text(config.subcarrier_spacing) + " is an FFT of " + number_text(size) +
                        ": expected a multiple of 128 to 8192 without prime factors above 5");
}

void check_bins(std::size_t size, std::size_t zero, std::size_t subcarriers) {
    if (zero <= size / 2 && subcarriers - zero <= size / 2) return;
    throw ArgumentError("an FFT of " + std::to_string(size) + " with zero frequency at subcarrier " +
                        std::to_string(zero) + " of " + std::to_string(subcarriers) +
                        ": expected at most half as many subcarriers on either side");
}

std::size_t max_slot(const OfdmTiming& timing, const OfdmSlots& slots) {
    std::size_t longest = 0;
    for (std::size_t i = 0; i < std::min(slots.count, timing.slots_per_subframe()); ++i)
        longest = std::max(longest, timing.slot_samples(slots.first + i));
    return longest;
}

/// For slots that follow each other without gaps.
detail::OfdmSizes checked_stride(const OfdmConfig& config, const OfdmTiming& timing, const OfdmSlots& slots,
                                 std::size_t samples) {
    const auto antennas = static_cast<std::size_t>(config.antennas);
    const std::uint64_t needed =
        timing.slot_start(slots.first + slots.count) - timing.slot_start(slots.first);
    const std::size_t stride = slots.stride.value_or(needed);
    if (stride < needed)
        throw ArgumentError("stride is " + std::to_string(stride) + " samples: expected at least " +
                            std::to_string(needed));
    if (slots.count > 0 && (samples < needed || (samples - needed) / stride < antennas - 1))
        throw ArgumentError("samples has " + std::to_string(samples) + " elements: expected at least " +
                            std::to_string(needed) + " for each of " + std::to_string(antennas) +
                            " antennas, " + std::to_string(stride) + " apart");
    return {.stride = stride};
}

/// For slots whose antennas lie together.
detail::OfdmSizes checked_strides(const OfdmConfig& config, const OfdmTiming& timing, const OfdmSlots& slots,
                                  std::size_t samples) {
    const auto antennas = static_cast<std::size_t>(config.antennas);
    const std::size_t needed = max_slot(timing, slots);
    const std::size_t stride = slots.stride.value_or(needed);
    if (stride < needed)
        throw ArgumentError("stride is " + std::to_string(stride) + " samples: expected at least " +
                            std::to_string(needed));
    const std::size_t slot_stride = *slots.slot_stride;
    const std::size_t step = std::max<std::size_t>(stride, 1);
    if (slot_stride < needed || (slot_stride - needed) / step < antennas - 1)
        throw ArgumentError("slot_stride is " + std::to_string(slot_stride) + " samples: expected at least " +
                            std::to_string(needed) + " for each of " + std::to_string(antennas) +
                            " antennas, " + std::to_string(stride) + " apart");
    const std::size_t of_slot = (antennas - 1) * stride + needed;
    if (slots.count > 0 && (samples < of_slot || (samples - of_slot) / slot_stride < slots.count - 1))
        throw ArgumentError("samples has " + std::to_string(samples) + " elements: expected at least " +
                            std::to_string(of_slot) + " for each of " + std::to_string(slots.count) +
                            " slots, " + std::to_string(slot_stride) + " apart");
    return {.stride = stride, .slot_stride = slot_stride};
}

detail::ChosenSymbols chosen_symbols(const OfdmTiming& timing, std::uint32_t bits) {
    detail::ChosenSymbols chosen;
    for (std::size_t symbol = 0; symbol < timing.symbols(); ++symbol) {
        if ((bits >> symbol & 1U) != 0) chosen.numbers[chosen.count++] = static_cast<std::uint8_t>(symbol);
    }
    return chosen;
}

}  // namespace

OfdmTiming::OfdmTiming(const OfdmConfig& config) {
    detail::check_range("resource_blocks", config.resource_blocks, 1, 275);
    numerology_ = checked_numerology(config.subcarrier_spacing);
    size_ = static_cast<std::uint32_t>(checked_size(config));
    if (config.k0 != 0 && config.k0 != 6 && config.k0 != -6)
        throw ArgumentError("k0 " + std::to_string(config.k0) + ": expected -6, 0 or 6");
    slots_ = std::uint32_t{1} << numerology_;
    subcarriers_ = 12 * static_cast<std::uint32_t>(config.resource_blocks);
    zero_ = static_cast<std::uint32_t>(6 * config.resource_blocks - config.k0);
    check_bins(size_, zero_, subcarriers_);
    detail::check_enum("cyclic_prefix", config.cyclic_prefix, CyclicPrefix::extended);
    if (config.cyclic_prefix == CyclicPrefix::normal) {
        prefix_ = size_ / 128 * 9;
        extra_ = size_ / 128 * slots_;
        return;
    }
    if (numerology_ != 2)
        throw ArgumentError("cyclic_prefix extended with subcarrier_spacing " +
                            number_text(config.subcarrier_spacing) + ": expected 60000 Hz");
    symbols_ = 12;
    prefix_ = size_ / 4;
}

namespace detail {

OfdmTiming checked_timing(const OfdmConfig& config) {
    const OfdmTiming timing(config);
    check_range("antennas", config.antennas, 1, 64);
    if (!(std::abs(config.center_frequency) <= 0x1p40))
        throw ArgumentError("center_frequency " + number_text(config.center_frequency) +
                            ": expected a number from -2^40 to 2^40");
    if (!(std::abs(config.frequency_shift) <= config.sample_rate / 2))
        throw ArgumentError("frequency_shift " + number_text(config.frequency_shift) +
                            ": expected at most half of the sample rate, " +
                            number_text(config.sample_rate / 2));
    return timing;
}

std::size_t checked_window_offset(const OfdmDemodulatorConfig& config, const OfdmTiming& timing) {
    const std::size_t prefix = timing.prefix_samples(0, 1);
    if (!config.window_offset) return prefix / 2;
    check_range("window_offset", *config.window_offset, 0, static_cast<int>(prefix));
    return static_cast<std::size_t>(*config.window_offset);
}

OfdmSizes checked_sizes(const OfdmConfig& config, const OfdmTiming& timing, const OfdmSlots& slots,
                        std::size_t samples, std::size_t grid) {
    const auto antennas = static_cast<std::size_t>(config.antennas);
    const std::size_t of_slot = antennas * timing.slot_elements();
    if (grid % of_slot != 0 || grid / of_slot != slots.count)
        throw ArgumentError("grid has " + std::to_string(grid) + " elements: expected " +
                            std::to_string(of_slot) + " for each of " + std::to_string(slots.count) +
                            " slots");
    OfdmSizes sizes = slots.slot_stride ? checked_strides(config, timing, slots, samples)
                                        : checked_stride(config, timing, slots, samples);
    sizes.chosen = chosen_symbols(timing, slots.symbols);
    sizes.antennas = static_cast<std::uint32_t>(config.antennas);
    sizes.rows = slots.count * antennas * sizes.chosen.count;
    return sizes;
}

float unit_of(const OfdmDemodulatorConfig& config, SampleFormat format) {
    return 1.0F / config.full_scale.value_for(format);
}

}  // namespace detail

}  // namespace phy
