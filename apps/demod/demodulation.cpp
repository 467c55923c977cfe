#include "demod/demodulation.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/app.hpp"
#include "common/backend_names.hpp"
#include "common/choose_backend.hpp"
#include "common/interrupt.hpp"
#include "common/progress.hpp"
#include "demod/bit_errors.hpp"
#include "demod/plan.hpp"

namespace phy::apps {
namespace {

/// One a processor, less one each for reading and writing.
int default_threads() {
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 2);
}

/// Transmitted bits, one a byte, of the chunk in each lane.
using Truth = std::vector<std::vector<std::uint8_t>>;

/// Reads the transmitted bits too.
class TruthfulSource : public CaptureSource {
public:
    TruthfulSource(CaptureReader& capture, const SoftDemapStage& stage, Truth& truth)
        : CaptureSource(capture, stage), capture_(capture), truth_(truth) {}

    std::size_t fill(const Chunk& chunk, std::span<std::byte> input) override {
        throw_if_interrupted();
        if (!truth_.empty()) {
            std::vector<std::uint8_t>& bits = truth_[chunk.lane];
            bits.resize(chunk.items * capture_.description().bits_per_symbol);
            capture_.read_bits(chunk.first, bits);
        }
        return CaptureSource::fill(chunk, input);
    }

private:
    CaptureReader& capture_;
    Truth& truth_;
};

/// Compares, writes if there is a writer, and shows how far the work is.
class DemodSink : public Sink {
public:
    DemodSink(std::optional<SoftBitWriter>& writer, SoftBitFormat format, const Truth& truth,
              Progress& progress)
        : writer_(writer), format_(format), truth_(truth), progress_(progress) {}

    void take(const Chunk& chunk, std::span<const std::byte> output) override {
        throw_if_interrupted();
        if (!truth_.empty()) bit_errors_ += count_bit_errors(format_, output, truth_[chunk.lane]);
        if (writer_) writer_->append(output);
        progress_.advance(chunk.items);
    }

    [[nodiscard]] std::uint64_t bit_errors() const { return bit_errors_; }

private:
    std::optional<SoftBitWriter>& writer_;
    SoftBitFormat format_;
    const Truth& truth_;
    Progress& progress_;
    std::uint64_t bit_errors_ = 0;
};

/// Not for the backend that PHY_BACKEND names, which need not be there.
SoftDemapStage make_stage(const DemodOptions& options, const DemodPlan& plan,
                          const CaptureDescription& capture) {
    return SoftDemapStage({.demapper = {.modulation = plan.modulation,
                                        .method = options.method,
                                        .evaluator = options.evaluator,
                                        .llr_scale = options.llr_scale,
                                        .llr_clip = options.llr_clip,
                                        .full_scale = static_cast<float>(capture.full_scale.value_or(0.0)),
                                        .threads = options.threads.value_or(default_threads()),
                                        .backend = Backend::scalar()},
                           .input = capture.format,
                           .output = options.format,
                           .noise_variance = plan.noise_variance,
                           .counts = true});
}

Pipeline make_pipeline(const DemodOptions& options, const CaptureDescription& capture, Stage& stage) {
    const Pipeline::Config config = {.backends = choose_backends(options.backend, options.device),
                                     .chunk = options.chunk.value_or(0),
                                     .lanes = options.streams.value_or(0),
                                     .items = capture.symbols,
                                     .order = options.order,
                                     .trace = !options.trace.empty()};
    try {
        return {config, stage};
    } catch (const ArgumentError& error) {
        if (options.chunk) throw ArgumentError(fmt::format("--chunk {}: {}", *options.chunk, error.what()));
        if (options.streams)
            throw ArgumentError(fmt::format("--streams {}: {}", *options.streams, error.what()));
        throw;
    }
}

std::optional<SoftBitWriter> make_writer(const DemodOptions& options, const DemodPlan& plan,
                                         const CaptureDescription& capture) {
    if (options.output.empty()) return std::nullopt;
    std::error_code not_there;
    if (std::filesystem::equivalent(options.output, options.capture, not_there))
        throw ArgumentError(fmt::format("{}: the output would overwrite the capture", options.output));
    require_force_if_exists(options.output, options.force);
    return SoftBitWriter(options.output, {.symbols = capture.symbols,
                                          .format = options.format,
                                          .modulation = plan.modulation,
                                          .llr_scale = options.llr_scale,
                                          .llr_clip = options.llr_clip,
                                          .noise_variance = plan.noise_variance,
                                          .method = std::string(to_string(options.method)),
                                          .source = options.capture + ":" + capture.dataset,
                                          .sample_rate = capture.sample_rate,
                                          .center_frequency = capture.center_frequency,
                                          .overwrite = options.force});
}

void write_trace(const std::string& file, const PipelineReport& report) {
    std::ofstream out(file);
    out << trace_events(report);
    out.close();
    if (!out) throw FileError(fmt::format("{}: the trace cannot be written", file));
}

}  // namespace

DemodReport demodulate(const DemodOptions& options, bool quiet) {
    CaptureReader reader(options.capture, options.reading);
    const CaptureDescription& capture = reader.description();
    const DemodPlan plan = make_plan(options, capture);
    SoftDemapStage stage = make_stage(options, plan, capture);
    Pipeline pipeline = make_pipeline(options, capture, stage);
    Progress progress(capture.symbols, quiet);
    if (!options.trace.empty()) require_force_if_exists(options.trace, options.force);

    const auto start = std::chrono::steady_clock::now();
    std::optional<SoftBitWriter> writer = make_writer(options, plan, capture);
    Truth truth(plan.with_truth ? pipeline.lanes() : 0);
    TruthfulSource source(reader, stage, truth);
    DemodSink sink(writer, options.format, truth, progress);
    const PipelineReport report = pipeline.run(source, sink);
    throw_if_interrupted();
    if (writer) writer->commit();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (!options.trace.empty()) write_trace(options.trace, report);

    return {.symbols = capture.symbols,
            .soft_bits = capture.symbols * plan.soft_bits_per_symbol,
            .seconds = seconds.count(),
            .backend = names_of(pipeline.backends()),
            .device = devices_of(pipeline.backends()),
            .modulation = plan.modulation,
            .noise_variance = plan.noise_variance,
            .counters = stage.counters(),
            .bit_errors = plan.with_truth ? std::optional(sink.bit_errors()) : std::nullopt,
            .stages = report.busy};
}

}  // namespace phy::apps
