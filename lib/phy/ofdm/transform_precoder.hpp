#pragma once

#include <span>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/machine/host.hpp"

namespace phy {

struct PHY_EXPORT TransformPrecoderConfig {
    enum class Direction {
        precode,  ///< as a transmitter: y(k) = sum over i of x(i) exp(-j 2 pi i k / M) / sqrt(M)
        undo,     ///< as a receiver: the inverse
    };
    int subcarriers = 0;  ///< M = 12 x 2^a x 3^b x 5^c, from 12 to 3240
    Direction direction = Direction::undo;

    friend bool operator==(const TransformPrecoderConfig&, const TransformPrecoderConfig&) = default;
};

/// Transform precoding of PUSCH (TS 38.211 clause 6.3.1.4): a DFT over the subcarriers of each OFDM symbol.
/// Arithmetic and error are those of OfdmDemodulator's FFT. Every backend, number of threads and way to cut
/// symbols into calls gives the same bytes. A component of the output that is not finite is the NaN
/// 0x7FC00000.
///
/// Not thread-safe: one call at a time. The threads of the host share a call.
class PHY_EXPORT TransformPrecoder {
public:
    using Config = TransformPrecoderConfig;

    /// Throws ArgumentError if subcarriers is out of its range.
    TransformPrecoder(const Host& host, const Config& config);

    /// in and out: (OFDM symbols, subcarriers). Both may be the same array. Throws ArgumentError if in does
    /// not hold whole OFDM symbols or if out differs from it in size. Allocates nothing.
    void operator()(std::span<const cf32> in, std::span<cf32> out);

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "TransformPrecoder"> impl_;
};

}  // namespace phy

namespace phy::gpu {

/// Transform precoding in device memory, with the same bytes as phy::TransformPrecoder.
///
/// A call starts a kernel on the caller's stream and returns at once: it allocates nothing, does not wait,
/// and can be captured in a graph. Both arrays must be in memory that the device can reach and must stay
/// valid, like the precoder, until the work is done. Thread-safe.
class PHY_EXPORT TransformPrecoder {
public:
    using Config = TransformPrecoderConfig;

    /// Throws as phy::TransformPrecoder does, and CudaError if there is not enough memory.
    TransformPrecoder(const Device& device, const Config& config);

    /// As in phy::TransformPrecoder, on a stream of the device.
    void operator()(DeviceSpan<const cf32> in, DeviceSpan<cf32> out, cudaStream_t stream) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::TransformPrecoder"> impl_;
};

}  // namespace phy::gpu
