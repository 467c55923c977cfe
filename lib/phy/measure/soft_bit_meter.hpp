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

/// Magnitude, saturation and bit errors of soft bits, in one pass: sums, from which measurement_of() makes
/// numbers for people. By rows: of an OFDM symbol, a slot, a whole capture.
///
/// For the same input, every backend, number of threads, alignment, and way to cut a row into calls at
/// multiples of 2^k blocks of row_tree, gives the same bytes.
///
/// Not thread-safe: one meter a thread. It uses the threads of its Host, which several operators may share.
class PHY_EXPORT SoftBitMeter {
public:
    using Config = SoftBitMeterConfig;

    /// Throws ArgumentError if a value of the configuration is out of its range.
    SoftBitMeter(const Host& host, const Config& config);
    ~SoftBitMeter();
    SoftBitMeter(SoftBitMeter&&) noexcept;
    SoftBitMeter& operator=(SoftBitMeter&&) noexcept;

    /// The sums of every row of `row` soft bits, the last of which may be shorter. sums.size() must be
    /// soft_bits.size() / row, rounded up, and row at least 1 (ArgumentError). Allocates nothing.
    void operator()(SoftBitView soft_bits, std::size_t row, std::span<SoftBitSums> sums);

    /// The same, compared with transmitted bits: one a byte, 0 or 1, as many as soft bits (ArgumentError).
    /// Any other byte counts as 1.
    void operator()(SoftBitView soft_bits, std::span<const std::uint8_t> truth, std::size_t row,
                    std::span<SoftBitSums> sums);

    /// All soft bits as one row.
    [[nodiscard]] SoftBitSums operator()(SoftBitView soft_bits);
    [[nodiscard]] SoftBitSums operator()(SoftBitView soft_bits, std::span<const std::uint8_t> truth);

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "SoftBitMeter"> impl_;
};

}  // namespace phy
