// A slot estimator's covariance of noise and interference: residuals of pilots after the estimate.

#include <algorithm>
#include <array>

#include "phy/estimator/host/slot.hpp"
#include "phy/estimator/math/statistics-inl.h"
#include "phy/reduce/lanes.hpp"

namespace phy::detail {
namespace {

using scalar::Ops;
using Complex = scalar::ComplexOf<Ops>;

std::size_t size(int count) {
    return static_cast<std::size_t>(count);
}

/// The matrices of a slot, on the diagonal and below.
class CovarianceOfSlot {
public:
    /// products: (subbands, antennas, antennas, 2), sums over pilots.
    CovarianceOfSlot(const EstimatorPlan& plan, const SlotState& state, const float* products)
        : subbands_(plan.subbands),
          symbols_(plan.layout.symbols),
          antennas_(plan.layout.antennas),
          state_(state),
          products_(products) {
        float trace = 0.0F;
        for (int a = 0; a < antennas_; ++a) {
            for (int b = 0; b <= a; ++b)
                of_slot(a, b) = sum_over_subbands(a, b);
            trace = Ops::add(trace, of_slot(a, a).re);
        }
        const int pilots = symbols_ * subbands_.pilots;
        scale_ = scalar::covariance_scale<Ops>(state, trace, antennas_, pilots);
        const float factor = scalar::covariance_factor<Ops>(scale_, pilots);
        for (int a = 0; a < antennas_; ++a) {
            for (int b = 0; b <= a; ++b)
                of_slot(a, b) = scalar::covariance_of<Ops>(state, of_slot(a, b), factor, a == b);
            weights_[size(a)] = scalar::weight_of_variance<Ops>(of_slot(a, a).re);
        }
        share_ = scalar::slot_share<Ops>(chance());
        shrink();
    }

    /// subband: -1: that of the slot.
    void write(int subband, cf32* out) const {
        const float share = subband < 0 ? 1.0F : share_of(subband);
        const float factor = share == 1.0F ? 0.0F : factor_of(subband);
        for (int a = 0; a < antennas_; ++a) {
            for (int b = 0; b <= a; ++b) {
                const Complex x = share == 1.0F
                                      ? of_slot(a, b)
                                      : scalar::subband_element<Ops>(
                                            of_slot(a, b), own(subband, factor, a, b), share, a == b);
                out[b * antennas_ + a] = {x.re, -x.im};
                out[a * antennas_ + b] = {x.re, x.im};
            }
        }
    }

private:
    [[nodiscard]] Complex& of_slot(int a, int b) { return elements_[size(a * antennas_ + b)]; }
    [[nodiscard]] const Complex& of_slot(int a, int b) const { return elements_[size(a * antennas_ + b)]; }

    [[nodiscard]] Complex product(int subband, int a, int b) const {
        const float* const at = products_ + 2 * size((subband * antennas_ + a) * antennas_ + b);
        return {at[0], at[1]};
    }

    [[nodiscard]] Complex sum_over_subbands(int a, int b) const {
        float re[estimator_lanes] = {};
        float im[estimator_lanes] = {};
        for (int subband = 0; subband < subbands_.count; ++subband) {
            const Complex x = product(subband, a, b);
            const auto lane = size(subband % estimator_lanes);
            re[lane] = Ops::add(re[lane], x.re);
            im[lane] = Ops::add(im[lane], x.im);
        }
        return {sum_of_lanes<estimator_lanes>(re), sum_of_lanes<estimator_lanes>(im)};
    }

    [[nodiscard]] float share_of(int subband) const {
        return scalar::subband_share<Ops>(share_, antennas_, symbols_ * subbands_.pilots_of(subband));
    }

    /// Of a subband with pilots.
    [[nodiscard]] float factor_of(int subband) const {
        return scalar::covariance_factor<Ops>(scale_, symbols_ * subbands_.pilots_of(subband));
    }
    [[nodiscard]] Complex own(int subband, float factor, int a, int b) const {
        return scalar::covariance_of<Ops>(state_, product(subband, a, b), factor, a == b);
    }

    /// By how much subbands differ from the slot, over what chance makes of it.
    [[nodiscard]] float chance() const {
        float lanes[estimator_lanes] = {};
        for (int subband = 0; subband < subbands_.count; ++subband) {
            if (subbands_.pilots_of(subband) == 0) continue;
            const auto lane = size(subband % estimator_lanes);
            lanes[lane] = Ops::add(lanes[lane], difference_of(subband));
        }
        return scalar::chance_of_subbands<Ops>(sum_of_lanes<estimator_lanes>(lanes), scale_.freedom,
                                               subbands_.used, antennas_ * (antennas_ + 1) / 2);
    }

    [[nodiscard]] float difference_of(int subband) const {
        const float factor = factor_of(subband);
        float difference = 0.0F;
        for (int a = 0; a < antennas_; ++a)
            for (int b = 0; b <= a; ++b)
                difference = Ops::add(
                    difference, scalar::squared_difference<Ops>(own(subband, factor, a, b), of_slot(a, b),
                                                                weights_[size(a)], weights_[size(b)]));
        return Ops::mul(static_cast<float>(symbols_ * subbands_.pilots_of(subband)), difference);
    }

    /// Takes out of the slot's matrix what chance makes of independent noise.
    void shrink() {
        float sum = 0.0F;
        for (int a = 1; a < antennas_; ++a)
            for (int b = 0; b < a; ++b)
                sum = Ops::add(sum, scalar::squared_correlation<Ops>(of_slot(a, b), weights_[size(a)],
                                                                     weights_[size(b)]));
        const int pairs = antennas_ * (antennas_ - 1) / 2;
        const float kept = scalar::kept_share<Ops>(
            pairs == 0 ? 0.0F : Ops::div(sum, static_cast<float>(pairs)),
            Ops::mul(scale_.freedom, static_cast<float>(symbols_ * subbands_.pilots)));
        for (int a = 1; a < antennas_; ++a)
            for (int b = 0; b < a; ++b)
                of_slot(a, b) = {Ops::mul(kept, of_slot(a, b).re), Ops::mul(kept, of_slot(a, b).im)};
    }

    const EstimatorSubbands& subbands_;
    int symbols_;
    int antennas_;
    const SlotState& state_;
    const float* products_;
    scalar::CovarianceScale scale_ = {};
    float share_ = 1.0F;
    std::array<float, max_antennas> weights_ = {};
    std::array<Complex, max_antennas* max_antennas> elements_ = {};
};

}  // namespace

void SlotEstimator::correlate_residuals(Scratch& scratch, int subband) noexcept {
    const EstimatorSubbands& subbands = plan_.subbands;
    const std::size_t antennas = size(plan_.layout.antennas);
    float* const sums = &products_[size(subband) * antennas * antennas * 2];
    if (subbands.pilots_of(subband) == 0) return;
    const int count =
        std::min(subbands.subcarriers, plan_.layout.subcarriers - subband * subbands.subcarriers);
    std::fill(scratch.placed.begin(), scratch.placed.end(), 0.0F);
    if (count < subbands.subcarriers) std::fill(scratch.residuals.begin(), scratch.residuals.end(), 0.0F);
    for (std::size_t symbol = 0; symbol < size(plan_.layout.symbols); ++symbol) {
        place_pilots(scratch, subband, symbol);
        for (std::size_t antenna = 0; antenna < antennas; ++antenna)
            write_residuals(scratch, subband, symbol, antenna, count);
    }
    const int part = plan_.layout.symbols * subbands.subcarriers;
    const auto row = [&](std::size_t antenna) {
        const float* const re = &scratch.residuals[2 * antenna * size(part)];
        return SplitComplex{re, re + part};
    };
    for (std::size_t a = 0; a < antennas; ++a)
        for (std::size_t b = 0; b <= a; ++b)
            kernels_.sum_products(row(a), row(b), part, &sums[(a * antennas + b) * 2]);
}

/// Writes the sequence of a DM-RS symbol by subcarrier.
void SlotEstimator::place_pilots(Scratch& scratch, int subband, std::size_t symbol) const noexcept {
    const EstimatorSubbands& subbands = plan_.subbands;
    const cf32* const from = slot_.pilots + symbol * size(plan_.layout.pilots);
    float* const re = scratch.placed.data();
    float* const im = re + subbands.subcarriers;
    for (int i = subbands.first_pilot[size(subband)]; i < subbands.first_pilot[size(subband) + 1]; ++i) {
        const EstimatorPilot& pilot = subbands.pilot[size(i)];
        re[pilot.subcarrier] = from[pilot.index].real();
        im[pilot.subcarrier] = from[pilot.index].imag();
    }
}

void SlotEstimator::write_residuals(Scratch& scratch, int subband, std::size_t symbol, std::size_t antenna,
                                    int count) const noexcept {
    const EstimatorLayout& layout = plan_.layout;
    const std::size_t of_subband = size(plan_.subbands.subcarriers);
    const std::size_t subcarriers = size(layout.subcarriers);
    const std::size_t first = size(subband) * of_subband;
    const std::size_t layers = size(layout.layers);
    const auto l = size(layout.dmrs_symbols[symbol]);
    const std::size_t at = (antenna * symbols_per_slot + l) * subcarriers + first;
    arrays_.widen[static_cast<std::size_t>(slot_.format)](
        slot_.grid + at * size_of(slot_.format), scratch.samples.data(), 2 * size(count), slot_.unit);
    const std::size_t estimate = symbol / size(layout.symbols_averaged);
    const std::size_t rows = (estimate * size(layout.antennas) + antenna) * layers * 2;
    const float* const pilots = scratch.placed.data();
    const std::size_t part = size(layout.symbols) * of_subband;
    float* const out = &scratch.residuals[2 * antenna * part + symbol * of_subband];
    kernels_.residuals({.received = scratch.samples.data(),
                        .pilots = {pilots, pilots + of_subband},
                        .channel = slot_.channel + rows * subcarriers + first,
                        .of_channel = subcarriers,
                        .signs = &plan_.subbands.signs[symbol % size(layout.length) * layers * of_subband],
                        .of_signs = of_subband,
                        .layers = layout.layers,
                        .phase_re = Ops::mul(layout.amplitude, state_.phase_re[l]),
                        .phase_im = Ops::mul(layout.amplitude, state_.phase_im[l])},
                       {out, out + part}, count);
}

void SlotEstimator::write_covariance() noexcept {
    const CovarianceOfSlot covariance(plan_, state_, products_.data());
    const int size_of_matrix = plan_.layout.antennas * plan_.layout.antennas;
    for (int i = 0; i < slot_.matrices; ++i)
        covariance.write(slot_.matrices == 1 ? -1 : i, slot_.covariance + i * size_of_matrix);
}

}  // namespace phy::detail
