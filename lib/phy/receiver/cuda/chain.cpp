#include "phy/receiver/cuda/chain.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include <cuda_runtime_api.h>

#include "phy/cuda/buffer.hpp"
#include "phy/cuda/give_back.hpp"
#include "phy/receiver/cuda/launch.hpp"
#include "phy/receiver/cuda/repeat_bits.hpp"
#include "phy/receiver/cuda/tuning.hpp"

namespace phy::gpu::detail {
namespace {

constexpr std::size_t words_of(std::size_t bits) {
    return (bits + 31) / 32;
}

/// By resource block of the carrier.
std::vector<std::uint8_t> allocated_blocks(const SlotAllocation& allocation) {
    std::vector<std::uint8_t> blocks(static_cast<std::size_t>(allocation.carrier_resource_blocks));
    for (const ResourceBlocks& range : allocation.resource_blocks)
        std::fill_n(blocks.begin() + range.first, range.count, std::uint8_t{1});
    return blocks;
}

/// The pilots of the schedule's slots, repeated, so that those of all slots of a call are contiguous.
std::vector<cf32> in_a_row(std::vector<cf32> pilots, std::size_t of_slot, std::size_t max_slots) {
    const std::size_t period = pilots.size();
    const std::size_t all = period + (max_slots - 1) * of_slot;
    pilots.reserve(all);
    while (pilots.size() < all)
        pilots.push_back(pilots[pilots.size() - period]);
    return pilots;
}

/// As in OfdmSlots::symbols.
std::uint32_t bits_of(const std::vector<int>& symbols) {
    std::uint32_t bits = 0;
    for (const int symbol : symbols)
        bits |= std::uint32_t{1} << static_cast<unsigned>(symbol);
    return bits;
}

/// True if the samples are in host memory, or if CUDA cannot tell.
bool comes_over_link(const std::byte* samples) {
    cudaPointerAttributes attributes{};
    const cudaError_t code = cudaPointerGetAttributes(&attributes, samples);
    clear_error(code);
    return code != cudaSuccess || attributes.type != cudaMemoryTypeDevice;
}

/// Number of slots from the occasion on that are contiguous in time, at most `most`.
std::size_t neighbours(const SlotSchedule& schedule, std::uint64_t occasion, std::size_t most) {
    const std::uint64_t slot = schedule.slot(occasion);
    std::size_t count = 1;
    while (count < most && schedule.slot(occasion + count) == slot + count)
        ++count;
    return count;
}

}  // namespace

DeviceChain::DeviceChain(const Device& device, const ReceiverConfig& config, std::size_t max_slots)
    : device_(device),
      plan_(config),
      estimate_(device, plan_.estimator(), max_slots),
      equalize_(device, plan_.equalizer(estimate_.time_weights(), estimate_.time_sets())),
      meter_(device, {.modulation = plan_.demapper.modulation}),
      beside_(device),
      dmrs_there_(device, Event::Timing::off),
      grid_there_(device, Event::Timing::off),
      equalized_(device, Event::Timing::off),
      measured_(device, Event::Timing::off),
      dmrs_symbols_(bits_of(plan_.config.link.allocation.dmrs.symbols)),
      restarts_(plan_.demapper.modulation == Modulation::pi2_bpsk && plan_.symbols % 2 != 0) {
    const CurrentDevice current(device);
    if (plan_.demodulator) demodulate_.emplace(device, *plan_.demodulator);
    if (plan_.tracker) track_.emplace(device, *plan_.tracker);
    if (const auto ptrs = plan_.ptrs_equalizer(estimate_.time_weights(), estimate_.time_sets()))
        equalize_ptrs_.emplace(device, *ptrs);
    if (plan_.detector)
        detect_.emplace(device, *plan_.detector);
    else
        demap_.emplace(device, plan_.demapper);
    if (plan_.deprecoder) deprecode_.emplace(device, *plan_.deprecoder);
    upload_constants();
    add_workspace();
    load_code();
}

void DeviceChain::upload_constants() {
    pilots_ = upload(device_, in_a_row(plan_.make_pilots(), plan_.pilots, max_slots()));
    if (plan_.samples) data_samples_ = upload(device_, plan_.samples->data);
    if (plan_.ptrs_pilots > 0) {
        ptrs_pilots_ = upload(device_, in_a_row(plan_.make_ptrs_pilots(), plan_.ptrs_pilots, max_slots()));
        ptrs_samples_ = upload(device_, plan_.samples->ptrs);
    }
    signs_ = upload(device_, repeat_bits(plan_.make_signs(), plan_.soft_bits, max_slots()));
    allocated_ = upload(device_, allocated_blocks(plan_.config.link.allocation));
}

void DeviceChain::add_workspace() {
    const std::size_t most = max_slots();
    if (plan_.demodulator) grid_ = DeviceBuffer<cf32>(device_, most * plan_.grid);
    channel_ = DeviceBuffer<float>(device_, most * estimate_.channel_size());
    estimates_ = DeviceBuffer<SlotEstimate>(device_, most);
    covariance_ = DeviceBuffer<cf32>(device_, most * plan_.covariance);
    if (plan_.covariance > 0)
        equalizer_workspace_ = DeviceBuffer<std::byte>(device_, equalize_.workspace_bytes(most));
    symbols_ = DeviceBuffer<cf32>(device_, most * plan_.symbols);
    noise_variance_ = DeviceBuffer<float>(device_, most * plan_.symbols);
    pairs_ = DeviceBuffer<LayerPair>(device_, most * plan_.pairs);
    deprecoded_ = DeviceBuffer<cf32>(device_, most * plan_.deprecoded);
    deprecoded_noise_variance_ = DeviceBuffer<float>(device_, most * plan_.deprecoded);
    ptrs_ = DeviceBuffer<cf32>(device_, most * plan_.ptrs_symbols);
    ptrs_noise_variance_ = DeviceBuffer<float>(device_, most * plan_.ptrs_symbols);
    if (track_) tracker_workspace_ = DeviceBuffer<std::byte>(device_, track_->workspace_bytes(most));
    sums_ = DeviceBuffer<SymbolSums>(device_, most);
    // The size depends on the units chosen for that many symbols, and need not grow with them.
    std::size_t needed = 0;
    for (std::size_t slots = 1; slots <= most; ++slots)
        needed = std::max(needed, SymbolMeter::workspace_bytes(slots * plan_.symbols, plan_.symbols));
    meter_workspace_ = DeviceBuffer<std::byte>(device_, needed);
}

/// Lets the driver load all code, so that the first call does not wait: runs a slot of zeros in each format.
void DeviceChain::load_code() {
    prepare_receiver_kernels();
    if (demap_) demap_->prepare(noise_variance_.span(), plan_.config.format);
    const Stream stream(device_);
    const std::size_t samples = plan_.antennas * plan_.input;
    DeviceBuffer<std::byte> input(device_, samples * sizeof(cf32));
    DeviceBuffer<std::byte> llr(device_, plan_.soft_bits * size_of(plan_.config.format));
    DeviceBuffer<ReceivedSlot> received(device_, 1);
    fill_async(input, 0, stream);
    for (const SampleFormat format : all_sample_formats)
        (*this)({format, input.first(samples * size_of(format))}, 0, 1,
                {.llr = {plan_.config.format, llr.span()}, .slots = received}, {}, stream);
    stream.synchronize();
}

void DeviceChain::operator()(SymbolView input, std::uint64_t first, std::size_t slots,
                             const ReceiverOutput& output, DeviceSpan<const std::int8_t> priors,
                             cudaStream_t stream) {
    const bool lends = !output.symbols.empty();
    const bool is_whole = lends || !output.slots.empty() || output.llr.size() > 0;
    const bool is_split =
        is_whole && demodulate_ && slots <= max_split_slots && comes_over_link(input.data());
    const SymbolView grid = demodulate_ ? grid_.first(slots * plan_.grid) : input;
    if (is_split)
        demodulate_beside({input, first, slots}, stream);
    else if (demodulate_)
        demodulate({input, first, slots}, is_whole ? ~std::uint32_t{0} : dmrs_symbols_, stream);
    const auto channel = channel_.first(slots * estimate_.channel_size());
    const auto estimates = estimates_.first(slots);
    const auto covariance = covariance_.first(slots * plan_.covariance);
    const std::size_t index = plan_.schedule.slot_index(first);
    estimate_(grid, pilots_.subspan(index * plan_.pilots, slots * plan_.pilots), channel, estimates, stream,
              covariance);
    if (!output.channel.empty()) write_channel(output.channel, slots, stream);
    if (!is_whole) return;
    if (is_split) grid_there_.delay(stream);
    if (demodulate_) erase_disturbed(slots, stream);
    const std::size_t count = slots * plan_.symbols;
    const Symbols all = {lends ? output.symbols : symbols_.first(count),
                         lends ? output.noise_variance : noise_variance_.first(count)};
    equalise(grid, all, slots, stream);
    if (track_) track(grid, index, all, slots, stream);
    // The noise variances that are measured are those of before the tracker raises them.
    const bool does_both = !output.slots.empty() && output.llr.size() > 0 && !track_;
    if (does_both) {
        equalized_.record(stream);
        equalized_.delay(beside_);
    }
    if (!output.slots.empty()) measure(all, output.slots, does_both ? beside_.get() : stream);
    if (track_ && (lends || output.llr.size() > 0))
        track_->raise_noise(estimates, all.noise_variance, stream, pairs_.first(slots * plan_.pairs));
    if (output.llr.size() > 0) demap(all, output.llr, slots, priors, stream);
    if (does_both) {
        measured_.record(beside_);
        measured_.delay(stream);
    }
}

void DeviceChain::demodulate(const Samples& samples, std::uint32_t symbols, cudaStream_t stream) {
    const std::size_t of_slot = plan_.antennas * plan_.input;
    for (std::size_t done = 0; done < samples.slots;) {
        const std::uint64_t first = samples.first + done;
        const std::size_t count = neighbours(plan_.schedule, first, samples.slots - done);
        (*demodulate_)(samples.input.subspan(done * of_slot, count * of_slot),
                       {.first = plan_.schedule.slot(first),
                        .count = count,
                        .stride = plan_.input,
                        .slot_stride = of_slot,
                        .symbols = symbols},
                       grid_.subspan(done * plan_.grid, count * plan_.grid), stream);
        done += count;
    }
}

void DeviceChain::demodulate_beside(const Samples& samples, cudaStream_t stream) {
    demodulate(samples, dmrs_symbols_, stream);
    dmrs_there_.record(stream);
    dmrs_there_.delay(beside_);
    demodulate(samples, ~dmrs_symbols_, beside_);
    grid_there_.record(beside_);
}

void DeviceChain::erase_disturbed(std::size_t slots, cudaStream_t stream) {
    detail::erase_disturbed({.grid = grid_.data(),
                             .probed = plan_.probed,
                             .antennas = static_cast<std::uint32_t>(plan_.antennas),
                             .paths = static_cast<float>(plan_.antennas * plan_.layers),
                             .subcarriers = static_cast<std::uint32_t>(plan_.subcarriers),
                             .slots = static_cast<std::uint32_t>(slots),
                             .estimates = estimates_.data()},
                            stream);
}

void DeviceChain::equalise(SymbolView grid, const Symbols& all, std::size_t slots, cudaStream_t stream) {
    const std::size_t count = slots * plan_.deprecoded;
    const Symbols equalised =
        plan_.samples ? Symbols{deprecoded_.first(count), deprecoded_noise_variance_.first(count)} : all;
    equalize_(grid, channel_.first(slots * estimate_.channel_size()), estimates_.first(slots),
              equalised.symbols, equalised.noise_variance, stream,
              covariance_.first(slots * plan_.covariance), equalizer_workspace_,
              pairs_.first(slots * plan_.pairs));
    if (deprecode_) (*deprecode_)(equalised.symbols, equalised.noise_variance, stream);
    if (!plan_.samples) return;
    take(data_samples_, all, slots, stream);
    const std::size_t ptrs = slots * plan_.ptrs_symbols;
    if (ptrs > 0) take(ptrs_samples_, {ptrs_.first(ptrs), ptrs_noise_variance_.first(ptrs)}, slots, stream);
}

void DeviceChain::take(DeviceSpan<const std::uint32_t> samples, const Symbols& to, std::size_t slots,
                       cudaStream_t stream) {
    take_samples({.deprecoded = deprecoded_.data(),
                  .deprecoded_noise_variance = deprecoded_noise_variance_.data(),
                  .of_slot = static_cast<std::uint32_t>(plan_.deprecoded),
                  .samples = samples.data(),
                  .count = static_cast<std::uint32_t>(samples.size()),
                  .slots = static_cast<std::uint32_t>(slots),
                  .symbols = to.symbols.data(),
                  .noise_variance = to.noise_variance.data()},
                 stream);
}

void DeviceChain::track(SymbolView grid, std::size_t index, const Symbols& all, std::size_t slots,
                        cudaStream_t stream) {
    (*track_)(all.symbols, all.noise_variance, estimates_.first(slots), tracker_workspace_, stream,
              pairs_.first(slots * plan_.pairs), ptrs_of(grid, index, slots, stream));
}

PtrsSymbols DeviceChain::ptrs_of(SymbolView grid, std::size_t index, std::size_t slots, cudaStream_t stream) {
    if (plan_.ptrs_symbols == 0) return {};
    const std::size_t count = slots * plan_.ptrs_symbols;
    const auto symbols = ptrs_.first(count);
    const auto noise_variance = ptrs_noise_variance_.first(count);
    if (plan_.samples)
        return {symbols, noise_variance,
                ptrs_pilots_.subspan(index * plan_.ptrs_pilots, slots * plan_.ptrs_pilots)};
    (*equalize_ptrs_)(grid, channel_.first(slots * estimate_.channel_size()), estimates_.first(slots),
                      symbols, noise_variance, stream, covariance_.first(slots * plan_.covariance),
                      equalizer_workspace_);
    return {symbols, noise_variance, pilots_.subspan(index * plan_.pilots, slots * plan_.pilots)};
}

void DeviceChain::measure(const Symbols& all, DeviceSpan<ReceivedSlot> received, cudaStream_t stream) {
    const std::size_t row = plan_.symbols;
    const std::size_t step = restarts_ ? row : all.symbols.size();
    for (std::size_t i = 0; i < all.symbols.size(); i += step)
        meter_(all.symbols.subspan(i, step), all.noise_variance.subspan(i, step), row,
               sums_.subspan(i / row, step / row), meter_workspace_, stream);
    summarise({.estimates = estimates_.data(),
               .sums = sums_.data(),
               .slots = static_cast<std::uint32_t>(received.size()),
               .received = received.data()},
              stream);
}

void DeviceChain::demap(const Symbols& all, SoftBitSpan llr, std::size_t slots,
                        DeviceSpan<const std::int8_t> priors, cudaStream_t stream) {
    const std::size_t together = restarts_ ? 1 : slots;
    const std::size_t symbols = together * plan_.symbols;
    const std::size_t bits = together * plan_.soft_bits;
    if (detect_)
        return (*detect_)(pairs_.first(slots * plan_.pairs), llr, stream, signs_.first(words_of(bits)),
                          priors);
    for (std::size_t slot = 0; slot < slots; slot += together)
        (*demap_)(all.symbols.subspan(slot * plan_.symbols, symbols),
                  all.noise_variance.subspan(slot * plan_.symbols, symbols),
                  llr.subspan(slot * plan_.soft_bits, bits), stream, 0, {}, signs_.first(words_of(bits)));
}

void DeviceChain::write_channel(DeviceSpan<cf32> mean, std::size_t slots, cudaStream_t stream) {
    const int estimates = estimate_.estimates();
    average_channel({.slot_estimates = estimates_.data(),
                     .channel = channel_.data(),
                     .is_allocated = allocated_.data(),
                     .estimates = estimates,
                     .reciprocal = 1.0F / static_cast<float>(estimates),
                     .paths = static_cast<std::uint32_t>(plan_.antennas * plan_.layers),
                     .subcarriers = static_cast<std::uint32_t>(plan_.subcarriers),
                     .slots = static_cast<std::uint32_t>(slots),
                     .mean = mean.data()},
                    stream);
}

}  // namespace phy::gpu::detail
