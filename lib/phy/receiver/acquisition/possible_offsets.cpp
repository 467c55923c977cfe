#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/numerics/elementary.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"
#include "phy/receiver/acquisition/samples.hpp"
#include "phy/receiver/chain/plan.hpp"

namespace phy {
namespace {

constexpr int max_subcarriers = 3;

/// Below this share of the subcarrier spacing an offset does no harm to a search.
constexpr double harmless = 0.1;

/// The frequency that the samples of an FFT's length apart show, in turns over that length, from -0.5 to 0.5.
/// Prefixes repeat; all else averages out.
double turns_between(const detail::AntennaSamples& samples, std::size_t apart) {
    std::complex<double> sum = 0.0;
    std::vector<float> re(samples.length);
    std::vector<float> im(samples.length);
    for (std::size_t antenna = 0; antenna < samples.antennas; ++antenna) {
        samples.read(antenna, 0, samples.length, re.data(), im.data());
        std::complex<double> mean = 0.0;
        for (std::size_t i = 0; i < samples.length; ++i)
            mean += std::complex<double>(re[i], im[i]);
        mean /= static_cast<double>(samples.length);
        const auto at = [&](std::size_t i) { return std::complex<double>(re[i], im[i]) - mean; };
        for (std::size_t i = apart; i < samples.length; ++i) {
            const std::complex<double> a = at(i - apart);
            const std::complex<double> b = at(i);
            sum += std::complex<double>(a.real() * b.real() + a.imag() * b.imag(),
                                        a.real() * b.imag() - a.imag() * b.real());
        }
    }
    constexpr double turn = 6.283185307179586;
    return detail::elementary::angle_of(sum) / turn;
}

}  // namespace

std::vector<double> possible_offsets(const ReceiverConfig& config, SymbolView samples) {
    if (config.input != ReceiverInput::samples)
        throw ArgumentError("input is a grid: expected samples to measure frequencies of");
    const detail::ReceiverPlan plan(config);
    const OfdmConfig& ofdm = plan.demodulator->ofdm;
    const double spacing = ofdm.subcarrier_spacing;
    const detail::AntennaSamples all{
        .all = samples, .antennas = plan.antennas, .length = samples.size() / plan.antennas};
    const double turns = turns_between(all, OfdmTiming(ofdm).fft_size()) + ofdm.frequency_shift / spacing;
    const double fraction = turns - std::floor(turns + 0.5);
    std::vector<double> result;
    for (int k = -max_subcarriers - 1; k <= max_subcarriers + 1; ++k)
        if (std::fabs(fraction + k) <= max_subcarriers + harmless && std::fabs(fraction + k) > harmless)
            result.push_back((fraction + k) * spacing);
    std::ranges::sort(result, [](double a, double b) { return std::fabs(a) < std::fabs(b); });
    return result;
}

}  // namespace phy
