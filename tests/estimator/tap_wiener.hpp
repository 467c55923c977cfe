#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "phy/dmrs/slot_allocation.hpp"
#include "transmission/channel_model.hpp"

/// The Wiener filter over all pilots of a slot for a profile of taps, in binary64. Its arithmetic shares
/// nothing with the library: gains of taps are estimated, not coefficients.
namespace phy_test {

/// Taps of equal power over a range of delays, in s, dense enough that they stand for a flat profile in
/// `bandwidth` Hz.
std::vector<phy::apps::Tap> flat_profile(double first, double last, double bandwidth);

class TapWiener {
public:
    using Complex = std::complex<double>;

    /// For one range of resource blocks that is the whole carrier, and a channel that is constant in a slot.
    /// Layers have mean power 1 and fade independently.
    TapWiener(const phy::SlotAllocation& allocation, int antennas, double subcarrier_spacing,
              const std::vector<phy::apps::Tap>& taps);

    struct Estimate {
        std::vector<Complex> channel;  ///< (subcarriers, antennas, layers)
        double error = 0.0;            ///< expected, of a coefficient
    };

    /// grid: (antennas, symbols, subcarriers); pilots as dmrs_pilots() writes them; noise_variance: N0.
    [[nodiscard]] Estimate operator()(std::span<const phy::cf32> grid, std::span<const phy::cf32> pilots,
                                      double noise_variance) const;

private:
    /// Equations of the gains of taps. They are real if phases are counted from the middle of the pilots.
    struct Equations {
        int count = 0;             ///< of neighbouring pilots, or of pairs
        int step = 0;              ///< subcarriers from one to the next
        bool in_pairs = false;     ///< each on two neighbouring subcarriers
        std::vector<double> gram;  ///< (taps, taps)
        friend bool operator==(const Equations& a, const Equations& b) {
            return a.count == b.count && a.step == b.step && a.in_pairs == b.in_pairs;
        }
    };

    /// Pilots that see the same sum of layers.
    struct Row {
        std::size_t equations = 0;
        std::vector<std::size_t> subcarriers;
        std::vector<std::size_t> pilots;  ///< their indices in a symbol's sequence
        std::vector<double> signs;        ///< of pilots
        std::array<int, 2> in_time = {};
        std::vector<std::pair<std::size_t, double>> layers;  ///< with signs
        double shift = 0.0;  ///< subcarriers from the middle of the band to that of the pilots
        std::vector<Complex> to_middle = {};  ///< per tap, the rotation by that
    };

    /// The equations at a noise and power, factorised.
    struct Solver;

    void add_rows(const std::vector<std::size_t>& layers);
    void add_row(Row row);
    [[nodiscard]] std::vector<Complex> observed(const Row& row, std::size_t antenna,
                                                std::span<const phy::cf32> grid,
                                                std::span<const phy::cf32> pilots) const;
    [[nodiscard]] std::vector<Solver> solvers_at(double noise) const;
    [[nodiscard]] std::vector<Complex> response_to(const std::vector<Complex>& gains) const;
    [[nodiscard]] std::vector<Complex> gains(const Row& row, const Solver& solver,
                                             const std::vector<Complex>& observed) const;

    phy::SlotAllocation allocation_;
    std::size_t antennas_;
    std::size_t subcarriers_;
    std::vector<double> turns_;     ///< per tap, by subcarrier
    std::vector<double> powers_;    ///< per tap
    std::vector<double> response_;  ///< (taps, 2, subcarriers), from the middle of the band
    std::vector<Equations> equations_;
    std::vector<Row> rows_;
};

}  // namespace phy_test
