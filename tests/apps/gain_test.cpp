#include <cmath>
#include <string>
#include <utility>

#include "support/app_test.hpp"
#include "support/hdf5_file.hpp"

namespace phy::test {
namespace {

/// demod_app where amplitude and noise are not known.
class UnknownGain : public AppTest {
protected:
    /// The file says that 1.0 is 8192; with this it seems to be four times as much.
    const Arguments wrong_scale_ = {"--full-scale", "32768"};

    [[nodiscard]] std::string integers(const std::string& modulation, const std::string& snr_db) const {
        return generate(modulation + ".h5", {"--modulation", modulation, "--symbols", "200000", "--snr-db",
                                             snr_db, "--type", "ci16", "--quiet"});
    }

    [[nodiscard]] JsonValue demod_wrongly_scaled(const std::string& capture, Arguments options) const {
        options.insert(options.begin(), capture);
        options.insert(options.end(), wrong_scale_.begin(), wrong_scale_.end());
        return demod_json(options);
    }
};

TEST_F(UnknownGain, MeasuredFirstIsAsGoodAsKnown) {
    for (const auto& [modulation, snr_db] : {std::pair("qpsk", "7"), {"256qam", "26"}, {"1024qam", "32"}}) {
        SCOPED_TRACE(modulation);
        const std::string capture = integers(modulation, snr_db);
        const JsonValue known = demod_json({capture});
        const JsonValue found =
            demod_wrongly_scaled(capture, {"--gain", "auto", "--noise-variance", "estimate"});
        EXPECT_EQ(known["divided_by"].number(), 1.0);
        EXPECT_FALSE(known.has("measure_seconds"));
        EXPECT_NEAR(found["divided_by"].number(), 0.25, 0.25 * 0.005);
        EXPECT_NEAR(found["noise_variance"].number() / known["noise_variance"].number(), 1.0, 0.03);
        EXPECT_GT(found["measure_seconds"].number(), 0.0);
        const double errors = known["bit_errors"].number();
        EXPECT_LT(std::abs(found["bit_errors"].number() - errors), 3.0 * std::sqrt(errors));
        // Without, decisions of more than one amplitude fail.
        if (modulation != std::string("qpsk")) {
            EXPECT_GT(demod_wrongly_scaled(capture, {})["bit_error_rate"].number(), 0.1);
        }
    }
}

TEST_F(UnknownGain, MayBeGiven) {
    const std::string capture = integers("256qam", "26");
    const JsonValue known = demod_json({capture});
    const JsonValue given = demod_wrongly_scaled(capture, {"--gain", "0.25"});
    EXPECT_EQ(given["divided_by"].number(), 0.25);
    EXPECT_EQ(given["bit_errors"].number(), known["bit_errors"].number());
    EXPECT_EQ(given["noise_variance"].number(), known["noise_variance"].number());
    const std::string text = demod({capture, "--gain", "0.25", "--noise-variance", "estimate"}).out;
    EXPECT_NE(text.find("gain            0.25\n"), std::string::npos) << text;
    EXPECT_NE(text.find("measured before"), std::string::npos) << text;
    EXPECT_EQ(demod({capture}).out.find("gain"), std::string::npos);
}

TEST_F(UnknownGain, OfOneChangesNoByte) {
    const std::string capture = generate("c.h5", {"--modulation", "64qam", "--symbols", "5000", "--quiet"});
    EXPECT_EQ(soft_bits(capture, {"--gain", "1", "--noise-variance", "auto"}), soft_bits(capture));
}

TEST_F(UnknownGain, MeasuringLeavesNothingBehindOnFailure) {
    const std::string capture = integers("qpsk", "7");
    for (const std::string chunk : {"0x", "1000000000000000"})
        expect_failure(
            {demod_app, capture, "-o", path("out.h5"), "--noise-variance", "estimate", "--chunk", chunk}, 2,
            {"--chunk"});
}

TEST_F(UnknownGain, NeedsAModulation) {
    const std::string capture = path("raw.h5");
    Hdf5File(capture).reals("iq", {100, 2});
    expect_failure({demod_app, capture, "--gain", "auto", "--noise-variance", "estimate"}, 1,
                   {"raw.h5: /iq", "modulation"});
    Hdf5File(path("zeros.h5")).reals("iq", {100, 2}, 0.0F);
    expect_failure({demod_app, path("zeros.h5"), "--modulation", "qpsk", "--gain", "auto", "--noise-variance",
                    "estimate"},
                   1, {"zeros.h5: /iq", "gain"});
    const float nan = std::nanf("");
    Hdf5File(path("nans.h5")).reals("iq", {100, 2}, nan);
    expect_failure({demod_app, path("nans.h5"), "--modulation", "qpsk", "--noise-variance", "estimate"}, 1,
                   {"nans.h5: /iq", "finite", "N0"});
}

TEST_F(UnknownGain, ErrorsNameTheOptionsThatAreMissing) {
    const std::string capture = path("raw.h5");
    Hdf5File(capture).reals("iq", {100, 2});
    const auto error = [&](const Arguments& options) {
        Arguments command = {demod_app, capture};
        command.insert(command.end(), options.begin(), options.end());
        const Outcome outcome = run(command);
        EXPECT_EQ(outcome.status, 1);
        return outcome.err;
    };
    const std::string name = "demod_app: " + capture + ": /iq";
    EXPECT_TRUE(error({}).ends_with(name +
                                    " has no attribute modulation and no noise_variance: expected both, or "
                                    "--modulation M and --noise-variance X or estimate\n"));
    for (const std::string noise : {"0.1", "estimate"})
        EXPECT_TRUE(
            error({"--noise-variance", noise})
                .ends_with(name + " has no attribute modulation: expected that, or --modulation M\n"));
    EXPECT_TRUE(error({"--modulation", "qpsk"})
                    .ends_with(name +
                               " has neither an attribute nor a dataset noise_variance: --noise-variance X "
                               "gives one, --noise-variance estimate measures it\n"));
    expect_failure({demod_app, capture, "--modulation", "qpsk", "--noise-variance", "estimate"}, 1,
                   {"raw.h5: /iq: the estimated N0 is 0", "--noise-variance X gives one"});
}

}  // namespace
}  // namespace phy::test
