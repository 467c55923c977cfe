#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/files/receive.hpp"
#include "phy/files/receive/track.hpp"
#include "phy/machine/host.hpp"
#include "phy/receiver/link.hpp"
#include "phy/resampler/resampler.hpp"

namespace phy::detail {

struct SampleMoments {
    std::complex<double> mean;
    std::complex<double> square;  ///< mean of squares, without the mean
    double power = 0.0;           ///< mean of magnitudes squared, without the mean
    double samples = 0.0;
};

/// The samples of a capture at the rate of a receiver, or the resource elements of a grid. Numbers count them
/// per antenna; the first is the capture's first. Antennas whose samples are all alike, such as 0, are left
/// out: they would lower N0, which is a mean over antennas.
class CaptureSignal {
public:
    /// rates: of samples; with equal rates they stay as they are. skipped: CaptureOptions::skip of the first
    /// file, whose samples recorded() counts. left_out: if known.
    CaptureSignal(const Host& host, CaptureReader& capture, const std::optional<ResamplerConfig>& rates,
                  std::uint64_t skipped = 0, const std::optional<std::vector<std::uint64_t>>& left_out = {});

    /// Without the antennas that are left out.
    [[nodiscard]] const CaptureDescription& description() const { return description_; }
    [[nodiscard]] std::uint64_t antennas() const { return rows_.size(); }

    /// Antennas of the capture, from 0.
    [[nodiscard]] const std::vector<std::uint64_t>& left_out() const { return left_out_; }
    [[nodiscard]] SampleFormat format() const;

    /// Per antenna.
    [[nodiscard]] std::uint64_t length() const { return length_; }

    /// Reads `count` from `first` on into (antennas, stride). Those outside of the capture are 0. The place
    /// of `first` is rounded, and its frequency and clock are left as they are, if samples are not resampled.
    void read(std::int64_t first, std::size_t count, std::size_t stride, std::span<std::byte> to,
              const SlotPlace& place = {});

    /// (antennas, count).
    [[nodiscard]] std::vector<std::byte> read(std::uint64_t first, std::uint64_t count);

    /// read() of the samples as recorded, in the format of the description.
    [[nodiscard]] std::vector<std::byte> read_recorded(std::uint64_t first, std::uint64_t count);

    /// True if samples are resampled.
    [[nodiscard]] bool is_resampled() const { return is_resampled_; }

    /// True if samples at an equal rate can be resampled: their carrier leaves space for a filter.
    [[nodiscard]] bool can_resample() const;

    /// Resamples those at an equal rate too, or no longer.
    void resample(bool all);

    [[nodiscard]] double recorded_rate() const { return rates_.input_rate; }

    /// The nearest sample of the recording, and the number of recorded samples in as long a time.
    [[nodiscard]] std::uint64_t recorded(std::uint64_t sample) const;
    [[nodiscard]] std::uint64_t recorded_count(std::uint64_t samples) const;

    /// The link as the receiver takes it, from one of the recording, and the inverse.
    [[nodiscard]] Link receiver_link(Link link) const;
    [[nodiscard]] Link recorded_link(Link link) const;

    /// Per antenna, of resampled samples in up to 16 stretches of the capture. To be called after
    /// resample(true).
    [[nodiscard]] std::vector<SampleMoments> moments();

    /// Takes them out of resampled samples, per antenna; empty: none.
    void take_out(std::vector<Impairment> impairments) { impairments_ = std::move(impairments); }
    [[nodiscard]] const std::vector<Impairment>& impairments() const { return impairments_; }

private:
    /// A position among recorded samples.
    struct Position {
        std::int64_t sample;
        std::uint64_t fraction;  ///< in 2^-32
    };

    [[nodiscard]] bool is_still(std::uint64_t antenna);
    [[nodiscard]] std::vector<std::uint64_t> still_antennas();
    void leave_out(const std::vector<std::uint64_t>& antennas);
    [[nodiscard]] std::uint64_t count_of(std::uint64_t recorded) const;
    [[nodiscard]] Position position_of(std::int64_t sample) const;
    [[nodiscard]] static Position moved(const Position& position, double late);
    void resample_to_output(std::int64_t first, std::size_t count, const SlotPlace& place);
    void correct(std::size_t count);
    void rotate(double turns, std::size_t count);
    void copy(std::int64_t first, std::size_t count, std::size_t stride, std::span<std::byte> to);

    Host host_;
    CaptureReader& capture_;
    CaptureDescription description_;
    std::vector<std::uint64_t> rows_;  ///< antennas of the capture that are read
    std::vector<std::uint64_t> left_out_;
    std::uint64_t skipped_;
    std::uint64_t recorded_length_;
    std::uint64_t length_;
    ResamplerConfig rates_;
    bool is_resampled_ = false;
    std::optional<Resampler> resample_;  ///< made once: its table takes a while
    std::vector<std::byte> input_;
    std::vector<cf32> output_;
    std::vector<Impairment> impairments_;
    std::vector<SampleMoments> moments_;  ///< empty: not measured yet
    std::vector<cf32> coarse_;            ///< phases of a frequency
    std::vector<cf32> fine_;
};

}  // namespace phy::detail
