#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/machine/host.hpp"
#include "phy/measure/soft_bit_sums.hpp"
#include "phy/reduce/tree.hpp"

namespace phy {

/// Measures magnitude, saturation and bit errors of soft bits in one pass, as sums by row. A row can be an
/// OFDM symbol, a slot or a whole capture. measurement_of() turns sums into figures.
///
/// For the same input, every backend, number of threads and alignment gives the same bytes. So does every
/// split of a row into calls at multiples of 2^k blocks of row_tree.
///
/// Not thread-safe: one meter per thread. Several operators may share a Host and its threads.
class PHY_EXPORT SoftBitMeter {
public:
    using Config = SoftBitMeterConfig;

    /// Throws ArgumentError if a value of the configuration is out of its range.
    SoftBitMeter(const Host& host, const Config& config);

    /// Sums every row of `row` soft bits; the last row may be shorter. sums has one element per row. Throws
    /// ArgumentError if row is 0, or if sums.size() is not soft_bits.size() / row, rounded up. Allocates
    /// nothing.
    void operator()(SoftBitView soft_bits, std::size_t row, std::span<SoftBitSums> sums);

    /// The same, and compares soft bits with transmitted bits. truth has one byte per soft bit: 0 for bit 0,
    /// any other value for bit 1. Throws ArgumentError also if its size differs.
    void operator()(SoftBitView soft_bits, std::span<const std::uint8_t> truth, std::size_t row,
                    std::span<SoftBitSums> sums);

    /// Sums all soft bits as one row.
    [[nodiscard]] SoftBitSums operator()(SoftBitView soft_bits);
    [[nodiscard]] SoftBitSums operator()(SoftBitView soft_bits, std::span<const std::uint8_t> truth);

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "SoftBitMeter"> impl_;
};

}  // namespace phy
