#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "phy/core/demapper_config.hpp"
#include "phy/core/export.hpp"
#include "phy/core/full_scale.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/equalizer/equalizer.hpp"
#include "phy/estimator/estimator.hpp"
#include "phy/estimator/slot_estimate.hpp"
#include "phy/machine/host.hpp"
#include "phy/measure/symbol_sums.hpp"
#include "phy/receiver/link.hpp"
#include "phy/receiver/slot_schedule.hpp"

/// Receivers of PUSCH and PDSCH with one codeword per slot: antenna samples or grids to descrambled soft
/// bits.
namespace phy {

/// The input of a receiver.
enum class ReceiverInput : std::uint8_t {
    samples,  ///< baseband samples of each antenna
    grid,     ///< resource elements of each antenna, after the FFT
};

struct PHY_EXPORT ReceiverConfig {
    Link link = {};  ///< for samples, with sample_rate and center_frequency: see complete_link()
    ReceiverInput input = ReceiverInput::samples;
    int antennas = 1;  ///< from the number of layers to 16
    FullScale full_scale = {};

    LlrConfig llr = {};
    SoftBitFormat format = SoftBitFormat::int8;  ///< of the soft bits
    Equalization equalization = Equalization::mmse;

    /// Interference rejection combining: measures the covariance of noise and interference over the antennas
    /// at the DM-RS of each slot, by subbands() where these differ, and equalises with it. With one antenna
    /// that is an N0 of each subband. Needs a noise_variance that is not given. None: with at least 2
    /// antennas if dmrs_pilot_count() is at least 144, so that chance in what is measured costs about 0.05 dB
    /// at most.
    std::optional<bool> interference_rejection = {};

    /// Detects two layers together by maximum likelihood: soft bits come from JointDetector. Symbols and what
    /// is measured with them stay those of the equaliser, rounded as with EqualizerConfig::pairs. Needs two
    /// layers, QPSK or a higher modulation and Method::max_log.
    bool joint_detection = false;

    /// Takes the common phase error out of each OFDM symbol, and raises the noise variances of those with
    /// more noise than the DM-RS show: see PhaseTracker. Coefficients of channels have neither.
    bool phase_tracking = false;

    TimeInterpolation time = TimeInterpolation::wiener;  ///< of the channel between DM-RS
    /// Hz, maximum; for TimeInterpolation::wiener alone. None: measured in each slot.
    std::optional<float> doppler_spread = {};

    /// s, rms: the longest expected one; see ChannelEstimatorConfig.
    std::optional<float> delay_spread = {};

    /// N0 of a resource element at an antenna. None: measured in each slot.
    std::optional<float> noise_variance = {};

    /// For samples: how many of them the FFT window begins before the end of a prefix; none: half of the
    /// shorter prefix. See OfdmDemodulatorConfig.
    std::optional<int> window_offset = {};

    friend bool operator==(const ReceiverConfig&, const ReceiverConfig&) = default;
};

/// Whether receivers of the configuration reject interference.
PHY_EXPORT bool rejects_interference(const ReceiverConfig& config);

/// Whether the configuration allows joint_detection.
PHY_EXPORT bool can_detect_jointly(const ReceiverConfig& config);

/// Throws ArgumentError, which says why, unless can_detect_jointly().
PHY_EXPORT void check_joint_detection(const ReceiverConfig& config);

/// What a receiver measured in a slot, in raw form; slot_report() converts it to units for people.
struct PHY_EXPORT ReceivedSlot {
    SlotEstimate estimate;
    /// Equalised symbols, against the nearest points and N0, without SlotEstimate::excess_noise. Erased ones
    /// are left out.
    SymbolSums symbols;

    friend bool operator==(const ReceivedSlot&, const ReceivedSlot&) = default;
};

/// What a receiver measured in a slot.
struct PHY_EXPORT SlotReport {
    std::uint64_t slot = 0;       ///< its number, as in SlotSchedule
    double snr_db = 0.0;          ///< dB: power of all layers at an antenna over the noise there
    double noise_variance = 0.0;  ///< N0 of a resource element at an antenna
    double evm = 0.0;             ///< of equalised symbols: rms, as a ratio; NaN if all are erased
    /// dB: error_over_noise() of the equalised symbols, without SlotEstimate::excess_noise. About 0 for a
    /// right link, in fading too. NaN: not measured, because N0 is too high to tell the nearest point from
    /// the sent one.
    double error_over_noise_db = 0.0;
    std::uint64_t clear_symbols = 0;  ///< that it is measured with
    double timing_offset = 0.0;       ///< s; positive: the signal arrives late
    double frequency_offset = 0.0;    ///< Hz; positive: the signal is too high in frequency
    double coherence = 0.0;           ///< of pilots, from 0 to 1: see SlotEstimate
    double phase_error = 0.0;         ///< rad, rms: the common phase errors taken out; see SlotEstimate
    double excess_noise_db = 0.0;     ///< dB: SlotEstimate::excess_noise, mean over OFDM symbols
    std::uint64_t erasures = 0;       ///< erased symbols
};

/// Converts the measurements of a slot. The SNR of a slot is minus infinity
/// without power, and with non-finite DM-RS; the latter also have an infinite noise variance.
PHY_EXPORT SlotReport slot_report(const ReceivedSlot& received, const ReceiverConfig& config,
                                  std::uint64_t slot);

/// Where a call writes. Empty members are not computed.
struct PHY_EXPORT ReceiverOutput {
    SoftBitSpan llr = {};                ///< (slots, G): the codewords
    std::span<ReceivedSlot> slots = {};  ///< one per slot
    std::span<cf32> symbols = {};        ///< (slots, data elements, layers), equalised
    /// Of the symbols, same shape, times SlotEstimate::excess_noise; give both or none.
    std::span<float> noise_variance = {};
    /// (slots, antennas, layers, subcarriers): the mean of a slot's channel estimates, one per DM-RS, added
    /// in the order of their symbols, without SlotEstimate::phase. 0 outside the allocated resource blocks,
    /// and in slots with DM-RS that are not finite.
    std::span<cf32> channel = {};
};

/// Samples or resource grids of whole slots to soft bits: OFDM, channel estimation, equalisation, the inverse
/// of transform precoding where PUSCH has it, demapping and descrambling (the inverse of TS 38.211 clauses
/// 6.3.1 and 7.3.1). For the same input every backend, number of threads and way to cut slots into calls
/// gives the same bytes.
///
/// A non-finite sample spoils its slot and no other. Symbols that it spoils are erasures: they are counted,
/// and their soft bits are 0. A non-finite sample in a DM-RS symbol erases the whole slot. From samples, an
/// OFDM symbol that is disturbed is erased too: at an antenna, more than half of 32 of its allocated elements
/// have 16 times (12 dB) the energy that the slot's channel and noise explain, as after a very strong sample
/// or a burst.
///
/// With transform precoding the output symbols are those after the inverse DFT, each with the noise variance
/// of its OFDM symbol. See TransformDeprecoder.
///
/// Not thread-safe: one receiver per thread. The threads of the host share a call. With at least four slots,
/// or as many as threads, each thread takes whole slots. With fewer they share each slot.
class PHY_EXPORT Receiver {
public:
    using Config = ReceiverConfig;

    /// Throws ArgumentError if the link is invalid (see check()), if a value is out of its range, for fewer
    /// antennas than layers, for interference rejection with a given noise variance, and for joint detection
    /// where can_detect_jointly() is false.
    Receiver(const Host& host, const Config& config);

    /// Samples or resource elements per antenna and slot in the input of a call: those of the longest slot.
    [[nodiscard]] std::size_t input_per_slot() const;
    /// G: data elements x layers x Qm.
    [[nodiscard]] std::size_t soft_bits_per_slot() const;
    /// Data elements x layers.
    [[nodiscard]] std::size_t symbols_per_slot() const;
    /// Antennas x layers x subcarriers.
    [[nodiscard]] std::size_t channel_per_slot() const;
    [[nodiscard]] const SlotSchedule& schedule() const;

    /// Receives the occasions first, first + 1 ... of the schedule. input: (slots, antennas,
    /// input_per_slot()). Each row of samples begins with the slot's first sample; shorter slots leave the
    /// end of their row unused. priors: empty, or (slots, G), see JointDetector. Throws ArgumentError, and
    /// writes nothing, if sizes do not fit, for another soft-bit format, and for priors without joint
    /// detection. Allocates nothing.
    void operator()(SymbolView input, std::uint64_t first, const ReceiverOutput& output,
                    std::span<const std::int8_t> priors = {});

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "Receiver"> impl_;
};

}  // namespace phy

namespace phy::gpu {

/// phy::ReceiverOutput in memory that the device can reach.
struct PHY_EXPORT ReceiverOutput {
    SoftBitSpan llr = {};
    DeviceSpan<ReceivedSlot> slots = {};
    DeviceSpan<cf32> symbols = {};
    DeviceSpan<float> noise_variance = {};
    DeviceSpan<cf32> channel = {};
};

/// Samples or resource grids in device memory to soft bits there, with the same bytes as phy::Receiver.
///
/// A call starts kernels on the caller's stream, and on a second stream that the caller's stream then waits
/// for. It returns at once, allocates nothing, does not wait, and can be captured in a graph, which keeps the
/// numbers of the slots. All arrays must be in memory that the device can reach, must not overlap, and must
/// stay valid until the work is done. Arrays that begin at multiples of 16 bytes are fastest. The latency of
/// one slot is lowest if samples and soft bits lie in page-locked host memory: the receiver then estimates
/// the channel while symbols without DM-RS are being copied. A receiver has one workspace: its calls must not
/// run on several streams at a time.
class PHY_EXPORT Receiver {
public:
    using Config = ReceiverConfig;

    /// Allocates on the device the tables that all slots share and the workspace for calls of up to max_slots
    /// slots. Throws as phy::Receiver does, and CudaError if there is not enough memory.
    Receiver(const Device& device, const Config& config, std::size_t max_slots);

    /// As in phy::Receiver.
    [[nodiscard]] std::size_t input_per_slot() const;
    [[nodiscard]] std::size_t soft_bits_per_slot() const;
    [[nodiscard]] std::size_t symbols_per_slot() const;
    [[nodiscard]] std::size_t channel_per_slot() const;
    [[nodiscard]] const SlotSchedule& schedule() const;

    /// As in phy::Receiver, on a stream of the device. Also throws ArgumentError for more than max_slots
    /// slots, and for a grid that is not aligned to the size of its elements.
    void operator()(SymbolView input, std::uint64_t first, const ReceiverOutput& output, cudaStream_t stream,
                    DeviceSpan<const std::int8_t> priors = {}) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;
    [[nodiscard]] std::size_t max_slots() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::Receiver"> impl_;
};

}  // namespace phy::gpu
