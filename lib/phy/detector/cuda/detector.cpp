#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "phy/core/check_enum.hpp"
#include "phy/core/check_size.hpp"
#include "phy/core/error.hpp"
#include "phy/demapper/demapper_cuda.hpp"
#include "phy/demapper/math/plan.hpp"
#include "phy/detector/cuda/launch.hpp"
#include "phy/detector/detector_cuda.hpp"
#include "phy/equalizer/cuda/jobs.hpp"

namespace phy::gpu {

using detail::DetectorOutput;
using detail::EqualizerJob;
using detail::EqualizerJobs;

namespace {

constexpr std::size_t piece = 16;
constexpr std::size_t floats_of_piece = piece / sizeof(float);

/// What a BatchDemapper takes in one launch.
constexpr std::size_t slots_of_launch = 64;

constexpr std::size_t whole_pieces(std::size_t floats) {
    return (floats + floats_of_piece - 1) / floats_of_piece * floats_of_piece;
}

/// What a chain has to demap: equalised slots, one after another.
struct Codewords {
    Modulation modulation;
    DeviceSpan<const cf32> symbols;
    DeviceSpan<const float> noise;
    SoftBitSpan llr;
    DeviceSpan<const std::uint32_t> signs;
    std::size_t slots;

    /// True if a call over all slots gives what one for each does: signs of a slot begin with a whole word,
    /// and a codeword with its first symbol, which matters for pi/2-BPSK.
    [[nodiscard]] bool is_one_codeword() const {
        const bool whole_words = llr.size() / slots % 32 == 0;
        const bool even = symbols.size() / slots % 2 == 0;
        return slots == 1 || ((signs.empty() || whole_words) && (modulation != Modulation::pi2_bpsk || even));
    }

    [[nodiscard]] Allocation slot(std::size_t index) const {
        const std::size_t of_slot = symbols.size() / slots;
        const std::size_t bits = llr.size() / slots;
        const std::size_t words = signs.size() / slots;
        return {.modulation = modulation,
                .symbols = symbols.subspan(index * of_slot, of_slot),
                .noise = noise.subspan(index * of_slot, of_slot),
                .llr = llr.subspan(index * bits, bits),
                .first_symbol = 0,
                .signs = signs.empty() ? signs : signs.subspan(index * words, words)};
    }
};

/// The slots from `first` on; behind the last slot, the last.
template <std::size_t... i>
std::array<Allocation, sizeof...(i)> slots_from(const Codewords& codewords, std::size_t first,
                                                std::index_sequence<i...> /*offsets*/) {
    return {codewords.slot(std::min(first + i, codewords.slots - 1))...};
}

}  // namespace

struct PHY_HIDDEN SoftDetector::Impl {
    Config config;
    EqualizerJobs jobs;
    phy::detail::Planner planner;
    SoftDemapper demap;
    BatchDemapper demap_batch;

    Impl(const Device& device, const Config& of)
        : config(of),
          jobs(device, of.equalizer),
          planner(of.demapper),
          demap(device, of.demapper),
          demap_batch(device, of.demapper) {}

    [[nodiscard]] bool is_fused(SoftBitFormat format) const;
    [[nodiscard]] std::size_t between(std::size_t slots, SoftBitFormat format) const;
    [[nodiscard]] DetectorOutput output_of(SoftBitSpan llr, DeviceSpan<const std::uint32_t> signs,
                                           std::size_t words) const;
    void run_fused(const EqualizerJobs::Inputs& inputs, const DetectorOutput& out, cudaStream_t stream) const;
    void run_chain(const EqualizerJobs::Inputs& inputs, DeviceSpan<float> memory, SoftBitSpan llr,
                   DeviceSpan<const std::uint32_t> signs, cudaStream_t stream) const;
    void demap_all(const Codewords& codewords, cudaStream_t stream) const;
};

bool SoftDetector::Impl::is_fused(SoftBitFormat format) const {
    const bool separates = jobs.plan().mmse() || jobs.plan().layers() == 1;
    return separates && format == SoftBitFormat::int8 &&
           planner.plan({}, format).algorithm == phy::detail::Algorithm::closed_form;
}

/// Floats between the equaliser and the demapper: symbols, then noise.
std::size_t SoftDetector::Impl::between(std::size_t slots, SoftBitFormat format) const {
    const std::size_t symbols = slots * jobs.plan().symbols();
    return is_fused(format) ? 0 : whole_pieces(2 * symbols) + whole_pieces(symbols);
}

DetectorOutput SoftDetector::Impl::output_of(SoftBitSpan llr, DeviceSpan<const std::uint32_t> signs,
                                             std::size_t words) const {
    DetectorOutput out{};
    out.llr = llr.data();
    out.signs = signs.empty() ? nullptr : signs.data();
    out.sign_words = static_cast<unsigned>(words);
    out.gain = planner.plan({}, llr.format()).gain;
    out.constellation = phy::detail::constellation_of(config.demapper.modulation);
    out.rotating = config.demapper.modulation == Modulation::pi2_bpsk;
    out.aligned = detail::is_aligned(llr.data(), piece);
    return out;
}

void SoftDetector::Impl::run_fused(const EqualizerJobs::Inputs& inputs, const DetectorOutput& out,
                                   cudaStream_t stream) const {
    jobs.run(inputs, stream, [&](const EqualizerJob& job) {
        switch (job.layers) {
            case 1:
                return detail::launch_one_layer(job, out, stream);
            case 2:
                return detail::launch_two_layers(job, out, stream);
            case 3:
                return detail::launch_three_layers(job, out, stream);
            default:
                return detail::launch_four_layers(job, out, stream);
        }
    });
}

void SoftDetector::Impl::run_chain(const EqualizerJobs::Inputs& inputs, DeviceSpan<float> memory,
                                   SoftBitSpan llr, DeviceSpan<const std::uint32_t> signs,
                                   cudaStream_t stream) const {
    const std::size_t slots = inputs.slots.size();
    const std::size_t of_slot = jobs.plan().symbols();
    const std::size_t count = slots * of_slot;
    float* const noise = memory.data() + whole_pieces(2 * count);
    jobs.run(inputs, stream, [&](const EqualizerJob& job) {
        detail::launch(job, detail::EqualizerOutput{memory.data(), noise, true}, stream);
    });
    demap_all({.modulation = config.demapper.modulation,
               .symbols = device_span(reinterpret_cast<const cf32*>(memory.data()), count),
               .noise = device_span(static_cast<const float*>(noise), count),
               .llr = llr,
               .signs = signs,
               .slots = slots},
              stream);
}

void SoftDetector::Impl::demap_all(const Codewords& codewords, cudaStream_t stream) const {
    if (codewords.is_one_codeword())
        return demap(codewords.symbols, codewords.noise, codewords.llr, stream, 0, {}, codewords.signs);
    for (std::size_t first = 0; first < codewords.slots; first += slots_of_launch) {
        const auto slots = slots_from(codewords, first, std::make_index_sequence<slots_of_launch>());
        const std::size_t count = std::min(slots_of_launch, codewords.slots - first);
        demap_batch(std::span(slots).first(count), stream);
    }
}

SoftDetector::SoftDetector(const Device& device, const Config& config) : impl_(new Impl(device, config)) {}

SoftDetector::~SoftDetector() = default;
SoftDetector::SoftDetector(SoftDetector&&) noexcept = default;
SoftDetector& SoftDetector::operator=(SoftDetector&&) noexcept = default;

std::size_t SoftDetector::soft_bits_per_slot() const {
    return impl_->jobs.plan().symbols() * bits_per_symbol(impl_->config.demapper.modulation);
}

std::size_t SoftDetector::workspace_size(std::size_t slots, SoftBitFormat format,
                                         bool with_covariance) const {
    phy::detail::check_enum("soft-bit format", format, all_soft_bit_formats.back());
    return impl_->between(slots, format) + (with_covariance ? impl_->jobs.workspace_size(slots) : 0);
}

void SoftDetector::operator()(SymbolView grid, DeviceSpan<const float> channel,
                              DeviceSpan<const SlotEstimate> slots, SoftBitSpan llr, cudaStream_t stream,
                              DeviceSpan<const std::uint32_t> signs, DeviceSpan<const cf32> covariance,
                              DeviceSpan<float> workspace) const {
    phy::detail::check_enum("soft-bit format", llr.format(), all_soft_bit_formats.back());
    phy::detail::check_size("llr", llr.size(), slots.size() * soft_bits_per_slot());
    if (!signs.empty()) phy::detail::check_size("signs", signs.size(), slots.size() * sign_words_per_slot());
    const std::size_t between = impl_->between(slots.size(), llr.format());
    const std::size_t needed = workspace_size(slots.size(), llr.format(), !covariance.empty());
    if (workspace.size() < needed)
        throw ArgumentError("workspace has " + std::to_string(workspace.size()) +
                            " elements: expected at least " + std::to_string(needed));
    if (needed > 0 && !detail::is_aligned(workspace.data(), piece))
        throw ArgumentError("workspace: expected to begin at a multiple of 16 bytes");
    const auto rest = workspace.subspan(between, workspace.size() - between);
    const EqualizerJobs::Inputs inputs = {grid, channel, slots, covariance, rest};
    impl_->jobs.check(inputs);
    if (slots.empty()) return;
    const CurrentDevice current(device());
    if (impl_->is_fused(llr.format()))
        impl_->run_fused(inputs, impl_->output_of(llr, signs, sign_words_per_slot()), stream);
    else
        impl_->run_chain(inputs, workspace.first(between), llr, signs, stream);
}

const Device& SoftDetector::device() const {
    return impl_->jobs.device();
}

const SoftDetector::Config& SoftDetector::config() const {
    return impl_->config;
}

}  // namespace phy::gpu
