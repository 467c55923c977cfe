#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "phy/core/export.hpp"
#include "phy/core/full_scale.hpp"

/// The OFDM parameters of a 5G NR carrier, and where its slots and symbols lie in baseband samples.
namespace phy {

/// TS 38.211 table 4.2-1. The extended prefix is for 60 kHz and has 12 symbols per slot.
enum class CyclicPrefix { normal, extended };

/// How samples of a carrier map to its resource elements (TS 38.211 clauses 5.3.1 and 5.4). The FFT size N is
/// sample_rate / subcarrier_spacing: 128, 256 ... 8192, a multiple of 128 without prime factors above 5.
/// Frequency 0 is subcarrier 6 x resource_blocks - k0, counted from the carrier's first, which is 0.
struct PHY_EXPORT OfdmConfig {
    int resource_blocks = 0;              ///< of the carrier, from 1 to 275
    double subcarrier_spacing = 30000.0;  ///< Hz: 15000, 30000, 60000 or 120000
    double sample_rate = 0.0;             ///< Hz
    int k0 = 0;                           ///< k_0 of clause 5.3.1, in subcarriers: -6, 0 or 6
    CyclicPrefix cyclic_prefix = CyclicPrefix::normal;

    /// Hz, from -2^40 to 2^40: the carrier frequency f_0 of clause 5.4. A receiver multiplies a symbol by
    /// exp(+j 2 pi f_0 t), and a transmitter divides by it, where t is the time from the start of the
    /// subframe to the end of the symbol's prefix. 0: no phase compensation.
    double center_frequency = 0.0;

    /// Hz: centre of the samples less centre of the carrier; at most half the sample rate to either side. A
    /// receiver multiplies a sample by exp(+j 2 pi frequency_shift t), and a transmitter divides by it, where
    /// t is the time from the start of slot 0. Number slots on over the frames: then the result does not
    /// depend on how a capture is cut into calls. Numbers that start at another slot rotate everything by one
    /// constant phase.
    double frequency_shift = 0.0;

    int antennas = 1;  ///< from 1 to 64

    friend bool operator==(const OfdmConfig&, const OfdmConfig&) = default;
};

struct PHY_EXPORT OfdmDemodulatorConfig {
    OfdmConfig ofdm = {};

    /// Samples from the start of the FFT window to the end of a symbol's prefix, from 0 to the length of the
    /// shorter prefix: room for paths that arrive early. None: half of the shorter prefix, so the timing may
    /// be off by half of that prefix to either side. The demodulator removes the phase ramp that this causes,
    /// without rounding, by a cyclic shift of the window's samples.
    std::optional<int> window_offset = {};

    FullScale full_scale = {};

    friend bool operator==(const OfdmDemodulatorConfig&, const OfdmDemodulatorConfig&) = default;
};

/// Where the symbols of a carrier lie, in samples. Slots are numbered on over the frames, from slot 0 of a
/// frame. The position of a slot in its subframe determines the lengths of its prefixes.
class PHY_EXPORT OfdmTiming {
public:
    /// Throws ArgumentError, which names the value, if a value is out of its range, if sample_rate is not
    /// subcarrier_spacing times an FFT size, or if the FFT has too few bins for the subcarriers.
    explicit OfdmTiming(const OfdmConfig& config);

    /// N
    [[nodiscard]] constexpr std::size_t fft_size() const { return size_; }
    /// 12 per resource block
    [[nodiscard]] constexpr std::size_t subcarriers() const { return subcarriers_; }
    /// The subcarrier at frequency 0.
    [[nodiscard]] constexpr std::size_t zero_subcarrier() const { return zero_; }
    /// Per slot: 14, or 12 with extended prefixes.
    [[nodiscard]] constexpr std::size_t symbols() const { return symbols_; }
    /// 2^mu
    [[nodiscard]] constexpr std::size_t slots_per_subframe() const { return slots_; }
    /// Per 10 ms.
    [[nodiscard]] constexpr std::size_t slots_per_frame() const { return std::size_t{10} * slots_; }

    /// Samples per antenna in the slot.
    [[nodiscard]] constexpr std::size_t slot_samples(std::uint64_t slot) const {
        return start_in_subframe(symbol_of_subframe(slot, symbols_)) -
               start_in_subframe(symbol_of_subframe(slot, 0));
    }
    /// Samples per antenna from the start of slot 0 to the start of the slot, modulo 2^64.
    [[nodiscard]] constexpr std::uint64_t slot_start(std::uint64_t slot) const {
        return (slot >> numerology_) * start_in_subframe(slots_ * symbols_) +
               start_in_subframe(symbol_of_subframe(slot, 0));
    }
    /// Samples of the symbol's prefix.
    [[nodiscard]] constexpr std::size_t prefix_samples(std::uint64_t slot, std::size_t symbol) const {
        const bool is_longer =
            symbol_of_subframe(slot, symbol) == 0 || symbol_of_subframe(slot, symbol) == 7 * slots_;
        return prefix_ + (is_longer ? extra_ : 0);
    }
    /// Samples from the start of the slot to the start of the symbol's prefix.
    [[nodiscard]] constexpr std::size_t symbol_start(std::uint64_t slot, std::size_t symbol) const {
        return start_in_subframe(symbol_of_subframe(slot, symbol)) -
               start_in_subframe(symbol_of_subframe(slot, 0));
    }

    /// Resource elements per antenna and slot.
    [[nodiscard]] constexpr std::size_t slot_elements() const { return std::size_t{symbols_} * subcarriers_; }

    /// The symbol's number in its subframe: l of clause 5.3.1.
    [[nodiscard]] constexpr std::size_t symbol_of_subframe(std::uint64_t slot, std::size_t symbol) const {
        const std::uint32_t first = (static_cast<std::uint32_t>(slot) & (slots_ - 1)) * symbols_;
        return first + symbol;
    }

private:
    /// In 32 bits, which GPUs multiply in one instruction: a subframe has fewer than 2^32 samples.
    [[nodiscard]] constexpr std::uint32_t start_in_subframe(std::size_t symbol) const {
        const auto number = static_cast<std::uint32_t>(symbol);
        const std::uint32_t longer = (number > 0 ? 1U : 0U) + (number > 7 * slots_ ? 1U : 0U);
        return number * (prefix_ + size_) + longer * extra_;
    }

    std::uint32_t size_ = 0;
    std::uint32_t subcarriers_ = 0;
    std::uint32_t zero_ = 0;
    std::uint32_t symbols_ = 14;
    std::uint32_t slots_ = 1;
    std::uint32_t prefix_ = 0;  ///< of most symbols
    std::uint32_t extra_ = 0;   ///< added to the first prefix of each half subframe
    int numerology_ = 0;        ///< mu, from 0 to 3
};

/// The slots that a call works on, and the layout of their samples.
struct PHY_EXPORT OfdmSlots {
    std::uint64_t first = 0;  ///< number of the first slot, counted on over the frames
    std::size_t count = 1;
    /// Samples from the first of one antenna to the first of the next. None: the length of the slots, or with
    /// a slot_stride the length of the longest slot of the call.
    std::optional<std::size_t> stride = {};
    /// Samples from the first of one slot to the first of the next, if all antennas of a slot lie together.
    /// None: each antenna's slots follow each other without gaps.
    std::optional<std::size_t> slot_stride = {};
    /// Bit l selects symbol l of every slot. Other symbols are neither read nor written.
    std::uint32_t symbols = ~std::uint32_t{0};
};

}  // namespace phy
