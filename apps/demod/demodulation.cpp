#include "demod/demodulation.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "common/app.hpp"
#include "common/backend_names.hpp"
#include "common/choose_backend.hpp"
#include "common/interrupt.hpp"
#include "common/progress.hpp"
#include "demod/bit_errors.hpp"
#include "demod/trace_file.hpp"

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

/// The capture, as the options correct it.
CaptureDescription corrected(CaptureDescription capture, const DemodOptions& options) {
    if (options.modulation) capture.modulation = options.modulation;
    if (options.noise_variance) {
        capture.noise_variance = options.noise_variance;
        capture.has_noise_per_symbol = false;
    }
    return capture;
}

SoftDemapStage make_stage(const DemodOptions& options, const CaptureDescription& capture) {
    SoftDemapStage::Config config;
    try {
        config = demap_config(corrected(capture, options));
    } catch (const FileError& error) {
        throw FileError(fmt::format("{}: expected that, or --modulation and --noise-variance", error.what()));
    }
    config.output = options.format;
    config.method = options.method;
    config.evaluator = options.evaluator;
    config.llr_scale = options.llr_scale;
    config.llr_clip = options.llr_clip;
    config.threads = options.threads.value_or(default_threads());
    config.counts = true;
    return SoftDemapStage(config);
}

/// There are bits, of the modulation, to compare with.
bool has_truth(const DemodOptions& options, const CaptureDescription& capture, Modulation modulation) {
    const std::size_t qm = bits_per_symbol(modulation);
    if (capture.has_bits && capture.bits_per_symbol != qm)
        spdlog::warn("{}: dataset bits has {} a symbol and {} has {}: no bit error rate", options.capture,
                     capture.bits_per_symbol, to_string(modulation), qm);
    return capture.has_bits && capture.bits_per_symbol == qm;
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

/// Throws ArgumentError if writing the one would destroy the other.
void require_other_file(const std::string& file, const std::string& other, const char* what) {
    std::error_code not_there;
    if (file.empty() || other.empty()) return;
    const auto name = [&](const std::string& path) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(path), not_there);
    };
    if (std::filesystem::equivalent(file, other, not_there) || name(file) == name(other))
        throw ArgumentError(fmt::format("{}: {}", file, what));
}

void check_files(const DemodOptions& options) {
    require_other_file(options.output, options.capture, "the output would overwrite the capture");
    require_other_file(options.trace, options.capture, "the trace would overwrite the capture");
    require_other_file(options.trace, options.output, "the trace would overwrite the output");
}

std::optional<SoftBitWriter> make_writer(const DemodOptions& options, const CaptureDescription& capture,
                                         const SoftDemapStage& stage) {
    if (options.output.empty()) return std::nullopt;
    require_force_if_exists(options.output, options.force);
    SoftBitWriter::Config config = soft_bit_config(capture, stage);
    config.overwrite = options.force;
    return SoftBitWriter(options.output, config);
}

}  // namespace

DemodReport demodulate(const DemodOptions& options, bool quiet) {
    check_files(options);
    CaptureReader reader(options.capture, options.reading);
    const CaptureDescription& capture = reader.description();
    SoftDemapStage stage = make_stage(options, capture);
    const SoftDemapStage::Config& config = stage.config();
    const bool with_truth = has_truth(options, capture, config.modulation);
    Pipeline pipeline = make_pipeline(options, capture, stage);
    Progress progress(capture.symbols, quiet);
    std::optional<TraceFile> trace;
    if (!options.trace.empty()) trace.emplace(options.trace, options.force);

    const auto start = std::chrono::steady_clock::now();
    std::optional<SoftBitWriter> writer = make_writer(options, capture, stage);
    Truth truth(with_truth ? pipeline.lanes() : 0);
    TruthfulSource source(reader, stage, truth);
    DemodSink sink(writer, options.format, truth, progress);
    const PipelineReport report = pipeline.run(source, sink);
    throw_if_interrupted();
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (trace) trace->write(report);
    const auto start_of_commit = std::chrono::steady_clock::now();
    if (writer) writer->commit();
    seconds += std::chrono::steady_clock::now() - start_of_commit;
    if (trace) trace->commit();

    return {.symbols = capture.symbols,
            .soft_bits = capture.symbols * bits_per_symbol(config.modulation),
            .seconds = seconds.count(),
            .backend = names_of(pipeline.backends()),
            .device = devices_of(pipeline.backends()),
            .modulation = config.modulation,
            .noise_variance = config.noise_variance,
            .counters = stage.counters(),
            .bit_errors = with_truth ? std::optional(sink.bit_errors()) : std::nullopt,
            .stages = report.busy};
}

}  // namespace phy::apps
