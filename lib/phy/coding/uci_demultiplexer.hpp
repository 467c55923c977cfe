#pragma once

#include <cstddef>

#include "phy/coding/uci.hpp"
#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/machine/host.hpp"

/// Soft bits of PUSCH with UCI to those of UL-SCH, HARQ-ACK and CSI: UciMap::split() for many codewords (TS
/// 38.212 clause 6.2.7). Every backend and number of threads gives the same bytes.
namespace phy {

/// The threads of the host share the codewords of a call. Thread-safe.
class PHY_EXPORT UciDemultiplexer {
public:
    using Config = UciConfig;

    /// Throws ArgumentError as UciMap does.
    UciDemultiplexer(const Host& host, const Config& config);

    /// llr: (codewords, UciMap::coded_bits()), descrambled. parts: (codewords, UciMap::coded_bits(part))
    /// each, in the same format; punctured soft bits become 0. Throws ArgumentError for other sizes and
    /// formats. Allocates nothing.
    void operator()(SoftBitView llr, const UciSoftBits& parts) const;

    [[nodiscard]] const UciMap& map() const { return map_; }
    [[nodiscard]] const Host& host() const { return host_; }

private:
    Host host_;
    UciMap map_;
};

}  // namespace phy

namespace phy::gpu {

/// As phy::UciSoftBits, in device memory.
struct PHY_EXPORT UciSoftBits {
    SoftBitSpan ul_sch;
    SoftBitSpan ack;
    SoftBitSpan csi1;
    SoftBitSpan csi2;
};

/// phy::UciDemultiplexer in device memory. A call starts a kernel on the caller's stream. It returns at once,
/// does not allocate or wait, and can be captured in a graph. Thread-safe.
class PHY_EXPORT UciDemultiplexer {
public:
    using Config = UciConfig;

    /// Throws as phy::UciDemultiplexer does, and CudaError if there is not enough memory.
    UciDemultiplexer(const Device& device, const Config& config);

    /// As in phy::UciDemultiplexer. Spans must not overlap.
    void operator()(SoftBitView llr, const UciSoftBits& parts, cudaStream_t stream) const;

    [[nodiscard]] const UciMap& map() const;
    [[nodiscard]] const Device& device() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::UciDemultiplexer"> impl_;
};

}  // namespace phy::gpu
