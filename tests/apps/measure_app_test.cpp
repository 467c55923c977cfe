#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "phy/core/backend.hpp"
#include "support/app_test.hpp"
#include "support/hdf5_file.hpp"
#include "support/test_files.hpp"

namespace phy::test {
namespace {

class MeasureApp : public AppTest {
protected:
    [[nodiscard]] std::string capture(const Arguments& more = {}, const std::string& snr_db = "30") const {
        Arguments options = {"--modulation", "256qam", "--symbols", "50000", "--snr-db", snr_db, "--quiet"};
        options.insert(options.end(), more.begin(), more.end());
        return generate("c.h5", options);
    }
};

TEST_F(MeasureApp, HasEveryField) {
    const JsonValue report = measure_json({capture()});
    EXPECT_EQ(report["symbols"].number(), 50'000.0);
    EXPECT_NEAR(report["mean_power"].number(), 1.0, 0.02);
    EXPECT_GT(report["peak_power"].number(), 2.0);
    EXPECT_NEAR(report["papr_db"].number(),
                10.0 * std::log10(report["peak_power"].number() / report["mean_power"].number()), 1e-9);
    EXPECT_NEAR(report["dc_i"].number(), 0.0, 0.02);
    EXPECT_NEAR(report["dc_q"].number(), 0.0, 0.02);
    EXPECT_NEAR(report["iq_gain_db"].number(), 0.0, 0.2);
    EXPECT_NEAR(report["iq_phase_deg"].number(), 0.0, 1.0);
    EXPECT_NEAR(report["gain"].number(), 1.0, 1e-3);
    EXPECT_NEAR(report["phase_deg"].number(), 0.0, 0.1);
    EXPECT_NEAR(report["evm_rms"].number(), std::sqrt(1e-3), 1e-3);
    EXPECT_GT(report["evm_peak"].number(), 2.0 * report["evm_rms"].number());
    EXPECT_NEAR(report["mer_db"].number(), 30.0, 0.2);
    EXPECT_NEAR(report["noise_variance"].number(), 1e-3, 2e-5);
    EXPECT_NEAR(report["snr_db"].number(), 30.0, 0.1);
    EXPECT_EQ(report["not_finite"].number(), 0.0);
    EXPECT_EQ(report["evm_limit"].number(), 0.035);
    EXPECT_TRUE(report["within_limit"].boolean());
    EXPECT_EQ(report["modulation"].string(), "256qam");
    EXPECT_EQ(report["backend"].string(), Backend::best().name());
    EXPECT_GT(report["symbols_per_second"].number(), 0.0);
    EXPECT_FALSE(report.has("rows"));
    EXPECT_FALSE(measure_json({capture({"--force"}, "25")})["within_limit"].boolean());
}

TEST_F(MeasureApp, MeasuresRows) {
    const std::string file = capture();
    const JsonValue whole = measure_json({file});
    for (const auto& [by, rows] : {std::pair("1000", 50), {"1024", 49}, {"row", 1}, {"slot", 1}}) {
        SCOPED_TRACE(by);
        const JsonValue report = measure_json({file, "--by", by});
        EXPECT_EQ(report["noise_variance"].number(), whole["noise_variance"].number());
        for (const std::string number : {"mean_power", "evm_rms", "noise_variance"}) {
            const auto& values = report["rows"][number].array();
            ASSERT_EQ(values.size(), static_cast<std::size_t>(rows));
            for (const JsonValue& value : values)
                EXPECT_NEAR(value.number() / report[number].number(), 1.0, 0.2);
        }
    }
}

TEST_F(MeasureApp, ARangeIsARow) {
    const std::string file = capture();
    const JsonValue rows = measure_json({file, "--gain", "1", "--by", "1000"})["rows"];
    const JsonValue part = measure_json({file, "--gain", "1", "--range", "3000:1000"});
    EXPECT_EQ(part["range_first"].number(), 3000.0);
    EXPECT_EQ(part["symbols"].number(), 1000.0);
    for (const std::string number : {"mean_power", "evm_rms", "noise_variance"})
        EXPECT_EQ(part[number].number(), rows[number].array()[3].number()) << number;
    EXPECT_EQ(measure_json({file, "--range", "49000:5000"})["symbols"].number(), 1000.0);
    expect_failure({measure_app, file, "--range", "50000:1"}, 2, {"range 50000:1", "has only 50000 symbols"});
    expect_failure({measure_app, file, "--range", "7"}, 2, {"--range 7: expected FIRST:COUNT"});
    expect_failure({measure_app, file, "--survey", path("s.json")}, 2,
                   {"--survey: not for a capture of symbols"});
}

TEST_F(MeasureApp, RangesShareASurvey) {
    const Arguments command = {data_file("pusch_samples.h5"), "--by", "slot"};
    const auto rows = [&](const Arguments& more) {
        Arguments arguments = command;
        arguments.insert(arguments.end(), more.begin(), more.end());
        return measure_json(arguments)["rows"]["evm_rms"].array();
    };
    const auto whole = rows({});
    ASSERT_GT(whole.size(), 1U);
    for (const bool is_there : {false, true}) {
        EXPECT_EQ(std::filesystem::exists(path("survey.json")), is_there);
        const auto part = rows({"--survey", path("survey.json"), "--range", "1:1"});
        ASSERT_EQ(part.size(), 1U);
        EXPECT_EQ(part.front().number(), whole[1].number());
    }
    std::ofstream(path("survey.json")) << "damaged";
    expect_failure({measure_app, command.front(), "--survey", path("survey.json")}, 1, {"survey.json: "});
}

TEST_F(MeasureApp, TakesRowsFromTheShape) {
    Hdf5File(path("grid.h5")).reals("iq", {3, 14, 24, 2});
    const Arguments command = {path("grid.h5"), "--modulation", "qpsk", "--by"};
    const auto rows = [&](const std::string& by) {
        Arguments arguments = command;
        arguments.push_back(by);
        return measure_json(arguments)["rows"]["mean_power"].array().size();
    };
    EXPECT_EQ(rows("row"), 42U);
    EXPECT_EQ(rows("slot"), 3U);
    EXPECT_EQ(rows("100"), 11U);
}

TEST_F(MeasureApp, IsTheSameOnEveryBackend) {
    const std::string file = capture({"--type", "cf16"});
    const auto numbers = [&](Arguments options) {
        options.insert(options.begin(), {file, "--by", "777"});
        JsonValue report = measure_json(options);
        std::vector<double> all;
        for (const std::string name : {"mean_power", "gain", "evm_rms", "evm_peak", "noise_variance"})
            all.push_back(report[name].number());
        for (const JsonValue& value : report["rows"]["noise_variance"].array())
            all.push_back(value.number());
        return all;
    };
    const std::vector<double> scalar = numbers({"--backend", "scalar"});
    EXPECT_EQ(numbers({"--backend", "cpu"}), scalar);
    EXPECT_EQ(numbers({"--chunk", "1", "--threads", "2"}), scalar);
}

TEST_F(MeasureApp, MeasuresAgainstWhatWasSent) {
    const std::string file = capture({}, "10");
    const JsonValue sent = measure_json({file, "--reference", "sent"});
    EXPECT_NEAR(sent["snr_db"].number(), 10.0, 0.1);
    EXPECT_EQ(sent["reference"].string(), "sent");
    const std::string without =
        generate("n.h5", {"--modulation", "qpsk", "--symbols", "100", "--no-bits", "--quiet"});
    expect_failure({measure_app, without, "--reference", "sent"}, 1,
                   {"--reference sent", "n.h5: /iq", "bits"});
}

TEST_F(MeasureApp, WithoutAModulationThereArePowersAlone) {
    Hdf5File(path("raw.h5")).reals("iq", {100, 2});
    const JsonValue report = measure_json({path("raw.h5"), "--by", "10"});
    EXPECT_EQ(report["mean_power"].number(), 0.5);
    EXPECT_EQ(report["rows"]["mean_power"].array().size(), 10U);
    for (const std::string name :
         {"gain", "evm_rms", "noise_variance", "evm_limit", "within_limit", "modulation"})
        EXPECT_TRUE(report[name].is_null()) << name;
    EXPECT_TRUE(report["rows"]["evm_rms"].array().front().is_null());
    const Outcome text = run({measure_app, path("raw.h5"), "--by", "10"});
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_NE(text.out.find("modulation unknown"), std::string::npos) << text.out;
}

TEST_F(MeasureApp, LimitsAreThoseOfTheTransmitter) {
    const std::string uplink = run({measure_app, data_file("pusch_samples.h5")}).out;
    EXPECT_NE(uplink.find("8 % (TS 38.101-1, 6.4.2.1): met"), std::string::npos) << uplink;
    const std::string downlink = run({measure_app, data_file("pdsch_grid.h5")}).out;
    EXPECT_NE(downlink.find("12.5 % (TS 38.104, 6.5.2.2): met"), std::string::npos) << downlink;
}

TEST_F(MeasureApp, TextIsShortHoweverManyRows) {
    const std::string text = run({measure_app, capture(), "--by", "10"}).out;
    EXPECT_LT(std::ranges::count(text, '\n'), 40);
    for (const std::string word :
         {"256qam", "mean power", "peak power", "DC offset", "IQ imbalance", "gain", "EVM rms", "MER",
          "3.5 %", "met", "SNR", "5000 rows of 10 symbols", "rows are left out"})
        EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
    EXPECT_EQ(run({measure_app, path("c.h5"), "--quiet"}).out, "");
}

TEST_F(MeasureApp, CountsWhatIsNotFinite) {
    Hdf5File(path("nans.h5")).reals("iq", {100, 2}, std::nanf(""));
    const JsonValue report = measure_json({path("nans.h5"), "--modulation", "qpsk", "--gain", "1"});
    EXPECT_EQ(report["symbols"].number(), 0.0);
    EXPECT_EQ(report["not_finite"].number(), 100.0);
    EXPECT_TRUE(report["mean_power"].is_null());
    EXPECT_TRUE(report["within_limit"].is_null());
    const Outcome text = run({measure_app, path("nans.h5"), "--modulation", "qpsk", "--gain", "1"});
    EXPECT_NE(text.out.find("100 more, which are left out"), std::string::npos) << text.out;
}

TEST_F(MeasureApp, SaysWhatItCanWithoutAGain) {
    for (const float value : {std::nanf(""), 0.0F}) {
        const std::string file = path(std::isnan(value) ? "nans.h5" : "zeros.h5");
        Hdf5File(file).reals("iq", {100, 2}, value);
        const Arguments command = {measure_app, file, "--modulation", "qpsk", "--by", "30"};
        const Outcome text = run(command);
        EXPECT_EQ(text.status, 0) << text.err;
        const std::string reason = "the gain cannot be measured: no symbol is finite and nonzero";
        EXPECT_NE(text.err.find("measure_app: warning: " + file + ": /iq: " + reason + "\n"),
                  std::string::npos)
            << text.err;
        for (const std::string& words :
             {reason, std::string("EVM limit       17.5 %"), std::string("EVM unknown"),
              std::string("4 rows of 30 symbols, the last one of 10")})
            EXPECT_NE(text.out.find(words), std::string::npos) << words << " in\n" << text.out;
        const JsonValue report = measure_json({file, "--modulation", "qpsk", "--quiet"});
        EXPECT_EQ(report["symbols"].number() + report["not_finite"].number(), 100.0);
        EXPECT_EQ(report["mean_power"].is_null(), std::isnan(value));
        for (const std::string name : {"gain", "evm_rms", "noise_variance", "snr_db", "within_limit"})
            EXPECT_TRUE(report[name].is_null()) << name;
    }
}

TEST_F(MeasureApp, RefusesWhatDemodAppRefuses) {
    expect_failure({measure_app, path("missing.h5")}, 1, {"measure_app: ", "missing.h5", "no such file"});
    Hdf5File(path("empty.h5")).reals("iq", {0, 2});
    expect_failure({measure_app, path("empty.h5")}, 1, {"empty.h5"});
}

/// Before the work: the file has holes, but is too long to be read.
TEST_F(MeasureApp, RowsThatNoMemoryHoldsAreNamed) {
    const std::string file = path("long.raw");
    std::ofstream(file).put('\0');
    std::error_code error;
    std::filesystem::resize_file(file, 4'000'000'000'000, error);
    if (error) GTEST_SKIP() << "this file system has no room for gaps of 4 TB";
    expect_failure({measure_app, file, "--raw", "ci8", "--modulation", "qpsk", "--gain", "1", "--by",
                    "1000000000001", "--chunk", "1000"},
                   2, {"measure_app: --by: ", "memory", "stage 'measure'"});
}

TEST_F(MeasureApp, CanBeInterrupted) {
    const std::string file =
        generate("c.h5", {"--modulation", "1024qam", "--symbols", "3000000", "--no-bits", "--quiet"});
    Subprocess process({measure_app, file, "--backend", "scalar", "--threads", "1", "--by", "7"});
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    process.signal(SIGINT);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.status, 130);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "measure_app: interrupted\n");
}

}  // namespace
}  // namespace phy::test
