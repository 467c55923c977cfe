#include "bench/profile_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <tuple>

#include <fmt/format.h>

#include "common/machine.hpp"
#include "phy/core/version.hpp"

namespace phy::bench {
namespace {

using apps::Json;
using phy_test::ProfileCase;
using phy_test::ProfileLoss;

/// A figure of a case at an SNR: the larger, the worse.
struct Figure {
    const char* name;
    double (*of)(const ProfileLoss&);
};

double decibels(double ratio) {
    return 10.0 * std::log10(ratio);
}

constexpr Figure figures[] = {
    {"evm_over_genie_db", [](const ProfileLoss& loss) { return loss.evm_over_genie_db(); }},
    {"evm_over_flat_db", [](const ProfileLoss& loss) { return loss.evm_over_flat_db(); }},
    {"channel_error_over_genie_db",
     [](const ProfileLoss& loss) { return decibels(loss.phy.channel_error / loss.genie.channel_error); }},
    {"channel_error_over_flat_db",
     [](const ProfileLoss& loss) { return decibels(loss.phy.channel_error / loss.flat.channel_error); }},
    {"information_below_genie",
     [](const ProfileLoss& loss) { return loss.genie.information - loss.phy.information; }},
    {"information_below_flat",
     [](const ProfileLoss& loss) { return loss.flat.information - loss.phy.information; }},
    {"evm_db", [](const ProfileLoss& loss) { return 2.0 * decibels(loss.phy.evm); }},
    {"genie_evm_db", [](const ProfileLoss& loss) { return 2.0 * decibels(loss.genie.evm); }},
    {"flat_evm_over_genie_db",
     [](const ProfileLoss& loss) { return 2.0 * decibels(loss.flat.evm / loss.genie.evm); }},
};

std::string block_range(const ProfileCase& drawn) {
    constexpr int last[] = {1, 2, 3, 4, 6, 8, 12, 24, 52, 106, 275};
    const int* const end = std::ranges::lower_bound(last, drawn.allocation.carrier_resource_blocks);
    const int first = end == std::begin(last) ? 1 : *(end - 1) + 1;
    return first == *end ? fmt::format("{}", first) : fmt::format("{} to {}", first, *end);
}

/// What cases are grouped by.
struct Grouping {
    const char* name;
    std::string (*of)(const ProfileCase&);
};

constexpr Grouping groupings[] = {
    {"layers", [](const ProfileCase& drawn) { return fmt::format("{}", drawn.allocation.layers()); }},
    {"layers x antennas",
     [](const ProfileCase& drawn) {
         return fmt::format("{} x {}", drawn.allocation.layers(), drawn.antennas);
     }},
    {"profile", [](const ProfileCase& drawn) { return std::string(to_string(drawn.kind)); }},
    {"DM-RS",
     [](const ProfileCase& drawn) {
         return fmt::format("type {}, {}", drawn.allocation.dmrs.type,
                            drawn.allocation.dmrs.length == 1 ? "single" : "double");
     }},
    {"resource blocks", block_range},
};

/// A group at an SNR.
struct Group {
    const char* by;
    std::string name;
    double snr_db = 0.0;
    std::uint64_t refused = 0;
    std::vector<std::pair<const ProfileLoss*, std::uint64_t>> losses = {};  ///< with seeds
};

std::vector<Group> groups_of(const ProfileOptions& options, const std::vector<ProfileOutcome>& outcomes) {
    std::vector<Group> all;
    for (const Grouping& grouping : groupings) {
        std::vector<std::string> names;
        for (const ProfileOutcome& outcome : outcomes) {
            const std::string name = grouping.of(outcome.drawn);
            if (std::ranges::count(names, name) == 0) names.push_back(name);
        }
        // "1 x 2" before "1 x 16", and that before "2 x 2".
        std::ranges::sort(names, {}, [](const std::string& name) {
            return std::tuple(std::atoi(name.c_str()), name.size(), name);
        });
        for (const std::string& name : names) {
            for (std::size_t snr = 0; snr < options.snr_db.size(); ++snr) {
                Group group = {grouping.name, name, options.snr_db[snr]};
                for (const ProfileOutcome& outcome : outcomes) {
                    if (grouping.of(outcome.drawn) != name) continue;
                    if (outcome.losses.empty()) {
                        ++group.refused;
                        continue;
                    }
                    group.losses.emplace_back(&outcome.losses[snr], outcome.drawn.seed);
                }
                all.push_back(group);
            }
        }
    }
    return all;
}

struct Summary {
    float median = NAN;
    float percentile_95 = NAN;
    float worst = NAN;
    std::uint64_t worst_seed = 0;
};

Summary summary_of(const Group& group, const Figure& figure) {
    if (group.losses.empty()) return {};
    std::vector<std::pair<float, std::uint64_t>> values;
    for (const auto& [loss, seed] : group.losses)
        values.emplace_back(static_cast<float>(figure.of(*loss)), seed);
    std::ranges::sort(values);
    const std::size_t last = values.size() - 1;
    return {values[values.size() / 2].first, values[last - values.size() / 20].first, values[last].first,
            values[last].second};
}

Json json_of(const Summary& summary) {
    return Json::object({{"median", summary.median},
                         {"percentile_95", summary.percentile_95},
                         {"worst", summary.worst},
                         {"worst_seed", summary.worst_seed}});
}

Json json_of(const Group& group) {
    std::vector<Json::Member> members = {{"by", group.by},
                                         {"group", group.name},
                                         {"snr_db", group.snr_db},
                                         {"channels", group.losses.size()},
                                         {"refused", group.refused}};
    for (const Figure& figure : figures)
        members.emplace_back(figure.name, json_of(summary_of(group, figure)));
    return Json::object(members);
}

}  // namespace

Json json_of(const ProfileOptions& options, const std::vector<ProfileOutcome>& outcomes, double seconds) {
    const std::vector<Json> layers(options.layers.begin(), options.layers.end());
    const auto [fewest, most] = options.resource_blocks;
    std::vector<Json> groups;
    for (const Group& group : groups_of(options, outcomes))
        groups.push_back(json_of(group));
    return Json::object({{"context", Json::object({{"date", apps::date()},
                                                   {"phy_version", version},
                                                   {"processor", apps::processor()},
                                                   {"seed", options.seed},
                                                   {"channels", options.channels},
                                                   {"layers", Json::array(layers)},
                                                   {"resource_blocks", Json::array({fewest, most})},
                                                   {"threads", options.threads},
                                                   {"seconds", seconds}})},
                         {"groups", Json::array(groups)}});
}

std::string text_of(const ProfileOptions& options, const std::vector<ProfileOutcome>& outcomes) {
    std::string text = fmt::format(
        "seed {}; EVM in dB above a filter that knows the profile, and above one for a flat profile\n",
        options.seed);
    text +=
        fmt::format("{:<18}{:<15}{:>8}{:>10}{:>9}{:>26}{:>26}  {}\n", "by", "group", "SNR, dB", "channels",
                    "refused", "median, 95 %, worst", "median, 95 %, worst", "seeds of the worst");
    for (const Group& group : groups_of(options, outcomes)) {
        const Summary genie = summary_of(group, figures[0]);
        const Summary flat = summary_of(group, figures[1]);
        text += fmt::format(
            "{:<18}{:<15}{:>8g}{:>10}{:>9}{:>10.2f}{:>8.2f}{:>8.2f}{:>10.2f}{:>8.2f}{:>8.2f}  {}, {}\n",
            group.by, group.name, group.snr_db, group.losses.size(), group.refused, genie.median,
            genie.percentile_95, genie.worst, flat.median, flat.percentile_95, flat.worst, genie.worst_seed,
            flat.worst_seed);
    }
    return text;
}

std::string text_of(const ProfileOptions& options, const ProfileOutcome& outcome) {
    std::string text = to_string(outcome.drawn) + "\n";
    if (outcome.losses.empty()) return text + "the estimator refuses the allocation\n";
    text += fmt::format("{:>8}{:>32}{:>32}{:>32}\n", "SNR, dB", "EVM, %: phy, genie, flat",
                        "channel error, dB", "information, bits per symbol");
    for (std::size_t i = 0; i < outcome.losses.size(); ++i) {
        const auto& [phy, genie, flat] = outcome.losses[i];
        text +=
            fmt::format("{:>8g}{:>14.2f}{:>9.2f}{:>9.2f}{:>14.1f}{:>9.1f}{:>9.1f}{:>14.3f}{:>9.3f}{:>9.3f}\n",
                        options.snr_db[i], 100.0 * phy.evm, 100.0 * genie.evm, 100.0 * flat.evm,
                        decibels(phy.channel_error), decibels(genie.channel_error),
                        decibels(flat.channel_error), phy.information, genie.information, flat.information);
    }
    return text;
}

}  // namespace phy::bench
