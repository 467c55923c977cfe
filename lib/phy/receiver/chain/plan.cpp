#include "phy/receiver/chain/plan.hpp"

#include <algorithm>
#include <string>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/dmrs/dmrs.hpp"
#include "phy/dmrs/pilots.hpp"
#include "phy/scrambling/gold_sequence.hpp"

namespace phy {

bool rejects_interference(const ReceiverConfig& config) {
    // From these on, a measured covariance costs about 0.05 dB at most in white noise (2 to 8 antennas in
    // link_sim).
    constexpr std::size_t least_pilots = 144;
    return config.interference_rejection.value_or(config.antennas > 1 && !config.noise_variance &&
                                                  dmrs_pilot_count(config.link.allocation) >= least_pilots);
}

bool can_detect_jointly(const ReceiverConfig& config) {
    return config.link.allocation.layers() == 2 && bits_per_symbol(config.link.modulation) > 1 &&
           config.llr.method == Method::max_log;
}

void check_joint_detection(const ReceiverConfig& config) {
    const auto refuse = [](const std::string& what, const char* expected) {
        throw ArgumentError("joint_detection with " + what + ": expected " + expected);
    };
    const int layers = config.link.allocation.layers();
    if (layers != 2) refuse(std::to_string(layers) + (layers == 1 ? " layer" : " layers"), "2");
    if (bits_per_symbol(config.link.modulation) == 1)
        refuse(std::string(to_string(config.link.modulation)), "qpsk or a modulation of more bits");
    if (config.llr.method != Method::max_log) refuse(std::string(to_string(config.llr.method)), "maxlog");
}

namespace detail {
namespace {

constexpr int max_antennas = 16;

const ReceiverConfig& checked(const ReceiverConfig& config) {
    check(config.link);
    check_enum("input", config.input, ReceiverInput::grid);
    check_enum("soft-bit format", config.format, all_soft_bit_formats.back());
    check_enum("equalization", config.equalization, Equalization::zero_forcing);
    const int layers = config.link.allocation.layers();
    if (config.antennas < layers || config.antennas > max_antennas)
        throw ArgumentError("antennas " + std::to_string(config.antennas) +
                            ": expected from the number of layers, " + std::to_string(layers) + ", to " +
                            std::to_string(max_antennas));
    if (config.interference_rejection.value_or(false) && config.noise_variance)
        throw ArgumentError("interference_rejection with a noise_variance of " +
                            number_text(*config.noise_variance) + ": expected none, as it is measured");
    if (config.joint_detection) check_joint_detection(config);
    return config;
}

std::optional<OfdmDemodulatorConfig> demodulator_of(const ReceiverConfig& config) {
    if (config.input == ReceiverInput::grid) return {};
    return OfdmDemodulatorConfig{.ofdm = ofdm_config(config.link, config.antennas),
                                 .window_offset = config.window_offset,
                                 .full_scale = config.full_scale};
}

std::size_t max_slot(const OfdmTiming& timing) {
    // The first slot of a subframe has a longer prefix, and at most one other slot has.
    return timing.slot_samples(0);
}

void check_output(const char* what, std::size_t size, std::size_t slots, std::size_t of_slot) {
    if (size != 0) check_size(what, size, slots * of_slot);
}

ProbedElements probed_of(const SlotAllocation& allocation) {
    std::vector<std::uint32_t> all;
    for (const ResourceBlocks& range : allocation.resource_blocks)
        for (int k = 0; k < range.count * subcarriers_per_resource_block; ++k)
            all.push_back(static_cast<std::uint32_t>(range.first * subcarriers_per_resource_block + k));
    const std::size_t count = std::min(all.size(), ProbedElements::max_subcarriers);
    const std::size_t step = all.size() / count;
    ProbedElements probed = {.first_symbol = static_cast<std::uint32_t>(allocation.first_symbol),
                             .symbols = static_cast<std::uint32_t>(allocation.symbols),
                             .subcarriers = static_cast<std::uint32_t>(count)};
    // At changing places within resource blocks, so that no pattern of reserved elements has them all.
    for (std::size_t i = 0; i < count; ++i)
        probed.subcarrier[i] = all[i * all.size() / count + 5 * i % step];
    return probed;
}

}  // namespace

ReceiverPlan::ReceiverPlan(const ReceiverConfig& given)
    : config(checked(given)),
      schedule(given.link),
      demodulator(demodulator_of(given)),
      demapper{.modulation = given.link.modulation, .llr = given.llr} {
    const SlotAllocation& allocation = config.link.allocation;
    layers = static_cast<std::size_t>(allocation.layers());
    antennas = static_cast<std::size_t>(config.antennas);
    subcarriers = static_cast<std::size_t>(allocation.subcarriers());
    probed = probed_of(allocation);
    if (allocation.dmrs.transform_precoding)
        deprecoder = {
            .subcarriers = allocation.resource_blocks.front().count * subcarriers_per_resource_block,
            .mmse = config.equalization == Equalization::mmse};
    const std::size_t elements = symbols_per_slot * subcarriers;
    input = demodulator ? max_slot(OfdmTiming(demodulator->ofdm)) : elements;
    grid = antennas * elements;
    pilots = dmrs_pilot_count(allocation);
    symbols = ResourceMap(allocation).elements() * layers;
    soft_bits = symbols * bits_per_symbol(demapper.modulation);
    channel = antennas * layers * subcarriers;
    if (config.phase_tracking) {
        tracker = {.allocation = allocation, .modulation = config.link.modulation};
        if (allocation.ptrs) ptrs = ptrs_positions(allocation);
        if (ptrs) ptrs_symbols = ResourceMap(*ptrs).elements() * layers;
        if (ptrs && deprecoder) ptrs_pilots = ptrs_pilot_count(allocation);
    }
    if (deprecoder && allocation.ptrs) {
        samples = precoder_input(allocation);
        deprecoded = samples->data.size() + samples->ptrs.size();
    }
    if (rejects_interference(config))
        covariance = antennas * antennas *
                     static_cast<std::size_t>(subbands(config.antennas, allocation.carrier_resource_blocks));
    if (config.joint_detection) {
        detector = {.modulation = config.link.modulation, .llr = config.llr};
        pairs = symbols / layers;
    }
}

ChannelEstimatorConfig ReceiverPlan::estimator() const {
    return {.allocation = config.link.allocation,
            .antennas = config.antennas,
            .subcarrier_spacing = static_cast<double>(config.link.carrier.subcarrier_spacing),
            .delay_spread = config.delay_spread,
            .noise_variance = config.noise_variance,
            .time = config.time,
            .doppler_spread = config.doppler_spread,
            .full_scale = demodulator ? FullScale() : config.full_scale};
}

EqualizerConfig ReceiverPlan::equalizer(std::span<const float> time_weights, int time_sets) const {
    return {.allocation = samples ? without_ptrs(config.link.allocation) : config.link.allocation,
            .antennas = config.antennas,
            .method = config.equalization,
            .time_weights = {time_weights.begin(), time_weights.end()},
            .time_sets = time_sets,
            .full_scale = demodulator ? FullScale() : config.full_scale,
            .pairs = config.joint_detection};
}

std::optional<EqualizerConfig> ReceiverPlan::ptrs_equalizer(std::span<const float> time_weights,
                                                            int time_sets) const {
    if (!ptrs || samples) return {};
    EqualizerConfig its = equalizer(time_weights, time_sets);
    its.allocation = *ptrs;
    its.pairs = false;
    return its;
}

std::vector<cf32> ReceiverPlan::make_pilots() const {
    const std::vector<int>& slots = schedule.slots();
    std::vector<cf32> all(slots.size() * pilots);
    for (std::size_t i = 0; i < slots.size(); ++i)
        dmrs_pilots(config.link.allocation, slots[i], std::span(all).subspan(i * pilots, pilots));
    return all;
}

std::vector<cf32> ReceiverPlan::make_ptrs_pilots() const {
    const std::vector<int>& slots = schedule.slots();
    std::vector<cf32> all(slots.size() * ptrs_pilots);
    for (std::size_t i = 0; i < slots.size() && ptrs_pilots > 0; ++i)
        phy::ptrs_pilots(config.link.allocation, slots[i],
                         std::span(all).subspan(i * ptrs_pilots, ptrs_pilots));
    return all;
}

std::vector<std::uint32_t> ReceiverPlan::make_signs() const {
    constexpr std::size_t bits_of_word = 32;
    std::vector<std::uint32_t> words((soft_bits + bits_of_word - 1) / bits_of_word);
    gold_sequence(config.link.scrambling.c_init(), 0, words);
    return words;
}

std::size_t checked_slots(const ReceiverPlan& plan, const ReceiverCallSizes& call, SampleFormat input,
                          SoftBitFormat llr) {
    check_enum("sample format", input, all_sample_formats.back());
    check_enum("soft-bit format", llr, all_soft_bit_formats.back());
    const std::size_t of_slot = plan.antennas * plan.input;
    if (call.input % of_slot != 0)
        throw ArgumentError("input has " + std::to_string(call.input) + " elements: expected a multiple of " +
                            std::to_string(of_slot) + ", the elements of a slot");
    const std::size_t slots = call.input / of_slot;
    check_output("llr", call.llr, slots, plan.soft_bits);
    check_output("slots", call.slots, slots, 1);
    check_output("symbols", call.symbols, slots, plan.symbols);
    check_output("channel", call.channel, slots, plan.channel);
    check_output("priors", call.priors, slots, plan.soft_bits);
    if (call.priors != 0 && !plan.detector)
        throw ArgumentError("priors without joint detection: expected joint_detection");
    check_size("noise_variance", call.noise_variance, call.symbols);
    if (call.llr != 0 && llr != plan.config.format)
        throw ArgumentError("llr has soft bits of " + std::string(to_string(llr)) + ": expected " +
                            std::string(to_string(plan.config.format)));
    return slots;
}

}  // namespace detail
}  // namespace phy
