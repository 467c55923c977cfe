#include "phy/files/receive.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "phy/capture/write/slot_writer.hpp"
#include "phy/core/check.hpp"
#include "phy/files/common.hpp"
#include "phy/files/receive/acquire.hpp"
#include "phy/files/receive/antennas.hpp"
#include "phy/files/receive/capture_slots.hpp"
#include "phy/files/receive/diagnose_capture.hpp"
#include "phy/files/receive/diagnose_coding.hpp"
#include "phy/files/receive/phases.hpp"
#include "phy/files/receive/prepare.hpp"
#include "phy/files/receive/received_sink.hpp"
#include "phy/files/receive/transport_blocks.hpp"
#include "phy/files/receive/uci.hpp"
#include "phy/files/receive/warnings.hpp"
#include "phy/pipeline/operator_runner.hpp"
#include "phy/receiver/stage.hpp"

namespace phy {

using detail::CaptureSlots;
using detail::name_of;
using detail::Truth;

namespace {

bool detects_jointly(const ReceiverConfig& config, const ReceiveOptions& options) {
    if (options.joint_detection.value_or(false)) check_joint_detection(config);
    return options.joint_detection.value_or(can_detect_jointly(config) &&
                                            config.equalization == Equalization::mmse);
}

/// Throws for iterations that would change nothing.
void check_iterations(const Reception& result, const Link& link, const ReceiveOptions& options) {
    detail::check_range("iterations", options.iterations, 0, max_iterations);
    if (options.iterations == 0) return;
    if (!options.decodes) throw ArgumentError("iterations: expected decodes too");
    const ReceiverConfig config = {.link = link, .llr = options.llr};
    try {
        if (!can_detect_jointly(config)) check_joint_detection(config);
    } catch (const ArgumentError& error) {
        throw ArgumentError("iterations: " + std::string(error.what()));
    }
    if (!result.joint_detection)
        throw ArgumentError("iterations: expected joint_detection too, which takes the decoder's priors");
    if (!link.coding)
        throw FileError(name_of(result.capture) +
                        ": its link has no coding, which iterations need: expected " + detail::coding_keys);
    if (link.coding->uci)
        throw ArgumentError(
            "iterations: the link has coding.uci: expected none, as priors are of UL-SCH alone");
}

/// A host receives one slot per thread at a time, with the next ones ready.
Pipeline make_pipeline(const ReceiveOptions& options, std::uint64_t occasions, Stage& stage) {
    const std::vector<Place> places = detail::places_or_default(options.places);
    Pipeline::Config config = options.pipeline;
    config.items = occasions;
    if (config.chunk == 0 && !places[0].is_cuda())
        config.chunk = static_cast<std::size_t>(2 * places[0].host().threads());
    if (config.chunk != 0) config.chunk = std::min<std::uint64_t>(config.chunk, occasions);
    return Pipeline(places, stage, config);
}

std::size_t index_of(const Stage& stage, std::string_view output) {
    const std::vector<Port> ports = stage.outputs();
    return static_cast<std::size_t>(std::ranges::find(ports, output, &Port::name) - ports.begin());
}

std::optional<double> first_of(std::optional<double> a, std::optional<double> b) {
    return a ? a : b;
}

/// What no attribute says, and what was measured over the whole capture.
std::string settings_of(const Reception& result, const ReceiverConfig& config,
                        const ReceiveOptions& options) {
    std::string text;
    const auto add = [&text](const char* name, double value) {
        text += (text.empty() ? "" : ", ") + std::string(name) + " " + detail::number_text(value);
    };
    add("equalization", static_cast<int>(config.equalization));
    add("interference_rejection", result.rejects_interference ? 1 : 0);
    add("joint_detection", result.joint_detection ? 1 : 0);
    add("phase_tracking", result.phase_tracking ? 1 : 0);
    add("time", static_cast<int>(config.time));
    add("doppler_spread", double{config.doppler_spread.value_or(0.0F)});
    add("delay_spread", double{config.delay_spread.value_or(0.0F)});
    add("noise_variance", double{config.noise_variance.value_or(0.0F)});
    add("evaluator", static_cast<int>(config.llr.evaluator));
    add("full_scale", config.full_scale.value_for(SampleFormat::ci16));
    add("iterations", options.decodes ? options.iterations : 0);
    add("decoder_iterations", options.decodes ? options.decoder_iterations : 0);
    add("timing", result.corrected.timing);
    add("frequency", result.corrected.frequency);
    return text;
}

SlotWriter make_writer(const std::filesystem::path& file, const Reception& result,
                       const ReceiveStage::Config& stage, std::size_t payload_bytes,
                       const std::vector<UciRows>& uci, std::uint64_t occasions,
                       const ReceiveOptions& options) {
    const SlotAllocation& allocation = result.link.allocation;
    std::optional<PartOfRows> part;
    if (options.range) part = {result.range.first, occasions, settings_of(result, stage.receiver, options)};
    return SlotWriter(
        file,
        {.slots = result.slots,
         .elements = result.resource_elements / result.slots,
         .layers = static_cast<std::size_t>(allocation.layers()),
         .antennas = result.capture.antennas,
         .subcarriers = static_cast<std::size_t>(allocation.subcarriers()),
         .llr = options.writes_llr,
         .symbols = stage.symbols,
         .channel = stage.channel,
         .transport_block_bytes = options.writes_payload ? payload_bytes : 0,
         .uci = options.writes_uci ? uci : std::vector<UciRows>(),
         .format = stage.receiver.format,
         .modulation = stage.receiver.link.modulation,
         .llr_config = stage.receiver.llr,
         .c_init = result.link.scrambling.c_init(),
         .link = to_json(result.link),
         .source = result.capture.file.string() + ":" + result.capture.dataset,
         .sample_rate = first_of(result.link.carrier.sample_rate, result.capture.sample_rate),
         .center_frequency = first_of(result.link.carrier.center_frequency, result.capture.center_frequency),
         .overwrite = options.overwrite,
         .durable = options.durable,
         .part = part});
}

/// Number of transmitted codewords to compare; 0 without any. Adds a warning if they do not fit. first: row
/// of the first of all occasions.
std::uint64_t rows_of_truth(Reception& result, std::uint64_t first, std::uint64_t occasions) {
    const auto& codewords = result.capture.codewords;
    if (!codewords) return 0;
    const std::uint64_t bits = result.soft_bits / result.slots;
    if (codewords->bits != bits) {
        result.warnings.push_back(result.capture.file.string() + ": dataset codeword has " +
                                  std::to_string(codewords->bits) + " bits per slot and the link has " +
                                  std::to_string(bits) + ": bit errors are not counted");
        return 0;
    }
    const std::uint64_t rows = codewords->slots - std::min(first, codewords->slots);
    if (rows != occasions)
        result.warnings.push_back(result.capture.file.string() + ": dataset codeword has " +
                                  std::to_string(rows) + " rows for " + std::to_string(occasions) +
                                  " slots: only the first " + std::to_string(std::min(rows, occasions)) +
                                  " are compared");
    return std::min(rows - std::min(result.range.first, rows), result.slots);
}

/// Makes the reports of slots, including the offsets corrected in all samples.
void report_slots(Reception& result, const CaptureSlots& slots, const ReceiverConfig& config,
                  std::span<const ReceivedSlot> received) {
    double mean_followed = 0.0;
    for (std::size_t i = 0; i < received.size(); ++i) {
        SlotReport report = slot_report(received[i], config, slots.schedule().slot(result.range.first + i));
        report.timing_offset += result.corrected.timing;
        const double followed = slots.track().at(report.slot).frequency;
        mean_followed += followed / static_cast<double>(received.size());
        report.frequency_offset += result.corrected.frequency + followed;
        result.reports.push_back(report);
        result.symbols.push_back(received[i].symbols);
    }
    result.corrected.frequency += mean_followed;
    result.corrected.at_prefixes += mean_followed;
    result.mean = detail::mean_of(result.reports, min_coherence(result.link.allocation));
}

std::vector<SlotRow> rows_of(const Reception& result, const CaptureSlots& slots) {
    std::vector<SlotRow> rows;
    const auto moved = std::llround(slots.lateness_of(slots.schedule().first_slot()));
    for (const SlotReport& report : result.reports)
        rows.push_back({.slot = report.slot % static_cast<std::uint64_t>(slots.schedule().slots_per_frame()),
                        .first_sample = slots.signal().recorded(static_cast<std::uint64_t>(
                            std::max<std::int64_t>(0, slots.begin_of(report.slot) - moved))),
                        .snr_db = report.snr_db,
                        .noise_variance = report.noise_variance,
                        .evm = report.evm,
                        .error_over_noise_db = report.error_over_noise_db,
                        .timing_offset = report.timing_offset,
                        .frequency_offset = report.frequency_offset,
                        .coherence = report.coherence,
                        .phase_error = report.phase_error,
                        .excess_noise_db = report.excess_noise_db,
                        .erasures = report.erasures});
    return rows;
}

void measure_extent(Reception& result, const CaptureSlots& slots, const ReceiverConfig& config) {
    const SlotAllocation& allocation = result.link.allocation;
    result.slots = result.range.count;
    result.resource_elements = result.slots * ResourceMap(allocation).elements();
    result.soft_bits = result.resource_elements * static_cast<std::uint64_t>(allocation.layers()) *
                       bits_per_symbol(config.link.modulation);
    for (std::uint64_t i = 0; i < result.slots; ++i)
        result.samples += slots.samples_of(slots.schedule().slot(result.range.first + i));
    result.samples = slots.signal().recorded_count(result.samples);
    result.signal_seconds =
        static_cast<double>(result.slots) * 0.01 / static_cast<double>(slots.schedule().slots_per_frame());
}

void warn_of_link(Reception& result, std::span<const ReceivedSlot> received, CaptureSlots& slots,
                  const ReceiverConfig& config, const Host& host) {
    const detail::Examination examination = detail::examine_capture(host, config, slots);
    if (detail::is_oscillator(result, received)) {
        detail::warn_of_signs(result, config, examination);
    } else {
        Reception plain = detail::without_tracking(result, host, config, slots);
        detail::warn_of_signs(plain, config, examination);
        result.warnings = std::move(plain.warnings);
    }
    detail::warn_of_weak_antennas(host, config, slots, result);
}

/// Receives all slots, and writes the file if there is one.
void receive_slots(Reception& result, const Truth& truth, CaptureSlots& slots, const ReceiverConfig& config,
                   const std::filesystem::path& soft_bits, const Host& host, const ReceiveOptions& options) {
    const std::uint64_t rows = rows_of_truth(result, truth.first, slots.occasions());
    ReceiveStage::Config receive = {.receiver = config,
                                    .format = slots.format(),
                                    .symbols = options.writes_symbols,
                                    .channel = options.writes_channel};
    // config itself also diagnoses links of other layers and phases.
    receive.receiver.phase_tracking = result.phase_tracking;
    receive.receiver.joint_detection = result.joint_detection;
    const auto decode = detail::decoding_of(result, options);
    std::unique_ptr<Stage> stage;
    if (decode)
        stage = std::make_unique<ReceiveAndDecodeStage>(
            ReceiveAndDecodeStage::Config{receive, *decode, options.iterations});
    else
        stage = std::make_unique<ReceiveStage>(receive);
    detail::UciReader uci(result.link, options);
    Pipeline pipeline = make_pipeline(options, result.slots, *stage);
    result.places = pipeline.places();
    detail::Stopwatch watch;
    watch.start();
    std::optional<SlotWriter> writer;
    if (!soft_bits.empty())
        writer.emplace(make_writer(soft_bits, result, receive, decode ? decode->decoder.block.size / 8 : 0,
                                   uci.rows(), slots.occasions(), options));
    detail::SlotSource source(slots, result.range);
    std::function<void(std::uint64_t)> progress;
    if (options.progress)
        progress = [&](std::uint64_t end) { options.progress(end - result.range.first, result.slots); };
    const Truth of_range = {truth.reader, truth.first + result.range.first};
    detail::ReceivedSink sink({.stage = receive,
                               .writer = writer ? &*writer : nullptr,
                               .writes_llr = options.writes_llr,
                               .decoded = decode ? index_of(*stage, "payload") : 0,
                               .writes_payload = options.writes_payload,
                               .uci = uci,
                               .writes_uci = options.writes_uci,
                               .truth = of_range,
                               .rows = rows,
                               .progress = progress});
    result.pipeline = pipeline.run(source, sink, options.stop);
    watch.stop();
    result.cancelled = result.pipeline.cancelled;
    report_slots(result, slots, config, sink.slots());
    result.slot_bit_errors = sink.bit_errors();
    if (rows > 0)
        result.bit_errors =
            std::accumulate(sink.bit_errors().begin(), sink.bit_errors().end(), std::uint64_t{0});
    result.compared_bits = sink.compared_bits();
    result.saturated = sink.saturated();
    result.transport_blocks = sink.blocks();
    result.uci = uci.slots();
    for (const DecodedBlock& block : result.transport_blocks)
        result.valid_transport_blocks += block.crc;
    if (result.cancelled) return;
    std::optional<Diagnosis> diagnosis;
    if (options.diagnoses) diagnosis = detail::diagnose_reception(host, config, slots, result, options);
    if (result.cancelled) return;
    if (detail::require_pilots(result, slots)) {
        warn_of_link(result, sink.slots(), slots, config, host);
        if (decode) detail::warn_of_transport_blocks(host, *decode, result);
        detail::warn_of_uci(result);
    }
    if (diagnosis) {
        detail::settle_diagnosis(result, *diagnosis);
        detail::diagnose_coding(host, config, slots, *diagnosis, options.stop, result);
    }
    if (options.before_commit) options.before_commit(result.pipeline);
    watch.start();
    if (writer) {
        writer->append_slots(rows_of(result, slots));
        writer->commit();
    }
    watch.stop();
    result.seconds = watch.seconds();
}

}  // namespace

Reception receive_file(const std::filesystem::path& capture, const std::filesystem::path& soft_bits,
                       const ReceiveOptions& options) {
    detail::PreparedCapture prepared(capture, options);
    Reception result;
    result.capture = prepared.description();
    detail::require_not_read(soft_bits, result.capture);
    result.format = options.format;
    result.llr = options.llr;
    const Link& link = prepared.link();
    result.joint_detection =
        detects_jointly({.link = link, .llr = options.llr, .equalization = options.equalization}, options);
    result.iterations = options.iterations;
    check_iterations(result, link, options);
    result.phase_tracking = options.phase_tracking.value_or(true);
    result.cancelled = !prepared.survey(result);
    if (result.cancelled) return result;
    CaptureSlots& slots = prepared.slots();
    if (const std::string rest = slots.rest(); !rest.empty()) result.warnings.push_back(rest);
    result.range = detail::range_or_all(options.range, slots.occasions(), "slots", result.capture);
    measure_extent(result, slots, prepared.config());
    receive_slots(result, {&prepared.reader(), prepared.first_codeword()}, slots, prepared.config(),
                  soft_bits, prepared.host(), options);
    return result;
}

CaptureSurvey survey_file(const std::filesystem::path& capture, const ReceiveOptions& options) {
    detail::PreparedCapture prepared(capture, options);
    const detail::SurveyOrigin origin = prepared.origin();
    Reception result;
    if (!prepared.survey(result)) return {};
    return {prepared.survey_text(result, origin), prepared.slots().occasions()};
}

}  // namespace phy
