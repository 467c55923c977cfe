#include "estimator/random_profile.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <sstream>

#include "support/random_allocation.hpp"

namespace phy_test {
namespace {

using phy::apps::ChannelKind;
using phy::apps::ChannelModel;
using phy::apps::GivenTap;

constexpr double prefix_ns = profile_prefix * 1e9;

double uniform(std::mt19937& random, double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random);
}

double log_uniform(std::mt19937& random, double from, double to) {
    return std::exp(uniform(random, std::log(from), std::log(to)));
}

/// Taps from `begin` on, over `extent` prefixes.
void add_cluster(std::vector<GivenTap>& taps, std::mt19937& random, int count, double begin, double extent,
                 double weakest_db) {
    for (int i = 0; i < count; ++i)
        taps.push_back(
            {(begin + uniform(random, 0.0, extent)) * prefix_ns, uniform(random, weakest_db, 0.0)});
}

std::vector<GivenTap> draw_taps(ProfileKind kind, std::mt19937& random) {
    std::vector<GivenTap> taps;
    switch (kind) {
        case ProfileKind::sparse:
            add_cluster(taps, random, random_int(random, 2, 6), 0.0, 0.5, -30.0);
            break;
        case ProfileKind::late:
            taps.push_back({0.0, uniform(random, -20.0, -3.0)});
            add_cluster(taps, random, random_int(random, 2, 4), uniform(random, 0.2, 0.45), 0.05, -6.0);
            taps.back().power_db = 0.0;
            break;
        case ProfileKind::precursor:
            taps.push_back({0.0, uniform(random, -30.0, -10.0)});
            add_cluster(taps, random, random_int(random, 1, 4), uniform(random, 0.05, 0.4), 0.1, -10.0);
            taps.back().power_db = 0.0;
            break;
        case ProfileKind::single:
            taps.push_back({});
            break;
        case ProfileKind::tdl: {
            ChannelModel model = {.kind = ChannelKind::tdl};
            model.profile = "abc"[random_int(random, 0, 2)];
            model.delay_spread_ns = 1.0;
            double last = 0.0;
            for (const phy::apps::Tap& tap : taps_of(model))
                last = std::max(last, tap.delay * 1e9);
            const double spread = log_uniform(random, 10.0, prefix_ns / last);
            for (const phy::apps::Tap& tap : taps_of(model))
                taps.push_back({tap.delay * 1e9 * spread, 10.0 * std::log10(tap.power)});
            break;
        }
    }
    return taps;
}

/// Shifts all taps, as a receiver's timing does, to anywhere within +-1/2 prefix. Rounds them, for people.
void shift(std::vector<GivenTap>& taps, std::mt19937& random) {
    const auto [first, last] = std::ranges::minmax(taps, {}, &GivenTap::delay_ns);
    const double earliest = -0.5 * prefix_ns - first.delay_ns;
    const double by = uniform(random, earliest, std::max(earliest, 0.5 * prefix_ns - last.delay_ns));
    for (GivenTap& tap : taps) {
        tap.delay_ns = std::round(10.0 * (tap.delay_ns + by)) / 10.0;
        tap.power_db = std::round(10.0 * tap.power_db) / 10.0;
    }
}

/// Leaves data in so many symbols that there are about 3,000 elements, of symbols drawn at random.
void thin_data(phy::SlotAllocation& allocation, std::mt19937& random) {
    std::vector<int> symbols(phy::symbols_per_slot);
    std::iota(symbols.begin(), symbols.end(), 0);
    std::erase_if(symbols, [&](int l) { return std::ranges::count(allocation.dmrs.symbols, l) > 0; });
    std::shuffle(symbols.begin(), symbols.end(), random);
    const int wanted = 3000 / allocation.subcarriers();
    const auto kept = static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(wanted, 1, symbols.size()));
    symbols.erase(symbols.begin(), symbols.begin() + kept);
    for (const int symbol : allocation.dmrs.symbols)
        symbols.push_back(symbol);
    if (symbols.empty()) return;
    phy::ReservedElements reserved = {.symbols = symbols,
                                      .resource_blocks = allocation.resource_blocks.front(),
                                      .subcarriers = std::vector<int>(12)};
    std::iota(reserved.subcarriers.begin(), reserved.subcarriers.end(), 0);
    allocation.reserved.push_back(reserved);
}

phy::SlotAllocation draw_allocation(const ProfileChoice& choice, std::mt19937& random) {
    const auto [fewest, most] = choice.resource_blocks;
    const double drawn = log_uniform(random, fewest, most + 1.0);
    phy::SlotAllocation allocation;
    allocation.carrier_resource_blocks = std::clamp(static_cast<int>(drawn), fewest, most);
    allocation.resource_blocks = {{0, allocation.carrier_resource_blocks}};
    phy::DmrsConfig& dmrs = allocation.dmrs;
    dmrs.type = random_int(random, 1, 2);
    dmrs.length = random_int(random, 1, 2);
    if (dmrs.length == 2) dmrs.symbols = {2, 3, 10, 11};
    choose_ports(dmrs, choice.layers, random);
    thin_data(allocation, random);
    return allocation;
}

}  // namespace

std::string_view to_string(ProfileKind kind) {
    constexpr std::string_view names[] = {"sparse", "late", "precursor", "single", "tdl"};
    return names[static_cast<std::size_t>(kind)];
}

ProfileCase draw_profile(std::uint64_t seed, const ProfileChoice& choice) {
    std::seed_seq words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)};
    std::mt19937 random(words);
    ProfileCase drawn;
    drawn.seed = seed;
    drawn.kind = choice.kinds[random() % choice.kinds.size()];
    drawn.channel = {.kind = ChannelKind::taps, .taps = draw_taps(drawn.kind, random)};
    shift(drawn.channel.taps, random);
    std::vector<int> antennas = choice.antennas;
    std::erase_if(antennas, [&](int count) { return count < choice.layers; });
    drawn.antennas = antennas.at(random() % antennas.size());
    drawn.allocation = draw_allocation(choice, random);
    return drawn;
}

std::string to_string(const ProfileCase& drawn) {
    const phy::DmrsConfig& dmrs = drawn.allocation.dmrs;
    std::ostringstream text;
    text << "seed " << drawn.seed << ": " << to_string(drawn.kind) << ", " << to_string(drawn.channel) << ", "
         << dmrs.ports.size() << " layers on " << drawn.antennas << " antennas, "
         << drawn.allocation.carrier_resource_blocks << " resource blocks, DM-RS type " << dmrs.type << " of "
         << dmrs.length << " symbols, ports";
    for (const int port : dmrs.ports)
        text << ' ' << port;
    return text.str();
}

}  // namespace phy_test
