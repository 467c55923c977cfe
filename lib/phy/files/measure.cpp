#include "phy/files/measure.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "phy/capture/streams.hpp"
#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/files/common.hpp"
#include "phy/files/demodulate/symbol_sample.hpp"
#include "phy/files/receive.hpp"
#include "phy/files/spread_blocks.hpp"
#include "phy/mapper/mapper.hpp"
#include "phy/measure/stage.hpp"
#include "phy/measure/symbol_meter.hpp"
#include "phy/scrambling/scrambler.hpp"
#include "phy/scrambling/signs.hpp"

namespace phy {
namespace {

using Joiner = NodeJoiner<SymbolSums, JoinSymbolSums>;

constexpr std::uint64_t symbols_of_slot = 14;

/// Symbols per root of the stage's sums: roots are small compared with their symbols.
constexpr std::uint64_t node_of_whole = 32 * std::uint64_t{symbol_tree.block};

/// How a pass divides the capture.
struct Cut {
    std::uint64_t node;  ///< symbols per sum of the stage
    std::uint64_t row;   ///< symbols per row, a multiple of node; 0: no rows
};

/// Uses nodes of 2^k blocks, whose roots are joined both to rows and to the whole.
Cut cut_into_blocks(std::uint64_t row) {
    if (row == 0) return {node_of_whole, 0};
    return {std::min(node_of_whole, std::uint64_t{1} << std::countr_zero(row)), row};
}

class SentSource : public CaptureSource {
public:
    SentSource(CaptureReader& capture, Modulation modulation, const MeasureOptions& options,
               detail::SymbolSample* sample)
        : CaptureSource(capture, false),
          capture_(capture),
          sample_(sample),
          scramble_(detail::fastest_host()) {
        if (options.reference != SymbolReference::sent) return;
        map_.emplace(scramble_.host(), Mapper::Config{.modulation = modulation});
        if (options.scrambling) c_init_ = options.scrambling->c_init();
        if (options.codeword_symbols) codeword_ = *options.codeword_symbols * bits_per_symbol(modulation);
    }

    std::size_t fill(const Chunk& chunk, std::span<const std::span<std::byte>> arrays) override {
        if (map_) {
            const std::size_t qm = capture_.description().bits_per_symbol;
            bits_.resize(chunk.items * qm);
            capture_.read_bits(chunk.first, bits_);
            if (c_init_) {
                const auto scramble = [&](std::uint64_t begin, std::uint64_t count, std::uint64_t first) {
                    const auto part = std::span(bits_).subspan(begin, count);
                    scramble_(*c_init_, part, part, first);
                };
                detail::for_codewords(chunk.first * qm, bits_.size(), codeword_, scramble);
            }
            (*map_)(bits_, {SampleFormat::cf32, arrays[1]}, chunk.first);
        }
        const std::size_t items = CaptureSource::fill(chunk, arrays);
        if (sample_ != nullptr)
            sample_->add(chunk.first, SymbolSpan(capture_.description().format, arrays[0]), {});
        return items;
    }

private:
    CaptureReader& capture_;
    detail::SymbolSample* sample_;  ///< null: kept before
    Scrambler scramble_;
    std::optional<std::uint32_t> c_init_;    ///< none: not scrambled
    std::optional<std::uint64_t> codeword_;  ///< bits per codeword; none: one codeword
    std::optional<Mapper> map_;              ///< none: transmitted bits are not used
    std::vector<std::uint8_t> bits_;
};

/// Joins sums to rows and to the whole.
class JoiningSink : public Sink {
public:
    JoiningSink(const Cut& cut, std::function<void(std::uint64_t)> progress)
        : nodes_of_row_(cut.row / cut.node), progress_(std::move(progress)) {}

    void take(const Chunk& chunk, std::span<const std::span<const std::byte>> arrays) override {
        const auto* const nodes = reinterpret_cast<const SymbolSums*>(arrays[0].data());
        for (std::size_t i = 0; i < arrays[0].size() / sizeof(SymbolSums); ++i)
            add(nodes[i]);
        if (progress_) progress_(chunk.first + chunk.items);
    }

    [[nodiscard]] SymbolSums whole() const { return whole_.root({}); }

    std::vector<SymbolSums> take_rows() {
        if (nodes_ > 0) end_row();
        return std::move(rows_);
    }

private:
    void add(const SymbolSums& node) {
        whole_.add(node);
        if (nodes_of_row_ == 0) return;
        row_.add(node);
        if (++nodes_ == nodes_of_row_) end_row();
    }

    void end_row() {
        rows_.push_back(row_.root({}));
        row_ = Joiner();
        nodes_ = 0;
    }

    std::uint64_t nodes_of_row_;
    std::function<void(std::uint64_t)> progress_;
    Joiner whole_;
    Joiner row_;
    std::uint64_t nodes_ = 0;  ///< of the row
    std::vector<SymbolSums> rows_;
};

/// Symbols per row, at most those of the capture; none: no rows.
std::optional<std::uint64_t> row_of(const CaptureDescription& capture, const MeasureOptions& options) {
    const std::uint64_t last = capture.shape.empty() ? capture.symbols : capture.shape.back();
    switch (options.by) {
        case MeasureBy::whole:
            return {};
        case MeasureBy::row:
            return last;
        case MeasureBy::slot:
            return last > capture.symbols / symbols_of_slot ? capture.symbols : symbols_of_slot * last;
        case MeasureBy::symbols:
            break;
    }
    if (!options.row) throw ArgumentError("rows by symbols without a row: expected at least 1 symbol");
    if (*options.row == 0) throw ArgumentError("rows of 0 symbols: expected at least 1");
    return std::min(*options.row, capture.symbols);
}

void require_sent(const CaptureDescription& capture) {
    using Lacks = DescriptionError::Lacks;
    const std::string name = detail::name_of(capture);
    if (!capture.modulation) throw DescriptionError(name + " has no attribute modulation", Lacks::modulation);
    if (!capture.has_bits) throw DescriptionError(name + " has no dataset bits beside it", Lacks::bits);
    const std::size_t qm = bits_per_symbol(*capture.modulation);
    if (capture.bits_per_symbol != qm)
        throw DescriptionError(name + " has a dataset bits with " + std::to_string(capture.bits_per_symbol) +
                                   " bits per symbol and " + std::string(to_string(*capture.modulation)) +
                                   " has " + std::to_string(qm),
                               Lacks::bits);
}

SymbolMeterConfig meter_of(const CaptureDescription& capture) {
    return {.modulation = capture.modulation.value_or(Modulation::qpsk),
            .full_scale = detail::full_scale_of(capture)};
}

/// Keeps the part of a measurement that does not depend on decisions.
void clear_decisions(SymbolMeasurement& measurement) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (double SymbolMeasurement::*const number :
         {&SymbolMeasurement::gain, &SymbolMeasurement::phase_deg, &SymbolMeasurement::evm_rms,
          &SymbolMeasurement::evm_peak, &SymbolMeasurement::mer_db, &SymbolMeasurement::noise_variance,
          &SymbolMeasurement::snr_db})
        measurement.*number = nan;
}

/// Reads a capture in as many passes as needed.
class Measuring {
public:
    Measuring(CaptureReader& capture, const MeasureOptions& options, Measured& result)
        : capture_(capture),
          options_(options),
          result_(result),
          symbols_(capture.description().symbols),
          sample_({.symbols = symbols_,
                   .format = result.capture.format,
                   .modulation = result.meter.modulation,
                   .full_scale = result.meter.full_scale,
                   .gain = result.meter.gain}) {}

    void run() {
        const std::uint64_t row = result_.row.value_or(0);
        const bool by_blocks = row % symbol_tree.block == 0 || row == symbols_;
        passes_ = by_blocks ? 1 : 2;
        if (!by_blocks) require_room_for(row);
        JoiningSink whole = pass(row == symbols_ ? cut_into_blocks(0) : cut_into_blocks(by_blocks ? row : 0));
        sums_ = whole.whole();
        if (row == symbols_) {
            result_.rows = {sums_};
        } else if (by_blocks) {
            result_.rows = whole.take_rows();
        } else if (!result_.cancelled) {
            result_.rows = pass({row, row}).take_rows();
        }
    }

    [[nodiscard]] const SymbolSums& sums() const { return sums_; }

    /// noise_variance: that of symbols divided by the gain of the meter.
    [[nodiscard]] SymbolCheck check(float noise_variance) { return sample_.check(noise_variance); }

private:
    [[nodiscard]] MeasureStage stage_of(const Cut& cut) const {
        return MeasureStage({.meter = result_.meter,
                             .input = result_.capture.format,
                             .row = static_cast<std::size_t>(cut.node),
                             .sent = options_.reference == SymbolReference::sent});
    }

    [[nodiscard]] Pipeline pipeline_of(MeasureStage& stage) const {
        Pipeline::Config config = options_.pipeline;
        config.items = symbols_;
        return Pipeline(result_.places, stage, config);
    }

    /// The pass over the rows comes last, so refuse it now rather than after the work.
    void require_room_for(std::uint64_t row) const {
        MeasureStage stage = stage_of({row, row});
        static_cast<void>(pipeline_of(stage));
    }

    JoiningSink pass(const Cut& cut) {
        MeasureStage stage = stage_of(cut);
        Pipeline pipeline = pipeline_of(stage);
        SentSource source(capture_, result_.meter.modulation, options_, done_ == 0 ? &sample_ : nullptr);
        JoiningSink sink(cut, progress());
        const PipelineReport report = pipeline.run(source, sink, options_.stop);
        if (done_ == 0) result_.pipeline = report;
        result_.cancelled = report.cancelled;
        done_ += symbols_;
        return sink;
    }

    [[nodiscard]] std::function<void(std::uint64_t)> progress() const {
        if (!options_.progress) return {};
        return [this](std::uint64_t done) { options_.progress(done_ + done, passes_ * symbols_); };
    }

    CaptureReader& capture_;
    const MeasureOptions& options_;
    Measured& result_;
    std::uint64_t symbols_;
    std::uint64_t passes_ = 1;
    std::uint64_t done_ = 0;  ///< items of earlier passes
    SymbolSums sums_;
    detail::SymbolSample sample_;
};

/// The amplitude of the symbols cannot be measured.
class GainError : public FileError {
public:
    using FileError::FileError;
};

constexpr std::uint64_t block = 4096;
constexpr std::uint64_t blocks = 256;

/// Reads blocks at equal distances, or all of a shorter capture.
std::vector<std::byte> spread_symbols(CaptureReader& capture) {
    const CaptureDescription& description = capture.description();
    const std::size_t bytes = size_of(description.format);
    const bool all = description.symbols <= block * blocks;
    const std::uint64_t piece = all ? description.symbols : block;
    std::vector<std::byte> symbols((all ? piece : block * blocks) * bytes);
    const std::uint64_t last = description.symbols - piece;
    for (std::uint64_t n = 0; n * piece * bytes < symbols.size(); ++n) {
        // Even, so that pi/2-BPSK continues as if blocks were neighbours.
        const std::uint64_t first = detail::evenly_spaced(n, blocks, last) / 2 * 2;
        capture.read(first, {description.format, symbols.data() + n * piece * bytes, piece});
    }
    return symbols;
}

double root_mean_square(const Host& host, SymbolMeterConfig meter, SymbolView symbols) {
    meter.gain = 1.0F;
    return std::sqrt(measurement_of(SymbolMeter(host, meter)(symbols), meter, symbols.format()).mean_power);
}

/// The amplitude of the constellation, from symbols spread over the capture: by decisions, or if the points
/// are known, the root of the mean power, because known points need only a rough gain. Throws GainError.
float estimate_capture_gain(CaptureReader& capture, const SymbolMeterConfig& meter, SymbolReference reference,
                            const std::vector<Place>& places) {
    const std::vector<std::byte> symbols = spread_symbols(capture);
    const SymbolView view(capture.description().format, symbols);
    const std::string failed = detail::name_of(capture.description()) + ": the gain cannot be measured: ";
    const Host host = detail::host_among(places);
    const double amplitude = root_mean_square(host, meter, view);
    if (!(amplitude > 0.0)) throw GainError(failed + "no symbol is finite and nonzero");
    if (!(amplitude >= 0x1p-40 && amplitude <= 0x1p40))
        throw GainError(failed + "the root mean square of the symbols is " +
                        detail::number_text(static_cast<float>(amplitude)) + ", expected 2^-40 to 2^40");
    if (reference == SymbolReference::sent) return static_cast<float>(amplitude);
    try {
        return static_cast<float>(estimate_gain(host, meter, view).gain);
    } catch (const ArgumentError&) {
        throw GainError(failed + "it is outside 2^-40 to 2^40");
    }
}

/// 1 if the gain cannot be measured; result.no_gain says why.
float find_gain(CaptureReader& reader, Measured& result) {
    try {
        return estimate_capture_gain(reader, result.meter, result.reference, result.places);
    } catch (const GainError& error) {
        result.no_gain = error.what();
        return 1.0F;
    }
}

void check_slot_options(const MeasureOptions& options) {
    const auto require = [](bool holds, const char* what) {
        if (!holds) throw ArgumentError(std::string(what) + " for a grid or samples");
    };
    require(!options.gain, "gain: expected none");
    require(options.reference == SymbolReference::decisions, "reference sent: expected decisions");
    require(options.by == MeasureBy::whole || options.by == MeasureBy::slot,
            "rows by symbols: expected slots");
}

ReceiveOptions receive_options(const CaptureDescription& capture, const MeasureOptions& options) {
    ReceiveOptions receive{{options}};
    receive.capture.dataset = capture.dataset;
    receive.capture.kind = capture.kind;
    receive.capture.noise_variance.reset();
    return receive;
}

Transmitter transmitter_of(const Link& link) {
    return link.direction == Direction::uplink ? Transmitter::ue : Transmitter::base_station;
}

/// Measures a grid or samples.
Measured measure_slots(const CaptureDescription& capture, const MeasureOptions& options) {
    check_slot_options(options);
    Reception received = receive_file(capture.file, {}, receive_options(capture, options));
    Measured result;
    result.capture = std::move(received.capture);
    result.capture.modulation = received.link.modulation;
    result.meter.modulation = received.link.modulation;
    result.transmitter = transmitter_of(received.link);
    result.places = std::move(received.places);
    result.pipeline = std::move(received.pipeline);
    result.warnings = std::move(received.warnings);
    result.cancelled = received.cancelled;
    result.seconds = received.seconds;
    if (result.cancelled) return result;
    result.symbols =
        received.resource_elements * static_cast<std::uint64_t>(received.link.allocation.layers());
    SymbolSums all;
    for (const SymbolSums& slot : received.symbols)
        all = join(all, slot);
    result.whole = result.measurement(all);
    if (options.by == MeasureBy::slot) {
        result.row = result.symbols / received.slots;
        result.rows = std::move(received.symbols);
    }
    return result;
}

void warn_of_symbols(Measured& result, const MeasureOptions& options, Measuring& measuring) {
    // Of symbols divided by the gain of the meter.
    const double units = double{result.gain} / double{result.meter.gain};
    const SymbolCheck check =
        measuring.check(static_cast<float>(result.whole.noise_variance * units * units));
    std::string warning = warning_of(check, result.meter.modulation);
    const bool is_hidden = !options.gain && result.whole.snr_db < 0.0;
    if (check.mismatch == SymbolMismatch::no_constellation || (is_hidden && warning.empty()))
        warning =
            "the symbols are spread like noise and show no constellation: they may be samples in time, or of "
            "an SNR below 0 dB";
    if (check.mismatch == SymbolMismatch::power && options.gain)
        warning = "the mean power of the symbols divided by the given gain is " +
                  detail::rounded(check.mean_power) + ", expected about 1: the gain may be wrong";
    if (!warning.empty()) result.warnings.push_back(detail::name_of(result.capture) + ": " + warning);
}

}  // namespace

SymbolMeasurement Measured::measurement(const SymbolSums& sums) const {
    SymbolMeasurement result = measurement_of(sums, meter, format, reference);
    const double units = double{meter.gain} / double{gain};
    result.noise_variance *= units * units;
    if (!capture.modulation || !no_gain.empty()) clear_decisions(result);
    return result;
}

Measured measure_file(const std::filesystem::path& capture, const MeasureOptions& options) {
    detail::check_enum("rows by", options.by, MeasureBy::symbols);
    detail::check_enum("reference", options.reference, SymbolReference::sent);
    MeasureOptions how = detail::with_link(options, &MeasureOptions::scrambling, options.link);
    CaptureReader reader(capture, how.capture);
    if (reader.description().kind != CaptureKind::symbols)
        return measure_slots(reader.description(), options);
    Measured result;
    result.capture = reader.description();
    detail::require_use_of(how.capture, result.capture);
    // Invalid text in the link attribute does not matter if nothing is needed from it.
    const bool says_all =
        how.capture.modulation && (how.scrambling || how.reference == SymbolReference::decisions);
    const std::optional<Link> link =
        options.link || says_all ? options.link : detail::link_of(result.capture);
    if (link) result.transmitter = transmitter_of(*link);
    how = detail::with_link(how, &MeasureOptions::scrambling, link);
    if (how.capture.modulation) result.capture.modulation = how.capture.modulation;
    result.format = result.capture.format;
    result.symbols = result.capture.symbols;
    result.meter = meter_of(result.capture);
    result.reference = how.reference;
    result.row = row_of(result.capture, how);
    result.places = detail::places_or_default(how.places);
    if (how.reference == SymbolReference::sent) require_sent(result.capture);
    if (how.codeword_symbols.value_or(1) == 0 || how.codeword_symbols.value_or(1) > std::uint64_t{1} << 48)
        throw ArgumentError("codeword_symbols " + std::to_string(*how.codeword_symbols) +
                            ": expected 1 to 2^48");

    detail::Stopwatch watch;
    watch.start();
    const bool finds_gain = !how.gain && result.capture.modulation;
    result.meter.gain = finds_gain ? find_gain(reader, result) : how.gain.value_or(1.0F);
    result.gain = result.meter.gain;
    Measuring measuring(reader, how, result);
    measuring.run();
    if (result.cancelled) {
        result.rows.clear();
    } else {
        const SymbolMeasurement first = result.measurement(measuring.sums());
        if (finds_gain && result.no_gain.empty() && first.symbols > 0)
            result.gain = static_cast<float>(first.gain);
        result.whole = result.measurement(measuring.sums());
    }
    watch.stop();
    result.seconds = watch.seconds();
    if (!result.cancelled && result.capture.modulation && result.no_gain.empty())
        warn_of_symbols(result, how, measuring);
    return result;
}

}  // namespace phy
