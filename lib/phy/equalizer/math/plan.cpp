#include "phy/equalizer/math/plan.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/dmrs/slot_allocation.hpp"

namespace phy::detail {
namespace {

constexpr int max_time_sets = 64;

void check_weights(std::span<const float> weights, int sets) {
    if (sets < 1 || sets > max_time_sets)
        throw ArgumentError("time_sets " + std::to_string(sets) + ": expected 1 to " +
                            std::to_string(max_time_sets));
    const std::size_t of_estimate = static_cast<std::size_t>(sets) * symbols_per_slot;
    if (weights.size() % of_estimate != 0 || weights.size() > of_estimate * symbols_per_slot)
        throw ArgumentError("time_weights has " + std::to_string(weights.size()) +
                            " elements: expected a multiple of " + std::to_string(of_estimate) +
                            ", 14 OFDM symbols in each of " + std::to_string(sets) +
                            " time_sets, for up to 14 estimates");
    for (const float weight : weights) {
        if (std::isfinite(weight)) continue;
        throw ArgumentError("time weight " + number_text(weight) + ": expected a finite number");
    }
}

const EqualizerConfig& checked(const EqualizerConfig& config) {
    check(config.allocation);
    if (config.allocation.ptrs && config.allocation.dmrs.transform_precoding)
        throw ArgumentError(
            "ptrs with transform_precoding: expected none, as they are samples before the DFT");
    const int layers = config.allocation.layers();
    if (layers > max_layers)
        throw ArgumentError(std::to_string(layers) + " layers: expected 1 to " + std::to_string(max_layers));
    if (config.antennas < layers || config.antennas > max_antennas)
        throw ArgumentError(std::to_string(config.antennas) +
                            " antennas: expected from the number of layers, " + std::to_string(layers) +
                            ", to " + std::to_string(max_antennas));
    check_enum("equalization", config.method, Equalization::zero_forcing);
    check_weights(config.time_weights, config.time_sets);
    if (config.pairs && layers != 2)
        throw ArgumentError("pairs with " + std::to_string(layers) + " layers: expected 2");
    return config;
}

bool carries_data(const ResourceMap& map, int symbol) {
    const std::size_t blocks = map.entries().size() / symbols_per_slot;
    const auto entries = map.entries().subspan(static_cast<std::size_t>(symbol) * blocks, blocks);
    return std::ranges::any_of(entries, [](const ResourceMap::Entry& entry) { return entry.mask != 0; });
}

/// Weights that are a single 1 among zeros pick one estimate if there is one set of them.
WeightGroup group_of(std::vector<float> weights, int estimates) {
    const auto one = std::ranges::find(weights, 1.0F);
    const auto zeros = std::ranges::count(weights, 0.0F);
    const bool picks =
        one != weights.end() && zeros + 1 == std::ssize(weights) && std::ssize(weights) == estimates;
    if (!picks) return {.weights = std::move(weights)};
    return {.estimate = static_cast<int>(one - weights.begin())};
}

}  // namespace

EqualizerPlan::EqualizerPlan(const EqualizerConfig& config)
    : config_(checked(config)), map_(config.allocation) {
    const std::vector<float>& all = config_.time_weights;
    const std::size_t sets = static_cast<std::size_t>(config_.time_sets);
    const std::size_t estimates = std::max<std::size_t>(1, all.size() / (sets * symbols_per_slot));
    estimates_ = static_cast<int>(estimates);
    for (int symbol = 0; symbol < symbols_per_slot; ++symbol) {
        if (!carries_data(map_, symbol)) continue;
        std::vector<float> weights;
        for (std::size_t set = 0; set < sets && !all.empty(); ++set) {
            const std::size_t row = set * symbols_per_slot + static_cast<std::size_t>(symbol);
            const auto of_set = std::span(all).subspan(row * estimates, estimates);
            weights.insert(weights.end(), of_set.begin(), of_set.end());
        }
        WeightGroup group = group_of(std::move(weights), estimates_);
        const auto same = std::ranges::find_if(groups_, [&](const WeightGroup& other) {
            return other.weights == group.weights && other.estimate == group.estimate;
        });
        if (same == groups_.end()) {
            groups_.push_back(std::move(group));
            groups_.back().symbols = {symbol};
        } else {
            same->symbols.push_back(symbol);
        }
    }
    for (WeightGroup& group : groups_)
        group.shares_filters = group.symbols.size() > 1 && !config_.pairs;
}

std::size_t EqualizerPlan::grid_size() const {
    return static_cast<std::size_t>(antennas()) * symbols_per_slot * subcarriers();
}

std::size_t EqualizerPlan::channel_size() const {
    return static_cast<std::size_t>(estimates_ * antennas() * layers() * 2) * subcarriers();
}

std::size_t EqualizerPlan::matrix_size() const {
    return static_cast<std::size_t>(antennas() * antennas());
}

EqualizerPlan::Subbands EqualizerPlan::subbands_of(std::size_t slots, std::size_t covariance) const {
    const int blocks = config_.allocation.carrier_resource_blocks;
    if (covariance == slots * matrix_size()) return {1, static_cast<std::size_t>(blocks)};
    return {static_cast<std::size_t>(subbands(antennas(), blocks)),
            static_cast<std::size_t>(subband_blocks(antennas()))};
}

void EqualizerPlan::check_sizes(const Sizes& sizes, SampleFormat format) const {
    check_enum("sample format", format, all_sample_formats.back());
    check_slots(sizes.slots, "grid", sizes.grid);
    check_size("grid", sizes.grid, sizes.slots * grid_size());
    check_size("channel", sizes.channel, sizes.slots * channel_size());
    if (sizes.covariance != 0)
        check_size("covariance", sizes.covariance,
                   sizes.slots * subbands_of(sizes.slots, sizes.covariance).count * matrix_size());
    check_size("symbols", sizes.symbols, sizes.slots * symbols());
    check_size("noise_variance", sizes.noise_variance, sizes.slots * symbols());
    check_size("pairs", sizes.pairs, config_.pairs ? sizes.slots * map_.elements() : 0);
}

void check_noise(std::span<const SlotEstimate> slots) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const SlotEstimate& slot = slots[i];
        if (slot.noise_variance <= 0.0F)
            throw ArgumentError("slot " + std::to_string(i) + ": noise_variance is " +
                                number_text(slot.noise_variance) + ": expected a positive number");
        if (slot.channel_error < 0.0F)
            throw ArgumentError("slot " + std::to_string(i) + ": channel_error is " +
                                number_text(slot.channel_error) + ": expected 0 or a positive number");
    }
}

float EqualizerPlan::unit_of(SampleFormat format) const {
    return 1.0F / config_.full_scale.value_for(format);
}

}  // namespace phy::detail
