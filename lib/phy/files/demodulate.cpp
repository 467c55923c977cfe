#include "phy/files/demodulate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "phy/capture/streams.hpp"
#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/demapper/stage.hpp"
#include "phy/files/common.hpp"
#include "phy/files/demodulate/symbol_sample.hpp"
#include "phy/files/spread_blocks.hpp"
#include "phy/measure/soft_bit_meter.hpp"

namespace phy {

using detail::SpreadBlocks;
using detail::SymbolSample;

namespace {

using Lacks = DescriptionError::Lacks;

/// Transmitted bits to compare with, one per byte: those of some symbols of each chunk in flight.
struct Truth {
    std::uint64_t first;                          ///< symbol of the range
    SpreadBlocks symbols;                         ///< the compared ones, counted from there
    std::vector<std::vector<std::uint8_t>> bits;  ///< per buffer set; empty if nothing is compared
};

/// Also reads the transmitted bits, and keeps symbols for the check.
class TruthfulSource : public CaptureSource {
public:
    TruthfulSource(CaptureReader& capture, bool noise_per_symbol, const ItemRange& range, Truth& truth,
                   SymbolSample& sample)
        : CaptureSource(capture, noise_per_symbol),
          capture_(capture),
          range_(range),
          truth_(truth),
          sample_(sample) {}

    [[nodiscard]] std::uint64_t items() const override { return range_.count; }
    [[nodiscard]] std::uint64_t first() const override { return range_.first; }
    std::size_t fill(const Chunk& chunk, std::span<const std::span<std::byte>> arrays) override;

private:
    void read_truth(const Chunk& chunk);

    CaptureReader& capture_;
    ItemRange range_;
    Truth& truth_;
    SymbolSample& sample_;
};

/// Compares bits, writes if there is a writer, and reports progress.
class ComparingSink : public Sink {
public:
    /// soft_bits: per item.
    ComparingSink(std::optional<SoftBitWriter>& writer, const Truth& truth, SoftBitFormat format,
                  std::size_t soft_bits_of_item, std::function<void(std::uint64_t)> progress);

    void take(const Chunk& chunk, std::span<const std::span<const std::byte>> arrays) override;

    [[nodiscard]] std::uint64_t compared() const { return compared_; }
    [[nodiscard]] std::uint64_t bit_errors() const { return bit_errors_; }

private:
    void compare(const Chunk& chunk, SoftBitView soft_bits);

    std::optional<SoftBitWriter>& writer_;
    const Truth& truth_;
    SoftBitFormat format_;
    std::size_t soft_bits_of_item_;
    std::function<void(std::uint64_t)> progress_;
    SoftBitMeter measure_{detail::fastest_host(), {}};
    std::uint64_t compared_ = 0;
    std::uint64_t bit_errors_ = 0;
};

std::size_t TruthfulSource::fill(const Chunk& chunk, std::span<const std::span<std::byte>> arrays) {
    if (!truth_.bits.empty()) read_truth(chunk);
    const std::size_t items = CaptureSource::fill(chunk, arrays);
    std::span<const float> noise;
    if (arrays.size() > 1)
        noise = {reinterpret_cast<const float*>(arrays[1].data()), arrays[1].size() / sizeof(float)};
    sample_.add(chunk.first, SymbolSpan(capture_.description().format, arrays[0]), noise);
    return items;
}

void TruthfulSource::read_truth(const Chunk& chunk) {
    const std::size_t qm = capture_.description().bits_per_symbol;
    std::vector<std::uint8_t>& bits = truth_.bits[chunk.buffer_set];
    bits.clear();
    truth_.symbols.visit({chunk.first - truth_.first, chunk.items}, [&](const SpreadBlocks::Range& range) {
        const std::size_t before = bits.size();
        bits.resize(before + range.items * qm);
        capture_.read_bits(truth_.first + range.first, std::span(bits).subspan(before));
    });
}

ComparingSink::ComparingSink(std::optional<SoftBitWriter>& writer, const Truth& truth, SoftBitFormat format,
                             std::size_t soft_bits_of_item, std::function<void(std::uint64_t)> progress)
    : writer_(writer),
      truth_(truth),
      format_(format),
      soft_bits_of_item_(soft_bits_of_item),
      progress_(std::move(progress)) {}

void ComparingSink::take(const Chunk& chunk, std::span<const std::span<const std::byte>> arrays) {
    if (!truth_.bits.empty()) compare(chunk, {format_, arrays[0]});
    if (writer_) writer_->append(arrays[0]);
    if (progress_) progress_(chunk.first + chunk.items);
}

void ComparingSink::compare(const Chunk& chunk, SoftBitView soft_bits) {
    std::span<const std::uint8_t> truth = truth_.bits[chunk.buffer_set];
    const std::uint64_t begin = chunk.first - truth_.first;
    truth_.symbols.visit({begin, chunk.items}, [&](const SpreadBlocks::Range& range) {
        const std::size_t count = range.items * soft_bits_of_item_;
        const std::size_t first = (range.first - begin) * soft_bits_of_item_;
        bit_errors_ += measure_(soft_bits.subspan(first, count), truth.first(count)).bit_errors;
        compared_ += count;
        truth = truth.subspan(count);
    });
}

/// None: one per symbol.
std::optional<float> noise_variance_of(const CaptureDescription& capture, const CaptureOptions& options) {
    if (options.noise_variance) return options.noise_variance;
    if (capture.has_noise_per_symbol) return std::nullopt;
    if (!capture.noise_variance)
        throw DescriptionError(
            detail::name_of(capture) + " has neither an attribute nor a dataset noise_variance",
            Lacks::noise_variance);
    if (!(*capture.noise_variance > 0.0F) || !std::isfinite(*capture.noise_variance))
        throw DescriptionError(detail::name_of(capture) + " has noise_variance " +
                                   detail::number_text(*capture.noise_variance) +
                                   ": expected a finite number above 0",
                               Lacks::noise_variance);
    return capture.noise_variance;
}

/// N0 of all symbols; none: one per symbol, or not measured yet.
struct GainAndN0 {
    float gain = 1.0F;
    std::optional<float> noise_variance = {};
};

float require_measured_noise(const Measured& measured) {
    const auto noise = static_cast<float>(measured.whole.noise_variance);
    if (noise > 0.0F && std::isfinite(noise)) return noise;
    const std::string name = detail::name_of(measured.capture);
    if (measured.whole.symbols == 0)
        throw FileError(name + " has no symbol that is finite: N0 cannot be estimated");
    throw DescriptionError(
        name + ": the estimated N0 is " + detail::number_text(noise) + ": expected a finite number above 0",
        Lacks::noise_variance);
}

Measured measure_first(const CaptureDescription& capture, const ItemRange& range,
                       const DemodulateOptions& options) {
    MeasureOptions measuring{options};
    measuring.range.reset();
    measuring.gain = options.gain;
    measuring.pipeline.trace = false;
    measuring.capture.ignores_noise_variance = options.estimate_noise;
    if (options.progress)
        measuring.progress = [&](std::uint64_t done, std::uint64_t /*all*/) {
            options.progress(done, capture.symbols + range.count);
        };
    return measure_file(capture.file, measuring);
}

SoftDemapStage::Config stage_config(const CaptureDescription& capture, const DemodulateOptions& options,
                                    const GainAndN0& used) {
    SoftDemapStage::Config config = {.demapper = {.modulation = *capture.modulation,
                                                  .llr = options.llr,
                                                  .full_scale = detail::full_scale_of(capture),
                                                  .gain = used.gain},
                                     .input = capture.format,
                                     .output = options.format,
                                     .noise_variance = used.noise_variance,
                                     .counts = true};
    if (options.descramble)
        config.descramble = {.c_init = options.descramble->c_init(),
                             .codeword_symbols = options.codeword_symbols};
    return config;
}

Pipeline make_pipeline(const ItemRange& range, const DemodulateOptions& options, Stage& stage) {
    Pipeline::Config config = options.pipeline;
    config.items = range.count;
    return Pipeline(detail::places_or_default(options.places), stage, config);
}

/// What no attribute says.
std::string settings_of(const SoftDemapStage::Config& stage) {
    const auto evaluator = static_cast<int>(stage.demapper.llr.evaluator);
    return "full_scale " + detail::number_text(stage.demapper.full_scale.value_for(stage.input)) + ", gain " +
           detail::number_text(stage.demapper.gain) + ", evaluator " + std::to_string(evaluator);
}

SoftBitWriter make_writer(const std::filesystem::path& file, const CaptureDescription& capture,
                          const ItemRange& range, const SoftDemapStage::Config& stage,
                          const DemodulateOptions& options) {
    std::optional<PartOfRows> part;
    if (options.range) part = {range.first, capture.symbols, settings_of(stage)};
    std::optional<std::uint32_t> c_init;
    if (options.descramble) c_init = options.descramble->c_init();
    return SoftBitWriter(
        file,
        {.symbols = range.count,
         .format = stage.output,
         .modulation = stage.demapper.modulation,
         .llr_config = stage.demapper.llr,
         .noise_variance = stage.noise_variance,
         .descrambled_c_init = c_init,
         .source = capture.file.string() + ":" + capture.dataset,
         .source_shape = capture.shape,
         .keep_shape = options.keep_shape,
         .noise_dataset = stage.noise_variance ? "" : capture.file.string() + ":" + capture.noise_dataset,
         .hard = options.hard,
         .sample_rate = capture.sample_rate,
         .center_frequency = capture.center_frequency,
         .overwrite = options.overwrite,
         .durable = options.durable,
         .part = part});
}

/// True if the capture has transmitted bits for the modulation.
bool has_truth(const CaptureDescription& capture, Modulation modulation, std::vector<std::string>& warnings) {
    const std::size_t qm = bits_per_symbol(modulation);
    if (capture.has_bits && capture.bits_per_symbol != qm)
        warnings.push_back(capture.file.string() + ": dataset bits has " +
                           std::to_string(capture.bits_per_symbol) + " bits per symbol and " +
                           std::string(to_string(modulation)) + " has " + std::to_string(qm) +
                           ": bit errors are not counted");
    return capture.has_bits && capture.bits_per_symbol == qm;
}

std::function<void(std::uint64_t)> progress_of(const Demodulation& result, const DemodulateOptions& options) {
    if (!options.progress) return {};
    const ItemRange range = result.range;
    const std::uint64_t before = result.measured ? result.capture.symbols : 0;
    return [&options, range, before](std::uint64_t end) {
        options.progress(before + end - range.first, before + range.count);
    };
}

/// The gain and N0 of the symbols, measured if requested.
GainAndN0 gain_and_noise(Demodulation& result, const DemodulateOptions& options) {
    if (!result.capture.modulation) {
        const bool has_noise = options.estimate_noise || options.capture.noise_variance ||
                               result.capture.noise_variance || result.capture.has_noise_per_symbol;
        const std::string name = detail::name_of(result.capture);
        if (has_noise) throw DescriptionError(name + " has no attribute modulation", Lacks::modulation);
        throw DescriptionError(name + " has no attribute modulation and no noise_variance",
                               Lacks::modulation_and_noise_variance);
    }
    if (options.gain && !(*options.gain >= 0x1p-40F && *options.gain <= 0x1p40F))
        throw ArgumentError("gain " + detail::number_text(*options.gain) +
                            ": expected a number from 2^-40 to 2^40");
    GainAndN0 used;
    if (!options.estimate_noise) used.noise_variance = noise_variance_of(result.capture, options.capture);
    if (options.gain && !options.estimate_noise) return {*options.gain, used.noise_variance};
    result.measured = measure_first(result.capture, result.range, options);
    result.cancelled = result.measured->cancelled;
    if (result.cancelled) return used;
    if (!result.measured->no_gain.empty()) throw FileError(result.measured->no_gain);
    used.gain = result.measured->gain;
    if (options.estimate_noise) used.noise_variance = require_measured_noise(*result.measured);
    return used;
}

/// Enough for a bit error rate, and fast to read even if the bits are compressed.
constexpr std::uint64_t compared_symbols = std::uint64_t{1} << 20;

Truth make_truth(const ItemRange& range, bool compares, bool all, std::size_t buffer_sets) {
    const bool few = range.count <= compared_symbols;
    constexpr std::uint64_t block = std::uint64_t{1} << 15;
    constexpr std::uint64_t blocks = 8;
    const SpreadBlocks symbols =
        all || few ? SpreadBlocks(range.count, range.count, 1) : SpreadBlocks(range.count, block, blocks);
    return {range.first, symbols, std::vector<std::vector<std::uint8_t>>(compares ? buffer_sets : 0)};
}

SymbolSample make_sample(const Demodulation& result) {
    return SymbolSample({.range = result.range,
                         .format = result.capture.format,
                         .modulation = result.demapper.modulation,
                         .full_scale = detail::full_scale_of(result.capture),
                         .gain = result.gain});
}

}  // namespace

Demodulation demodulate_file(const std::filesystem::path& capture, const std::filesystem::path& soft_bits,
                             const DemodulateOptions& options) {
    DemodulateOptions how = detail::with_link(options, &DemodulateOptions::descramble, options.link);
    how.capture.ignores_noise_variance = how.capture.ignores_noise_variance || how.estimate_noise;
    CaptureReader reader(capture, how.capture);
    Demodulation result;
    result.capture = reader.description();
    detail::require_symbols(result.capture);
    detail::require_not_read(soft_bits, result.capture);
    detail::require_use_of(how.capture, result.capture);
    // Invalid text in the link attribute does not matter if nothing is needed from it.
    const bool says_all = how.capture.modulation && how.descramble;
    if (!options.link && !says_all)
        how = detail::with_link(how, &DemodulateOptions::descramble, detail::link_of(result.capture));
    if (how.capture.modulation) result.capture.modulation = how.capture.modulation;
    result.range = detail::range_or_all(how.range, result.capture.symbols, "symbols", result.capture);
    if (how.range && how.keep_shape) throw ArgumentError("a range has no shape that could be kept");
    const GainAndN0 used = gain_and_noise(result, how);
    if (result.cancelled) return result;
    SoftDemapStage stage(stage_config(result.capture, how, used));
    const SoftDemapStage::Config& demap = stage.config();
    result.gain = used.gain;
    result.demapper = demap.demapper;
    result.format = how.format;
    result.noise_variance = demap.noise_variance;
    result.descrambled = how.descramble;
    const bool compares = has_truth(result.capture, result.demapper.modulation, result.warnings);
    Pipeline pipeline = make_pipeline(result.range, how, stage);
    result.places = pipeline.places();
    SymbolSample sample = make_sample(result);

    detail::Stopwatch watch;
    watch.start();
    std::optional<SoftBitWriter> writer;
    if (!soft_bits.empty()) writer.emplace(make_writer(soft_bits, result.capture, result.range, demap, how));
    Truth truth = make_truth(result.range, compares, how.count_all_errors, pipeline.buffer_sets());
    TruthfulSource source(reader, !result.noise_variance, result.range, truth, sample);
    const std::size_t qm = bits_per_symbol(result.demapper.modulation);
    ComparingSink sink(writer, truth, how.format, qm, progress_of(result, how));
    result.pipeline = pipeline.run(source, sink, how.stop);
    watch.stop();
    result.symbols = result.pipeline.items;
    result.soft_bits = result.symbols * qm;
    result.cancelled = result.pipeline.cancelled;
    result.counters = stage.counters();
    if (compares) result.bit_errors = sink.bit_errors();
    result.compared_bits = sink.compared();
    if (!result.cancelled) {
        if (how.before_commit) how.before_commit(result.pipeline);
        watch.start();
        if (writer) writer->commit();
        watch.stop();
    }
    result.seconds = watch.seconds();
    result.check = sample.check(result.noise_variance);
    if (const std::string warning = warning_of(result.check, result.demapper.modulation); !warning.empty())
        result.warnings.push_back(detail::name_of(result.capture) + ": " + warning);
    return result;
}

}  // namespace phy
