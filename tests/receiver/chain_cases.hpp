#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "dmrs/sionna_vectors.hpp"
#include "phy/core/half.hpp"
#include "phy/receiver/receiver.hpp"
#include "receiver/chain_reference.hpp"
#include "receiver/test_air.hpp"
#include "scrambling/gold_reference.hpp"

/// Slots of a transmitter independent of the library, for phy::Receiver.
namespace phy_test {

/// A transmitted slot and its link.
struct ChainCase {
    std::string name;
    phy::Link link;
    AirCarrier carrier;
    std::vector<AirComplex> grid;           ///< (ports, 14, subcarriers)
    std::vector<std::uint8_t> scrambled;    ///< scrambled code bits, as mapped
    std::vector<std::uint8_t> codeword;     ///< code bits for a decoder
    std::vector<ElementPlace> places = {};  ///< of data elements
};

/// The smallest FFT sizes of all radices for this number of resource blocks with any k0.
inline std::vector<std::size_t> air_fft_sizes(int resource_blocks) {
    std::vector<std::size_t> sizes;
    for (const std::size_t size :
         {128, 256, 384, 512, 640, 768, 1024, 1152, 1280, 1536, 1920, 2048, 2304, 2560, 3072, 4096, 5120}) {
        if (size >= static_cast<std::size_t>(12 * resource_blocks + 12) && sizes.size() < 3)
            sizes.push_back(size);
    }
    return sizes;
}

inline ChainCase make_case(const SionnaVector& vector, std::mt19937_64& random) {
    ChainCase made;
    made.name = vector.name;
    made.scrambled = vector.codeword;
    made.grid.assign(vector.grid.begin(), vector.grid.end());
    made.places = data_places(vector.allocation);
    const std::vector<std::uint8_t> c =
        gold_reference((vector.rnti << 15U) + vector.scrambling_id, vector.codeword.size());
    for (std::size_t i = 0; i < c.size(); ++i)
        made.codeword.push_back(static_cast<std::uint8_t>(vector.codeword[i] ^ c[i]));

    const auto pick = [&random](const auto& list) { return list[random() % std::size(list)]; };
    const int blocks = vector.allocation.carrier_resource_blocks;
    made.carrier = {.spacing = vector.subcarrier_spacing,
                    .resource_blocks = blocks,
                    .fft_size = pick(air_fft_sizes(blocks)),
                    .k0 = pick(std::array{-6, 0, 6}),
                    .center_frequency = pick(std::array{0.0, 3.75e9, 3.8e9 + 15000.0, 28.0001e9}),
                    .frequency_shift = pick(std::array{0.0, 1.5, -7.25}) * vector.subcarrier_spacing};
    phy::Link& link = made.link;
    link.carrier.subcarrier_spacing = vector.subcarrier_spacing;
    link.carrier.k0 = made.carrier.k0;
    link.carrier.sample_rate = made.carrier.rate();
    link.carrier.center_frequency = made.carrier.center_frequency;
    link.carrier.frequency_shift = made.carrier.frequency_shift;
    link.allocation = vector.allocation;
    link.scrambling = {.rnti = vector.rnti, .id = vector.scrambling_id};
    link.modulation = vector.modulation;
    link.slots = {vector.slot};
    return made;
}

/// A channel with offsets, and delays that fit into a prefix. Without a second DM-RS the frequency offset is
/// 0, as it cannot be measured.
inline AirChannel draw_chain_channel(const ChainCase& sent, int antennas, AirProfile profile,
                                     std::mt19937_64& random) {
    const double prefix = 144.0 / 2048.0 / sent.carrier.spacing;
    AirChannel channel =
        draw_air_channel(random, antennas, sent.link.allocation.layers(), 0.04 * prefix, profile);
    std::uniform_real_distribution<double> unit(-1.0, 1.0);
    channel.timing = (-0.1 + 0.2 * unit(random)) * prefix;
    const phy::DmrsConfig& dmrs = sent.link.allocation.dmrs;
    if (static_cast<int>(dmrs.symbols.size()) > dmrs.length)
        channel.frequency = 0.004 * unit(random) * sent.carrier.spacing;
    return channel;
}

/// Stored samples with per_slot samples per antenna and slot. A shorter slot leaves NaN, or for integers all
/// ones.
inline std::vector<std::byte> store(const AirSamples& samples, std::size_t antennas, std::size_t per_slot,
                                    phy::SampleFormat format, double gain) {
    const std::size_t of_antenna = samples.size() / antennas;
    std::vector<std::byte> bytes(antennas * per_slot * size_of(format), std::byte{0xFF});
    std::byte* to = bytes.data();
    const auto rounded = [](double value, double scale) {
        return static_cast<int>(std::clamp(std::round(value * scale), -scale, scale - 1.0));
    };
    for (std::size_t antenna = 0; antenna < antennas; ++antenna) {
        to = bytes.data() + antenna * per_slot * size_of(format);
        for (std::size_t i = 0; i < of_antenna; ++i, to += size_of(format)) {
            const AirComplex sample = gain * samples[antenna * of_antenna + i];
            const std::complex<float> single(sample);
            const auto put = [to](const auto& value) { std::memcpy(to, &value, sizeof(value)); };
            switch (format) {
                case phy::SampleFormat::cf32:
                    put(single);
                    break;
                case phy::SampleFormat::cf16:
                    put(phy::cf16{phy::half(single.real()), phy::half(single.imag())});
                    break;
                case phy::SampleFormat::ci16:
                    put(phy::ci16{static_cast<std::int16_t>(rounded(sample.real(), 32768.0)),
                                  static_cast<std::int16_t>(rounded(sample.imag(), 32768.0))});
                    break;
                case phy::SampleFormat::ci8:
                    put(phy::ci8{static_cast<std::int8_t>(rounded(sample.real(), 128.0)),
                                 static_cast<std::int8_t>(rounded(sample.imag(), 128.0))});
                    break;
            }
        }
    }
    return bytes;
}

/// The gain that gives samples a mean power of 0.01, so that peaks stay below 1.
inline double recording_gain(const AirSamples& samples) {
    double power = 0.0;
    for (const AirComplex& sample : samples)
        power += std::norm(sample);
    return 0.1 / std::sqrt(power / static_cast<double>(samples.size()));
}

/// Signal plus noise of variance n0 per resource element.
inline AirSamples add_noise(const AirSamples& signal, const AirSamples& noise, double n0) {
    AirSamples sum(signal.size());
    for (std::size_t i = 0; i < sum.size(); ++i)
        sum[i] = signal[i] + std::sqrt(n0) * noise[i];
    return sum;
}

/// Number of bits whose soft bit is 0 or has the wrong sign.
inline std::size_t bit_errors(std::span<const float> llr, std::span<const std::uint8_t> codeword) {
    std::size_t errors = 0;
    for (std::size_t i = 0; i < codeword.size(); ++i)
        errors += (codeword[i] == 0 ? llr[i] > 0.0F : llr[i] < 0.0F) ? 0 : 1;
    return errors;
}

}  // namespace phy_test
