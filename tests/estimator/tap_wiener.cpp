#include "estimator/tap_wiener.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "phy/dmrs/dmrs.hpp"

namespace phy_test {
namespace {

using Complex = TapWiener::Complex;

constexpr double two_pi = 2.0 * std::numbers::pi;

/// The sum of exp(2 pi i m x) over `count` numbers m that are 1 apart and centred at 0.
double dirichlet(int count, double x) {
    const double sine = std::sin(std::numbers::pi * x);
    // Near a whole number all terms are 1, or alternate in sign with a count that is even.
    if (std::abs(sine) < 1e-9) {
        const bool is_odd = std::llround(x) % 2 != 0 && count % 2 == 0;
        return is_odd ? -count : count;
    }
    return std::sin(std::numbers::pi * x * count) / sine;
}

/// Without the checks for NaN of std::complex.
Complex product(Complex a, Complex b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

std::vector<phy::apps::Tap> flat_profile(double first, double last, double bandwidth) {
    const auto steps = static_cast<std::size_t>(std::ceil(2.0 * (last - first) * bandwidth)) + 24;
    std::vector<phy::apps::Tap> taps;
    for (std::size_t i = 0; i <= steps; ++i) {
        // The trapezoidal rule: a path at either end has a tap of its own.
        const double share = i == 0 || i == steps ? 0.5 : 1.0;
        const auto count = static_cast<double>(steps);
        taps.push_back({first + (last - first) * static_cast<double>(i) / count, share / count});
    }
    return taps;
}

/// gram + noise / power, as L L^T.
struct TapWiener::Solver {
    std::size_t size;
    double noise;
    std::vector<double> factor;
    double error = 0.0;  ///< expected, of the sum over all subcarriers of a row's channel

    Solver(const Equations& equations, const std::vector<double>& powers, double noise_variance)
        : size(powers.size()), noise(noise_variance), factor(equations.gram) {
        for (std::size_t i = 0; i < size; ++i) {
            factor[i * size + i] += noise / powers[i];
            for (std::size_t k = 0; k <= i; ++k) {
                double sum = factor[i * size + k];
                for (std::size_t j = 0; j < k; ++j)
                    sum -= factor[i * size + j] * factor[k * size + j];
                factor[i * size + k] = i == k ? std::sqrt(sum) : sum / factor[k * size + k];
            }
        }
    }

    void solve(std::vector<Complex>& x) const {
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t k = 0; k < i; ++k)
                x[i] -= factor[i * size + k] * x[k];
            x[i] /= factor[i * size + i];
        }
        for (std::size_t i = size; i-- > 0;) {
            x[i] /= factor[i * size + i];
            for (std::size_t k = 0; k < i; ++k)
                x[k] -= factor[i * size + k] * x[i];
        }
    }

    /// Sets `error` to noise x the trace of the inverse matrix times another.
    template <typename Other>
    void find_error(const Other& other) {
        // Columns of L^-1.
        std::vector<double> inverse(size * size);
        for (std::size_t column = 0; column < size; ++column) {
            double* const x = inverse.data() + column * size;
            for (std::size_t i = column; i < size; ++i) {
                double value = i == column ? 1.0 : 0.0;
                for (std::size_t k = column; k < i; ++k)
                    value -= factor[i * size + k] * x[k];
                x[i] = value / factor[i * size + i];
            }
        }
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t k = 0; k <= i; ++k) {
                double element = 0.0;
                for (std::size_t j = i; j < size; ++j)
                    element += inverse[i * size + j] * inverse[k * size + j];
                error += noise * (i == k ? 1.0 : 2.0) * element * other(i, k);
            }
        }
    }
};

TapWiener::TapWiener(const phy::SlotAllocation& allocation, int antennas, double subcarrier_spacing,
                     const std::vector<phy::apps::Tap>& taps)
    : allocation_(allocation),
      antennas_(static_cast<std::size_t>(antennas)),
      subcarriers_(static_cast<std::size_t>(allocation.subcarriers())) {
    const double middle = 0.5 * static_cast<double>(subcarriers_ - 1);
    response_.reserve(taps.size() * 2 * subcarriers_);
    for (const phy::apps::Tap& tap : taps) {
        turns_.push_back(tap.delay * subcarrier_spacing);
        powers_.push_back(tap.power);
        const std::size_t first = response_.size();
        response_.resize(first + 2 * subcarriers_);
        for (std::size_t k = 0; k < subcarriers_; ++k) {
            const double angle = -two_pi * turns_.back() * (static_cast<double>(k) - middle);
            response_[first + k] = std::cos(angle);
            response_[first + subcarriers_ + k] = std::sin(angle);
        }
    }
    // Layers of a CDM group with the same code in time share pilots, at most two.
    const phy::DmrsConfig& dmrs = allocation.dmrs;
    std::vector<bool> done(dmrs.ports.size());
    for (std::size_t layer = 0; layer < dmrs.ports.size(); ++layer) {
        if (done[layer]) continue;
        const phy::DmrsPort port = phy::dmrs_port(dmrs.type, dmrs.ports[layer]);
        std::vector<std::size_t> together;
        for (std::size_t other = layer; other < dmrs.ports.size(); ++other) {
            const phy::DmrsPort its = phy::dmrs_port(dmrs.type, dmrs.ports[other]);
            if (its.cdm_group != port.cdm_group || its.in_time != port.in_time) continue;
            together.push_back(other);
            done[other] = true;
        }
        add_rows(together);
    }
}

/// One layer: a row of all pilots. Two layers: even pilots see one sum of them and odd pilots another. Both
/// sums have the same profile and are independent.
void TapWiener::add_rows(const std::vector<std::size_t>& layers) {
    const phy::DmrsConfig& dmrs = allocation_.dmrs;
    const int each = phy::pilots_per_resource_block(dmrs.type);
    const bool is_pair = layers.size() == 2;
    const phy::DmrsPort port = phy::dmrs_port(dmrs.type, dmrs.ports[layers[0]]);
    for (int parity = 0; parity < (is_pair ? 2 : 1); ++parity) {
        Row row;
        row.in_time = port.in_time;
        for (int i = parity; i < each * allocation_.carrier_resource_blocks; i += is_pair ? 2 : 1) {
            row.subcarriers.push_back(static_cast<std::size_t>(
                12 * (i / each) + phy::pilot_subcarrier(dmrs.type, port.cdm_group, i % each)));
            row.pilots.push_back(static_cast<std::size_t>(i));
            row.signs.push_back(is_pair ? 1.0 : port.in_frequency[static_cast<std::size_t>(i % 2)]);
        }
        for (const std::size_t layer : layers) {
            const phy::DmrsPort its = phy::dmrs_port(dmrs.type, dmrs.ports[layer]);
            row.layers.emplace_back(layer,
                                    is_pair ? its.in_frequency[static_cast<std::size_t>(parity)] : 1.0);
        }
        add_row(std::move(row));
    }
}

void TapWiener::add_row(Row row) {
    const std::vector<std::size_t>& at = row.subcarriers;
    Equations equations;
    equations.in_pairs = allocation_.dmrs.type == 2 && row.layers.size() == 1;
    const std::size_t stride = equations.in_pairs ? 2 : 1;
    equations.count = static_cast<int>(at.size() / stride);
    equations.step = static_cast<int>(at[stride] - at[0]);
    const auto known = std::ranges::find(equations_, equations);
    row.equations = static_cast<std::size_t>(known - equations_.begin());
    const std::size_t taps = turns_.size();
    if (known == equations_.end()) {
        equations.gram.resize(taps * taps);
        for (std::size_t i = 0; i < taps; ++i) {
            for (std::size_t k = 0; k < taps; ++k) {
                const double x = turns_[i] - turns_[k];
                equations.gram[i * taps + k] =
                    dirichlet(equations.count, equations.step * x) *
                    (equations.in_pairs ? 2.0 * std::cos(std::numbers::pi * x) : 1.0);
            }
        }
        equations_.push_back(std::move(equations));
    }
    row.shift =
        0.5 * static_cast<double>(at.front() + at.back()) - 0.5 * static_cast<double>(subcarriers_ - 1);
    for (const double turn : turns_)
        row.to_middle.push_back(std::polar(1.0, -two_pi * turn * row.shift));
    rows_.push_back(std::move(row));
}

/// Received pilots over those sent, without codes, in the mean over DM-RS symbols.
std::vector<Complex> TapWiener::observed(const Row& row, std::size_t antenna, std::span<const phy::cf32> grid,
                                         std::span<const phy::cf32> pilots) const {
    const phy::DmrsConfig& dmrs = allocation_.dmrs;
    const std::size_t of_symbol = pilots.size() / dmrs.symbols.size();
    const double scale =
        1.0 / (static_cast<double>(phy::dmrs_amplitude(dmrs)) * static_cast<double>(dmrs.symbols.size()));
    std::vector<Complex> sums(row.subcarriers.size());
    for (std::size_t s = 0; s < dmrs.symbols.size(); ++s) {
        const double in_time = row.in_time[s % static_cast<std::size_t>(dmrs.length)];
        const std::size_t first = (antenna * 14 + static_cast<std::size_t>(dmrs.symbols[s])) * subcarriers_;
        for (std::size_t i = 0; i < sums.size(); ++i)
            sums[i] += scale * in_time * row.signs[i] *
                       product(Complex(grid[first + row.subcarriers[i]]),
                               std::conj(Complex(pilots[s * of_symbol + row.pilots[i]])));
    }
    return sums;
}

std::vector<Complex> TapWiener::gains(const Row& row, const Solver& solver,
                                      const std::vector<Complex>& observed) const {
    std::vector<Complex> gains(turns_.size());
    for (std::size_t tap = 0; tap < gains.size(); ++tap) {
        const double* const re = response_.data() + tap * 2 * subcarriers_;
        const double* const im = re + subcarriers_;
        for (std::size_t i = 0; i < observed.size(); ++i) {
            const std::size_t k = row.subcarriers[i];
            gains[tap] += product(Complex(re[k], -im[k]), observed[i]);
        }
        gains[tap] = product(gains[tap], row.to_middle[tap]);
    }
    solver.solve(gains);
    for (std::size_t tap = 0; tap < gains.size(); ++tap)
        gains[tap] = product(gains[tap], std::conj(row.to_middle[tap]));
    return gains;
}

/// The response of all subcarriers to gains of taps.
std::vector<Complex> TapWiener::response_to(const std::vector<Complex>& gains) const {
    std::vector<double> re(subcarriers_);
    std::vector<double> im(subcarriers_);
    for (std::size_t tap = 0; tap < gains.size(); ++tap) {
        const double* const cosine = response_.data() + tap * 2 * subcarriers_;
        const double* const sine = cosine + subcarriers_;
        const Complex gain = gains[tap];
        for (std::size_t k = 0; k < subcarriers_; ++k) {
            re[k] += gain.real() * cosine[k] - gain.imag() * sine[k];
            im[k] += gain.real() * sine[k] + gain.imag() * cosine[k];
        }
    }
    std::vector<Complex> all(subcarriers_);
    for (std::size_t k = 0; k < subcarriers_; ++k)
        all[k] = {re[k], im[k]};
    return all;
}

std::vector<TapWiener::Solver> TapWiener::solvers_at(double noise) const {
    std::vector<Solver> solvers;
    for (std::size_t e = 0; e < equations_.size(); ++e) {
        // Rows with the same equations have the same number of layers.
        const auto row = std::ranges::find(rows_, e, &Row::equations);
        std::vector<double> powers = powers_;
        for (double& power : powers)
            power *= static_cast<double>(row->layers.size());
        Solver& solver = solvers.emplace_back(equations_[e], powers, noise);
        // The middle of the band is not that of the pilots; the rows differ little.
        solver.find_error([&](std::size_t i, std::size_t k) {
            const double x = turns_[i] - turns_[k];
            return dirichlet(static_cast<int>(subcarriers_), x) * std::cos(two_pi * row->shift * x);
        });
    }
    return solvers;
}

TapWiener::Estimate TapWiener::operator()(std::span<const phy::cf32> grid, std::span<const phy::cf32> pilots,
                                          double noise_variance) const {
    const phy::DmrsConfig& dmrs = allocation_.dmrs;
    const double amplitude = static_cast<double>(phy::dmrs_amplitude(dmrs));
    const std::vector<Solver> solvers =
        solvers_at(noise_variance / (amplitude * amplitude * static_cast<double>(dmrs.symbols.size())));
    const std::size_t layers = dmrs.ports.size();
    Estimate estimate;
    estimate.channel.resize(subcarriers_ * antennas_ * layers);
    for (const Row& row : rows_) {
        // The channel of one of two layers is half the sum of two rows, that of a single layer is its row.
        const auto share = static_cast<double>(row.layers.size());
        estimate.error += solvers[row.equations].error / share / static_cast<double>(layers * subcarriers_);
        for (std::size_t antenna = 0; antenna < antennas_; ++antenna) {
            const std::vector<Complex> sum =
                response_to(gains(row, solvers[row.equations], observed(row, antenna, grid, pilots)));
            for (const auto& [layer, sign] : row.layers) {
                for (std::size_t k = 0; k < subcarriers_; ++k)
                    estimate.channel[(k * antennas_ + antenna) * layers + layer] += sign / share * sum[k];
            }
        }
    }
    return estimate;
}

}  // namespace phy_test
