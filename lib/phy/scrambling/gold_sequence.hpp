#pragma once

#include <cstdint>
#include <span>

#include "phy/core/export.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/machine/host.hpp"

/// Pseudo-random sequences c(n) of TS 38.211 clause 5.2.1.
namespace phy {

/// Max initial value: 31 bits.
inline constexpr std::uint32_t largest_c_init = 0x7FFFFFFF;

/// Identifies a codeword and gives the initial value of its scrambling sequence (TS 38.211 clauses 6.3.1.1
/// and 7.3.1.1): c_init = n_RNTI 2^15 + q 2^14 + n_ID. In the uplink q is 0.
struct PHY_EXPORT ScramblingIdentity {
    std::uint32_t rnti = 0;  ///< n_RNTI, from 0 to 65535
    std::uint32_t id = 0;    ///< n_ID, from 0 to 1023
    int codeword = 0;        ///< q, 0 or 1

    /// Throws ArgumentError if a value is out of its range.
    [[nodiscard]] std::uint32_t c_init() const;

    friend bool operator==(const ScramblingIdentity&, const ScramblingIdentity&) = default;
};

/// Writes c(first), c(first + 1), ...: bit i (0: least significant) of word w is c(first + 32 w + i). The
/// time to reach the first bit grows with the logarithm of its index. Throws ArgumentError if c_init has more
/// than 31 bits. Allocates nothing. Uses the calling thread alone.
PHY_EXPORT void gold_sequence(std::uint32_t c_init, std::uint64_t first, std::span<std::uint32_t> words);

/// The same with the instruction set and the threads of the host.
PHY_EXPORT void gold_sequence(const Host& host, std::uint32_t c_init, std::uint64_t first,
                              std::span<std::uint32_t> words);

}  // namespace phy

namespace phy::gpu {

/// phy::gold_sequence() in device memory. Writes words.size() / c_init.size() words for each c_init, one
/// sequence after another. c_init is one number, or an array in device memory; only the lowest 31 bits of its
/// values count.
///
/// A call is one launch on the caller's stream, which must belong to the device: it returns at once,
/// allocates nothing, does not wait, and can be captured in a graph. Values of c_init in device memory may
/// change between launches of the graph. Both arrays must be in memory that the device can reach, and must
/// stay there until the work is done. Throws ArgumentError if words.size() is not a multiple of
/// c_init.size(), and for a number of more than 31 bits.
PHY_EXPORT void gold_sequence(const Device& device, DeviceSpan<const std::uint32_t> c_init,
                              std::uint64_t first, DeviceSpan<std::uint32_t> words, cudaStream_t stream);
PHY_EXPORT void gold_sequence(const Device& device, std::uint32_t c_init, std::uint64_t first,
                              DeviceSpan<std::uint32_t> words, cudaStream_t stream);

}  // namespace phy::gpu
