#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "phy/core/demapper_config.hpp"
#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/equalizer/equalizer.hpp"
#include "phy/machine/host.hpp"

namespace phy {

/// The full scale of samples is that of the equaliser; of the demapper it does not matter.
struct PHY_EXPORT SoftDetectorConfig {
    EqualizerConfig equalizer;
    DemapperConfig demapper;

    friend bool operator==(const SoftDetectorConfig&, const SoftDetectorConfig&) = default;
};

/// Equalises, demaps and descrambles in one go: received resource elements and channel coefficients to soft
/// bits of codewords. The bytes are those of an Equalizer and a SoftDemapper after it, with signs; in between
/// nothing goes through memory.
///
/// Not thread-safe: one detector a thread. It uses the threads of its Host.
class PHY_EXPORT SoftDetector {
public:
    using Config = SoftDetectorConfig;

    /// Throws ArgumentError if a value is out of its range.
    SoftDetector(const Host& host, const Config& config);
    ~SoftDetector();
    SoftDetector(SoftDetector&&) noexcept;
    SoftDetector& operator=(SoftDetector&&) noexcept;

    /// Data elements x layers x Qm.
    [[nodiscard]] std::size_t soft_bits_per_slot() const;
    /// Words that hold a bit for each of them.
    [[nodiscard]] std::size_t sign_words_per_slot() const { return (soft_bits_per_slot() + 31) / 32; }

    /// Detects all slots. grid, channel, slots and covariance as in Equalizer. llr: (slots, data elements,
    /// layers, Qm), the codeword of each slot. signs is empty, or (slots, sign_words_per_slot()): soft bit i
    /// of a slot is negated where bit i % 32 of word i / 32 is 1, as gold_sequence() writes it. Allocates
    /// nothing. Throws ArgumentError, and has written nothing, where Equalizer does, or for other sizes.
    void operator()(SymbolView grid, std::span<const float> channel, std::span<const SlotEstimate> slots,
                    SoftBitSpan llr, std::span<const std::uint32_t> signs = {},
                    std::span<const cf32> covariance = {});

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "SoftDetector"> impl_;
};

}  // namespace phy
