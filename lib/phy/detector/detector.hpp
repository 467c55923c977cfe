#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "phy/core/demapper_config.hpp"
#include "phy/core/export.hpp"
#include "phy/core/modulation.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/equalizer/equalizer.hpp"
#include "phy/machine/host.hpp"

namespace phy {

struct PHY_EXPORT JointDetectorConfig {
    Modulation modulation = Modulation::qpsk;  ///< of both layers; QPSK or higher
    LlrConfig llr = {};                        ///< with Method::max_log; the evaluator has no effect

    friend bool operator==(const JointDetectorConfig&, const JointDetectorConfig&) = default;
};

/// Detects two layers together by maximum likelihood: resource elements to soft bits, in the place of
/// equalised symbols and SoftDemapper.
///
/// A soft bit is the max-log LLR L = min over b=1 of |y - H s|^2 / N0' - min over b=0 of it, over all pairs s
/// of points, in nats: positive means bit 0. For each point of a layer only the nearest point of the other
/// one is tried (M. Siti and M. P. Fitz, "A novel soft-output layered orthogonal lattice detector", ICC 2006,
/// which is exact for two layers): the work of an element grows with the number of points, not with its
/// square.
///
/// If the other layer's points are too near to each other, it counts as Gaussian interference instead, for
/// which L is the max-log LLR behind an MMSE equaliser: where the square of half of their distance, over N0',
/// is 1/2 or less, at |h|^2 / N0' up to 1, 5, 21, 85 and 341 for QPSK to 1024QAM. There the best pair alone
/// would say less than the equaliser does, by up to 0.3 dB.
///
/// Accuracy, against a float64 evaluation of these definitions at SNRs up to 40 dB: int8 within 1
/// with the default scale, fp32 within 2e-6 of 1 and the largest number of the LayerPair, fp16 is that value
/// rounded. Soft bits are limited as in SoftDemapper. Above 2^60, |h|^2 / N0' of both layers is scaled down
/// to that.
///
/// Iterative detection. Priors are LLRs of all soft bits from elsewhere, such as TransportDecoder's extrinsic
/// ones: the metric of a pair of points then has the prior of each bit that is 1, and a soft bit is the
/// difference of minima less its own prior. All points of the other layer are tried, and none counts as
/// interference: the work grows with the number of points times its root.
///
/// Erasures. A pair gets soft bits of 0 if all its numbers are 0, if one is not finite, or if the sum of
/// their magnitudes is 2^65 or more. A layer without a channel gets soft bits near 0 from the likelihoods
/// themselves; layers that an Equalizer cannot separate are no erasure here.
///
/// For the same input, every backend, number of threads and split into calls gives the same bytes.
/// Not thread-safe: one detector per thread. It uses the threads of its Host.
class PHY_EXPORT JointDetector {
public:
    using Config = JointDetectorConfig;

    /// Throws ArgumentError if a value is out of its range, for BPSK and for log-MAP.
    JointDetector(const Host& host, const Config& config);

    /// Detects all elements. pairs: one per resource element, see Equalizer. llr: (elements, 2 layers, Qm),
    /// the order of the codeword. signs as in SoftDemapper. priors: empty, or as many as there are soft bits,
    /// with the meaning of these, in sixths of a nat. Throws ArgumentError, and then has written nothing, if
    /// sizes do not fit. Allocates nothing.
    void operator()(std::span<const LayerPair> pairs, SoftBitSpan llr,
                    std::span<const std::uint32_t> signs = {}, std::span<const std::int8_t> priors = {});

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "JointDetector"> impl_;
};

}  // namespace phy

namespace phy::gpu {

/// Detects two layers together in device memory. Writes the bytes of phy::JointDetector, which documents the
/// arithmetic.
///
/// A call only starts a kernel on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. All arrays must be in memory that the device can reach, must not overlap,
/// and must stay there until the work is done. Thread-safe.
class PHY_EXPORT JointDetector {
public:
    using Config = JointDetectorConfig;

    /// Throws ArgumentError as phy::JointDetector does.
    JointDetector(const Device& device, const Config& config);

    /// As in phy::JointDetector, on the stream, which must belong to the device.
    void operator()(DeviceSpan<const LayerPair> pairs, SoftBitSpan llr, cudaStream_t stream,
                    DeviceSpan<const std::uint32_t> signs = {},
                    DeviceSpan<const std::int8_t> priors = {}) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::JointDetector"> impl_;
};

}  // namespace phy::gpu
