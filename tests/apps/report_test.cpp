#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "phy/core/backend.hpp"
#include "phy/core/version.hpp"
#include "support/app_test.hpp"
#include "support/test_files.hpp"

namespace phy::test {
namespace {

class Report : public AppTest {
protected:
    [[nodiscard]] std::string small_capture(const Arguments& more = {}) const {
        Arguments options = {"--modulation", "64qam", "--symbols", "1000", "--quiet"};
        options.insert(options.end(), more.begin(), more.end());
        return generate("c.h5", options);
    }
};

TEST_F(Report, HasEveryField) {
    const JsonValue report = demod_json({small_capture(), "-o", path("out.h5")});
    EXPECT_EQ(report["symbols"].number(), 1000.0);
    EXPECT_EQ(report["soft_bits"].number(), 6000.0);
    const double seconds = report["seconds"].number();
    EXPECT_GT(seconds, 0.0);
    EXPECT_DOUBLE_EQ(report["symbols_per_second"].number(), 1000.0 / seconds);
    EXPECT_DOUBLE_EQ(report["soft_bits_per_second"].number(), 6000.0 / seconds);
    EXPECT_EQ(report["backend"].string(), Backend::best().name());
    EXPECT_TRUE(report["device"].is_null());
    EXPECT_EQ(report["modulation"].string(), "64qam");
    EXPECT_EQ(report["llr"].string(), "int8");
    EXPECT_EQ(report["llr_scale"].number(), 6.0);
    EXPECT_EQ(report["noise_variance"].number(), 0.01);
    EXPECT_EQ(report["erasures"].number(), 0.0);
    EXPECT_GE(report["saturated"].number(), 0.0);
    EXPECT_GT(report["bit_errors"].number(), 0.0);
    const double rate = report["bit_error_rate"].number();
    EXPECT_GT(rate, 0.0);
    EXPECT_GT(report["bit_error_rate_low"].number(), 0.0);
    EXPECT_LT(report["bit_error_rate_low"].number(), rate);
    EXPECT_GT(report["bit_error_rate_high"].number(), rate);
    for (const std::string stage : {"read", "demap", "write"}) {
        EXPECT_GE(report["busy_seconds"][stage].number(), 0.0);
        EXPECT_LE(report["busy_seconds"][stage].number(), seconds);
    }
}

TEST_F(Report, HasNoErrorRateWithoutTruth) {
    const JsonValue report = demod_json({small_capture({"--no-bits"})});
    EXPECT_FALSE(report.has("bit_errors"));
    EXPECT_FALSE(report.has("bit_error_rate"));
}

/// Of 1,000 symbols of 64QAM. The bound is 1 - 0.05^(1/6000).
TEST_F(Report, BoundsARateWithoutErrors) {
    const std::string capture = small_capture({"--snr-db", "60"});
    const JsonValue report = demod_json({capture});
    EXPECT_EQ(report["bit_error_rate"].number(), 0.0);
    EXPECT_EQ(report["bit_error_rate_low"].number(), 0.0);
    EXPECT_NEAR(report["bit_error_rate_high"].number(), 4.9917e-4, 1e-8);
    const std::string text = demod({capture}).out;
    EXPECT_NE(text.find("bit errors      0 (rate < 0.0005)\n"), std::string::npos) << text;
}

TEST_F(Report, CountsSaturation) {
    EXPECT_GT(demod_json({small_capture(), "--llr-clip", "1"})["saturated"].number(), 3000.0);
}

TEST_F(Report, JsonIsOneLineAndAlone) {
    const std::string capture = small_capture();
    for (const Arguments& arguments :
         {Arguments{capture, "--json"}, Arguments{capture, "--json", "--quiet"}}) {
        const Outcome outcome = demod(arguments);
        EXPECT_TRUE(outcome.out.starts_with('{'));
        EXPECT_EQ(outcome.out.find('\n'), outcome.out.size() - 1);
        EXPECT_EQ(outcome.err, "");
    }
}

TEST_F(Report, TextSaysTheSame) {
    const std::string text = demod({small_capture()}).out;
    for (const std::string word :
         {"1000", "64qam", "6000", "Msymbol/s", "bit errors", "read", "demap", "write"})
        EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
    EXPECT_NE(text.find(Backend::best().name()), std::string::npos);
}

TEST_F(Report, SaysWhatSaturates) {
    const std::string capture = small_capture();
    const std::string text = demod({capture, "--llr-clip", "12", "--llr-scale", "4"}).out;
    EXPECT_NE(text.find(" of 6000 soft bits ("), std::string::npos) << text;
    EXPECT_NE(text.find(" at +-12, for |L| from 3 nats on"), std::string::npos) << text;
    const auto expect_cause = [&](Arguments options, const std::string& cause) {
        options.insert(options.begin(), capture);
        const std::string report = demod(options).out;
        EXPECT_NE(report.find(" nats on: " + cause + "\n"), std::string::npos) << cause << " in\n" << report;
    };
    expect_cause({}, "normal at high SNR");
    expect_cause({"--llr-scale", "12"}, "normal at high SNR");
    expect_cause({"--llr-clip", "60"}, "normal at high SNR");
    expect_cause({"--llr-scale", "4096"}, "--llr-scale 4096 is large");
    expect_cause({"--llr-clip", "1"}, "--llr-clip 1 is small");
    expect_cause({"--llr-scale", "11", "--llr-clip", "64"}, "--llr-clip 64 is small");
    expect_cause({"--llr-scale", "24", "--llr-clip", "64"}, "--llr-scale 24 is large");
}

TEST_F(Report, OfSlotsHasTheWorstSlotAndUnits) {
    const std::string capture = data_file("pusch_samples.h5");
    const std::string text = demod({capture}).out;
    for (const std::string word : {" s, ", "times real time (", " dB; worst ", " %; worst ", "error over N0",
                                   "erasures        0 of 2880 symbols"})
        EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
    const JsonValue report = demod_json({capture});
    EXPECT_NEAR(report["error_over_noise_db"].number(), 0.0, 0.5);
    EXPECT_LT(report["worst_slot"]["snr_db"].number(), report["snr_db"].number());
    EXPECT_GT(report["worst_slot"]["evm_rms"].number(), report["evm_rms"].number());
    EXPECT_GE(report["worst_slot"]["error_over_noise_db"].number(), report["error_over_noise_db"].number());
    EXPECT_TRUE(report["warnings"].array().empty());
}

TEST_F(Report, QuietPrintsNothing) {
    const Outcome outcome = demod({small_capture(), "-o", path("out.h5"), "--quiet"});
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "");
    EXPECT_TRUE(std::filesystem::exists(path("out.h5")));
    EXPECT_EQ(run({phy_info, "--quiet"}).out, "");
}

TEST_F(Report, WithoutOutputNothingIsWritten) {
    const std::string capture = small_capture();
    demod({capture});
    EXPECT_EQ(files(), std::set<std::string>{"c.h5"});
}

TEST_F(Report, NamesTheBackendThatWasForced) {
    const std::string capture = small_capture();
    for (const Backend& backend : Backend::all()) {
        if (!backend.supported()) continue;
        SCOPED_TRACE(backend.name());
        const Arguments environment = {"PHY_BACKEND=" + backend.name()};
        EXPECT_EQ(demod_json({capture}, environment)["backend"].string(), backend.name());
        EXPECT_EQ(demod_json({capture, "--backend", "auto"}, environment)["backend"].string(),
                  backend.name());
        EXPECT_EQ(demod_json({capture, "--backend", backend.name()})["backend"].string(), backend.name());
        EXPECT_EQ(demod_json({capture, "--backend", "scalar"}, environment)["backend"].string(), "scalar");
    }
    expect_failure({demod_app, capture, "--backend", "cpu[neon]"}, 3, {"neon"});
}

TEST_F(Report, FailsWhenStandardOutputIsFull) {
    const Outcome outcome = run({"/bin/sh", "-c", demod_app + " " + small_capture() + " --json > /dev/full"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_NE(outcome.err.find("standard output"), std::string::npos);
}

TEST_F(Report, PhyInfoListsTheBackends) {
    const JsonValue info = parse_json(run({phy_info, "--json"}).out);
    EXPECT_EQ(info["phy_version"].string(), version);
    EXPECT_EQ(info["best"].string(), Backend::best().name());
    EXPECT_EQ(info["cuda"].is_null(), !built_with_cuda);
    ASSERT_EQ(info["backends"].array().size(), Backend::all().size());
    const std::string text = run({phy_info}).out;
    for (std::size_t i = 0; i < Backend::all().size(); ++i) {
        const JsonValue& listed = info["backends"].array()[i];
        const Backend& backend = Backend::all()[i];
        EXPECT_EQ(listed["name"].string(), backend.name());
        EXPECT_EQ(listed["description"].string(), backend.description());
        EXPECT_EQ(listed["supported"].boolean(), backend.supported());
        EXPECT_NE(text.find(backend.name()), std::string::npos);
    }
}

TEST_F(Report, PhyInfoTellsWhetherABackendIsForced) {
    const Outcome free = run({phy_info}, {"PHY_BACKEND="});
    EXPECT_NE(free.out.find("best of the CPU"), std::string::npos) << free.out;
    EXPECT_EQ(free.out.find("forced"), std::string::npos) << free.out;
    EXPECT_TRUE(parse_json(run({phy_info, "--json"}, {"PHY_BACKEND="}).out)["forced"].is_null());

    const Outcome forced = run({phy_info}, {"PHY_BACKEND=scalar"});
    EXPECT_NE(forced.out.find("\nscalar         forced by PHY_BACKEND"), std::string::npos) << forced.out;
    EXPECT_EQ(forced.out.find("best"), std::string::npos) << forced.out;
    const JsonValue info = parse_json(run({phy_info, "--json"}, {"PHY_BACKEND=scalar"}).out);
    EXPECT_EQ(info["forced"].string(), "scalar");
}

TEST_F(Report, JsonReaderOfTheTestsIsStrict) {
    for (const std::string bad :
         {"", "{", "{}x", "nan", "-inf", "{\"a\":1,}", "[1 2]", "{\"a\":1,\"a\":2}", "\"\n\""})
        EXPECT_THROW(static_cast<void>(parse_json(bad)), std::runtime_error) << bad;
    EXPECT_EQ(parse_json(" {\"a\": [1, -2.5e3, \"\\u0041\\n\"]} ")["a"].array()[2].string(), "A\n");
}

}  // namespace
}  // namespace phy::test
