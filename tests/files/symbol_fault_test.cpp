#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "files/made_capture.hpp"
#include "phy/files/demodulate.hpp"
#include "phy/files/measure.hpp"
#include "phy/mapper/mapper.hpp"
#include "support/fewer_cases.hpp"
#include "support/temporary_directory.hpp"

namespace phy_test {
namespace {

using phy::Modulation;
using phy::SymbolFault;
using Complex = std::complex<double>;

class Symbols : public testing::Test {
protected:
    TemporaryDirectory directory_;
    const std::filesystem::path file_ = directory_ / "c.h5";

    [[nodiscard]] phy::Demodulation demodulate(const phy::DemodulateOptions& options) const {
        phy::DemodulateOptions how = options;
        how.places = {phy::Host()};
        return demodulate_file(file_, "", how);
    }

    [[nodiscard]] std::vector<std::string> measured_warnings() const {
        return phy::measure_file(file_, {{.places = {phy::Host()}}}).warnings;
    }
};

std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts)
        all += text + "\n";
    return all;
}

double uniform(std::mt19937_64& random, double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random);
}

double random_sign(std::mt19937_64& random) {
    return random() % 2 == 0 ? 1.0 : -1.0;
}

/// An SNR at which decisions are good.
double clear_snr(std::mt19937_64& random, Modulation modulation) {
    return uniform(random, 16.0, 20.0) + 3.0 * static_cast<double>(bits_per_symbol(modulation));
}

struct Fault {
    SymbolFault fault;
    const char* text;
    decltype(MadeCapture::fault) change;
};

Fault draw_fault(std::mt19937_64& random, int kind, Modulation modulation) {
    // The distance of levels, in which the harm of a fault is measured.
    const double level = 2.0 * phy::axis_unit(modulation);
    if (kind == 0) {
        const double most = bits_per_symbol(modulation) == 1 ? 85.0 : 42.0;
        const double degrees = random_sign(random) * uniform(random, 20.0 * level, most);
        const Complex by = std::polar(1.0, degrees * std::numbers::pi / 180.0);
        return {SymbolFault::rotated, "the constellation is rotated by ",
                [by](Complex y, std::uint64_t) { return y * by; }};
    }
    if (kind == 1) {
        const double turns = random_sign(random) * std::pow(10.0, uniform(random, -4.0, -1.1));
        return {SymbolFault::rotating, "the constellation rotates", [turns](Complex y, std::uint64_t n) {
                    return y * std::polar(1.0, 2.0 * std::numbers::pi * turns * static_cast<double>(n));
                }};
    }
    if (kind == 2) {
        const Complex offset = std::polar(uniform(random, 0.4 * level, 0.6), uniform(random, 0.0, 6.28));
        return {SymbolFault::offset, "DC offset of ",
                [offset](Complex y, std::uint64_t) { return y + offset; }};
    }
    const double gain = 1.0 + random_sign(random) * uniform(random, 0.4 * level, 0.5 * level);
    return {SymbolFault::imbalance, "IQ imbalance of ",
            [gain](Complex y, std::uint64_t) { return Complex(y.real(), gain * y.imag()); }};
}

/// Whatever amplitude and N0 are said, or measured.
TEST_F(Symbols, FaultsAreNamed) {
    std::mt19937_64 random(20241);
    for (int n = 0; n < fewer_times(28); ++n) {
        const Modulation modulation =
            phy::all_modulations[static_cast<std::size_t>(n / 4) % phy::all_modulations.size()];
        const int kind = n % 4;
        if (kind == 3 && bits_per_symbol(modulation) == 1) continue;
        if (kind < 2 && bits_per_symbol(modulation) > 6) continue;  // not always found
        const Fault fault = draw_fault(random, kind, modulation);
        const MadeCapture made = {.modulation = modulation,
                                  .symbols = 5'000 + random() % 20'000,
                                  .amplitude = n % 3 == 0 ? uniform(random, 0.3, 4.0) : 1.0,
                                  .snr_db = clear_snr(random, modulation),
                                  .seed = static_cast<unsigned>(random()),
                                  .bits = false,
                                  .fault = fault.change};
        SCOPED_TRACE(made.text() + ", " + std::to_string(made.symbols) + " symbols, case " +
                     std::to_string(n));
        make_capture(file_, made);
        phy::DemodulateOptions given;
        given.capture.noise_variance = static_cast<float>(made.noise_variance() * uniform(random, 0.1, 10.0));
        phy::DemodulateOptions measured;
        measured.gain.reset();
        measured.estimate_noise = true;
        for (const phy::DemodulateOptions& options : {given, measured}) {
            const phy::Demodulation done = demodulate(options);
            EXPECT_EQ(done.check.faults.fault, fault.fault) << joined(done.warnings) << done.check.evm;
            EXPECT_NE(joined(done.warnings).find(fault.text), std::string::npos) << joined(done.warnings);
        }
        EXPECT_NE(joined(measured_warnings()).find(fault.text), std::string::npos)
            << joined(measured_warnings());
    }
}

TEST_F(Symbols, TheRotationIsMeasured) {
    for (const double degrees : {-40.0, -12.0, 7.0, 30.0}) {
        const Complex by = std::polar(1.0, degrees * std::numbers::pi / 180.0);
        make_capture(file_, {.modulation = Modulation::qam64,
                             .symbols = 20'000,
                             .bits = false,
                             .fault = [by](Complex y, std::uint64_t) { return y * by; }});
        phy::DemodulateOptions options;
        options.capture.noise_variance = 0.001F;
        EXPECT_NEAR(demodulate(options).check.faults.phase_deg, degrees, 0.2);
    }
}

TEST_F(Symbols, AQuarterTurnCannotBeSeen) {
    make_capture(file_, {.modulation = Modulation::qam16,
                         .symbols = 20'000,
                         .bits = false,
                         .fault = [](Complex y, std::uint64_t) { return y * Complex(0.0, 1.0); }});
    phy::DemodulateOptions options;
    options.capture.noise_variance = 0.001F;
    EXPECT_EQ(joined(demodulate(options).warnings), "");
}

TEST_F(Symbols, AnotherModulationIsNamed) {
    std::mt19937_64 random(20242);
    for (const Modulation sent : phy::all_modulations) {
        for (const Modulation said : phy::all_modulations) {
            // 1024QAM is not always told from others.
            if (sent == said || std::max(sent, said) == Modulation::qam1024) continue;
            if (takes_fewer_cases() && random() % 4 != 0) continue;
            const MadeCapture made = {.modulation = sent,
                                      .symbols = 30'000,
                                      .snr_db = clear_snr(random, sent),
                                      .seed = static_cast<unsigned>(random()),
                                      .bits = false};
            SCOPED_TRACE(made.text() + ", said to be " + std::string(to_string(said)));
            make_capture(file_, made);
            phy::MeasureOptions options;
            options.capture.modulation = said;
            options.places = {phy::Host()};
            const std::string warnings = joined(phy::measure_file(file_, options).warnings);
            EXPECT_NE(warnings.find("the symbols look like " + std::string(to_string(sent)) +
                                    " rather than " + std::string(to_string(said))),
                      std::string::npos)
                << warnings;
        }
    }
}

/// Symbols with an N0 of each, as from an equaliser; `biased`: without correcting the bias of MMSE.
struct Equalised {
    std::vector<phy::cf32> symbols;
    std::vector<float> noise;
};

Equalised equalise(std::mt19937_64& random, Modulation modulation, std::size_t count, double snr_db,
                   bool fades, bool biased) {
    std::vector<std::uint8_t> bits(count * bits_per_symbol(modulation));
    for (std::uint8_t& bit : bits)
        bit = static_cast<std::uint8_t>(random() >> 63U);
    Equalised made = {.symbols = std::vector<phy::cf32>(count), .noise = {}};
    const phy::Mapper map(phy::Host(), {.modulation = modulation});
    map(bits, made.symbols);
    std::normal_distribution<double> normal(0.0, std::sqrt(0.5));
    for (phy::cf32& symbol : made.symbols) {
        double power = 1.0;
        if (fades) power = std::norm(Complex(normal(random), normal(random)));
        const double n0 = std::pow(10.0, -snr_db / 10.0) / std::max(power, 1e-6);
        Complex y = Complex(symbol) + std::sqrt(n0) * Complex(normal(random), normal(random));
        if (biased) y /= 1.0 + n0;
        symbol = phy::cf32(y);
        made.noise.push_back(static_cast<float>(n0));
    }
    return made;
}

TEST_F(Symbols, RightCapturesGetNoWarning) {
    std::mt19937_64 random(20243);
    for (int n = 0; n < fewer_times(12); ++n) {
        const Modulation modulation = phy::all_modulations[random() % phy::all_modulations.size()];
        const std::size_t count = 300 + random() % 9'000;
        const double snr_db = uniform(random, -10.0, 50.0);
        const bool fades = random() % 2 == 0;
        const bool biased = random() % 2 == 0;
        SCOPED_TRACE(std::string(to_string(modulation)) + ", case " + std::to_string(n) + ", " +
                     std::to_string(snr_db) + " dB, " + (fades ? "fading" : "awgn") +
                     (biased ? ", biased" : ""));
        const Equalised made = equalise(random, modulation, count, snr_db, fades, biased);
        phy::CaptureWriter writer(
            file_, {.symbols = count, .modulation = modulation, .noise_per_symbol = true, .overwrite = true});
        writer.append(made.symbols);
        writer.append_noise(made.noise);
        writer.commit();
        EXPECT_EQ(joined(demodulate({}).warnings), "");
        EXPECT_EQ(joined(measured_warnings()), "");
        if (fades) continue;
        phy::DemodulateOptions measured;
        measured.gain.reset();
        measured.estimate_noise = true;
        EXPECT_EQ(joined(demodulate(measured).warnings), "");
    }
}

}  // namespace
}  // namespace phy_test
