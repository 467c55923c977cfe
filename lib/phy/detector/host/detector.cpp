#include "phy/detector/detector.hpp"

#include <cstring>

#include "phy/core/check.hpp"
#include "phy/detector/host/kernels.hpp"
#include "phy/machine/share.hpp"
#include "phy/simd/arrays.hpp"

#define PHY_KERNELS "phy/detector/host/kernels-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy {
namespace detail {
namespace {

const DetectorKernels& detector_kernels(const Backend& backend) {
    return PHY_KERNELS_FOR(backend, DetectorKernels);
}

}  // namespace
}  // namespace detail

namespace {

/// Elements of a block; a multiple of 32, so that its signs begin with a word.
constexpr std::size_t block_elements = 128;
constexpr std::size_t max_soft_bits = block_elements * 4 * max_axis_bits;

/// In nats, of the bit that was sent, which scrambling may have changed.
float prior_llr(std::int8_t prior, bool is_changed) {
    const float llr = detail::nats_per_prior_step * static_cast<float>(prior);
    return is_changed ? -llr : llr;
}

}  // namespace

struct PHY_HIDDEN JointDetector::Impl {
    Impl(const Host& on, const Config& given)
        : host(on),
          config((detail::check(given), given)),
          axis_bits(bits_per_axis(given.modulation)),
          kernels(detail::detector_kernels(on.backend())),
          arrays(detail::array_kernels(on.backend())) {}

    /// llr and priors are those of the pairs; signs begin with theirs.
    void detect(std::span<const LayerPair> pairs, SoftBitSpan llr, std::span<const std::uint32_t> signs,
                std::span<const std::int8_t> priors) const;

    Host host;
    Config config;
    std::size_t axis_bits;
    const detail::DetectorKernels& kernels;
    const detail::ArrayKernels& arrays;
};

void JointDetector::Impl::detect(std::span<const LayerPair> pairs, SoftBitSpan llr,
                                 std::span<const std::uint32_t> signs,
                                 std::span<const std::int8_t> priors) const {
    alignas(64) float prior_room[max_soft_bits];
    for (std::size_t b = 0; b < priors.size(); ++b)
        prior_room[b] = prior_llr(priors[b], !signs.empty() && (signs[b / 32] >> (b % 32) & 1U) != 0);
    const float* const prior = priors.empty() ? nullptr : prior_room;
    const detail::LlrRange range = detail::llr_range(config.llr, llr.format());
    const auto format = static_cast<std::size_t>(llr.format());
    if (llr.format() == SoftBitFormat::int8) {
        kernels.to_bytes[axis_bits - 1](pairs.data(), prior, pairs.size(), range,
                                        reinterpret_cast<std::int8_t*>(llr.data()));
    } else {
        alignas(64) float floats[max_soft_bits];
        alignas(64) half halves[max_soft_bits + detail::padding];
        kernels.to_floats[axis_bits - 1](pairs.data(), prior, pairs.size(), range, floats);
        const bool narrows = detail::is_narrowed(llr.format());
        if (narrows) arrays.narrow[format](floats, halves, llr.size());
        const void* const from = narrows ? static_cast<const void*>(halves) : floats;
        std::memcpy(llr.data(), from, llr.bytes().size());
    }
    if (signs.empty()) return;
    std::uint32_t room[detail::words_of_signs(max_soft_bits)] = {};
    arrays.flip[format](llr.data(), llr.data(), llr.size(), detail::signs_from(signs, 0, llr.size(), room));
}

JointDetector::JointDetector(const Host& host, const Config& config) : impl_(new Impl(host, config)) {}

void JointDetector::operator()(std::span<const LayerPair> pairs, SoftBitSpan llr,
                               std::span<const std::uint32_t> signs, std::span<const std::int8_t> priors) {
    const Impl& impl = *impl_;
    detail::check(impl.config, {pairs.size(), llr.size(), signs.size(), priors.size()}, llr.format());
    const std::size_t bits = 4 * impl.axis_bits;
    detail::share_pieces(impl.host, pairs.size(), block_elements,
                         [&](std::uint64_t first, std::uint64_t end) {
                             const std::size_t count = (end - first) * bits;
                             const std::size_t word = first * bits / 32;
                             impl.detect(pairs.subspan(first, end - first), llr.subspan(first * bits, count),
                                         signs.empty() ? signs : signs.subspan(word),
                                         priors.empty() ? priors : priors.subspan(first * bits, count));
                         });
}

const Host& JointDetector::host() const {
    return impl_->host;
}

const JointDetector::Config& JointDetector::config() const {
    return impl_->config;
}

}  // namespace phy
