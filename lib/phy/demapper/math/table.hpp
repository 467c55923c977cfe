#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "phy/core/demapper_config.hpp"
#include "phy/core/format.hpp"
#include "phy/demapper/math/formula.hpp"

namespace phy::detail {

/// The parameters that determine a table.
struct TableKey {
    int bits = 0;  ///< per axis; at least 2, because with one bit the LLR is a straight line
    Method method = Method::max_log;
    SoftBitFormat format = SoftBitFormat::int8;
    float noise = 0.0F;
    float llr_scale = 0.0F;
    int llr_clip = 0;

    friend auto operator<=>(const TableKey&, const TableKey&) = default;  // NOLINT(modernize-use-nullptr)
};

inline constexpr std::size_t largest_table = 32768;  // entries

/// The number of entries that a table needs to meet the accuracy of SoftDemapper.
double entries_needed(const TableKey& key);

/// int8: true if max-log and log-MAP agree to half a least significant bit wherever the soft bit is not
/// saturated.
bool max_log_is_log_map(const TableKey& key);

/// The soft bits of an axis for evenly spaced axis values, and zeros for erased components. An entry holds
/// the LLRs of all bits of the axis, so a symbol costs two look-ups for any LLR function. int8: the nearest
/// entry, already spread to every other byte. fp32 (and fp16 before rounding): linear from entry to entry,
/// from 0 on; for -x the first bit has the negated LLR of x, the others have that of x.
class LlrTable {
public:
    /// Needs entries_needed(key) <= largest_table.
    explicit LlrTable(const TableKey& key);

    [[nodiscard]] const TableKey& key() const { return key_; }
    [[nodiscard]] const TableScale& scale() const { return scale_; }

    /// int8: one byte per bit of the axis, entry after entry, each zero-padded to a multiple of 4.
    [[nodiscard]] std::vector<std::byte> packed_bytes() const;

    /// Floats: for each entry the value of each bit, then its slope per step.
    [[nodiscard]] std::span<const float> lines() const { return lines_; }

    /// entry holds two entries per symbol, as DemapKernels::nearest_entries writes them.
    void look_up(const std::uint32_t* entry, std::size_t symbols, std::int8_t* out) const;

    /// entry and fraction as DemapKernels::entries_below writes them; out may be unaligned.
    void look_up(const std::uint32_t* entry, const float* fraction, std::size_t symbols,
                 std::byte* out) const;

private:
    void fill_int8(std::size_t entries, double first, double step);
    void fill_float(std::size_t entries, double step);

    TableKey key_;
    TableScale scale_{};
    std::vector<std::uint64_t> spread_;  ///< bits 0 to 3 of the axis, in bytes 0, 2, 4, 6
    std::vector<std::uint32_t> rest_;    ///< further bits, in bytes 0, 2
    std::vector<float> lines_;           ///< see lines()
};

}  // namespace phy::detail
