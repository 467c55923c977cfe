#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "capture_gen/uci.hpp"
#include "capture_gen/waveform.hpp"
#include "common/random.hpp"
#include "phy/capture/capture.hpp"
#include "phy/coding/transport_encoder.hpp"
#include "phy/phy.hpp"
#include "phy/receiver/link.hpp"
#include "phy/receiver/slot_schedule.hpp"
#include "transmission/channel.hpp"
#include "transmission/transmitter.hpp"

namespace phy::apps {

/// The reference of a recorder, which its samples and its oscillator share. Positive: it is fast, so that
/// slots last longer in samples and the signal is too low in frequency.
struct RecorderClock {
    double offset = 0.0;  ///< a ratio, where the first slot begins
    double drift = 0.0;   ///< per s

    friend bool operator==(const RecorderClock&, const RecorderClock&) = default;
};

/// Samples that a recorder has dropped.
struct DroppedSamples {
    std::uint64_t first = 0;  ///< counted with all dropped ones
    std::uint64_t count = 0;
};

/// A recording of a link: random codewords, or with coding those of random transport blocks, in every slot of
/// its allocation, and noise everywhere. It is made
/// in pieces, in any order: random values depend on the seed and their position only.
///
/// The channel is that of link_sim and acts on resource elements. In samples at a rate of an FFT, the timing
/// offset delays the signal by whole samples, and its fraction rotates resource elements; at another rate, or
/// with another clock, it delays the signal. The frequency offset rotates samples.
/// Samples have the scale of OfdmModulator, so that at a receiver symbols have unit power and noise has
/// noise_variance().
class Recording {
public:
    struct Config {
        Link link;  ///< for samples, with sample_rate and center_frequency: see complete_link()
        CaptureKind kind = CaptureKind::samples;
        std::uint64_t slots = 1;         ///< of the whole recording
        std::uint64_t first_sample = 0;  ///< for samples: where the first slot begins
        int antennas = 1;
        double snr_db = 20.0;  ///< all layers over noise at an antenna, per resource element
        ChannelModel channel = {};
        double timing_offset = 0.0;             ///< s; positive: the signal arrives late
        double frequency_offset = 0.0;          ///< Hz; positive: the signal is too high in frequency
        RecorderClock clock = {};               ///< for samples
        std::optional<double> line_db = {};     ///< of samples: power of a line at frequency 0
        std::optional<double> image_db = {};    ///< of samples: power of the mirror image
        std::optional<double> clip_db = {};     ///< of samples: largest component over the signal's rms
        std::vector<DroppedSamples> gaps = {};  ///< of samples, in order
        UciBits uci = {};                       ///< of all slots, if the link has UCI
        std::uint64_t seed = 1;
    };

    /// Neighbouring samples, or the resource elements of a slot.
    struct Piece {
        std::uint64_t first = 0;             ///< index in an antenna's recording
        std::size_t size = 0;                ///< per antenna
        std::vector<cf32> values;            ///< (antennas, size)
        std::vector<std::uint8_t> codeword;  ///< of a slot with the allocation, before scrambling
        std::vector<std::uint8_t>
            transport_block;            ///< of that codeword, eight bits per byte; empty without coding
        std::vector<std::uint8_t> uci;  ///< of that codeword, see UciEncoder::sent(); empty without UCI
    };

    /// Throws ArgumentError for an invalid link, for fewer antennas than layers, if no slot of the recording
    /// has the allocation, and for a gap behind its end.
    explicit Recording(const Config& config);

    [[nodiscard]] const Config& config() const { return config_; }

    /// Samples or resource elements per antenna.
    [[nodiscard]] std::uint64_t size() const;
    [[nodiscard]] std::uint64_t pieces() const { return pieces_before_ + config_.slots + 1; }
    [[nodiscard]] std::uint64_t codewords() const { return schedule_.occasions(config_.slots); }
    [[nodiscard]] std::size_t bits_per_codeword() const { return transmitter_.bits_per_slot(); }

    /// 0 without coding.
    [[nodiscard]] std::size_t transport_block_bytes() const;

    /// N0 of a resource element at an antenna.
    [[nodiscard]] double noise_variance() const;

    /// Makes a piece. Pieces follow each other without gaps, and some may be empty.
    void make(std::uint64_t index, Piece& piece);

private:
    /// Ratios of the recorder's clock to a right one.
    struct Clocks {
        double now;
        double mean;
    };

    void make_slot(std::uint64_t slot, double noise_variance, Piece& piece);
    void make_codeword(std::uint64_t seed, Piece& piece);
    void make_grid(std::uint64_t slot, Piece& piece);
    void make_samples(std::uint64_t index, Piece& piece);
    void impair(Piece& piece) const;
    void drop(Piece& piece) const;
    void add_signal(std::uint64_t slot, Piece& piece);
    void add_samples(std::span<const cf32> signal, std::int64_t first, std::span<cf32> recorded) const;
    [[nodiscard]] bool has_allocation(std::uint64_t slot) const;
    [[nodiscard]] const OfdmTiming& timing() const;
    [[nodiscard]] double nominal_start(std::uint64_t slot) const;
    [[nodiscard]] Clocks clocks_at(std::uint64_t slot) const;
    [[nodiscard]] double turns_at(std::int64_t sample) const;
    [[nodiscard]] double exact_start(std::uint64_t slot) const;
    [[nodiscard]] std::int64_t start_of(std::uint64_t slot) const;
    [[nodiscard]] std::uint64_t begin_of_piece(std::uint64_t index) const;
    [[nodiscard]] std::size_t grid_size() const;

    Config config_;
    SlotSchedule schedule_;
    double delay_ = 0.0;  ///< samples; whole if there is a modulator
    Channel channel_;
    Transmitter transmitter_;
    std::optional<TransportEncoder> encode_;  ///< with coding
    std::optional<UciEncoder> add_uci_;       ///< if the link has UCI
    std::optional<OfdmModulator> modulate_;   ///< at a rate of an FFT
    std::optional<Waveform> waveform_;        ///< at another rate, or with another clock
    double nominal_rate_ = 0.0;               ///< Hz, of timing()
    std::uint64_t pieces_before_ = 0;         ///< before the first slot: noise only
    std::uint64_t size_ = 0;                  ///< with all dropped samples
    std::vector<std::uint8_t> ul_sch_;        ///< coded bits
    std::vector<float> coefficients_;
    std::vector<cf32> grid_;
    std::vector<cf32> samples_;
};

}  // namespace phy::apps
