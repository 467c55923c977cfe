#include "air_capture.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "phy/capture/capture.hpp"
#include "support/random_allocation.hpp"

namespace phy_test {

using phy::apps::ChannelKind;
using Config = phy::apps::Recording::Config;

AirCapture::AirCapture(const Config& config) : sent(config) {
    phy::apps::Recording recording(config);
    const auto antennas = static_cast<std::size_t>(config.antennas);
    data.resize(antennas * recording.size());
    phy::apps::Recording::Piece piece;
    for (std::uint64_t i = 0; i < recording.pieces(); ++i) {
        recording.make(i, piece);
        for (std::size_t antenna = 0; antenna < antennas; ++antenna)
            std::copy_n(piece.values.begin() + static_cast<std::ptrdiff_t>(antenna * piece.size), piece.size,
                        data.begin() + static_cast<std::ptrdiff_t>(antenna * recording.size() + piece.first));
        codewords.insert(codewords.end(), piece.codeword.begin(), piece.codeword.end());
        transport_blocks.insert(transport_blocks.end(), piece.transport_block.begin(),
                                piece.transport_block.end());
        uci.insert(uci.end(), piece.uci.begin(), piece.uci.end());
    }
}

void AirCapture::write(const std::filesystem::path& file, const phy::Link& link) const {
    const auto antennas = static_cast<std::uint64_t>(sent.antennas);
    const auto width = static_cast<std::uint64_t>(sent.link.allocation.subcarriers());
    const bool is_grid = sent.kind == phy::CaptureKind::grid;
    const std::uint64_t slots = phy::SlotSchedule(sent.link).occasions(sent.slots);
    phy::CaptureWriter writer(
        file, {.symbols = data.size(),
               .overwrite = true,
               .kind = sent.kind,
               .shape = is_grid ? std::vector<std::uint64_t>{antennas, length() / width, width}
                                : std::vector<std::uint64_t>{antennas, length()},
               .link = to_json(link),
               .codewords = phy::CodewordShape{.slots = slots, .bits = codewords.size() / slots}});
    writer.append(data);
    writer.append_codewords(codewords);
    writer.commit();
}

Config plain_recording() {
    Config config;
    config.slots = 8;
    config.antennas = 2;
    config.snr_db = 30.0;
    config.channel = {.kind = ChannelKind::tdl, .delay_spread_ns = 30.0};
    config.timing_offset = 1e-7;
    config.frequency_offset = 300.0;
    phy::Link& link = config.link;
    link.modulation = phy::Modulation::qam64;
    link.scrambling = {.rnti = 17921, .id = 77};
    link.carrier.sample_rate = 384.0 * link.carrier.subcarrier_spacing;
    link.carrier.center_frequency = 3.5e9;
    link.allocation.carrier_resource_blocks = 26;
    link.allocation.first_crb = 3;
    link.allocation.resource_blocks = {{.first = 1, .count = 24}};
    link.allocation.dmrs.scrambling_id = 501;
    return config;
}

namespace {

void choose_dmrs(phy::SlotAllocation& allocation, std::mt19937& random) {
    phy::DmrsConfig& dmrs = allocation.dmrs;
    dmrs.type = random_int(random, 1, 2);
    dmrs.length = random_int(random, 0, 3) == 0 ? 2 : 1;
    choose_ports(dmrs, random_int(random, 1, 4), random);
    const std::vector<std::vector<int>> single = {{2}, {2, 11}, {3, 11}, {2, 7, 11}, {2, 5, 8, 11}};
    const std::vector<std::vector<int>> twice = {{2, 3}, {2, 3, 10, 11}};
    dmrs.symbols = dmrs.length == 1 ? single[random() % single.size()] : twice[random() % twice.size()];
    dmrs.scrambling_id = static_cast<std::uint32_t>(random_int(random, 0, 65535));
    dmrs.n_scid = random_int(random, 0, 1);
}

/// For a quarter of the links whose ports may have them.
void choose_ptrs(phy::SlotAllocation& allocation, std::uint32_t rnti, std::mt19937& random) {
    const int lowest = *std::ranges::min_element(allocation.dmrs.ports);
    if (random_int(random, 0, 3) != 0 || lowest > (allocation.dmrs.type == 1 ? 3 : 5)) return;
    allocation.ptrs = phy::PtrsConfig{.time_density = 1 << random_int(random, 0, 2),
                                      .frequency_density = 2 * random_int(random, 1, 2),
                                      .resource_element_offset = random_int(random, 0, 3),
                                      .rnti = rnti};
}

}  // namespace

Config random_recording(std::mt19937& random, double snr_db) {
    constexpr std::array widths = {12, 24, 36, 52};
    constexpr std::array sizes = {256, 384, 512, 768};
    constexpr std::array spacings = {15000, 30000, 30000, 60000, 120000};
    std::uniform_real_distribution<double> unit(-1.0, 1.0);
    Config config;
    phy::Link& link = config.link;
    const std::size_t width = random() % widths.size();
    link.carrier.subcarrier_spacing = spacings[random() % spacings.size()];
    link.carrier.sample_rate = static_cast<double>(sizes[width]) * link.carrier.subcarrier_spacing;
    // A third of them at a rate that no FFT takes.
    if (random_int(random, 0, 2) == 0)
        link.carrier.sample_rate = 12.0 * widths[width] * link.carrier.subcarrier_spacing *
                                   std::exp(0.05 + 0.5 * (unit(random) + 1.0));
    link.carrier.center_frequency = 1e5 * random_int(random, 6000, 60000);
    link.carrier.first_slot = random_int(random, 0, 9);
    link.allocation.carrier_resource_blocks = widths[width];
    const int count = random_int(random, 4, widths[width]);
    link.allocation.resource_blocks = {{random_int(random, 0, widths[width] - count), count}};
    choose_dmrs(link.allocation, random);
    const int most = std::min(5, 1 + static_cast<int>(snr_db / 8.0));
    link.modulation = phy::all_modulations[static_cast<std::size_t>(random_int(random, 1, 1 + most))];
    link.scrambling = {.rnti = static_cast<std::uint32_t>(random_int(random, 1, 65535)), .id = 3};
    choose_ptrs(link.allocation, link.scrambling.rnti, random);
    config.kind = random_int(random, 0, 2) == 0 ? phy::CaptureKind::grid : phy::CaptureKind::samples;
    const int layers = link.allocation.layers();
    config.antennas = layers + random_int(random, 0, 3);
    config.slots = static_cast<std::uint64_t>(random_int(random, 2, 8));
    config.snr_db = snr_db;
    // The paths of TDL-A end after 9.7 delay spreads: within a cyclic prefix.
    const double prefix = 144.0 / 2048.0 / link.carrier.subcarrier_spacing;
    if (random_int(random, 0, 1) == 0) {
        config.channel = {.kind = ChannelKind::tdl,
                          .profile = static_cast<char>(random_int(random, 'a', 'c')),
                          .delay_spread_ns = 1e9 * prefix * (0.002 + 0.05 * (unit(random) + 1.0))};
    } else {
        // Prefixes are made after the channel, so that they are right if the first path is not late.
        config.channel = {.kind = ChannelKind::taps, .taps = {{.power_db = 10.0 * (unit(random) - 1.0)}}};
        for (int tap = random_int(random, 1, 5); tap > 0; --tap)
            config.channel.taps.push_back({.delay_ns = 1e9 * prefix * 0.25 * (unit(random) + 1.0),
                                           .power_db = 10.0 * (unit(random) - 1.0)});
    }
    config.timing_offset = 0.1 * prefix * unit(random);
    const bool has_times =
        link.allocation.dmrs.symbols.size() > static_cast<std::size_t>(link.allocation.dmrs.length);
    config.frequency_offset = has_times ? 0.01 * unit(random) * link.carrier.subcarrier_spacing : 0.0;
    config.seed = random();
    return config;
}

Config precoded_recording(std::mt19937& random, double snr_db) {
    constexpr std::array blocks = {4, 5, 6, 8, 9, 10, 12, 15, 16, 20, 24, 27, 30, 36, 40, 45, 50};
    constexpr int sizes[][2] = {{2, 2}, {2, 4}, {4, 2}, {4, 4}, {8, 4}};
    Config config = random_recording(random, snr_db);
    phy::SlotAllocation& allocation = config.link.allocation;
    phy::DmrsConfig& dmrs = allocation.dmrs;
    dmrs.type = 1;
    dmrs.ports = {random_int(random, 0, dmrs.length == 2 ? 7 : 3)};
    dmrs.cdm_groups_without_data = 2;
    dmrs.scrambling_id %= 1008;
    dmrs.n_scid = 0;
    dmrs.transform_precoding = true;
    phy::ResourceBlocks& range = allocation.resource_blocks.front();
    range.count = *(std::ranges::upper_bound(blocks, range.count) - 1);
    const auto& size = sizes[random() % std::size(sizes)];
    allocation.ptrs = phy::PtrsConfig{.time_density = random_int(random, 1, 2),
                                      .groups = size[0],
                                      .samples_per_group = size[1],
                                      .rnti = config.link.scrambling.rnti};
    config.antennas = random_int(random, 1, 4);
    return config;
}

}  // namespace phy_test
