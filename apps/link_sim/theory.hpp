#pragma once

#include "phy/core/modulation.hpp"

/// Theoretical bit error rates.
namespace phy::apps {

/// For hard decisions in white Gaussian noise: exact, from the levels and labels of an axis. es_n0 is a
/// ratio.
double bit_error_rate(Modulation modulation, double es_n0);

/// The same with Rayleigh fading: the mean over the sum of independent branches, each of mean es_n0.
double rayleigh_bit_error_rate(Modulation modulation, double es_n0, int branches);

}  // namespace phy::apps
