#pragma once

#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "estimator/estimator_cases.hpp"
#include "phy/core/backend.hpp"
#include "phy/core/error.hpp"
#include "support/random_allocation.hpp"

/// Calls whose bytes must be equal over backends, threads, batches and devices.
namespace phy_test {

struct BytesCase {
    std::string name;
    EstimatorConfig config;
};

inline std::vector<BytesCase> bytes_cases() {
    std::vector<BytesCase> cases;
    const auto add = [&](std::string name, EstimatorConfig config) {
        cases.push_back({std::move(name), std::move(config)});
    };
    EstimatorConfig usual = estimator_config(30, 2, {0, 1});
    usual.delay_spread = 100e-9F;
    add("a pair", usual);
    EstimatorConfig measured = estimator_config(41, 3, {0, 2, 3});
    add("delay spread measured, a pair and one", measured);
    EstimatorConfig average = estimator_config(17, 1, {3}, 2, 2);
    average.time = phy::TimeInterpolation::average;
    average.delay_spread = 300e-9F;
    add("average of double symbols, type 2", average);
    EstimatorConfig wide = estimator_config(75, 5, {1, 0, 4, 5}, 1, 2);
    wide.delay_spread = 500e-9F;
    wide.noise_variance = 0.01F;
    wide.time = phy::TimeInterpolation::wiener;
    wide.doppler_spread = 100.0F;
    add("five antennas, codes in time", wide);
    EstimatorConfig moving = estimator_config(26, 3, {0, 1});
    moving.time = phy::TimeInterpolation::wiener;
    moving.allocation.dmrs.symbols = {2, 7, 11};
    add("change measured, three DM-RS", moving);
    EstimatorConfig paired = estimator_config(9, 2, {0, 3, 4}, 2, 2);
    paired.time = phy::TimeInterpolation::wiener;
    paired.corrects_frequency = false;
    add("change measured, double symbols, no frequency", paired);
    EstimatorConfig ranges = estimator_config(58, 2, {0, 1, 2, 3});
    ranges.allocation.resource_blocks = {{31, 3}, {0, 27}, {40, 13}, {55, 3}};
    ranges.delay_spread = 1e-6F;
    ranges.corrects_timing = false;
    ranges.allocation.dmrs.symbols = {2, 5, 8, 11};
    add("ranges, four DM-RS", ranges);
    EstimatorConfig erased = estimator_config(24, 2, {0, 1, 3}, 2);
    erased.allocation.resource_blocks = {{0, 11}, {14, 3}};
    erased.allocation.erased_subcarriers = {0, 1, 2, 5, 60, 66, 67, 131, 150, 168, 169, 203, 280};
    add("erased subcarriers", erased);
    EstimatorConfig dense = estimator_config(17, 16, {0, 1});
    dense.allocation.dmrs.symbols = {1, 3, 5, 7, 9, 11};
    add("more residuals than shared memory holds", dense);
    EstimatorConfig one = estimator_config(1, 1, {0});
    one.delay_spread = 200e-9F;
    one.noise_variance = 0.02F;
    one.corrects_frequency = false;
    one.allocation.dmrs.symbols = {3};
    add("one resource block", one);
    return cases;
}

/// Any DM-RS, ranges of which most are short, antennas and interpolation; those that the estimator accepts.
inline std::vector<BytesCase> random_bytes_cases(std::uint32_t seed, int count) {
    std::mt19937 random(seed);
    std::vector<BytesCase> cases;
    while (cases.size() < static_cast<std::size_t>(count)) {
        EstimatorConfig config;
        config.allocation = random_allocation(random, random_int(random, 1, 40));
        const int antennas = random_int(random, 1, 7);
        config.antennas = antennas <= 5 ? antennas : antennas == 6 ? 8 : 16;
        config.time = static_cast<phy::TimeInterpolation>(random_int(random, 0, 2));
        if (random_int(random, 0, 3) == 0) config.noise_variance = 0.01F;
        try {
            phy::check(config.allocation);
            const phy::ChannelEstimator accepted(phy::Host({.threads = 1}), config);
        } catch (const phy::ArgumentError&) {
            continue;
        }
        cases.push_back({"random case " + std::to_string(cases.size()), config});
    }
    return cases;
}

/// Formats differ only in how samples are loaded, so only one case has all.
inline std::vector<phy::SampleFormat> formats_of(const BytesCase& one) {
    if (one.name != bytes_cases().front().name) return {phy::SampleFormat::cf32};
    return {phy::all_sample_formats.begin(), phy::all_sample_formats.end()};
}

/// Slots in a format; one may have non-finite samples.
struct Batch {
    std::vector<std::byte> grid;
    std::vector<phy::cf32> pilots;
    std::size_t slots = 0;
};

/// Lets the channel fade out within the slot, as that of a fast user.
inline void change_in_time(const EstimatorConfig& config, Slot& slot) {
    const auto width = static_cast<std::size_t>(config.allocation.subcarriers());
    for (std::size_t i = 0; i < slot.grid.size(); ++i)
        if (i / width % 14 > 9) slot.grid[i] *= 0.2F;
}

inline Batch make_batch(const EstimatorConfig& config, phy::SampleFormat format, std::size_t slots) {
    Batch batch;
    batch.slots = slots;
    for (std::size_t s = 0; s < slots; ++s) {
        Slot slot = make_slot(config,
                              {.delay_spread = 100e-9 * static_cast<double>(s + 1),
                               .noise_variance = s % 4 == 3 ? 1e-8 : 0.01,
                               .timing = 200e-9 * static_cast<double>(s),
                               .frequency = 100.0,
                               .power = 0.01},
                              s + 1);
        if (s == 2 && config.time == phy::TimeInterpolation::wiener) change_in_time(config, slot);
        if (s == 1) slot.grid[slot.grid.size() / 7] = {std::numeric_limits<float>::quiet_NaN(), 1.0F};
        const auto width = static_cast<std::size_t>(config.allocation.subcarriers());
        for (std::size_t row = 0; row < slot.grid.size(); row += width)
            for (const int k : config.allocation.erased_subcarriers)
                slot.grid[row + static_cast<std::size_t>(k)] = {k % 3 == 0 ? NAN : 100.0F, 0.0F};
        batch.pilots.insert(batch.pilots.end(), slot.pilots.begin(), slot.pilots.end());
        for (const phy::cf32& element : slot.grid) {
            for (const float part : {element.real(), element.imag()}) {
                std::byte stored[4];
                const float scaled = std::isfinite(part) ? part : 1.0F;
                const auto i16 = static_cast<std::int16_t>(std::clamp(scaled * 8000.0F, -32768.0F, 32767.0F));
                const auto i8 = static_cast<std::int8_t>(std::clamp(scaled * 60.0F, -128.0F, 127.0F));
                const phy::half half(part);
                const void* from = &part;
                if (format == phy::SampleFormat::cf16) from = &half;
                if (format == phy::SampleFormat::ci16) from = &i16;
                if (format == phy::SampleFormat::ci8) from = &i8;
                std::memcpy(stored, from, size_of(format) / 2);
                batch.grid.insert(batch.grid.end(), stored, stored + size_of(format) / 2);
            }
        }
    }
    return batch;
}

/// All bytes that a call writes: coefficients, slots, covariances.
struct Written {
    std::vector<float> channel;
    std::vector<phy::SlotEstimate> slots;
    std::vector<phy::cf32> covariance;

    Written(std::size_t slots_count, std::size_t channel_size, std::size_t covariance_size)
        : channel(slots_count * channel_size, -3.0F),
          slots(slots_count),
          covariance(slots_count * covariance_size) {}

    [[nodiscard]] bool is_same_as(const Written& other) const {
        return std::memcmp(channel.data(), other.channel.data(), channel.size() * sizeof(float)) == 0 &&
               std::memcmp(slots.data(), other.slots.data(), slots.size() * sizeof(phy::SlotEstimate)) == 0 &&
               std::memcmp(covariance.data(), other.covariance.data(),
                           covariance.size() * sizeof(phy::cf32)) == 0;
    }
};

/// Elements per slot of the covariance that a case asks for: none, a matrix per slot or one per subband.
inline std::size_t covariance_size(const EstimatorConfig& config) {
    const phy::ResourceBlocks& range = config.allocation.resource_blocks.front();
    if (range.count == 1) return 0;
    const bool is_of_slot = (config.antennas + range.first) % 3 == 0;
    const int matrices =
        is_of_slot ? 1 : phy::subbands(config.antennas, config.allocation.carrier_resource_blocks);
    return static_cast<std::size_t>(matrices * config.antennas * config.antennas);
}

/// Calls with `slots_a_call` slots each.
inline Written write_all(const phy::Host& host, const EstimatorConfig& config, phy::SampleFormat format,
                         const Batch& batch, std::size_t slots_a_call) {
    phy::ChannelEstimator estimator(host, config);
    const std::size_t of_covariance = covariance_size(config);
    Written written(batch.slots, estimator.channel_size(), of_covariance);
    const std::size_t grid = batch.grid.size() / batch.slots;
    const std::size_t pilots = batch.pilots.size() / batch.slots;
    for (std::size_t s = 0; s < batch.slots; s += slots_a_call) {
        const std::size_t count = std::min(slots_a_call, batch.slots - s);
        estimator({format, std::span(batch.grid).subspan(s * grid, count * grid)},
                  std::span(batch.pilots).subspan(s * pilots, count * pilots),
                  std::span(written.channel)
                      .subspan(s * estimator.channel_size(), count * estimator.channel_size()),
                  std::span(written.slots).subspan(s, count),
                  std::span(written.covariance).subspan(s * of_covariance, count * of_covariance));
    }
    return written;
}

}  // namespace phy_test
