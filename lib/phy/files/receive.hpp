#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/coding/block_code.hpp"
#include "phy/coding/transport_decoder.hpp"
#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/files/options.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"
#include "phy/receiver/receiver.hpp"

namespace phy {

/// Options of receive_file().
struct PHY_EXPORT ReceiveOptions : SoftBitFileOptions {
    /// As in ReceiverConfig.
    Equalization equalization = Equalization::mmse;
    std::optional<bool> interference_rejection = {};
    /// As in ReceiverConfig; none: if can_detect_jointly(), and not with Equalization::zero_forcing.
    std::optional<bool> joint_detection = {};
    std::optional<bool> phase_tracking = {};  ///< as in ReceiverConfig; none: true
    TimeInterpolation time = TimeInterpolation::wiener;
    std::optional<float> doppler_spread = {};  ///< Hz; for TimeInterpolation::wiener alone
    std::optional<float> delay_spread = {};    ///< s; see ChannelEstimatorConfig
    std::optional<float> noise_variance = {};  ///< N0 at an antenna; none: measured in each slot

    bool writes_llr = true;
    bool writes_symbols = false;
    bool writes_channel = false;
    bool writes_payload = false;  ///< the transport blocks and their CRCs; needs a link with coding
    bool writes_uci = false;      ///< soft bits and bits of UCI; needs a link with coding.uci

    bool decodes = true;          ///< transport blocks, if the link has coding, and UCI, if it has that
    int decoder_iterations = 20;  ///< at most, as in TransportDecoderConfig
    /// As in ReceiveAndDecodeStage: blocks whose CRC fails are detected and decoded again. Soft bits that are
    /// written, and reports, stay those of the first time.
    int iterations = 0;

    /// CaptureSurvey::text of this capture and these options: it is not measured again. Empty: it is
    /// measured.
    std::string survey = {};

    /// Searches for the link that matches the capture best. If that differs from the given link, or does not
    /// fit either, a warning says so; if no slot has DM-RS, none is one of the link's, or the first slot is
    /// searched for and not found, the error does.
    bool diagnoses = false;
    DiagnoseOptions diagnose = {};
};

/// What the correction of a recorder's clock follows.
enum class ClockSource : std::uint8_t {
    none,       ///< it is not corrected
    frequency,  ///< the frequency offset, over the centre frequency: one reference for both
    timing,     ///< where the slots begin
};

/// A recorder's clock against the transmitter's, as a ratio; positive: it is fast. None: not measured,
/// because the recording is too short.
struct PHY_EXPORT ClockReport {
    std::optional<double> first;  ///< where the first slots were measured, and the last ones
    std::optional<double> last;
    ClockSource corrected = ClockSource::none;
};

/// What a recorder's analogue part does to the samples of an antenna. A corrected sample is
/// (x - image conj(x)) / gain, where x is the recorded one less the line.
struct PHY_EXPORT Impairment {
    cf32 line = {};     ///< at frequency 0
    cf32 image = {};    ///< the mirror image of the spectrum, from IQ imbalance
    float gain = 1.0F;  ///< amplitude of the noise over that of the first antenna that has noise

    friend bool operator==(const Impairment&, const Impairment&) = default;
};

/// Samples that a recorder has dropped.
struct PHY_EXPORT MissingSamples {
    std::uint64_t sample = 0;      ///< where the first slot that is not whole begins in the recording
    std::int64_t missing = 0;      ///< per antenna; whole frames more may be missing; negative: too many
    std::uint64_t first_lost = 0;  ///< the first slot that is not whole: its number, as in SlotReport
    std::uint64_t end_lost = 0;    ///< the first slot behind the gap that is whole
    std::uint64_t lost_slots = 0;  ///< slots of the link between them: their samples count as 0
};

/// UCI of a slot. None: a part that the link lacks, or one of more than max_block_code_bits, whose polar code
/// phy does not decode. Nothing proves the bits: block codes have no CRC. DecodedWord::margin says in nats
/// how much likelier they are than the second likeliest.
struct PHY_EXPORT SlotUci {
    std::optional<DecodedWord> ack = {};
    std::optional<DecodedWord> csi1 = {};
    std::optional<DecodedWord> csi2 = {};

    friend bool operator==(const SlotUci&, const SlotUci&) = default;
};

/// Result and speed of a reception.
struct PHY_EXPORT Reception {
    CaptureDescription capture;
    Link link;  ///< as used, completed from the capture and by acquisition
    SoftBitFormat format = SoftBitFormat::int8;
    LlrConfig llr;
    ItemRange range;                      ///< of all occasions, those that were received
    std::uint64_t slots = 0;              ///< received occasions
    std::uint64_t resource_elements = 0;  ///< data elements of all slots
    std::uint64_t soft_bits = 0;
    std::uint64_t saturated = 0;  ///< soft bits at the limit of their format
    std::uint64_t samples = 0;    ///< samples per antenna in those slots
    double signal_seconds = 0.0;  ///< s: duration of the slots on the air
    std::vector<SlotReport> reports;
    std::vector<SymbolSums> symbols;  ///< per slot: equalised symbols by decisions and N0
    SlotReport mean;                  ///< over the slots with DM-RS: averages powers, not decibels
    std::optional<FoundSlot> found;   ///< set if the first slot was searched for
    Offsets corrected;                ///< corrected in all samples; reports include them
    ClockReport clock;
    std::vector<MissingSamples> gaps;
    bool rejects_interference = false;           ///< see rejects_interference(const ReceiverConfig&)
    bool phase_tracking = false;                 ///< whether common phase errors were looked for
    bool joint_detection = false;                ///< whether soft bits are those of JointDetector
    int iterations = 0;                          ///< as in ReceiveOptions
    std::vector<Impairment> impairments;         ///< taken out, per antenna; empty: none
    std::vector<std::uint64_t> skipped;          ///< samples per antenna, of each file; empty: none
    std::optional<std::uint64_t> bit_errors;     ///< none without transmitted codewords
    std::vector<std::uint64_t> slot_bit_errors;  ///< per slot with a transmitted codeword: its part of them
    std::uint64_t compared_bits = 0;
    std::vector<DecodedBlock> transport_blocks;  ///< per slot; empty: not decoded
    std::uint64_t valid_transport_blocks = 0;    ///< those whose CRC holds, iterations included
    std::vector<SlotUci> uci;                    ///< per slot; empty: the link has none, or not decoded
    std::string diagnosis;              ///< what was tried, which link is best and what agrees, or ""
    std::vector<std::string> warnings;  ///< such as a capture that ends inside a slot
    std::vector<Place> places;
    PipelineReport pipeline;
    bool cancelled = false;
    double seconds = 0.0;  ///< s, from opening the output to its last byte, without before_commit
};

/// What survey_file() found.
struct PHY_EXPORT CaptureSurvey {
    std::string text;         ///< for ReceiveOptions::survey; empty: stopped
    std::uint64_t slots = 0;  ///< occasions of the link, of which ranges are parts
};

/// Receives the occasions of a link from a capture of samples or a grid (docs/files.md), writes their
/// descrambled soft bits to a file, one row per slot, and reports. An empty soft_bits writes nothing.
///
/// In samples, timing and frequency offset are measured over the first slots, and again at least every half
/// second. Slots are read where the measurements put them; the rest is estimated and corrected slot by slot.
/// Frequency offsets of up to three subcarriers are found. Samples that a recorder has dropped are found by
/// where slots lie behind them. Slots that are not whole count as samples of 0: their soft bits are 0. The
/// recorder's clock, changes of the frequency, a line at frequency 0, IQ imbalance and different gains of
/// antennas are corrected if the equalised symbols are then clearly nearer to their points. A line of more
/// than -30 dB over the signal is taken out before the search. All this needs a carrier that is narrower than
/// the sample rate.
///
/// An antenna whose samples are all alike is left out: Reception::capture, impairments and the output are
/// those of the others.
///
/// If the link has coding, the transport block of each slot is decoded. Those of slots that are not whole
/// fail. If it has UCI, that is taken out first, and its parts of up to 11 bits are decoded.
///
/// Files of antennas (CaptureOptions::more_antennas) that begin up to half a frame apart are aligned by the
/// correlation of their samples, unless CaptureOptions::skip is given: what a file has before the last one
/// begins is skipped. One clock must drive them. Numbers of samples stay those of the first file.
///
/// Throws FileError for a bad file, for one that does not fit the link (antennas, subcarriers, samples for
/// less than a slot), if no slot has the DM-RS, without coding for writes_payload and without UCI for
/// writes_uci; DescriptionError
/// without a link; ArgumentError for iterations that do not decode or lack joint detection, for an invalid
/// link or options, or for an output that does not take what shall be written; and what Pipeline throws.
PHY_EXPORT Reception receive_file(const std::filesystem::path& capture,
                                  const std::filesystem::path& soft_bits, const ReceiveOptions& options = {});

/// Measures what receive_file() measures over the whole capture before it receives slots: where they lie,
/// frequency, clock, gaps and impairments. Ranges of a recording have the same survey. Its text goes into
/// ReceiveOptions::survey, also on another machine and for another path of the capture. With a survey in the
/// options nothing is measured. Throws as receive_file() does.
///
/// receive_file() throws ArgumentError for a survey that was changed or made by another version of phy, of a
/// capture of another size or with other samples at begin, middle or end, for another link, or with other
/// options for equaliser, estimator, N0 or samples to skip.
PHY_EXPORT CaptureSurvey survey_file(const std::filesystem::path& capture,
                                     const ReceiveOptions& options = {});

}  // namespace phy
