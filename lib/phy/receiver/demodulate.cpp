#include "phy/receiver/demodulate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "phy/capture/streams.hpp"
#include "phy/core/error.hpp"
#include "phy/core/number_text.hpp"
#include "phy/demapper/stage.hpp"
#include "phy/measure/soft_bit_meter.hpp"

namespace phy {
namespace {

/// Transmitted bits, one a byte, of the chunk in each lane; of no lane where there are none to compare with.
using Truth = std::vector<std::vector<std::uint8_t>>;

/// Reads the transmitted bits too.
class TruthfulSource : public CaptureSource {
public:
    TruthfulSource(CaptureReader& capture, bool noise_per_symbol, Truth& truth)
        : CaptureSource(capture, noise_per_symbol), capture_(capture), truth_(truth) {}

    std::size_t fill(const Chunk& chunk, std::span<const std::span<std::byte>> arrays) override {
        if (!truth_.empty()) {
            std::vector<std::uint8_t>& bits = truth_[chunk.lane];
            bits.resize(chunk.items * capture_.description().bits_per_symbol);
            capture_.read_bits(chunk.first, bits);
        }
        return CaptureSource::fill(chunk, arrays);
    }

private:
    CaptureReader& capture_;
    Truth& truth_;
};

/// Whatever PHY_BACKEND says: it may name a device, and the counts are the same everywhere.
Host fastest_host() {
    try {
        return Host({.backend = Backend::parse("cpu")});
    } catch (const BackendError&) {
        return Host({.backend = Backend::scalar()});
    }
}

/// Compares, writes if there is a writer, and says how far the work is.
class ComparingSink : public Sink {
public:
    ComparingSink(std::optional<SoftBitWriter>& writer, const Truth& truth, const DemodulateOptions& options,
                  std::uint64_t symbols)
        : writer_(writer), truth_(truth), options_(options), symbols_(symbols) {}

    void take(const Chunk& chunk, std::span<const std::span<const std::byte>> arrays) override {
        if (!truth_.empty())
            bit_errors_ += measure_({options_.format, arrays[0]}, truth_[chunk.lane]).bit_errors;
        if (writer_) writer_->append(arrays[0]);
        if (options_.progress) options_.progress(chunk.first + chunk.items, symbols_);
    }

    [[nodiscard]] std::uint64_t bit_errors() const { return bit_errors_; }

private:
    std::optional<SoftBitWriter>& writer_;
    const Truth& truth_;
    const DemodulateOptions& options_;
    std::uint64_t symbols_;
    SoftBitMeter measure_{fastest_host(), {}};
    std::uint64_t bit_errors_ = 0;
};

std::string name_of(const CaptureDescription& capture) {
    return capture.file.string() + ": " + capture.dataset;
}

/// None: each symbol has its own.
std::optional<float> noise_variance_of(const CaptureDescription& capture, const CaptureOptions& options) {
    if (options.noise_variance) return options.noise_variance;
    if (capture.has_noise_per_symbol) return std::nullopt;
    if (!capture.noise_variance)
        throw DescriptionError(name_of(capture) + " has neither an attribute nor a dataset noise_variance");
    if (!(*capture.noise_variance > 0.0F) || !std::isfinite(*capture.noise_variance))
        throw DescriptionError(name_of(capture) + " has the noise_variance " +
                               detail::number_text(*capture.noise_variance) +
                               ", expected a finite number above 0");
    return capture.noise_variance;
}

SoftDemapStage make_stage(const CaptureDescription& capture, const DemodulateOptions& options) {
    if (!capture.modulation) throw DescriptionError(name_of(capture) + " has no attribute modulation");
    DemapperConfig demapper = options.demapper;
    demapper.modulation = *capture.modulation;
    demapper.full_scale = static_cast<float>(capture.full_scale.value_or(0.0));
    return SoftDemapStage({.demapper = demapper,
                           .input = capture.format,
                           .output = options.format,
                           .noise_variance = noise_variance_of(capture, options.capture),
                           .counts = true});
}

std::vector<Place> places_of(const DemodulateOptions& options) {
    if (!options.places.empty()) return options.places;
    return {Host({.threads = demodulation_threads()})};
}

Pipeline make_pipeline(const CaptureDescription& capture, const DemodulateOptions& options, Stage& stage) {
    Pipeline::Config config = options.pipeline;
    config.items = capture.symbols;
    return Pipeline(places_of(options), stage, config);
}

SoftBitWriter make_writer(const std::filesystem::path& file, const CaptureDescription& capture,
                          const SoftDemapStage::Config& stage, bool overwrite) {
    return SoftBitWriter(file, {.symbols = capture.symbols,
                                .format = stage.output,
                                .demapper = stage.demapper,
                                .noise_variance = stage.noise_variance,
                                .source = capture.file.string() + ":" + capture.dataset,
                                .sample_rate = capture.sample_rate,
                                .center_frequency = capture.center_frequency,
                                .overwrite = overwrite});
}

/// True if there are bits of the modulation to compare with.
bool has_truth(const CaptureDescription& capture, Modulation modulation, std::vector<std::string>& warnings) {
    const std::size_t qm = bits_per_symbol(modulation);
    if (capture.has_bits && capture.bits_per_symbol != qm)
        warnings.push_back(capture.file.string() + ": dataset bits has " +
                           std::to_string(capture.bits_per_symbol) + " a symbol and " +
                           std::string(to_string(modulation)) + " has " + std::to_string(qm) +
                           ": no bit error rate");
    return capture.has_bits && capture.bits_per_symbol == qm;
}

class Stopwatch {
public:
    void start() { start_ = Clock::now(); }
    void stop() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
    [[nodiscard]] double seconds() const { return seconds_; }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_;
    double seconds_ = 0.0;
};

}  // namespace

int demodulation_threads() {
    return std::max(1, Host::processors() - 2);
}

Demodulation demodulate_file(const std::filesystem::path& capture, const std::filesystem::path& soft_bits,
                             const DemodulateOptions& options) {
    CaptureReader reader(capture, options.capture);
    Demodulation result;
    result.capture = reader.description();
    SoftDemapStage stage = make_stage(result.capture, options);
    result.demapper = stage.config().demapper;
    result.noise_variance = stage.config().noise_variance;
    const bool compares = has_truth(result.capture, result.demapper.modulation, result.warnings);
    Pipeline pipeline = make_pipeline(result.capture, options, stage);
    result.places = pipeline.places();

    Stopwatch watch;
    watch.start();
    std::optional<SoftBitWriter> writer;
    if (!soft_bits.empty())
        writer.emplace(make_writer(soft_bits, result.capture, stage.config(), options.overwrite));
    Truth truth(compares ? pipeline.lanes() : 0);
    TruthfulSource source(reader, !result.noise_variance, truth);
    ComparingSink sink(writer, truth, options, result.capture.symbols);
    result.pipeline = pipeline.run(source, sink, options.stop);
    watch.stop();
    result.symbols = result.pipeline.items;
    result.soft_bits = result.symbols * bits_per_symbol(result.demapper.modulation);
    result.cancelled = result.pipeline.cancelled;
    result.counters = stage.counters();
    if (compares) result.bit_errors = sink.bit_errors();
    if (!result.cancelled) {
        if (options.before_commit) options.before_commit(result.pipeline);
        watch.start();
        if (writer) writer->commit();
        watch.stop();
    }
    result.seconds = watch.seconds();
    return result;
}

}  // namespace phy
