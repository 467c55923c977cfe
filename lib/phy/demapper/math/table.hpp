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

/// What a table is made for.
struct TableKey {
    int bits = 0;  ///< an axis; 2 or more, since with one the LLR is a straight line
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

/// True if max-log and log-MAP agree to half a least significant bit wherever the soft bit is not saturated
/// (int8).
bool max_log_is_log_map(const TableKey& key);

/// The soft bits of an axis for evenly spaced axis values, and zeros for erased components. An entry holds
/// the LLRs of all bits of the axis, so a symbol costs two look-ups whatever the LLR function is. int8: the
/// nearest entry, already spread to every other byte. fp32 (and fp16, before it is rounded): a straight line
/// from entry to entry, from 0 on; of -x the first bit has the LLR of x negated, the others have that of x.
class LlrTable {
public:
    /// Needs entries_needed(key) <= largest_table.
    explicit LlrTable(const TableKey& key);

    [[nodiscard]] const TableKey& key() const { return key_; }
    [[nodiscard]] const TableScale& scale() const { return scale_; }

    /// int8: the bytes of all bits of an axis, entry after entry, each filled up with zeros to a multiple
    /// of 4.
    [[nodiscard]] std::vector<std::byte> packed_bytes() const;

    /// Floats: for each entry the value of each bit, then its slope a step.
    [[nodiscard]] std::span<const float> lines() const { return lines_; }

    /// entry holds two entries a symbol, as DemapKernels::nearest_entries gives them.
    void look_up(const std::uint32_t* entry, std::size_t symbols, std::int8_t* out) const;

    /// entry and fraction as DemapKernels::entries_below gives them; out may be unaligned.
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
