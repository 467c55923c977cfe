#include "link_sim/report.hpp"

#include <cmath>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "common/machine.hpp"
#include "link_sim/theory.hpp"
#include "phy/core/version.hpp"
#include "phy/machine/host.hpp"

namespace phy::apps {
namespace {

/// The result of one receiver for a point.
struct Row {
    Modulation modulation;
    double snr_db;
    Knowledge known;
    SoftBitChoice soft_bits;
    std::uint64_t slots;
    std::uint64_t bits;
    std::uint64_t bit_errors;
    double bit_error_rate;
    std::optional<double> theory;
    double evm_rms;
    double mutual_information;  ///< bits per symbol
    std::uint64_t saturated;
};

/// For max-log; none without a formula.
std::optional<double> theory_of(const LinkConfig& config) {
    const Channel::Config& channel = config.channel;
    const double layer_snr = std::pow(10.0, config.snr_db / 10.0) / channel.layers;
    if (channel.model.kind == ChannelKind::awgn)
        return bit_error_rate(config.modulation, layer_snr * channel.antennas);
    // Separating layers costs one antenna for each other layer.
    const bool separates = channel.layers == 1 || config.equalization == Equalization::zero_forcing;
    if (channel.model.kind == ChannelKind::flat && separates)
        return rayleigh_bit_error_rate(config.modulation, layer_snr, channel.antennas - channel.layers + 1);
    return std::nullopt;
}

Row row_of(const LinkConfig& config, const PointState& state, std::size_t receiver) {
    const LinkSums& sums = state.sums[receiver];
    const SoftBitChoice& soft_bits = config.soft_bits[receiver % config.soft_bits.size()];
    const auto bits = static_cast<double>(sums.soft_bits.soft_bits);
    const SymbolMeasurement symbols = measurement_of(sums.symbols, {.modulation = config.modulation},
                                                     SampleFormat::cf32, SymbolReference::sent);
    return {.modulation = config.modulation,
            .snr_db = config.snr_db,
            .known = config.known[receiver / config.soft_bits.size()],
            .soft_bits = soft_bits,
            .slots = state.slots,
            .bits = sums.soft_bits.compared,
            .bit_errors = sums.soft_bits.bit_errors,
            .bit_error_rate =
                static_cast<double>(sums.soft_bits.bit_errors) / static_cast<double>(sums.soft_bits.compared),
            .theory = theory_of(config),
            .evm_rms = symbols.evm_rms,
            .mutual_information =
                sums.information / bits * static_cast<double>(bits_per_symbol(config.modulation)),
            .saturated = sums.soft_bits.saturated};
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

std::vector<Json::Member> members_of(const Row& row) {
    return {{"modulation", to_string(row.modulation)},
            {"snr_db", row.snr_db},
            {"known", to_string(row.known)},
            {"method", to_string(row.soft_bits.method)},
            {"llr", to_string(row.soft_bits.format)},
            {"llr_scale", scale_of(row.soft_bits)},
            {"slots", row.slots},
            {"bits", row.bits},
            {"bit_errors", row.bit_errors},
            {"bit_error_rate", row.bit_error_rate},
            {"theory", row.theory},
            {"evm_rms", row.evm_rms},
            {"mutual_information_bits", row.mutual_information},
            {"saturated", row.saturated}};
}

Json context_of(const LinkReport& report) {
    const LinkSimOptions& options = report.options;
    std::vector<Json> symbols(options.dmrs_symbols.begin(), options.dmrs_symbols.end());
    return Json::object({{"date", date()},
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
                         {"timing_offset_s", 1e-9 * options.timing_offset_ns},
                         {"frequency_offset_hz", options.frequency_offset},
                         {"expected_delay_spread_s", 1e-9 * options.delay_spread_ns},
                         {"equalizer", to_string(options.equalizer)},
                         {"errors", options.errors},
                         {"max_bits", options.max_bits},
                         {"min_slots", stop_rule_of(options).min_slots},
                         {"seed", options.seed},
                         {"complete", report.complete},
                         {"seconds", report.seconds}});
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
    text += fmt::format("{:<10}{:>8}  {:<14}{:<7} {:<13}{:>11}{:>10}{:>12}{:>12}{:>9}{:>12}{:>11}\n",
                        "modulation", "SNR, dB", "known", "method", "soft bits", "bits", "wrong", "rate",
                        "theory", "EVM, %", "bit/symbol", "saturated");
    for (const Row& row : rows_of(report)) {
        const std::optional<float> scale = scale_of(row.soft_bits);
        const std::string format =
            fmt::format("{}{}", to_string(row.soft_bits.format), scale ? fmt::format(", {:g}", *scale) : "");
        text += fmt::format(
            "{:<10}{:>8g}  {:<14}{:<7} {:<13}{:>11}{:>10}{:>12.4g}{:>12}{:>9.3g}{:>12.4f}{:>11}\n",
            to_string(row.modulation), row.snr_db, to_string(row.known), to_string(row.soft_bits.method),
            format, row.bits, row.bit_errors, row.bit_error_rate,
            row.theory ? fmt::format("{:.4g}", *row.theory) : "", 100.0 * row.evm_rms, row.mutual_information,
            row.saturated);
    }
    return text;
}

}  // namespace phy::apps
