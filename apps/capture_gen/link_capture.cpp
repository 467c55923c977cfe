#include "capture_gen/captures.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <span>

#include <fmt/format.h>

#include "capture_gen/recording.hpp"
#include "capture_gen/stored_samples.hpp"
#include "common/interrupt.hpp"
#include "common/progress.hpp"

namespace phy::apps {
namespace {

/// An option and a key of the link that mean the same: exactly one must be given.
void require_one(const char* option, bool has_option, const char* key, bool has_key) {
    if (has_option && has_key)
        throw ArgumentError(fmt::format("{}: the link has {}; expected only one of them", option, key));
}

/// The transmitted link: that of the file, completed by options.
Link sent_link(const CaptureGenOptions& options, const Link& link) {
    if (*options.kind == CaptureKind::grid) return link;
    const LinkCarrier& carrier = link.carrier;
    require_one("--sample-rate", options.sample_rate.has_value(), "carrier.sample_rate",
                carrier.sample_rate.has_value());
    require_one("--center-frequency", options.center_frequency.has_value(), "carrier.center_frequency",
                carrier.center_frequency.has_value());
    require_one("--first-sample", options.first_sample.has_value(), "carrier.first_sample",
                carrier.first_sample.has_value());
    try {
        return complete_link(link, options.sample_rate, options.center_frequency);
    } catch (const ArgumentError& error) {
        throw ArgumentError(
            fmt::format("{} (--sample-rate and --center-frequency supply what it lacks)", error.what()));
    }
}

Recording::Config recording_config(const CaptureGenOptions& options, const Link& link) {
    return {.link = link,
            .kind = *options.kind,
            .slots = *options.slots,
            .first_sample = link.carrier.first_sample.value_or(options.first_sample.value_or(0)),
            .antennas = options.antennas.value_or(link.allocation.layers()),
            .snr_db = options.snr_db,
            .channel = options.channel.value_or(ChannelModel()),
            .timing_offset = options.timing_offset_ns.value_or(0.0) * 1e-9,
            .frequency_offset = options.frequency_offset.value_or(0.0),
            .clock = {.offset = 1e-6 * options.clock_offset_ppm.value_or(0.0),
                      .drift = 1e-6 * options.clock_drift_ppm.value_or(0.0)},
            .line_db = options.line_db,
            .image_db = options.image_db,
            .clip_db = options.clip_db,
            .gaps = options.gaps.value_or(std::vector<DroppedSamples>()),
            .uci = options.uci.value_or(UciBits()),
            .seed = options.seed};
}

std::vector<std::uint64_t> shape_of(const Recording& recording) {
    const auto antennas = static_cast<std::uint64_t>(recording.config().antennas);
    if (recording.config().kind == CaptureKind::samples) return {antennas, recording.size()};
    const auto subcarriers = static_cast<std::uint64_t>(recording.config().link.allocation.subcarriers());
    return {antennas, recording.size() / subcarriers, subcarriers};
}

/// link: that of the file. Additions by options are stored in attributes, not in its text.
CaptureWriter::Config capture_config(const CaptureGenOptions& options, const Recording& recording,
                                     const Link& link) {
    const LinkCarrier& carrier = recording.config().link.carrier;
    CaptureWriter::Config config = {
        .symbols = static_cast<std::uint64_t>(recording.config().antennas) * recording.size(),
        .format = options.type,
        .layout = options.layout,
        .overwrite = options.force,
        .durable = options.durable,
        .kind = *options.kind,
        .shape = shape_of(recording),
        .link = to_json(link)};
    if (*options.kind == CaptureKind::samples) {
        config.sample_rate = carrier.sample_rate;
        config.center_frequency = carrier.center_frequency.value() + carrier.frequency_shift;
    }
    if (!options.no_bits) {
        config.codewords = CodewordShape{recording.codewords(), recording.bits_per_codeword()};
        config.transport_block_bytes = recording.transport_block_bytes();
    }
    return config;
}

/// Makes the pieces of a recording in order, with progress.
class Player {
public:
    Player(Recording& recording, int times, bool quiet)
        : recording_(recording), progress_(static_cast<std::uint64_t>(times) * values(), quiet) {}

    template <typename Take>
    void play(const Take& take) {
        for (std::uint64_t index = 0; index < recording_.pieces(); ++index) {
            throw_if_interrupted();
            recording_.make(index, piece_);
            take(piece_);
            progress_.advance(piece_.values.size());
        }
    }

private:
    [[nodiscard]] std::uint64_t values() const {
        return recording_.size() * static_cast<std::uint64_t>(recording_.config().antennas);
    }

    Recording& recording_;
    Recording::Piece piece_;
    Progress progress_;
};

/// The full scale of integers: the largest component of the recording is at 0.9 of their range. Rounded to
/// three digits, for people.
double full_scale_for(Player& player, SampleFormat type) {
    float peak = 0.0F;
    player.play([&peak](const Recording::Piece& piece) {
        for (const cf32 value : piece.values)
            peak = std::max({peak, std::abs(value.real()), std::abs(value.imag())});
    });
    const double scale = 0.9 * largest_integer(type) / static_cast<double>(peak);
    const double exponent = std::floor(std::log10(scale)) - 2.0;
    const double unit = std::pow(10.0, std::abs(exponent));
    return exponent < 0.0 ? std::floor(scale * unit) / unit : std::floor(scale / unit) * unit;
}

void write_recording(Player& player, CaptureWriter& writer, const CaptureWriter::Config& config) {
    StoredSamples stored(config.format, config.full_scale);
    const std::uint64_t antennas = config.shape.front();
    const std::uint64_t of_antenna = config.symbols / antennas;
    player.play([&](const Recording::Piece& piece) {
        for (std::uint64_t antenna = 0; antenna < antennas && piece.size > 0; ++antenna)
            writer.write(antenna * of_antenna + piece.first,
                         stored(std::span(piece.values).subspan(antenna * piece.size, piece.size)));
        if (!config.codewords || piece.codeword.empty()) return;
        writer.append_codewords(piece.codeword);
        if (config.transport_block_bytes > 0) writer.append_transport_blocks(piece.transport_block);
    });
}

/// With the plural's s.
std::string counted(std::uint64_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string text_of(const Recording& recording, const CaptureWriter::Config& config, double seconds) {
    const std::string size =
        config.kind == CaptureKind::samples
            ? fmt::format("{} samples", recording.size())
            : fmt::format("{} OFDM symbols x {} subcarriers", config.shape[1], config.shape[2]);
    return fmt::format(
        "{} of {} as {}, {}: {}, {} of them with a codeword of {} bits, {}, N0 {:.4g}, in {:.3g} s\n", size,
        counted(config.shape[0], "antenna"), to_string(config.format), to_string(config.layout),
        counted(recording.config().slots, "slot"), recording.codewords(), recording.bits_per_codeword(),
        to_string(recording.config().link.modulation), recording.noise_variance(), seconds);
}

Json json_of(const Recording& recording, const CaptureWriter::Config& config, double seconds) {
    const Recording::Config& made = recording.config();
    std::vector<Json> shape(config.shape.begin(), config.shape.end());
    return Json::object({{"from", to_string(config.kind)},
                         {"shape", Json::array(shape)},
                         {"slots", made.slots},
                         {"codewords", recording.codewords()},
                         {"bits_per_codeword", recording.bits_per_codeword()},
                         {"transport_block_bits", 8 * recording.transport_block_bytes()},
                         {"modulation", to_string(made.link.modulation)},
                         {"layers", made.link.allocation.layers()},
                         {"type", to_string(config.format)},
                         {"layout", to_string(config.layout)},
                         {"channel", to_string(made.channel)},
                         {"snr_db", made.snr_db},
                         {"noise_variance", recording.noise_variance()},
                         {"timing_offset_s", made.timing_offset},
                         {"frequency_offset_hz", made.frequency_offset},
                         {"seed", made.seed},
                         {"sample_rate_hz", config.sample_rate},
                         {"center_frequency_hz", config.center_frequency},
                         {"full_scale", config.full_scale},
                         {"has_bits", config.codewords.has_value()},
                         {"seconds", seconds}});
}

}  // namespace

void capture_link(const CaptureGenOptions& options, const CommonOptions& common) {
    const auto start = std::chrono::steady_clock::now();
    require_other_file(options.output, options.link, "the capture would overwrite the link");
    const Link link = read_link(options.link);
    if (options.uci && !(link.coding && link.coding->uci))
        throw ArgumentError("--uci: only with a link that has coding.uci");
    Recording recording(recording_config(options, sent_link(options, link)));
    CaptureWriter::Config config = capture_config(options, recording, link);
    require_force_if_exists(options.output, options.force);
    Player player(recording, is_integer(options.type) ? 2 : 1, common.quiet);
    if (is_integer(options.type)) config.full_scale = full_scale_for(player, options.type);
    CaptureWriter writer(options.output, config);
    write_recording(player, writer, config);
    throw_if_interrupted();
    writer.commit();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    print_result(common, json_of(recording, config, seconds.count()),
                 text_of(recording, config, seconds.count()));
}

}  // namespace phy::apps
