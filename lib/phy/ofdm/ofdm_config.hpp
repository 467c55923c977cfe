#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/export.hpp"

/// Carriers of 5G NR in time: what stands in a capture of baseband samples, and where.
namespace phy {

/// TS 38.211 table 4.2-1. The extended one is for 60 kHz and has 12 symbols a slot.
enum class CyclicPrefix { normal, extended };

/// How samples and resource elements of a carrier belong together (TS 38.211 clauses 5.3.1 and 5.4). The FFT
/// size N is sample_rate / subcarrier_spacing: 128, 256 ... 8192, a multiple of 128 without prime factors
/// above 5. Zero frequency is subcarrier 6 resource_blocks - k0, where 0 is the carrier's first.
struct PHY_EXPORT OfdmConfig {
    int resource_blocks = 0;              ///< of the carrier, from 1 to 275
    double subcarrier_spacing = 30000.0;  ///< Hz: 15000, 30000, 60000 or 120000
    double sample_rate = 0.0;             ///< Hz
    int k0 = 0;                           ///< k_0 of clause 5.3.1, in subcarriers: -6, 0 or 6
    CyclicPrefix cyclic_prefix = CyclicPrefix::normal;

    /// Hz: f_0 of clause 5.4, the carrier's; from -2^40 to 2^40. A receiver multiplies a symbol by
    /// exp(+j 2 pi f_0 t), a transmitter divides by it, with t from the start of the subframe to the end of
    /// the symbol's prefix. 0: no phase compensation.
    double center_frequency = 0.0;

    /// Hz: where the samples have their centre, less the carrier's; at most half the sample rate to either
    /// side. A receiver multiplies sample t by exp(+j 2 pi frequency_shift t), a transmitter divides by it,
    /// with t from the start of slot 0. So nothing depends on how a capture is cut into calls, if slots are
    /// numbered on over the frames; numbered from another slot, all is turned by one constant phase.
    double frequency_shift = 0.0;

    /// Samples by which the receiver's window begins before the end of a symbol's prefix, from 0 to the
    /// length of the shorter prefix: room for a channel's paths that come early. The ramp of phases that
    /// follows is taken out, without a rounding: the window's samples are taken in turned order.
    int window_offset = 0;

    int antennas = 1;         ///< from 1 to 64
    float full_scale = 0.0F;  ///< integer samples: the value of 1.0; 0 means 2^(bits-1)

    friend bool operator==(const OfdmConfig&, const OfdmConfig&) = default;
};

/// Where the symbols of a carrier lie, in samples. Slots are counted on over the frames, from slot 0 of a
/// frame: which of the subframe a slot is decides on the lengths of its prefixes.
class PHY_EXPORT OfdmTiming {
public:
    /// Throws ArgumentError, which names the value, if one is out of its range, if sample_rate is not
    /// subcarrier_spacing times an FFT size, or if the FFT has no bins for some subcarriers.
    explicit OfdmTiming(const OfdmConfig& config);

    /// mu, from 0 to 3
    [[nodiscard]] constexpr int numerology() const { return numerology_; }
    /// N
    [[nodiscard]] constexpr std::size_t fft_size() const { return size_; }
    /// 12 a resource block
    [[nodiscard]] constexpr std::size_t subcarriers() const { return subcarriers_; }
    /// Where frequency 0 is.
    [[nodiscard]] constexpr std::size_t zero_subcarrier() const { return zero_; }
    /// Of a slot: 14, or 12 with extended prefixes.
    [[nodiscard]] constexpr std::size_t symbols() const { return symbols_; }
    /// 2^mu
    [[nodiscard]] constexpr std::size_t slots_per_subframe() const { return slots_; }
    /// In 10 ms.
    [[nodiscard]] constexpr std::size_t slots_per_frame() const { return 10 * slots_; }

    /// Samples of an antenna in the slot.
    [[nodiscard]] constexpr std::size_t slot_samples(std::uint64_t slot) const {
        return start_in_subframe(symbol_of_subframe(slot, symbols_)) -
               start_in_subframe(symbol_of_subframe(slot, 0));
    }
    /// Samples of an antenna from the start of slot 0 to the start of the slot, modulo 2^64.
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
    /// Samples from the start of the slot to that of the symbol's prefix.
    [[nodiscard]] constexpr std::size_t symbol_start(std::uint64_t slot, std::size_t symbol) const {
        return start_in_subframe(symbol_of_subframe(slot, symbol)) -
               start_in_subframe(symbol_of_subframe(slot, 0));
    }

    /// Resource elements of an antenna in a slot.
    [[nodiscard]] constexpr std::size_t slot_elements() const { return symbols_ * subcarriers_; }

    /// The symbol's number in its subframe: l of clause 5.3.1.
    [[nodiscard]] constexpr std::size_t symbol_of_subframe(std::uint64_t slot, std::size_t symbol) const {
        return (slot & (slots_ - 1)) * symbols_ + symbol;
    }

private:
    [[nodiscard]] constexpr std::size_t start_in_subframe(std::size_t number) const {
        const std::size_t longer = (number > 0 ? 1 : 0) + (number > 7 * slots_ ? 1 : 0);
        return number * (prefix_ + size_) + longer * extra_;
    }

    std::size_t size_ = 0;
    std::size_t subcarriers_ = 0;
    std::size_t zero_ = 0;
    std::size_t symbols_ = 14;
    std::size_t slots_ = 1;
    std::size_t prefix_ = 0;  ///< of most symbols
    std::size_t extra_ = 0;   ///< so much more have the first symbols of half subframes
    int numerology_ = 0;
};

/// Which slots a call works on, and how their samples lie.
struct PHY_EXPORT OfdmSlots {
    std::uint64_t first = 0;  ///< its place in the subframe matters, and for frequency_shift all of it
    std::size_t count = 1;
    /// Samples from one antenna's first to the next one's; 0: those of the slots, or of the longest slot
    /// where slots have a stride.
    std::size_t stride = 0;
    /// Samples from one slot's first to the next one's, where a slot's antennas lie together; 0: slots follow
    /// each other as in time.
    std::size_t slot_stride = 0;
    /// Bit l: symbol l of every slot is worked on. Nothing of the others is read or written.
    std::uint32_t symbols = ~std::uint32_t{0};
};

}  // namespace phy
