#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>

#include "estimator/dense_wiener.hpp"
#include "phy/receiver/receiver.hpp"
#include "receiver/chain_cases.hpp"
#include "support/fewer_cases.hpp"

/// Bit error rates of phy::Receiver against those of a receiver in binary64 that knows channel, offsets and
/// noise, and gets as much more noise as theory says that an estimate of the channel costs.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

constexpr unsigned loss_seed = 1313;
constexpr double allowed_db = 0.3;

struct LossCase {
    const char* vector;
    int antennas;
    AirProfile profile;
    int slots;
    std::vector<double> snr_db;  ///< of a layer at an antenna
};

double decibels(double ratio) {
    return 10.0 * std::log10(ratio);
}

/// How the channel of a symbol follows from the estimates at DM-RS: on the line through neighbours, and held
/// before the first and after the last. The noise in it, over that of one estimate.
double noise_of_line(const phy::DmrsConfig& dmrs, int symbol) {
    std::vector<double> at;
    for (std::size_t i = 0; i < dmrs.symbols.size(); i += static_cast<std::size_t>(dmrs.length))
        at.push_back(dmrs.symbols[i] + 0.5 * (dmrs.length - 1));
    if (symbol <= at.front() || symbol >= at.back()) return 1.0;
    const auto next = std::upper_bound(at.begin(), at.end(), static_cast<double>(symbol));
    const double part = (symbol - *(next - 1)) / (*next - *(next - 1));
    return part * part + (1.0 - part) * (1.0 - part);
}

std::size_t range_of(const phy::SlotAllocation& allocation, std::size_t subcarrier) {
    const auto block = static_cast<int>(subcarrier / 12);
    std::size_t range = 0;
    while (block < allocation.resource_blocks[range].first ||
           block >= allocation.resource_blocks[range].first + allocation.resource_blocks[range].count)
        ++range;
    return range;
}

/// By how much estimates lower the ratio of signal to noise, in the mean over data, by the Wiener filter over
/// all pilots of a DM-RS that knows the channel's profile and N0. Its error e is uncorrelated with the
/// estimate, so the receiver sees a channel of power 1 - E|e|^2 and noise of variance N0 + layers x E|e|^2.
double theoretical_loss(const ChainCase& sent, double delay_spread, double n0) {
    const phy::SlotAllocation& allocation = sent.link.allocation;
    const double beta = static_cast<double>(phy::dmrs_amplitude(allocation.dmrs));
    std::map<std::pair<double, std::size_t>, double> errors;  // by noise and range
    double sum = 0.0;
    for (const ElementPlace& place : sent.places) {
        const std::size_t range = range_of(allocation, place.subcarrier);
        const double noise = noise_of_line(allocation.dmrs, place.symbol);
        const auto [known, is_new] = errors.try_emplace({noise, range});
        if (is_new) {
            EstimatorConfig config = {.allocation = allocation,
                                      .subcarrier_spacing = static_cast<double>(sent.carrier.spacing)};
            config.allocation.resource_blocks = {allocation.resource_blocks[range]};
            const double pilot_noise = noise * n0 / (beta * beta * allocation.dmrs.length);
            known->second = DenseWiener(config, 0, delay_spread, pilot_noise).expected_error();
        }
        sum += known->second;
    }
    const double error = sum / static_cast<double>(sent.places.size());
    return (1.0 + allocation.layers() * error / n0) / (1.0 - error);
}

/// A slot on the air, and what a receiver that knows everything sees of it.
struct SlotOnAir {
    AirSamples signal;
    AirSamples noise;
    KnownSlot known;
};

SlotOnAir draw_slot(const ChainCase& sent, const AirInterface& air, const LossCase& wanted, int slot,
                    std::mt19937_64& random) {
    AirChannel channel = draw_chain_channel(sent, wanted.antennas, wanted.profile, random);
    SlotOnAir drawn;
    drawn.signal = air.transmit(sent.grid, slot, channel, random);
    drawn.noise = air.noise(slot, wanted.antennas, random);
    KnownSlot& known = drawn.known;
    known.signal = air.receive(drawn.signal, slot, channel.frequency);
    known.noise = air.receive(drawn.noise, slot, channel.frequency);
    known.antennas = wanted.antennas;
    known.layers = static_cast<std::size_t>(channel.ports);
    known.subcarriers = sent.carrier.subcarriers();
    for (std::size_t k = 0; k < known.subcarriers; ++k)
        for (int antenna = 0; antenna < channel.antennas; ++antenna)
            for (int port = 0; port < channel.ports; ++port)
                known.channel.push_back(channel.response(antenna, port, sent.carrier.frequency(k)));
    return drawn;
}

/// Bit errors by slots.
struct Errors {
    std::vector<double> receiver;
    std::vector<double> perfect;        ///< channel known
    std::vector<double> theory;         ///< and with the theoretical loss
    std::vector<double> beyond_theory;  ///< and with allowed_db more
};

double total(const std::vector<double>& errors) {
    double sum = 0.0;
    for (const double error : errors)
        sum += error;
    return sum;
}

/// The standard deviation of the sum of a - b, which are of the same slots.
double deviation(const std::vector<double>& a, const std::vector<double>& b) {
    const auto n = static_cast<double>(a.size());
    const double mean = (total(a) - total(b)) / n;
    double squares = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i)
        squares += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
    return std::sqrt(squares * n / (n - 1.0));
}

/// The receiver's loss beyond theory, in decibels, is below what is allowed, by twice its standard deviation.
void check_loss(const Errors& errors, double bits, double loss_db, double snr_db) {
    const double slope =
        (std::log(total(errors.beyond_theory)) - std::log(total(errors.theory))) / allowed_db;
    const double excess_db = (std::log(total(errors.receiver)) - std::log(total(errors.theory))) / slope;
    const double deviation_db = deviation(errors.receiver, errors.theory) / total(errors.theory) / slope;
    std::printf(
        "%5.1f dB: bit error rate %.2e, known %.2e, theoretical loss %.2f dB, beyond that %+.2f dB "
        "(deviation %.2f)\n",
        snr_db, total(errors.receiver) / bits, total(errors.perfect) / bits, loss_db, excess_db,
        deviation_db);
    EXPECT_LT(excess_db + 2.0 * deviation_db, allowed_db);
    EXPECT_LT(deviation_db, 0.1);
    EXPECT_GE(total(errors.receiver), 0.97 * total(errors.perfect));
}

void run(const LossCase& wanted, const SionnaVector& vector) {
    std::mt19937_64 random(loss_seed);
    const ChainCase sent = make_case(vector, random);
    const AirInterface air(sent.carrier);
    const std::size_t qm = bits_per_symbol(vector.modulation);
    const double delay_spread = 0.04 * 144.0 / 2048.0 / sent.carrier.spacing;

    phy::Receiver receiver(
        phy::Host(), {.link = sent.link, .antennas = wanted.antennas, .format = phy::SoftBitFormat::float32});
    std::vector<float> llr(receiver.soft_bits_per_slot());
    std::vector<Errors> errors(wanted.snr_db.size());
    std::vector<double> losses;
    for (const double snr_db : wanted.snr_db)
        losses.push_back(theoretical_loss(sent, delay_spread, std::pow(10.0, -snr_db / 10.0)));
    for (int n = 0; n < wanted.slots; ++n) {
        const SlotOnAir slot = draw_slot(sent, air, wanted, vector.slot, random);
        const auto errors_at = [&](double n0) {
            return static_cast<double>(
                bit_errors_of_known_channel(slot.known, sent.places, qm, sent.scrambled, n0));
        };
        for (std::size_t i = 0; i < errors.size(); ++i) {
            const double n0 = std::pow(10.0, -wanted.snr_db[i] / 10.0);
            const AirSamples samples = add_noise(slot.signal, slot.noise, n0);
            const auto stored =
                store(samples, static_cast<std::size_t>(wanted.antennas), receiver.input_per_slot(),
                      phy::SampleFormat::ci16, recording_gain(samples));
            receiver({phy::SampleFormat::ci16, std::span(stored)}, 0, {.llr = llr});
            errors[i].receiver.push_back(static_cast<double>(bit_errors(llr, sent.codeword)));
            errors[i].perfect.push_back(errors_at(n0));
            errors[i].theory.push_back(errors_at(n0 * losses[i]));
            errors[i].beyond_theory.push_back(errors_at(n0 * losses[i] * std::pow(10.0, allowed_db / 10.0)));
        }
    }
    const double bits = static_cast<double>(llr.size()) * wanted.slots;
    for (std::size_t i = 0; i < errors.size(); ++i)
        check_loss(errors[i], bits, decibels(losses[i]), wanted.snr_db[i]);
}

class ChainLoss : public testing::TestWithParam<LossCase> {};

TEST_P(ChainLoss, IsWithinTheoryAndALittle) {
    std::printf("%s, %d antennas\n", GetParam().vector, GetParam().antennas);
    run(GetParam(), read_sionna_vector(vectors_directory() / (std::string(GetParam().vector) + ".npz")));
}

std::string name_of(const testing::TestParamInfo<LossCase>& parameter) {
    constexpr std::array profiles = {"exponential", "tdl_a", "tdl_c"};
    return std::string(parameter.param.vector) + "_" +
           profiles[static_cast<std::size_t>(parameter.param.profile)];
}

INSTANTIATE_TEST_SUITE_P(
    Vectors, ChainLoss,
    testing::Values(
        LossCase{"sionna_qpsk_1layer", 4, AirProfile::exponential, 60, {-8.0, -4.0, 0.0}},
        LossCase{"sionna_64qam_1layer_short", 4, AirProfile::exponential, 24, {4.0, 8.0, 12.0}},
        LossCase{"sionna_64qam_1layer_short", 4, AirProfile::tdl_c, 24, {4.0, 12.0}},
        LossCase{"sionna_16qam_2layers_type2", 4, AirProfile::exponential, 16, {4.0, 8.0, 12.0}},
        LossCase{"sionna_16qam_2layers_type2", 4, AirProfile::tdl_a, 16, {4.0, 12.0}},
        LossCase{"sionna_256qam_4layers_double_dmrs", 8, AirProfile::exponential, 6, {10.0, 15.0, 20.0}},
        LossCase{"sionna_256qam_4layers_double_dmrs", 8, AirProfile::tdl_c, 6, {12.0, 20.0}},
        LossCase{"sionna_256qam_2layers", 4, AirProfile::exponential, 5, {18.0}}),
    name_of);

}  // namespace
