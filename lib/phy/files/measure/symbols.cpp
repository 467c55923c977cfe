#include "phy/files/measure/symbols.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <utility>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/core/integers.hpp"
#include "phy/files/common.hpp"
#include "phy/files/measure/gain.hpp"
#include "phy/files/measure/pass.hpp"

namespace phy::detail {
namespace {

constexpr std::uint64_t symbols_of_slot = 14;

/// Symbols per row, at most `symbols`, those that are measured; none: no rows.
std::optional<std::uint64_t> row_of(const CaptureDescription& capture, const MeasureOptions& options,
                                    std::uint64_t symbols) {
    const std::uint64_t last = capture.shape.empty() ? symbols : capture.shape.back();
    switch (options.by) {
        case MeasureBy::whole:
            return {};
        case MeasureBy::row:
            return std::min(last, symbols);
        case MeasureBy::slot:
            return last > symbols / symbols_of_slot ? symbols : symbols_of_slot * last;
        case MeasureBy::symbols:
            break;
    }
    if (!options.row) throw ArgumentError("rows by symbols without a row: expected at least 1 symbol");
    if (*options.row == 0) throw ArgumentError("rows of 0 symbols: expected at least 1");
    return std::min(*options.row, symbols);
}

void require_sent(const CaptureDescription& capture) {
    using Lacks = DescriptionError::Lacks;
    const std::string name = name_of(capture);
    if (!capture.modulation) throw DescriptionError(name + " has no attribute modulation", Lacks::modulation);
    if (!capture.has_bits) throw DescriptionError(name + " has no dataset bits beside it", Lacks::bits);
    const std::size_t qm = bits_per_symbol(*capture.modulation);
    if (capture.bits_per_symbol != qm)
        throw DescriptionError(name + " has a dataset bits with " + std::to_string(capture.bits_per_symbol) +
                                   " bits per symbol and " + std::string(to_string(*capture.modulation)) +
                                   " has " + std::to_string(qm),
                               Lacks::bits);
}

void require_codeword(const std::optional<std::uint64_t>& symbols) {
    if (symbols.value_or(1) != 0 && symbols.value_or(1) <= std::uint64_t{1} << 48) return;
    throw ArgumentError("codeword_symbols " + std::to_string(*symbols) + ": expected 1 to 2^48");
}

SymbolMeterConfig meter_of(const CaptureDescription& capture) {
    return {.modulation = capture.modulation.value_or(Modulation::qpsk),
            .full_scale = full_scale_of(capture)};
}

/// A row of whole blocks is made of the nodes of the tree; other rows have a tree of their own.
bool has_rows_of_blocks(const Measured& measured) {
    const std::uint64_t row = measured.row.value_or(0);
    return row % symbol_tree.block == 0 || row == measured.range.count;
}

/// How the pass over all symbols cuts them. Nodes of 2^k blocks are joined both to rows and to the whole; the
/// only row of one row is the whole.
Cut cut_of_whole(const Measured& measured) {
    const std::uint64_t row = measured.row.value_or(0);
    if (row == 0 || row == measured.range.count || !has_rows_of_blocks(measured)) return {};
    return {std::min(node_of_whole, std::uint64_t{1} << std::countr_zero(row)), row};
}

/// Rows with trees of their own that begin in a part; the range ends the last one.
ItemRange rows_from(const ItemRange& part, const Measured& measured) {
    const ItemRange& whole = measured.range;
    const std::uint64_t row = *measured.row;
    const auto begin_behind = [&](std::uint64_t item) {
        const std::uint64_t rows = pieces_of(item - whole.first, row);
        return rows > whole.count / row ? whole.count : rows * row;
    };
    const std::uint64_t begin = begin_behind(part.first);
    return {whole.first + begin, begin_behind(part.first + part.count) - begin};
}

}  // namespace

CaptureReader open_to_measure(const std::filesystem::path& capture, const MeasureOptions& options) {
    check_enum("rows by", options.by, MeasureBy::symbols);
    check_enum("reference", options.reference, SymbolReference::sent);
    return CaptureReader(capture, with_link(options, &MeasureOptions::scrambling, options.link).capture);
}

SymbolMeasuring::SymbolMeasuring(CaptureReader reader, const MeasureOptions& options,
                                 const std::optional<ItemRange>& range)
    : reader_(std::move(reader)), options_(with_link(options, &MeasureOptions::scrambling, options.link)) {
    Measured& result = result_;
    result.capture = reader_.description();
    require_use_of(options.capture, result.capture);
    if (!options.survey.empty()) throw ArgumentError("symbols with a survey: expected none");
    // Invalid text in the link attribute does not matter if nothing is needed from it.
    const bool says_all = options_.capture.modulation &&
                          (options_.scrambling || options_.reference == SymbolReference::decisions);
    const std::optional<Link> link = options.link || says_all ? options.link : link_of(result.capture);
    if (link) result.transmitter = transmitter_of(*link);
    options_ = with_link(options_, &MeasureOptions::scrambling, link);
    if (options_.capture.modulation) result.capture.modulation = options_.capture.modulation;
    result.range = range_or_all(range, result.capture.symbols, "symbols", result.capture);
    result.format = result.capture.format;
    result.symbols = result.range.count;
    result.meter = meter_of(result.capture);
    result.reference = options_.reference;
    result.row = row_of(result.capture, options_, result.symbols);
    result.places = places_or_default(options_.places);
    finds_gain_ = !options_.gain && result.capture.modulation;
    if (result.reference == SymbolReference::sent) require_sent(result.capture);
    require_codeword(options_.codeword_symbols);
}

std::uint64_t SymbolMeasuring::unit() const {
    const Cut cut = cut_of_whole(result_);
    if (cut.row == 0) return node_of_whole;
    const std::uint64_t rows = node_of_whole / std::gcd(node_of_whole, cut.row);
    // Beyond the capture there is but one part.
    return cut.row > result_.symbols / rows ? result_.symbols : cut.row * rows;
}

std::string SymbolMeasuring::settings() const {
    const SymbolMeterConfig& meter = result_.meter;
    std::string text(to_string(meter.modulation));
    const auto add = [&text](const char* name, const std::string& value) {
        text.append(", ").append(name).append(" ").append(value);
    };
    add("full_scale", number_text(meter.full_scale.value_for(result_.format)));
    add("gain", number_text(meter.gain));
    add("row", std::to_string(result_.row.value_or(0)));
    if (result_.reference != SymbolReference::sent) return text;
    add("sent", options_.scrambling ? std::to_string(options_.scrambling->c_init()) : "unscrambled");
    add("codeword", std::to_string(options_.codeword_symbols.value_or(0)));
    return text;
}

void SymbolMeasuring::find_gain() {
    CaptureGain found;
    if (finds_gain_) found = measure_gain(reader_, result_.meter, result_.reference, result_.places);
    set_gain({.gain = found.gain, .no_gain = found.failure});
}

void SymbolMeasuring::set_gain(const MeasurePlan& plan) {
    result_.meter.gain = options_.gain.value_or(plan.gain);
    result_.gain = result_.meter.gain;
    result_.no_gain = plan.no_gain;
}

SymbolSample SymbolMeasuring::make_sample() const {
    return SymbolSample({.range = result_.range,
                         .format = result_.capture.format,
                         .modulation = result_.meter.modulation,
                         .full_scale = result_.meter.full_scale,
                         .gain = result_.meter.gain});
}

MeasuredPart SymbolMeasuring::sum(const ItemRange& part) {
    if (part == result_.range) sample_ = make_sample();
    const Cut cut = cut_of_whole(result_);
    const ItemRange rows = has_rows_of_blocks(result_) ? ItemRange() : rows_from(part, result_);
    const auto progress_from = [&](std::uint64_t before) -> std::function<void(std::uint64_t)> {
        if (!options_.progress) return {};
        return [this, before, all = part.count + rows.count](std::uint64_t done) {
            options_.progress(before + done, all);
        };
    };
    const SymbolPass over_all = {.reader = reader_,
                                 .options = options_,
                                 .how = result_,
                                 .cut = cut,
                                 .range = part,
                                 .first_node = (part.first - result_.range.first) / cut.node,
                                 .sample = sample_ ? &*sample_ : nullptr,
                                 .progress = progress_from(0)};
    const SymbolPass over_rows = {.reader = reader_,
                                  .options = options_,
                                  .how = result_,
                                  .cut = {result_.row.value_or(0), result_.row.value_or(0)},
                                  .range = rows,
                                  .first_node = 0,
                                  .sample = nullptr,
                                  .progress = progress_from(part.count)};
    // That pass comes last, so refuse it now rather than after the work.
    if (rows.count > 0) over_rows.require_room();
    SymbolPass::Sums sums = over_all.run();
    result_.pipeline = std::move(sums.report);
    MeasuredPart done = {
        .range = part, .settings = settings(), .roots = std::move(sums.roots), .rows = std::move(sums.rows)};
    done.cancelled = result_.pipeline.cancelled;
    if (done.cancelled || rows.count == 0) return done;
    SymbolPass::Sums of_rows = over_rows.run();
    done.rows = std::move(of_rows.rows);
    done.cancelled = of_rows.report.cancelled;
    return done;
}

Measured SymbolMeasuring::finish(std::span<const MeasuredPart> parts) {
    result_.cancelled = std::ranges::any_of(parts, &MeasuredPart::cancelled);
    if (result_.cancelled) return result_;
    join_roots(parts);
    join_rows(parts);
    measure_whole();
    if (result_.capture.modulation && result_.no_gain.empty()) warn_of_symbols();
    return result_;
}

void SymbolMeasuring::join_roots(std::span<const MeasuredPart> parts) {
    const std::uint64_t node = cut_of_whole(result_).node;
    SymbolJoiner joiner;
    for (const MeasuredPart& part : parts) {
        const std::uint64_t begin = part.range.first - result_.range.first;
        std::uint64_t next = begin / node;
        const std::uint64_t end = pieces_of(begin + part.range.count, node);
        for (const SymbolSums& root : part.roots) {
            if (next >= end) break;
            const std::uint64_t nodes = subtree_at(next, end);
            joiner.add(root, nodes);
            next += nodes;
        }
    }
    sums_ = joiner.root({});
    if (sums_.symbols + sums_.not_finite != result_.symbols)
        throw ArgumentError("parts have sums of " + std::to_string(sums_.symbols + sums_.not_finite) +
                            " symbols: expected " + std::to_string(result_.symbols));
}

void SymbolMeasuring::join_rows(std::span<const MeasuredPart> parts) {
    if (!result_.row) return;
    if (*result_.row == result_.symbols) {
        result_.rows = {sums_};
        return;
    }
    for (const MeasuredPart& part : parts)
        result_.rows.insert(result_.rows.end(), part.rows.begin(), part.rows.end());
    const std::uint64_t expected = pieces_of(result_.symbols, *result_.row);
    if (result_.rows.size() != expected)
        throw ArgumentError("parts have " + std::to_string(result_.rows.size()) + " rows: expected " +
                            std::to_string(expected));
}

void SymbolMeasuring::measure_whole() {
    const SymbolMeasurement first = result_.measurement(sums_);
    if (finds_gain_ && result_.no_gain.empty() && first.symbols > 0)
        result_.gain = static_cast<float>(first.gain);
    result_.whole = result_.measurement(sums_);
}

void SymbolMeasuring::warn_of_symbols() {
    if (!sample_) {
        sample_ = make_sample();
        sample_->read(reader_);
    }
    // Of symbols divided by the gain of the meter.
    const double units = double{result_.gain} / double{result_.meter.gain};
    const SymbolCheck check =
        sample_->check(static_cast<float>(result_.whole.noise_variance * units * units));
    std::string warning = warning_of(check, result_.meter.modulation);
    const bool is_hidden = !options_.gain && result_.whole.snr_db < 0.0;
    if (check.mismatch == SymbolMismatch::no_constellation || (is_hidden && warning.empty()))
        warning =
            "the symbols are spread like noise and show no constellation: they may be samples in time, or of "
            "an SNR below 0 dB";
    if (check.mismatch == SymbolMismatch::power && options_.gain)
        warning = "the mean power of the symbols divided by the given gain is " + rounded(check.mean_power) +
                  ", expected about 1: the gain may be wrong";
    if (!warning.empty()) result_.warnings.push_back(name_of(result_.capture) + ": " + warning);
}

}  // namespace phy::detail
