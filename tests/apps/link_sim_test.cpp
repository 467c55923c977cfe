#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "support/app_test.hpp"

namespace phy::test {
namespace {

/// Of an installation, where PHY_APPS_DIR names its folder.
std::string link_sim() {
    const char* const folder = std::getenv("PHY_APPS_DIR");
    return folder == nullptr ? LINK_SIM : folder + std::string("/link_sim");
}

using Points = JsonValue::Array;

class LinkSim : public AppTest {
protected:
    [[nodiscard]] static JsonValue simulate(Arguments arguments) {
        arguments.insert(arguments.begin(), link_sim());
        arguments.insert(arguments.end(), {"--json", "--quiet"});
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.err, "");
        return parse_json(outcome.out);
    }

    [[nodiscard]] static Points points(const Arguments& arguments) {
        return simulate(arguments)["points"].array();
    }

    [[nodiscard]] std::string text_of(const std::string& file) const {
        std::ifstream stream(path(file));
        return {std::istreambuf_iterator<char>(stream), {}};
    }
};

/// What one receiver has at each point, in the order of the points.
std::vector<double> numbers(const Points& points, const std::string& name, const std::string& key,
                            const std::string& value) {
    std::vector<double> all;
    for (const JsonValue& point : points) {
        if (point[key].string() == value) all.push_back(point[name].number());
    }
    return all;
}

/// Within 4 standard deviations of what is expected of independent bits.
void expect_theory(const Points& points) {
    for (const JsonValue& point : points) {
        const double bits = point["bits"].number();
        const double theory = point["theory"].number();
        EXPECT_NEAR(point["bit_errors"].number(), bits * theory, 4.0 * std::sqrt(bits * theory) + 1.0)
            << point["modulation"].string() << " at " << point["snr_db"].number() << " dB";
    }
}

TEST_F(LinkSim, LiesOnTheoryInWhiteNoise) {
    for (const auto& [modulation, snr_db] : {std::pair("pi2-bpsk", "-2:4:6"),
                                             {"bpsk", "-2:4:6"},
                                             {"qpsk", "0:4:8"},
                                             {"16qam", "4:5:14"},
                                             {"64qam", "8:6:20"},
                                             {"256qam", "14:6:26"},
                                             {"1024qam", "20:6:32"}}) {
        const Points all = points({"--modulation", modulation, "--snr-db", snr_db, "--errors", "1",
                                   "--min-slots", "100", "--resource-blocks", "10"});
        ASSERT_EQ(all.size(), 3U);
        expect_theory(all);
        for (const JsonValue& point : all) {
            EXPECT_NEAR(point["evm_rms"].number(), std::pow(10.0, -point["snr_db"].number() / 20.0),
                        0.01 * point["evm_rms"].number());
        }
    }
}

TEST_F(LinkSim, LiesOnTheoryWithOrthogonalLayers) {
    for (const auto& [antennas, layers] : {std::pair("4", "3"), {"2", "2"}, {"3", "1"}}) {
        expect_theory(points({"--modulation", "16qam", "--snr-db", "3:6:9", "--max-bits", "1", "--min-slots",
                              "50", "--resource-blocks", "10", "--antennas", antennas, "--layers", layers}));
    }
}

TEST_F(LinkSim, LiesOnTheoryInFlatFading) {
    for (const Arguments& link : {Arguments{"--antennas", "2"},
                                  {"--antennas", "4", "--layers", "2", "--equalizer", "zero-forcing"}}) {
        Arguments all = {"--channel",         "flat", "--known",     "channel,noise",
                         "--modulation",      "qpsk", "--snr-db",    "4",
                         "--resource-blocks", "1",    "--min-slots", "4000",
                         "--max-bits",        "1"};
        all.insert(all.end(), link.begin(), link.end());
        const JsonValue point = points(all).front();
        EXPECT_EQ(point["slots"].number(), 4000.0);
        EXPECT_NEAR(point["bit_error_rate"].number() / point["theory"].number(), 1.0, 0.06);
    }
}

const Arguments useful_range = {"--modulation", "qpsk,16qam,64qam,256qam,1024qam",
                                "--snr-db",     "-2:4:34",
                                "--max-bits",   "1",
                                "--min-slots",  "6",
                                "--method",     "maxlog,logmap"};

TEST_F(LinkSim, LogMapTellsNoLessThanMaxLog) {
    const Points all = points(useful_range);
    const auto max_log = numbers(all, "mutual_information", "method", "maxlog");
    const auto log_map = numbers(all, "mutual_information", "method", "logmap");
    ASSERT_EQ(max_log.size(), 50U);
    ASSERT_EQ(log_map.size(), 50U);
    double most = 0.0;
    for (std::size_t i = 0; i < max_log.size(); ++i) {
        // The evaluation of log-MAP is exact to a hundredth of a nat.
        EXPECT_GE(log_map[i], max_log[i] - 1e-4);
        most = std::max(most, log_map[i] - max_log[i]);
    }
    EXPECT_GT(most, 0.1);
}

TEST_F(LinkSim, Int8LosesLittleAtItsDefaultScale) {
    Arguments options = useful_range;
    options.insert(options.end(), {"--llr", "int8,float16,float32"});
    const Points all = points(options);
    const auto of_format = [&](const std::string& format) {
        return numbers(all, "mutual_information", "llr", format);
    };
    const auto int8 = of_format("int8");
    const auto float16 = of_format("float16");
    const auto float32 = of_format("float32");
    ASSERT_EQ(int8.size(), 100U);
    ASSERT_EQ(float32.size(), 100U);
    for (std::size_t i = 0; i < int8.size(); ++i) {
        EXPECT_GT(int8[i], float32[i] - 0.05);
        EXPECT_NEAR(float16[i], float32[i], 1e-3);
    }
    for (const JsonValue& point : all) {
        const bool scaled = point["llr"].string() == "int8";
        EXPECT_EQ(point["llr_scale"].is_null(), !scaled);
        if (scaled) {
            EXPECT_EQ(point["llr_scale"].number(), 6.0);
        }
    }
}

TEST_F(LinkSim, DependsOnTheSeedAlone) {
    const auto table = [&](const Arguments& more, const std::string& modulations = "qpsk,64qam",
                           const std::string& snr_db = "3:4:11") {
        Arguments all = {link_sim(),
                         "--modulation",
                         modulations,
                         "--snr-db",
                         snr_db,
                         "--resource-blocks",
                         "6",
                         "--channel",
                         "tdl:100",
                         "--known",
                         "channel,noise",
                         "--antennas",
                         "2",
                         "--layers",
                         "2",
                         "--min-slots",
                         "9",
                         "--quiet",
                         "--force",
                         "--csv",
                         path("t.csv")};
        all.insert(all.end(), more.begin(), more.end());
        const Outcome outcome = run(all);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.out, "");
        return text_of("t.csv");
    };
    const std::string once = table({"--threads", "1"});
    EXPECT_EQ(std::ranges::count(once, '\n'), 7);
    EXPECT_EQ(table({"--threads", "3"}), once);
    EXPECT_EQ(table({"--threads", "3"}), once);
    EXPECT_EQ(table({}), once);
    EXPECT_NE(table({"--seed", "2"}), once);
    // A point is the same whatever other points there are.
    const std::string alone = table({}, "64qam", "7");
    const std::string last_line = alone.substr(alone.find('\n') + 1);
    EXPECT_NE(once.find(last_line), std::string::npos) << last_line << " in\n" << once;
}

TEST_F(LinkSim, HasEveryField) {
    const JsonValue report = simulate({"--modulation", "16qam", "--snr-db", "10", "--layers", "2", "--llr",
                                       "int8", "--llr-scale", "3,12.5", "--resource-blocks", "20"});
    const JsonValue& context = report["context"];
    EXPECT_EQ(context["channel"].string(), "awgn");
    EXPECT_EQ(context["antennas"].number(), 2.0);
    EXPECT_EQ(context["layers"].number(), 2.0);
    EXPECT_EQ(context["resource_blocks"].number(), 20.0);
    EXPECT_EQ(context["seed"].number(), 1.0);
    for (const std::string name : {"date", "processor", "phy_version", "backend", "threads", "seconds"})
        EXPECT_TRUE(context.has(name)) << name;
    const Points& all = report["points"].array();
    ASSERT_EQ(all.size(), 2U);
    for (const JsonValue& point : all) {
        EXPECT_EQ(point["modulation"].string(), "16qam");
        EXPECT_EQ(point["snr_db"].number(), 10.0);
        EXPECT_EQ(point["known"].string(), "channel,noise");
        EXPECT_EQ(point["method"].string(), "maxlog");
        // Two of the 14 symbols are DM-RS alone.
        EXPECT_EQ(point["bits"].number(), point["slots"].number() * 20 * 12 * 12 * 2 * 4);
        EXPECT_GE(point["bit_errors"].number(), 1000.0);
        EXPECT_EQ(point["bit_error_rate"].number(), point["bit_errors"].number() / point["bits"].number());
        EXPECT_GT(point["mutual_information"].number(), 3.0);
    }
    EXPECT_EQ(all[0]["llr_scale"].number(), 3.0);
    EXPECT_EQ(all[1]["llr_scale"].number(), 12.5);
    EXPECT_LT(all[0]["saturated"].number(), all[1]["saturated"].number());
}

TEST_F(LinkSim, WritesTheSameToATable) {
    const Arguments options = {"--modulation", "qpsk", "--snr-db", "0:5:5", "--csv", path("t.csv")};
    const Points all = points(options);
    const std::string table = text_of("t.csv");
    EXPECT_TRUE(
        table.starts_with("modulation,snr_db,known,method,llr,llr_scale,slots,bits,bit_errors,"
                          "bit_error_rate,theory,evm_rms,mutual_information,saturated\n"))
        << table;
    EXPECT_EQ(std::ranges::count(table, '\n'), 3);
    EXPECT_NE(table.find("\n\"qpsk\",5,\"channel,noise\",\"maxlog\",\"float32\",,"), std::string::npos)
        << table;
    Arguments again = options;
    again.insert(again.begin(), link_sim());
    expect_failure(again, 1, {"t.csv", "--force"});
    EXPECT_EQ(text_of("t.csv"), table);
}

TEST_F(LinkSim, RefusesWhatMakesNoSense) {
    const auto refuse = [&](const Arguments& options, const std::vector<std::string>& words) {
        Arguments all = {link_sim()};
        all.insert(all.end(), options.begin(), options.end());
        expect_failure(all, 2, words);
    };
    refuse({"--modulation", "qpsk,8psk"}, {"--modulation", "8psk", "16qam"});
    refuse({"--snr-db", "0:0:3"}, {"--snr-db 0:0:3", "FIRST:STEP:LAST"});
    for (const std::string channel : {"tdl", "tdl:", "tdl:-1", "tdl-d:100", "tdl:nan", "rice", "tdl-a100"})
        refuse({"--channel", channel}, {"--channel " + channel, "awgn", "flat", "tdl"});
    refuse({"--antennas", "0"}, {"--antennas 0", "from 1 to 16"});
    refuse({"--layers", "5"}, {"--layers 5", "from 1 to 4"});
    refuse({"--layers", "3", "--antennas", "2"}, {"--antennas 2", "3 layers"});
    refuse({"--known", "channel,timing"}, {"--known channel,timing", "noise"});
    refuse({"--known", ""}, {"--known", "none"});
    refuse({"--llr", "int8,int4"}, {"--llr", "int4", "float16"});
    refuse({"--llr-scale", "6,0"}, {"--llr-scale", "0", "4096"});
    refuse({"--method", "map"}, {"--method", "logmap"});
    refuse({"--equalizer", "mrc"}, {"--equalizer mrc", "zero-forcing"});
    refuse({"--errors", "0"}, {"--errors 0"});
    refuse({"--max-bits", "0"}, {"--max-bits 0"});
    refuse({"--min-slots", "0"}, {"--min-slots 0"});
    refuse({"--resource-blocks", "276"}, {"--resource-blocks 276"});
    refuse({"--dmrs-symbols", "2,14"}, {"--dmrs-symbols", "14"});
    refuse({"--dmrs-type", "3"}, {"--dmrs-type 3"});
    refuse({"--threads", "-1"}, {"--threads -1"});
    refuse({"--timing-offset", "inf"}, {"--timing-offset inf"});
    refuse({"--frequency-offset", "x"}, {"--frequency-offset x"});
    expect_failure({link_sim(), "--csv", path("nowhere/t.csv")}, 1, {"nowhere/t.csv", "No such file"});
}

TEST_F(LinkSim, TextHasATable) {
    const Outcome outcome = run({link_sim(), "--modulation", "qpsk", "--snr-db", "4", "--llr", "int8"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    for (const std::string word :
         {"awgn, 1 x 1", "52 resource blocks", "channel,noise", "maxlog", "int8, 6", "0.0565"})
        EXPECT_NE(outcome.out.find(word), std::string::npos) << word << " in\n" << outcome.out;
}

TEST_F(LinkSim, CanBeInterrupted) {
    Subprocess process(
        {link_sim(), "--errors", "1000000000", "--max-bits", "1000000000000", "--csv", path("t.csv")});
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    process.signal(SIGINT);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.status, 130);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "link_sim: interrupted\n");
    EXPECT_TRUE(files().empty());
}

/// A Python that has Matplotlib, or nothing.
std::string plotting_python() {
    for (std::string python : {"/usr/bin/python3", "python3"}) {
        if (run({"/bin/sh", "-c", python + " -c 'import matplotlib'"}).status == 0) return python;
    }
    return "";
}

class LinkPlot : public LinkSim {
protected:
    void SetUp() override {
        const char* const required = std::getenv("PHY_REQUIRE_H5PY");
        if (!python_.empty()) return;
        if (required != nullptr && std::string(required) == "1")
            FAIL() << "no python3 with Matplotlib was found";
        GTEST_SKIP() << "no python3 with Matplotlib was found";
    }

    [[nodiscard]] Outcome plot(Arguments arguments) const {
        const char* const installed = std::getenv("PHY_PLOT_LINK_SCRIPT");
        const std::string script = installed == nullptr ? PHY_PLOT_LINK_SCRIPT : installed;
        arguments.insert(arguments.begin(), {"/bin/sh", "-c", R"(exec "$0" "$@")", python_, script});
        return run(arguments, {"MPLCONFIGDIR=" + path("matplotlib")});
    }

    void expect_image(const Arguments& reports, const std::string& image) const {
        std::filesystem::remove(path(image));
        const Outcome outcome = plot(reports);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.out, path(image) + "\n");
        const std::string bytes = text_of(image);
        EXPECT_TRUE(bytes.starts_with("\x89PNG\r\n\x1a\n"));
        EXPECT_GT(bytes.size(), 10'000U);
    }

private:
    const std::string python_ = plotting_python();
};

TEST_F(LinkPlot, DrawsReportsAndTables) {
    const Outcome outcome =
        run({link_sim(), "--modulation", "qpsk,64qam", "--snr-db", "0:5:25", "--method", "maxlog,logmap",
             "--errors", "10", "--max-bits", "1000", "--csv", path("t.csv"), "--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    std::ofstream(path("r.json")) << outcome.out;
    expect_image({path("r.json")}, "r.png");
    expect_image({path("t.csv"), "-o", path("table.png")}, "table.png");
    expect_image({path("r.json"), path("t.csv"), "-o", path("both.png")}, "both.png");
}

TEST_F(LinkPlot, SaysWhatIsWrong) {
    std::ofstream(path("other.json")) << R"({"symbols": 3})";
    std::ofstream(path("empty.json")) << R"({"points": []})";
    for (const auto& [name, words] : {std::pair("missing.json", "No such file"),
                                      {"other.json", "expected what link_sim prints"},
                                      {"empty.json", "no points"}}) {
        const Outcome outcome = plot({path(name), "-o", path("x.png")});
        EXPECT_EQ(outcome.status, 1);
        EXPECT_TRUE(outcome.err.starts_with("plot_link.py: " + path(name))) << outcome.err;
        EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
        EXPECT_FALSE(std::filesystem::exists(path("x.png")));
    }
}

}  // namespace
}  // namespace phy::test
