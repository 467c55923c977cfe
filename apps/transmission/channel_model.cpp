#include "transmission/channel_model.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "common/app.hpp"
#include "phy/core/error.hpp"

namespace phy::apps {
namespace {

/// A row of TR 38.901 tables 7.7.2-1 to -3: delay / delay spread, and power in dB.
struct Row {
    double delay;
    double decibel;
};

constexpr Row tdl_a[] = {{0.0000, -13.4}, {0.3819, 0.0},   {0.4025, -2.2},  {0.5868, -4.0},  {0.4610, -6.0},
                         {0.5375, -8.2},  {0.6708, -9.9},  {0.5750, -10.5}, {0.7618, -7.5},  {1.5375, -15.9},
                         {1.8978, -6.6},  {2.2242, -16.7}, {2.1718, -12.4}, {2.4942, -15.2}, {2.5119, -10.8},
                         {3.0582, -11.3}, {4.0810, -12.7}, {4.4579, -16.2}, {4.5695, -18.3}, {4.7966, -18.9},
                         {5.0066, -16.6}, {5.3043, -19.9}, {9.6586, -29.7}};

constexpr Row tdl_b[] = {{0.0000, 0.0},   {0.1072, -2.2}, {0.2155, -4.0},  {0.2095, -3.2}, {0.2870, -9.8},
                         {0.2986, -1.2},  {0.3752, -3.4}, {0.5055, -5.2},  {0.3681, -7.6}, {0.3697, -3.0},
                         {0.5700, -8.9},  {0.5283, -9.0}, {1.1021, -4.8},  {1.2756, -5.7}, {1.5474, -7.5},
                         {1.7842, -1.9},  {2.0169, -7.6}, {2.8294, -12.2}, {3.0219, -9.8}, {3.6187, -11.4},
                         {4.1067, -14.9}, {4.2790, -9.2}, {4.7834, -11.3}};

constexpr Row tdl_c[] = {{0.0000, -4.4},  {0.2099, -1.2},  {0.2219, -3.5},  {0.2329, -5.2},  {0.2176, -2.5},
                         {0.6366, 0.0},   {0.6448, -2.2},  {0.6560, -3.9},  {0.6584, -7.4},  {0.7935, -7.1},
                         {0.8213, -10.7}, {0.9336, -11.1}, {1.2285, -5.1},  {1.3083, -6.8},  {2.1704, -8.7},
                         {2.7105, -13.2}, {4.2589, -13.9}, {4.6003, -13.9}, {5.4902, -15.8}, {5.6077, -17.1},
                         {6.3065, -16.0}, {6.6374, -15.7}, {7.0427, -21.6}, {8.6523, -22.8}};

std::span<const Row> rows_of(char profile) {
    if (profile == 'b') return tdl_b;
    if (profile == 'c') return tdl_c;
    return tdl_a;
}

/// Parses the text after "tdl": the profile, if any, and the delay spread.
std::optional<ChannelModel> parse_tdl(std::string_view text) {
    ChannelModel model = {.kind = ChannelKind::tdl};
    if (text.size() > 2 && text[0] == '-') {
        model.profile = text[1];
        text.remove_prefix(2);
    }
    if (text.empty() || text[0] != ':') return std::nullopt;
    const std::optional<double> spread = parse_number<double>(text.substr(1));
    // So that NaN is outside.
    if (!spread || !(*spread >= 0.0 && *spread <= 10'000.0)) return std::nullopt;
    if (model.profile < 'a' || model.profile > 'c') return std::nullopt;
    model.delay_spread_ns = *spread;
    return model;
}

/// Parses "NS:DB".
std::optional<GivenTap> parse_tap(std::string_view text) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::optional<double> delay = parse_number<double>(text.substr(0, colon));
    const std::optional<double> power = parse_number<double>(text.substr(std::min(colon + 1, text.size())));
    // So that NaN is outside.
    if (!delay || !(std::abs(*delay) <= 10'000.0) || !power || !(std::abs(*power) <= 100.0))
        return std::nullopt;
    return GivenTap{*delay, *power};
}

/// Parses the text after "taps:".
std::optional<ChannelModel> parse_taps(const std::string& text) {
    ChannelModel model = {.kind = ChannelKind::taps};
    for (const std::string& each : split(text)) {
        const std::optional<GivenTap> tap = parse_tap(each);
        if (!tap) return std::nullopt;
        model.taps.push_back(*tap);
    }
    return model;
}

/// Scales the powers to a sum of 1.
std::vector<Tap> normalized(std::vector<Tap> taps) {
    double sum = 0.0;
    for (const Tap& tap : taps)
        sum += tap.power;
    for (Tap& tap : taps)
        tap.power /= sum;
    return taps;
}

double power_of(double decibel) {
    return std::pow(10.0, decibel / 10.0);
}

}  // namespace

std::string to_string(const ChannelModel& model) {
    if (model.kind == ChannelKind::awgn) return "awgn";
    if (model.kind == ChannelKind::flat) return "flat";
    if (model.kind == ChannelKind::taps) {
        std::string text;
        for (const GivenTap& tap : model.taps)
            text += fmt::format("{}{}:{}", text.empty() ? "taps:" : ",", tap.delay_ns, tap.power_db);
        return text;
    }
    return fmt::format("tdl-{}:{}", model.profile, model.delay_spread_ns);
}

ChannelModel parse_channel(const std::string& text) {
    if (text == "awgn") return {.kind = ChannelKind::awgn};
    if (text == "flat") return {.kind = ChannelKind::flat};
    if (text.starts_with("tdl")) {
        if (const std::optional<ChannelModel> model = parse_tdl(std::string_view(text).substr(3)))
            return *model;
    }
    if (text.starts_with("taps:")) {
        if (const std::optional<ChannelModel> model = parse_taps(text.substr(5))) return *model;
    }
    throw ArgumentError(fmt::format(
        "--channel {}: expected 'awgn', 'flat', or 'tdl', 'tdl-a', 'tdl-b' or 'tdl-c' with ':' and a delay "
        "spread from 0 to 10000 ns, or 'taps:' with NS:DB for each tap, from -10000 to 10000 ns and "
        "from -100 to 100 dB",
        text));
}

std::vector<Tap> taps_of(const ChannelModel& model) {
    std::vector<Tap> taps;
    if (model.kind == ChannelKind::tdl) {
        for (const Row& row : rows_of(model.profile))
            taps.push_back({row.delay * model.delay_spread_ns * 1e-9, power_of(row.decibel)});
    } else if (model.kind == ChannelKind::taps) {
        for (const GivenTap& tap : model.taps)
            taps.push_back({tap.delay_ns * 1e-9, power_of(tap.power_db)});
    } else {
        taps.push_back({});
    }
    return normalized(std::move(taps));
}

}  // namespace phy::apps
