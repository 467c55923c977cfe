#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "phy/core/demapper_config.hpp"
#include "phy/core/export.hpp"
#include "phy/core/noise_variance.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/demapper/counters.hpp"
#include "phy/machine/host.hpp"

/// Soft and hard demapping of the constellations of TS 38.211 clause 5.1.
///
/// A soft bit is the log-likelihood ratio L = ln P(b=0)/P(b=1) in nats: positive means bit 0, as in
/// TS 38.212. N0 is the variance of the complex noise, E|n|^2, on symbols of unit mean power. Soft bits are
/// symbol-major: b0 ... b(Qm-1) of the first symbol, then of the second.
///
/// For the same input, every backend, number of threads, alignment and way to cut the input into calls gives
/// the same bytes.
namespace phy {

/// Symbols to soft bits.
///
/// Accuracy, against a float64 evaluation over SNRs from 0 to 40 dB. Max-log, arithmetic: int8 within 1 (in
/// fewer than 1 in 100,000 soft bits), fp32 within 1e-5 of the largest LLR of the axis, fp16 that value
/// rounded. Table, and log-MAP in any way: int8 within 1; fp16 and fp32 within 0.01 nat (fp16: or its
/// rounding).
///
/// Tables serve one N0: a call with another scalar N0 rebuilds (up to some tens of milliseconds). Where a
/// table cannot serve, the arithmetic evaluator does: per-symbol noise, and where N0, llr_scale and
/// llr_clip would need more than 32768 entries. Evaluator::automatic uses a table for log-MAP with scalar
/// noise and arithmetic otherwise. With one bit an axis (pi/2-BPSK, BPSK, QPSK) log-MAP equals max-log, and
/// the closed form serves both; so it does for log-MAP in int8 with automatic or table where N0 is so small
/// that both agree to half a least significant bit. evaluator_for() tells.
///
/// Ranges. N0 counts as limited to 2^-100 ... 2^40, and fp32 soft bits are limited to +-2^64.
///
/// Gain. Symbols are divided by it: a component becomes component x factor, with one rounding, where factor
/// is the reciprocal of gain, for integers of full_scale x gain, rounded to binary32. cf16 is widened before.
/// What becomes infinite is an erasure.
///
/// Bad samples. A NaN or infinite component is an erasure: the soft bits of its axis are 0 (BPSK: of the
/// symbol). A per-symbol N0 that is not finite and positive makes all soft bits of its symbol 0.
///
/// Not thread-safe: one demapper a thread. It uses the threads of its Host, which several demappers may
/// share.
class PHY_EXPORT SoftDemapper {
public:
    using Config = DemapperConfig;

    /// Throws ArgumentError if a value of the configuration is out of its range.
    SoftDemapper(const Host& host, const Config& config);
    ~SoftDemapper();
    SoftDemapper(SoftDemapper&&) noexcept;
    SoftDemapper& operator=(SoftDemapper&&) noexcept;

    /// Demaps all symbols; llr.size() must be symbols.size() * Qm. A scalar N0 must be finite and positive, a
    /// per-symbol one must have symbols.size() values. Otherwise ArgumentError, and nothing was written.
    /// first_symbol is the index i of the first symbol in its sequence, of which pi/2-BPSK needs the parity.
    /// Counters, where given, are added to: every soft bit is looked at again, which takes up to 40 % of the
    /// speed. Allocates nothing, except when a table is built for a new N0.
    ///
    /// signs is empty, or has a bit for each soft bit, (llr.size() + 31) / 32 words (else ArgumentError):
    /// soft bit i is negated where bit i % 32 of word i / 32 is 1, the least significant bit being 0. With
    /// the words of gold_sequence() the soft bits are descrambled. Of floating point the sign bit is
    /// inverted, whatever the value.
    void operator()(SymbolView symbols, NoiseVariance noise, SoftBitSpan llr, std::uint64_t first_symbol = 0,
                    DemapCounters* counters = nullptr, std::span<const std::uint32_t> signs = {});

    /// The evaluator that a call with this noise and output format uses: arithmetic or table.
    [[nodiscard]] Evaluator evaluator_for(NoiseVariance noise, SoftBitFormat format) const;

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "SoftDemapper"> impl_;
};

/// Symbols to bits: the sign of the soft bit (bit 1 if L < 0), one bit a byte, symbol-major; erased
/// components give 0. Needs no noise variance. Not thread-safe: one demapper a thread.
class PHY_EXPORT HardDemapper {
public:
    /// Of which the modulation, the full scale and the gain matter.
    using Config = DemapperConfig;

    /// Throws as SoftDemapper's constructor.
    HardDemapper(const Host& host, const Config& config);
    ~HardDemapper();
    HardDemapper(HardDemapper&&) noexcept;
    HardDemapper& operator=(HardDemapper&&) noexcept;

    /// bits.size() must be symbols.size() * Qm (ArgumentError). first_symbol as in SoftDemapper.
    void operator()(SymbolView symbols, std::span<std::uint8_t> bits, std::uint64_t first_symbol = 0);

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "HardDemapper"> impl_;
};

}  // namespace phy
