#include "receive_cases.hpp"

#include <cmath>
#include <numbers>
#include <random>

#include "phy/capture/capture.hpp"

namespace phy_test {

using phy::cf32;
using phy::ReceiverConfig;
using phy::ReceiverInput;

namespace {

/// Each antenna's range of `length`, as change makes it.
template <typename Change>
std::vector<cf32> by_antenna(const std::vector<cf32>& data, std::size_t length, const Change& change) {
    std::vector<cf32> all;
    for (std::size_t first = 0; first < data.size(); first += length) {
        const auto begin = data.begin() + static_cast<std::ptrdiff_t>(first);
        std::vector<cf32> antenna(begin, begin + static_cast<std::ptrdiff_t>(length));
        change(antenna);
        all.insert(all.end(), antenna.begin(), antenna.end());
    }
    return all;
}

}  // namespace

void Recording::delay(std::size_t samples) {
    std::mt19937 random(7);
    std::normal_distribution<float> noise(0.0F, 1e-4F);
    data = by_antenna(data, length(), [&](std::vector<cf32>& antenna) {
        std::vector<cf32> before(samples);
        for (cf32& sample : before)
            sample = {noise(random), noise(random)};
        antenna.insert(antenna.begin(), before.begin(), before.end());
    });
}

void Recording::cut(std::size_t samples) {
    data = by_antenna(data, length(),
                      [&](std::vector<cf32>& antenna) { antenna.resize(antenna.size() - samples); });
}

void Recording::shift(double hertz) {
    const double turn = 2.0 * std::numbers::pi * hertz / *config.link.carrier.sample_rate;
    data = by_antenna(data, length(), [&](std::vector<cf32>& antenna) {
        for (std::size_t t = 0; t < antenna.size(); ++t) {
            const std::complex<double> value(antenna[t].real(), antenna[t].imag());
            antenna[t] = cf32(value * std::polar(1.0, turn * static_cast<double>(t)));
        }
    });
}

void Recording::write(const std::filesystem::path& file, const std::string& link) const {
    const auto antennas = static_cast<std::uint64_t>(config.antennas);
    const bool is_grid = config.input == ReceiverInput::grid;
    const auto subcarriers = static_cast<std::uint64_t>(config.link.allocation.subcarriers());
    phy::CaptureWriter writer(
        file, {.symbols = data.size(),
               .overwrite = true,
               .kind = is_grid ? phy::CaptureKind::grid : phy::CaptureKind::samples,
               .shape = is_grid ? std::vector<std::uint64_t>{antennas, length() / subcarriers, subcarriers}
                                : std::vector<std::uint64_t>{antennas, length()},
               .link = link,
               .codewords = phy::CodewordShape{.slots = slots, .bits = codewords.size() / slots}});
    writer.append(data);
    writer.append_codewords(codewords);
    writer.commit();
}

ReceiverConfig recorded_config(ReceiverInput input) {
    ReceiverConfig config = {.link = small_link(), .input = input, .antennas = 4};
    config.link.modulation = phy::Modulation::qam256;
    config.link.allocation.dmrs.ports = {0, 1};
    config.link.carrier.cell_id = 5;
    if (input == ReceiverInput::samples) give_samples(config.link);
    return config;
}

Recording record(ReceiverInput input, std::size_t slots, const AirConfig& air) {
    return record(recorded_config(input), slots, air);
}

Recording record(const ReceiverConfig& config, std::size_t slots, const AirConfig& air) {
    const Transmission sent = transmit(config, air, 0, slots);
    Recording recording = {.config = config, .codewords = sent.bits, .slots = slots};
    const auto antennas = static_cast<std::size_t>(config.antennas);
    const std::size_t of_slot = sent.input.size() / slots / antennas;
    for (std::size_t antenna = 0; antenna < antennas; ++antenna)
        for (std::size_t slot = 0; slot < slots; ++slot) {
            const auto begin =
                sent.input.begin() + static_cast<std::ptrdiff_t>((slot * antennas + antenna) * of_slot);
            recording.data.insert(recording.data.end(), begin, begin + static_cast<std::ptrdiff_t>(of_slot));
        }
    return recording;
}

}  // namespace phy_test
