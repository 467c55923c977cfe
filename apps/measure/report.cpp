#include "measure/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "common/places.hpp"

namespace phy::apps {
namespace {

double symbols_per_second(const Measured& done) {
    return static_cast<double>(done.symbols) / done.seconds;
}

std::vector<SymbolMeasurement> measured_rows(const Measured& done) {
    std::vector<SymbolMeasurement> rows;
    for (const SymbolSums& sums : done.rows)
        rows.push_back(done.measurement(sums));
    return rows;
}

/// None if the modulation has no limit or is unknown.
std::optional<double> limit_of(const Measured& done) {
    if (!done.capture.modulation) return std::nullopt;
    return evm_limit(*done.capture.modulation, done.transmitter.value_or(Transmitter::base_station));
}

std::optional<bool> is_within_limit(const Measured& done) {
    const std::optional<double> limit = limit_of(done);
    if (!limit || std::isnan(done.whole.evm_rms)) return std::nullopt;
    return done.whole.evm_rms <= *limit;
}

Json json_of(const std::vector<SymbolMeasurement>& rows, double SymbolMeasurement::*number) {
    std::vector<Json> numbers;
    for (const SymbolMeasurement& row : rows)
        numbers.emplace_back(row.*number);
    return Json::array(numbers);
}

Json json_of_rows(const Measured& done) {
    const std::vector<SymbolMeasurement> rows = measured_rows(done);
    return Json::object({{"symbols", *done.row},
                         {"mean_power", json_of(rows, &SymbolMeasurement::mean_power)},
                         {"evm_rms", json_of(rows, &SymbolMeasurement::evm_rms)},
                         {"noise_variance", json_of(rows, &SymbolMeasurement::noise_variance)}});
}

std::string percent(double ratio) {
    return std::isnan(ratio) ? "unknown" : fmt::format("{:.3g} %", 100.0 * ratio);
}

std::string number(double value, const char* unit = "") {
    return std::isnan(value) ? "unknown" : fmt::format("{:.4g}{}", value, unit);
}

/// A row with columns of equal width.
template <typename Index, typename... Texts>
std::string table_line(const Index& row, const Texts&... columns) {
    std::string line = fmt::format("{:>8}", row);
    ((line += fmt::format("  {:>14}", columns)), ...);
    return line + "\n";
}

std::string range_of(const std::vector<SymbolMeasurement>& rows, double SymbolMeasurement::*number,
                     std::string (*text)(double)) {
    std::vector<double> values;
    for (const SymbolMeasurement& row : rows) {
        if (!std::isnan(row.*number)) values.push_back(row.*number);
    }
    if (values.empty()) return "unknown";
    const auto [least, most] = std::ranges::minmax(values);
    return text(least) + " to " + text(most);
}

/// All rows; of many rows the first, the last and a summary of the rest.
std::string text_of_rows(const Measured& done) {
    constexpr std::size_t at_the_start = 10;
    constexpr std::size_t at_the_end = 8;
    const std::vector<SymbolMeasurement> rows = measured_rows(done);
    const bool all = rows.size() <= at_the_start + at_the_end + 1;
    const std::uint64_t last = done.symbols % *done.row;
    std::string result = fmt::format("\n{} row{} of {} symbols{}\n", rows.size(), rows.size() == 1 ? "" : "s",
                                     *done.row, last == 0 ? "" : fmt::format(", the last one of {}", last)) +
                         table_line("row", "mean power", "EVM rms", "N0");
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!all && i == at_the_start) {
            const std::size_t end = rows.size() - at_the_end;
            const std::vector left_out(rows.begin() + static_cast<std::ptrdiff_t>(i),
                                       rows.begin() + static_cast<std::ptrdiff_t>(end));
            result += fmt::format("     ...  {} rows are left out, EVM rms {}\n", end - i,
                                  range_of(left_out, &SymbolMeasurement::evm_rms, percent));
            i = end;
        }
        result += table_line(i, number(rows[i].mean_power), percent(rows[i].evm_rms),
                             number(rows[i].noise_variance));
    }
    return result;
}

std::string text_of_limit(const Measured& done) {
    const std::optional<double> limit = limit_of(done);
    if (!limit) return "none";
    const std::optional<bool> within = is_within_limit(done);
    const char* const verdict = !within ? "EVM unknown" : *within ? "met" : "not met";
    const char* const source =
        done.transmitter == Transmitter::ue ? "TS 38.101-1, 6.4.2.1" : "TS 38.104, 6.5.2.2";
    return fmt::format("{} ({}): {}", percent(*limit), source, verdict);
}

}  // namespace

std::vector<Json::Member> members_of(const Measured& done) {
    const SymbolMeasurement& whole = done.whole;
    const std::optional<Modulation> modulation = done.capture.modulation;
    const std::optional<bool> within = is_within_limit(done);
    std::vector<Json::Member> members = {
        {"symbols", whole.symbols},
        {"range_first", done.range.first},
        {"mean_power", whole.mean_power},
        {"peak_power", whole.peak_power},
        {"papr_db", whole.papr_db},
        {"dc_i", whole.dc_i},
        {"dc_q", whole.dc_q},
        {"iq_gain_db", whole.iq_gain_db},
        {"iq_phase_deg", whole.iq_phase_deg},
        {"gain", whole.gain},
        {"phase_deg", whole.phase_deg},
        {"evm_rms", whole.evm_rms},
        {"evm_peak", whole.evm_peak},
        {"mer_db", whole.mer_db},
        {"noise_variance", whole.noise_variance},
        {"snr_db", whole.snr_db},
        {"not_finite", whole.not_finite},
        {"evm_limit", limit_of(done)},
        {"within_limit", within},
        {"modulation", modulation ? Json(to_string(*modulation)) : Json()},
        {"reference", done.reference == SymbolReference::sent ? "sent" : "decisions"},
        {"divided_by", done.gain},
        {"full_scale", done.capture.full_scale},
    };
    if (done.row) members.emplace_back("rows", json_of_rows(done));
    members.emplace_back("seconds", done.seconds);
    members.emplace_back("symbols_per_second", symbols_per_second(done));
    members.emplace_back("backend", names_of(done.places));
    members.emplace_back("device", devices_of(done.places));
    members.emplace_back("warnings", Json::array({done.warnings.begin(), done.warnings.end()}));
    return members;
}

std::string text_of(const Measured& done) {
    const SymbolMeasurement& whole = done.whole;
    const std::optional<Modulation> modulation = done.capture.modulation;
    std::string result;
    const auto line = [&result](const char* name, const std::string& value) {
        result += fmt::format("{:<16}{}\n", name, value);
    };
    line("symbols",
         fmt::format("{} ({})", whole.symbols, modulation ? to_string(*modulation) : "modulation unknown"));
    if (whole.not_finite > 0)
        line("not finite", fmt::format("{} more, which are left out", whole.not_finite));
    line("mean power", number(whole.mean_power));
    line("peak power",
         fmt::format("{}, {} over the mean", number(whole.peak_power), number(whole.papr_db, " dB")));
    line("DC offset", fmt::format("{} on I, {} on Q", number(whole.dc_i), number(whole.dc_q)));
    line("IQ imbalance",
         fmt::format("{}, {}", number(whole.iq_gain_db, " dB"), number(whole.iq_phase_deg, " degrees")));
    line("gain", done.no_gain.empty() ? number(whole.gain) : "unknown: " + done.no_gain);
    line("phase", number(whole.phase_deg, " degrees"));
    line("EVM rms", fmt::format("{}, MER {}", percent(whole.evm_rms), number(whole.mer_db, " dB")));
    line("EVM peak", percent(whole.evm_peak));
    line("EVM limit", text_of_limit(done));
    line("N0", fmt::format("{}, SNR {}", number(whole.noise_variance), number(whole.snr_db, " dB")));
    const std::optional<std::string> devices = devices_of(done.places);
    line("throughput", fmt::format("{:.4g} Msymbol/s", 1e-6 * symbols_per_second(done)));
    line("backend", names_of(done.places) + (devices ? ", " + *devices : ""));
    if (done.row) result += text_of_rows(done);
    return result;
}

}  // namespace phy::apps
