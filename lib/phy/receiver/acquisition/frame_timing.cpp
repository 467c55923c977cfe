#include "phy/receiver/acquisition/frame_timing.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>

namespace phy::detail {
namespace {

using Complex = std::complex<double>;

/// Products of samples one FFT apart, summed over all half subframes.
std::vector<Complex> folded_products(const AntennaSamples& samples, std::size_t size, std::size_t period) {
    std::vector<Complex> folded(period);
    const std::size_t step = std::max<std::size_t>(size, 4096);
    std::vector<float> re(step + size);
    std::vector<float> im(step + size);
    for (std::size_t antenna = 0; antenna < samples.antennas; ++antenna) {
        for (std::size_t first = 0; first < samples.length; first += step) {
            samples.read(antenna, static_cast<std::int64_t>(first), step + size, re.data(), im.data());
            for (std::size_t i = 0; i < step; ++i) {
                const Complex early(re[i], im[i]);
                const Complex late(re[i + size], im[i + size]);
                folded[(first + i) % period] += std::conj(early) * late;
            }
        }
    }
    return folded;
}

}  // namespace

std::vector<std::size_t> slot_beginnings(const OfdmTiming& timing, const AntennaSamples& samples) {
    const std::size_t period = timing.slot_start(timing.slots_per_subframe()) / 2;
    const std::size_t prefix = timing.prefix_samples(0, 1);
    std::vector<Complex> sums = {0.0};
    const std::vector<Complex> folded = folded_products(samples, timing.fft_size(), period);
    for (std::size_t i = 0; i < 2 * period; ++i)
        sums.push_back(sums.back() + folded[i % period]);

    // Symbols of half a subframe: where their prefixes, without what makes the first one longer, begin.
    std::vector<std::size_t> begins;
    const std::size_t symbols = 7 * timing.slots_per_subframe();
    for (std::size_t symbol = 0; symbol < symbols; ++symbol) {
        const std::uint64_t slot = symbol / 14;
        begins.push_back(timing.slot_start(slot) + timing.symbol_start(slot, symbol % 14) +
                         timing.prefix_samples(slot, symbol % 14) - prefix);
    }
    std::vector<double> strength(period);
    for (std::size_t i = 0; i < period; ++i) {
        Complex sum = 0.0;
        for (const std::size_t begin : begins) {
            const std::size_t at = (i + begin) % period;
            sum += sums[at + prefix] - sums[at];
        }
        strength[i] = std::norm(sum);
    }

    const auto strongest =
        static_cast<std::size_t>(std::max_element(strength.begin(), strength.end()) - strength.begin());
    std::vector<std::size_t> found = {strongest};
    for (std::size_t symbol = 1; symbol < symbols; ++symbol) {
        // The strongest near the beginning of that symbol.
        const std::size_t begin = begins[symbol];
        std::size_t best = (strongest + begin) % period;
        for (std::size_t late = 0; late <= prefix; ++late) {
            const std::size_t at = (strongest + begin + period + late - prefix / 2) % period;
            if (strength[at] > strength[best]) best = at;
        }
        found.push_back(best);
    }
    std::stable_sort(found.begin(), found.end(),
                     [&](std::size_t a, std::size_t b) { return strength[a] > strength[b]; });
    if (timing.slots_per_subframe() == 1) {
        // A slot has two halves of a subframe.
        const std::size_t halves = found.size();
        for (std::size_t i = 0; i < halves; ++i)
            found.push_back(found[i] + period);
    }
    return found;
}

}  // namespace phy::detail
