#include "link_sim/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "common/formats.hpp"
#include "common/machine.hpp"
#include "link_sim/theory.hpp"
#include "phy/core/version.hpp"
#include "phy/machine/host.hpp"

namespace phy::apps {
namespace {

/// What became of the transport blocks of a row.
struct BlockRow {
    BlockCoding coding;
    std::uint64_t transport_block_bits;
    BlockSums sums;
    ErrorRate error_rate;
    double iterations;  ///< mean of a code block
    double throughput;  ///< bit/s
};

/// The result of one receiver for a point.
struct Row {
    Modulation modulation;
    double snr_db;
    EqualizerChoice equalizer;
    SoftBitChoice soft_bits;
    std::uint64_t slots;
    std::uint64_t bits;
    std::uint64_t bit_errors;
    ErrorRate bit_error_rate;
    std::optional<double> theory;
    double evm_rms;
    double mutual_information;  ///< bits per symbol
    std::uint64_t saturated;
    std::optional<BlockRow> blocks;
};

/// For max-log; none without a formula.
std::optional<double> theory_of(const LinkConfig& config, const EqualizerChoice& equalizer) {
    const Channel::Config& channel = config.channel;
    if (equalizer.joint_detection || config.interference_db || !config.antenna_gains_db.empty() ||
        config.phase_noise)
        return std::nullopt;
    const double layer_snr = std::pow(10.0, config.snr_db / 10.0) / channel.layers;
    if (channel.model.kind == ChannelKind::awgn)
        return bit_error_rate(config.modulation, layer_snr * channel.antennas);
    // Separating layers costs one antenna for each other layer.
    const bool separates = channel.layers == 1 || config.equalization == Equalization::zero_forcing;
    if (channel.model.kind == ChannelKind::flat && separates)
        return rayleigh_bit_error_rate(config.modulation, layer_snr, channel.antennas - channel.layers + 1);
    return std::nullopt;
}

Independent independent_of(const LinkConfig& config) {
    return slots_differ(config.channel.model.kind, config.phase_noise) ? Independent::slots
                                                                       : Independent::bits;
}

std::optional<BlockRow> block_row_of(const LinkConfig& config, const BlockSums& sums) {
    if (!config.coding) return std::nullopt;
    const std::size_t size = config.transport_block().size;
    const double right_bits = static_cast<double>(size) * static_cast<double>(sums.blocks - sums.errors);
    const double slot_seconds = 1e-3 * 15e3 / config.channel.subcarrier_spacing;
    const auto blocks = static_cast<double>(sums.blocks);
    return BlockRow{
        .coding = *config.coding,
        .transport_block_bits = size,
        .sums = sums,
        .error_rate = error_rate(sums.errors, sums.blocks),
        .iterations = static_cast<double>(sums.iterations) / static_cast<double>(sums.code_blocks),
        .throughput = right_bits / (blocks * slot_seconds)};
}

Row row_of(const LinkConfig& config, const PointState& state, std::size_t receiver) {
    const EqualizerChoice& equalizer = config.equalizers[receiver / config.soft_bits.size()];
    const LinkSums& sums = state.sums[receiver];
    const SoftBitChoice& soft_bits = config.soft_bits[receiver % config.soft_bits.size()];
    const auto bits = static_cast<double>(sums.soft_bits.soft_bits);
    const SymbolMeasurement symbols = measurement_of(sums.symbols, {.modulation = config.modulation},
                                                     SampleFormat::cf32, SymbolReference::sent);
    return {.modulation = config.modulation,
            .snr_db = config.snr_db,
            .equalizer = equalizer,
            .soft_bits = soft_bits,
            .slots = state.slots,
            .bits = sums.soft_bits.compared,
            .bit_errors = sums.soft_bits.bit_errors,
            .bit_error_rate = error_rate(sums.bit_errors, independent_of(config)),
            .theory = theory_of(config, equalizer),
            .evm_rms = symbols.evm_rms,
            .mutual_information =
                sums.information / bits * static_cast<double>(bits_per_symbol(config.modulation)),
            .saturated = sums.soft_bits.saturated,
            .blocks = block_row_of(config, sums.blocks)};
}

std::vector<Row> rows_of(const LinkReport& report) {
    std::vector<Row> rows;
    for (std::size_t point = 0; point < report.points.size(); ++point) {
        for (std::size_t receiver = 0; receiver < report.points[point].receivers(); ++receiver)
            rows.push_back(row_of(report.points[point], report.states[point], receiver));
    }
    return rows;
}

std::optional<float> scale_of(const SoftBitChoice& choice) {
    return choice.format == SoftBitFormat::int8 ? std::optional(choice.scale) : std::nullopt;
}

/// None if the channel is known.
std::optional<std::string_view> time_of(const EqualizerChoice& equalizer) {
    return equalizer.known.channel ? std::nullopt : std::optional(to_string(equalizer.time));
}

/// Null without transport blocks, so that every table has the same columns.
std::vector<Json::Member> block_members_of(const std::optional<BlockRow>& blocks) {
    const auto of = [&blocks](auto get) { return blocks ? Json(get(*blocks)) : Json(); };
    return {{"mcs", of([](const BlockRow& row) { return row.coding.mcs; })},
            {"code_rate", of([](const BlockRow& row) { return row.coding.code_rate; })},
            {"transport_block_bits", of([](const BlockRow& row) { return row.transport_block_bits; })},
            {"blocks", of([](const BlockRow& row) { return row.sums.blocks; })},
            {"block_errors", of([](const BlockRow& row) { return row.sums.errors; })},
            {"block_error_rate", of([](const BlockRow& row) { return row.error_rate.rate; })},
            {"block_error_rate_low", of([](const BlockRow& row) { return row.error_rate.low; })},
            {"block_error_rate_high", of([](const BlockRow& row) { return row.error_rate.high; })},
            {"iterations_per_code_block", of([](const BlockRow& row) { return row.iterations; })},
            {"throughput_bits_per_second", of([](const BlockRow& row) { return row.throughput; })}};
}

std::vector<Json::Member> members_of(const Row& row) {
    std::vector<Json::Member> members = {{"modulation", to_string(row.modulation)},
                                         {"snr_db", row.snr_db},
                                         {"known", to_string(row.equalizer.known)},
                                         {"interference_rejection", row.equalizer.interference_rejection},
                                         {"time_interpolation", time_of(row.equalizer)},
                                         {"phase_tracking", row.equalizer.phase_tracking},
                                         {"joint_detection", row.equalizer.joint_detection},
                                         {"iterations", row.equalizer.iterations},
                                         {"method", to_string(row.soft_bits.method)},
                                         {"llr", to_string(row.soft_bits.format)},
                                         {"llr_scale", scale_of(row.soft_bits)},
                                         {"slots", row.slots},
                                         {"bits", row.bits},
                                         {"bit_errors", row.bit_errors},
                                         {"bit_error_rate", row.bit_error_rate.rate},
                                         {"bit_error_rate_low", row.bit_error_rate.low},
                                         {"bit_error_rate_high", row.bit_error_rate.high},
                                         {"theory", row.theory},
                                         {"evm_rms", row.evm_rms},
                                         {"mutual_information_bits", row.mutual_information},
                                         {"saturated", row.saturated}};
    std::ranges::copy(block_members_of(row.blocks), std::back_inserter(members));
    return members;
}

/// Null without PT-RS.
Json ptrs_of(const LinkSimOptions& options) {
    if (!options.ptrs) return {};
    return Json::object({{"time_density", options.ptrs->time_density},
                         {"frequency_density", options.ptrs->frequency_density}});
}

Json context_of(const LinkReport& report) {
    const LinkSimOptions& options = report.options;
    const StopRule rule = stop_rule_of(options);
    const std::optional<BlockCoding>& coding = report.points.front().coding;
    const auto if_blocks = [&](bool wanted, std::uint64_t value) {
        return rule.counts_blocks == wanted ? Json(value) : Json();
    };
    std::vector<Json> symbols(options.dmrs_symbols.begin(), options.dmrs_symbols.end());
    std::vector<Json> gains(options.antenna_gains_db.begin(), options.antenna_gains_db.end());
    std::vector<Json::Member> members = {
        {"date", date()},
        {"phy_version", version},
        {"backend", Host({.backend = options.backend}).backend().name()},
        {"processor", processor()},
        {"threads", report.threads},
        {"channel", to_string(options.channel)},
        {"antennas", report.points.front().channel.antennas},
        {"layers", options.layers},
        {"resource_blocks", options.resource_blocks},
        {"subcarrier_spacing_hz", options.subcarrier_spacing},
        {"dmrs_type", options.dmrs_type},
        {"dmrs_symbols", Json::array(symbols)},
        {"ptrs", ptrs_of(options)},
        {"timing_offset_s", 1e-9 * options.timing_offset_ns},
        {"frequency_offset_hz", options.frequency_offset},
        {"doppler_hz", options.doppler},
        {"interference_db", options.interference_db},
        {"antenna_gains_db", Json::array(gains)},
        {"phase_noise_dbc_per_hz", options.phase_noise},
        {"expected_delay_spread_s", 1e-9 * options.delay_spread_ns},
        {"equalizer", to_string(options.equalizer)},
        {"mcs_table", options.mcs.empty() ? Json() : Json(options.table_of_mcs())},
        {"decoder_iterations", coding ? Json(coding->iterations) : Json()},
        {"errors", if_blocks(false, rule.errors)},
        {"max_bits", if_blocks(false, rule.max_sent)},
        {"block_errors", if_blocks(true, rule.errors)},
        {"max_blocks", if_blocks(true, rule.max_sent)},
        {"min_slots", rule.min_slots},
        {"seed", options.seed},
        {"complete", report.complete},
        {"seconds", report.seconds}};
    if (report.ranks > 0) {
        members.emplace_back("ranks", report.ranks);
        members.emplace_back("slots_before", report.slots_before);
    }
    return Json::object(members);
}

/// What it knows, and what it does not do by default.
std::string receiver_of(const EqualizerChoice& equalizer) {
    const bool is_usual = equalizer.known.channel || equalizer.time == TimeInterpolation::linear;
    const int iterations = equalizer.iterations;
    return fmt::format(
        "{}{}{}{}{}{}", to_string(equalizer.known), equalizer.interference_rejection ? ", IRC" : "",
        is_usual ? "" : fmt::format(", {}", to_string(equalizer.time)),
        equalizer.phase_tracking ? ", tracked" : "", equalizer.joint_detection ? ", joint" : "",
        iterations > 0 ? fmt::format(", {} iteration{}", iterations, iterations == 1 ? "" : "s") : "");
}

std::string soft_bits_of(const Row& row) {
    const std::optional<float> scale = scale_of(row.soft_bits);
    return fmt::format("{}{}", to_string(row.soft_bits.format), scale ? fmt::format(", {:g}", *scale) : "");
}

/// Of the column with receiver_of(), and the space after it.
std::size_t receiver_width(const std::vector<Row>& rows) {
    std::size_t width = 19;
    for (const Row& row : rows)
        width = std::max(width, receiver_of(row.equalizer).size() + 2);
    return width;
}

/// A table of transport blocks.
std::string block_text_of(const std::vector<Row>& rows) {
    const std::size_t width = receiver_width(rows);
    std::string text = fmt::format(
        "\n{:<10}{:>5}{:>11}{:>12}{:>9}  {:<{}}{:<7} {:<13}{:>8}{:>14}{:>12}{:>20}{:>20}{:>10}\n",
        "modulation", "MCS", "code rate", "block bits", "SNR, dB", "known", width, "method", "soft bits",
        "blocks", "block errors", "error rate", "95 % interval", "decoder iterations", "Mbit/s");
    for (const Row& row : rows) {
        const BlockRow& blocks = *row.blocks;
        text += fmt::format(
            "{:<10}{:>5}{:>11.4g}{:>12}{:>9g}  {:<{}}{:<7} "
            "{:<13}{:>8}{:>14}{:>12}{:>20}{:>20.2f}{:>10.4g}\n",
            to_string(row.modulation), blocks.coding.mcs ? fmt::format("{}", *blocks.coding.mcs) : "",
            blocks.coding.code_rate, blocks.transport_block_bits, row.snr_db, receiver_of(row.equalizer),
            width, to_string(row.soft_bits.method), soft_bits_of(row), blocks.sums.blocks, blocks.sums.errors,
            rate_text(blocks.error_rate), interval_text(blocks.error_rate), blocks.iterations,
            1e-6 * blocks.throughput);
    }
    return text;
}

}  // namespace

Json json_of(const LinkReport& report) {
    std::vector<Json> points;
    for (const Row& row : rows_of(report))
        points.push_back(Json::object(members_of(row)));
    return Json::object({{"context", context_of(report)}, {"points", Json::array(points)}});
}

std::string csv_of(const LinkReport& report) {
    std::string text;
    for (const Row& row : rows_of(report)) {
        std::string line;
        std::string names;
        for (const auto& [name, value] : members_of(row)) {
            names.append(names.empty() ? "" : ",").append(name);
            line += (line.empty() ? "" : ",") + (value.text() == "null" ? "" : value.text());
        }
        text += (text.empty() ? names + "\n" : "") + line + "\n";
    }
    return text;
}

std::string text_of(const LinkReport& report) {
    std::string text = fmt::format("{}, {} x {} (antennas x layers), {} resource blocks\n",
                                   to_string(report.options.channel), report.points.front().channel.antennas,
                                   report.options.layers, report.options.resource_blocks);
    const std::vector<Row> rows = rows_of(report);
    const std::size_t width = receiver_width(rows);
    text += fmt::format("{:<10}{:>8}  {:<{}}{:<7} {:<13}{:>11}{:>12}{:>12}{:>22}{:>12}{:>9}{:>12}{:>11}\n",
                        "modulation", "SNR, dB", "known", width, "method", "soft bits", "bits", "bit errors",
                        "error rate", "95 % interval", "theory", "EVM, %", "bit/symbol", "saturated");
    for (const Row& row : rows) {
        text += fmt::format(
            "{:<10}{:>8g}  {:<{}}{:<7} {:<13}{:>11}{:>12}{:>12}{:>22}{:>12}{:>9.3g}{:>12.4f}{:>11}\n",
            to_string(row.modulation), row.snr_db, receiver_of(row.equalizer), width,
            to_string(row.soft_bits.method), soft_bits_of(row), row.bits, row.bit_errors,
            rate_text(row.bit_error_rate), interval_text(row.bit_error_rate),
            row.theory ? fmt::format("{:.4g}", *row.theory) : "", 100.0 * row.evm_rms, row.mutual_information,
            row.saturated);
    }
    if (report.options.has_blocks()) text += block_text_of(rows);
    return text;
}

}  // namespace phy::apps
