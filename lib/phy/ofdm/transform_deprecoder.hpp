#pragma once

#include <span>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/machine/host.hpp"

namespace phy {

struct PHY_EXPORT TransformDeprecoderConfig {
    int subcarriers = 0;  ///< M, as in TransformPrecoderConfig
    bool mmse = true;     ///< how the subcarriers were equalised; false: zero forcing

    friend bool operator==(const TransformDeprecoderConfig&, const TransformDeprecoderConfig&) = default;
};

/// Undoes transform precoding of PUSCH (TS 38.211 clause 6.3.1.4) after an equaliser: turns equalised
/// subcarriers and their noise variances into symbols of the codeword and their noise variances.
///
/// The DFT spreads each symbol over all M subcarriers of an OFDM symbol, so every symbol gets the same share
/// of each subcarrier and of its noise. The input on subcarrier k is x_k, unbiased, with noise variance n_k.
/// An erased subcarrier has x_k = 0 and n_k infinite. The symbols are the inverse DFT of m_k x_k, divided by
/// q, the mean of the weights m_k. What the weights leave of other symbols counts as noise:
///
///     MMSE          m_k = 1 / (1 + n_k), which is 0 where erased      N0 = (1 - q) / q
///     zero forcing  m_k = 1, or 0 where erased                        N0 = (1 - q + v / q) / q
///
/// Here v is 1 / M times the sum of n_k over subcarriers that are not erased. If all subcarriers are erased,
/// all symbols are 0 and their noise variance is infinite. The same holds for a symbol that is not finite.
///
/// Every backend, number of threads and way to cut symbols into calls gives the same bytes. Not thread-safe:
/// one call at a time. The threads of the host share a call.
class PHY_EXPORT TransformDeprecoder {
public:
    using Config = TransformDeprecoderConfig;

    /// Throws ArgumentError if subcarriers is out of its range.
    TransformDeprecoder(const Host& host, const Config& config);

    /// symbols and noise_variance: (OFDM symbols, subcarriers), replaced by the result. Throws ArgumentError,
    /// and writes nothing, if they do not hold whole OFDM symbols or differ in size. Allocates nothing.
    void operator()(std::span<cf32> symbols, std::span<float> noise_variance);

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "TransformDeprecoder"> impl_;
};

}  // namespace phy

namespace phy::gpu {

/// Undoes transform precoding in device memory, with the same bytes as phy::TransformDeprecoder.
///
/// A call starts kernels on the caller's stream and returns at once: it allocates nothing, does not wait, and
/// can be captured in a graph. Both arrays must be in memory that the device can reach and must stay valid,
/// like the deprecoder, until the work is done. Thread-safe.
class PHY_EXPORT TransformDeprecoder {
public:
    using Config = TransformDeprecoderConfig;

    /// Throws as phy::TransformDeprecoder does, and CudaError if there is not enough memory.
    TransformDeprecoder(const Device& device, const Config& config);

    /// As in phy::TransformDeprecoder, on a stream of the device.
    void operator()(DeviceSpan<cf32> symbols, DeviceSpan<float> noise_variance, cudaStream_t stream) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::TransformDeprecoder"> impl_;
};

}  // namespace phy::gpu
