#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "phy/core/demapper_config.hpp"
#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/equalizer/equalizer.hpp"
#include "phy/estimator/estimator.hpp"
#include "phy/estimator/slot_estimate.hpp"
#include "phy/machine/host.hpp"
#include "phy/measure/symbol_sums.hpp"
#include "phy/receiver/link.hpp"
#include "phy/receiver/slot_schedule.hpp"

/// PUSCH and PDSCH of one codeword a slot: what antennas have received goes in, the descrambled soft bits of
/// codewords come out.
namespace phy {

/// What a receiver is given of a slot.
enum class ReceiverInput : std::uint8_t {
    samples,  ///< baseband samples of each antenna
    grid,     ///< resource elements of each antenna, after the FFT
};

struct PHY_EXPORT ReceiverConfig {
    Link link = {};  ///< for samples with sample_rate and center_frequency: see complete_link()
    ReceiverInput input = ReceiverInput::samples;
    int antennas = 1;         ///< from the number of layers to 16
    float full_scale = 0.0F;  ///< integer samples: the value of 1.0; 0 means 2^(bits-1)

    DemapperConfig demapper = {};  ///< of which modulation and full scale do not matter: the link's, and 1
    SoftBitFormat format = SoftBitFormat::int8;
    Equalization equalization = Equalization::mmse;

    /// Interference rejection combining: the covariance of noise and interference over the antennas is
    /// measured at the DM-RS of each slot and used to equalise. For at least 2 antennas, without a given
    /// noise_variance.
    bool interference_rejection = false;

    TimeInterpolation time = TimeInterpolation::linear;  ///< of the channel between DM-RS
    float doppler_spread = 0.0F;  ///< Hz, largest; above 0 for TimeInterpolation::wiener

    /// s, rms; 0: measured in each slot, or where no two resource blocks are neighbours, 0.003 over the
    /// subcarrier spacing. See ChannelEstimatorConfig.
    float delay_spread = 0.0F;
    float noise_variance = 0.0F;  ///< N0 of a resource element at an antenna; 0: measured in each slot

    /// Of samples: by how many the window of the FFT begins before the end of a prefix; below 0: half of the
    /// shorter prefix. See OfdmConfig.
    int window_offset = -1;

    friend bool operator==(const ReceiverConfig&, const ReceiverConfig&) = default;
};

/// What a receiver found in a slot, as it comes from a device; slot_report() makes numbers for people of it.
struct PHY_EXPORT ReceivedSlot {
    SlotEstimate estimate;
    SymbolSums symbols;          ///< of equalised symbols against the nearest points, erased ones among them
    std::uint64_t erasures = 0;  ///< symbols that were erased

    friend bool operator==(const ReceivedSlot&, const ReceivedSlot&) = default;
};

/// What is known of a slot after it was received.
struct PHY_EXPORT SlotReport {
    std::uint64_t slot = 0;         ///< number as in SlotSchedule
    double snr_db = 0.0;            ///< power of all layers at an antenna over that of its noise
    double noise_variance = 0.0;    ///< N0 of a resource element at an antenna
    double evm = 0.0;               ///< of equalised symbols, rms, a ratio; NaN if all are erased
    double timing_offset = 0.0;     ///< s; positive: the signal comes late
    double frequency_offset = 0.0;  ///< Hz; positive: the signal is too high
    double coherence = 0.0;         ///< of pilots, from 0 to 1: see SlotEstimate
    std::uint64_t erasures = 0;     ///< symbols that were erased
};

/// Erased symbols do not count. A slot without power has an SNR of minus infinity, and so has one with DM-RS
/// that are not finite: its noise variance is infinite.
PHY_EXPORT SlotReport slot_report(const ReceivedSlot& received, const ReceiverConfig& config,
                                  std::uint64_t slot);

/// The sums over the symbols of a slot that were not erased; peaks count those too.
PHY_EXPORT SymbolSums without_erased(const ReceivedSlot& received);

/// Where a call writes; what is empty is not wanted.
struct PHY_EXPORT ReceiverOutput {
    SoftBitSpan llr = {};                  ///< (slots, G): the codewords
    std::span<ReceivedSlot> slots = {};    ///< one a slot
    std::span<cf32> symbols = {};          ///< (slots, data elements, layers), equalised
    std::span<float> noise_variance = {};  ///< of the symbols, in the same shape; both or none
    /// (slots, antennas, layers, subcarriers): the mean of the estimates, one for each DM-RS, in the order of
    /// their symbols, without SlotEstimate::phase; 0 outside of the allocated resource blocks.
    std::span<cf32> channel = {};
};

/// Samples or resource grids of whole slots to soft bits: OFDM, channel estimation, equalisation, for PUSCH
/// with transform precoding its inverse, demapping and descrambling (TS 38.211 clauses 6.3.1 and 7.3.1
/// backwards). For the same input every backend, number of threads and way to cut slots into calls gives the
/// same bytes.
///
/// A sample that is not finite spoils its slot and no other: soft bits that cannot be told are 0 and counted
/// as erasures.
///
/// With transform precoding the symbols are those before it, each with the noise variance of its OFDM symbol:
/// by MMSE subcarriers are weighted by how sure they are before the inverse DFT, and what the weights leave
/// of other symbols counts as noise.
///
/// The threads of the host share a call: by slots if there are as many slots as threads, each thread a slot
/// at a time, else within a slot. Not thread-safe: one receiver a thread.
class PHY_EXPORT Receiver {
public:
    using Config = ReceiverConfig;

    /// Throws ArgumentError if the link cannot be (see check()), if a value is out of its range, for fewer
    /// antennas than layers, for transform precoding beside reserved elements, and for interference rejection
    /// with one antenna or a given noise variance.
    Receiver(const Host& host, const Config& config);
    ~Receiver();
    Receiver(Receiver&&) noexcept;
    Receiver& operator=(Receiver&&) noexcept;

    /// Samples, or resource elements, of one antenna that a call takes for a slot: as many as the longest
    /// slot has.
    [[nodiscard]] std::size_t input_per_slot() const;
    /// G: data elements x layers x Qm.
    [[nodiscard]] std::size_t soft_bits_per_slot() const;
    /// Data elements x layers.
    [[nodiscard]] std::size_t symbols_per_slot() const;
    /// Antennas x layers x subcarriers.
    [[nodiscard]] std::size_t channel_per_slot() const;
    [[nodiscard]] const SlotSchedule& schedule() const;

    /// Receives the occasions first, first + 1 ... of the schedule. input: (slots, antennas,
    /// input_per_slot()); samples begin with the slot's first, and what a shorter slot leaves is not looked
    /// at. Throws ArgumentError, and has written nothing, if sizes do not fit, or for another soft-bit
    /// format. Allocates nothing.
    void operator()(SymbolView input, std::uint64_t first, const ReceiverOutput& output);

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "Receiver"> impl_;
};

}  // namespace phy
