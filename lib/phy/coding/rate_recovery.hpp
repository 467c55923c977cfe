#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "phy/coding/rate_matching.hpp"
#include "phy/core/view.hpp"

/// Soft bits of a codeword to LLRs in the circular buffer of a code block: the inverse of rate matching. Soft
/// bits of one place are added in binary32, in the order in which they were sent, times the units per step of
/// a soft bit, and rounded half to even, within 10 nats. Those that are not finite count as 0, -128 as -127.
namespace phy::detail {

class RateRecovery {
public:
    using Deinterleave = void (*)(const std::int8_t* in, std::size_t symbols, std::size_t per_symbol,
                                  std::int8_t limit, std::int8_t* out);

    /// units: per step of a soft bit.
    RateRecovery(const RateMatching& matching, float units, Deinterleave deinterleave);

    /// soft_bits: those of the code block, of which it has so many symbols. buffer: places that get no soft
    /// bit become 0. scratch: as many bytes as the buffer has places.
    void operator()(SoftBitView soft_bits, std::size_t symbols, int redundancy_version,
                    std::span<std::int8_t> buffer, std::int8_t* scratch) const;

    /// From soft bits of the code block and the posteriors of the buffer's bits. extrinsic: one per soft bit.
    void write_extrinsic(SoftBitView soft_bits, int redundancy_version,
                         std::span<const std::int8_t> posteriors, std::span<std::int8_t> extrinsic) const;

private:
    template <typename T>
    void select(const std::byte* soft_bits, std::uint32_t symbols, std::int8_t* selected) const;
    void place(std::span<const std::int8_t> llr, std::uint32_t rank, std::int8_t* buffer) const;
    template <typename T>
    void add_repeated(const std::byte* soft_bits, std::uint32_t symbols, std::uint32_t first,
                      std::int8_t* buffer) const;

    template <typename T>
    [[nodiscard]] std::int8_t llr_of(const std::byte* soft_bits, std::size_t index) const;

    RateMatching matching_;
    float units_;
    Deinterleave deinterleave_;
    std::int8_t of_int8_[256];  ///< LLRs of soft bits, by their byte
};

}  // namespace phy::detail
