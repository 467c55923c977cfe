#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "link_sim_program.hpp"
#include "support/app_test.hpp"

namespace phy::test {
namespace {

class LinkSim : public AppTest {
protected:
    [[nodiscard]] std::string text_of(const std::string& file) const {
        std::ifstream stream(path(file));
        return {std::istreambuf_iterator<char>(stream), {}};
    }
};

/// What receivers have at each point, in the order of the points.
std::vector<double> numbers(const Points& points, const std::string& name) {
    std::vector<double> all;
    for (const JsonValue& point : points)
        all.push_back(point[name].number());
    return all;
}

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
    const auto max_log = numbers(all, "mutual_information_bits", "method", "maxlog");
    const auto log_map = numbers(all, "mutual_information_bits", "method", "logmap");
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
        return numbers(all, "mutual_information_bits", "llr", format);
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

/// The table of a link with estimates and without.
class LinkTable : public LinkSim {
protected:
    [[nodiscard]] std::string table(const Arguments& more, const Arguments& environment = {},
                                    const std::string& modulations = "qpsk,64qam",
                                    const std::string& snr_db = "3:4:11") const {
        Arguments all = {link_sim_program(),
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
                         "--known",
                         "none",
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
        const Outcome outcome = run(all, environment);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.out, "");
        return text_of("t.csv");
    }
};

TEST_F(LinkTable, DependsOnTheSeedAlone) {
    const std::string once = table({"--threads", "1"});
    EXPECT_EQ(std::ranges::count(once, '\n'), 13);
    EXPECT_EQ(table({"--threads", "3"}), once);
    EXPECT_EQ(table({"--threads", "3"}), once);
    EXPECT_EQ(table({}), once);
    EXPECT_NE(table({"--seed", "2"}), once);
}

TEST_F(LinkTable, IsTheSameOnEveryBackend) {
    const Arguments options = {"--method", "maxlog,logmap", "--llr", "int8,float16,float32"};
    const std::string once = table(options);
    EXPECT_EQ(table(options, {"PHY_BACKEND=scalar"}), once);
    Arguments with_backend = options;
    with_backend.insert(with_backend.end(), {"--backend", "scalar"});
    EXPECT_EQ(table(with_backend), once);
}

TEST_F(LinkTable, HasThePointsOfAnyOther) {
    const std::string alone = table({}, {}, "64qam", "7");
    const std::string all = table({});
    const std::string lines = alone.substr(alone.find('\n') + 1);
    EXPECT_EQ(std::ranges::count(lines, '\n'), 2);
    EXPECT_NE(all.find(lines), std::string::npos) << lines << " in\n" << all;
}

/// 64QAM on TDL-A with 100 ns, by what receivers know; two antennas.
Points faded(const Arguments& more, const Arguments& known) {
    Arguments all = {"--channel",   "tdl:100", "--modulation", "64qam", "--antennas",        "2",
                     "--min-slots", "60",      "--max-bits",   "1",     "--resource-blocks", "25"};
    all.insert(all.end(), more.begin(), more.end());
    for (const std::string& each : known)
        all.insert(all.end(), {"--known", each});
    return points(all);
}

TEST_F(LinkSim, EstimatesComeCloseToWhatIsKnown) {
    const Points all = faded({"--snr-db", "30"}, {"channel,noise", "channel", "noise", "none"});
    ASSERT_EQ(all.size(), 4U);
    for (const JsonValue& point : all) {
        SCOPED_TRACE(point["known"].string());
        EXPECT_GT(point["mutual_information_bits"].number(),
                  all[0]["mutual_information_bits"].number() - 0.06);
        EXPECT_LT(point["evm_rms"].number(), 1.3 * all[0]["evm_rms"].number());
        EXPECT_TRUE(point["theory"].is_null());
    }
    EXPECT_EQ(all[1]["bit_errors"].number(), all[0]["bit_errors"].number());
    EXPECT_GT(all[3]["evm_rms"].number(), all[0]["evm_rms"].number());
}

/// An interferer that is far stronger than the noise costs its receiver one antenna: what is left fades like
/// that of one less (Winters, IEEE JSAC 1984).
TEST_F(LinkSim, RejectingAnInterfererCostsAnAntenna) {
    const auto rate = [&](const std::string& antennas, const Arguments& more) {
        Arguments all = {"--channel",  "flat", "--known",     "channel,noise", "--modulation",      "qpsk",
                         "--snr-db",   "10",   "--min-slots", "3000",          "--resource-blocks", "1",
                         "--max-bits", "1",    "--antennas",  antennas};
        all.insert(all.end(), more.begin(), more.end());
        return numbers(points(all), "bit_error_rate");
    };
    const double with_one = rate("1", {}).front();
    const double with_two = rate("2", {}).front();
    const auto of_three = rate("3", {"--interference", "40", "--interference-rejection", "off,on"});
    const auto of_two = rate("2", {"--interference", "40", "--interference-rejection", "on"});
    ASSERT_EQ(of_three.size(), 2U);
    EXPECT_NEAR(of_two.front() / with_one, 1.0, 0.1);
    EXPECT_NEAR(of_three[1] / with_two, 1.0, 0.25);
    EXPECT_GT(of_three[0], 0.3);
}

/// Gains are no loss for a receiver that knows the noise of each antenna.
TEST_F(LinkSim, GainsOfAntennasAreNoLossWithTheirCovariance) {
    const Arguments at_15_db = {"--snr-db", "15", "--interference-rejection", "off,on"};
    Arguments with_gains = at_15_db;
    with_gains.insert(with_gains.end(), {"--antenna-gains", "0,-10"});
    for (const std::string known : {"channel,noise", "none"}) {
        const auto equal = numbers(faded(at_15_db, {known}), "mutual_information_bits");
        const auto unequal = numbers(faded(with_gains, {known}), "mutual_information_bits");
        ASSERT_EQ(equal.size(), 2U);
        EXPECT_NEAR(equal[1], equal[0], 0.02) << known;
        EXPECT_NEAR(unequal[1], equal[1], 0.02) << known;
        EXPECT_LT(unequal[0], equal[0] - 0.2) << known;
    }
}

/// Where layers are hard to separate joint detection says more, and nowhere less.
TEST_F(LinkSim, JointDetectionSaysMore) {
    const auto expect_gain = [&](const char* modulation, const char* snr_db, double least, double most) {
        const Points all = points({"--channel", "tdl-a:100", "--layers", "2", "--modulation", modulation,
                                   "--snr-db", snr_db, "--max-bits", "1", "--min-slots", "300",
                                   "--resource-blocks", "10", "--joint-detection", "off,on"});
        const auto bits = numbers(all, "mutual_information_bits");
        ASSERT_EQ(bits.size(), 2U);
        EXPECT_GE(bits[1], bits[0] + least) << modulation << " at " << snr_db << " dB";
        EXPECT_LE(bits[1], bits[0] + most) << modulation << " at " << snr_db << " dB";
    };
    expect_gain("qpsk", "-4", -0.01, 0.02);
    expect_gain("qpsk", "8", 0.04, 0.3);
    expect_gain("16qam", "14", 0.1, 0.5);
    expect_gain("64qam", "20", 0.1, 0.5);
}

/// In few residuals independent noise looks correlated.
TEST_F(LinkSim, RejectingNothingCostsLittle) {
    for (const std::string blocks : {"4", "10"}) {
        const Points all = points({"--channel", "tdl:100", "--antennas", "4", "--modulation", "16qam",
                                   "--snr-db", "6", "--max-bits", "1", "--min-slots", "400",
                                   "--resource-blocks", blocks, "--interference-rejection", "off,on"});
        const auto bits = numbers(all, "mutual_information_bits");
        ASSERT_EQ(bits.size(), 2U);
        EXPECT_NEAR(bits[1], bits[0], 0.04) << blocks << " resource blocks";
    }
}

TEST_F(LinkSim, OffsetsAreEstimated) {
    const auto information = [&](const Arguments& more) {
        return faded(more, {"none"}).front()["mutual_information_bits"].number();
    };
    const Arguments at_25_db = {"--snr-db", "25"};
    Arguments with_offsets = at_25_db;
    with_offsets.insert(with_offsets.end(), {"--timing-offset", "400", "--frequency-offset", "300"});
    EXPECT_NEAR(information(with_offsets), information(at_25_db), 0.05);
    // A receiver that is told of the channel is told of its offsets.
    const Points known = faded(with_offsets, {"channel,noise"});
    EXPECT_NEAR(known.front()["mutual_information_bits"].number(),
                faded(at_25_db, {"channel,noise"}).front()["mutual_information_bits"].number(), 0.01);
}

/// Who knows the channel of each symbol sees no difference; who estimates it does.
TEST_F(LinkSim, MovesWithinASlot) {
    const auto standing = faded({"--snr-db", "25"}, {"channel,noise"});
    const auto moving = faded({"--snr-db", "25", "--doppler", "400", "--antenna-gains", "0,-3",
                               "--time-interpolation", "average,linear,wiener"},
                              {"channel,noise", "none"});
    ASSERT_EQ(moving.size(), 4U);
    const auto information = numbers(moving, "mutual_information_bits");
    EXPECT_NEAR(information[0], standing.front()["mutual_information_bits"].number(), 0.1);
    EXPECT_TRUE(moving[0]["time_interpolation"].is_null());
    EXPECT_EQ(moving[1]["time_interpolation"].string(), "average");
    EXPECT_LT(information[1], information[0] - 1.0);
    EXPECT_GT(information[2], information[1] + 0.5);
    EXPECT_GT(information[3], information[2]);
    EXPECT_GT(information[3], information[0] - 0.3);
}

/// Of two DM-RS, each receiver of a standing user has twice the pilots, and half of the estimate's noise.
TEST_F(LinkSim, AverageIsBestWithoutDoppler) {
    const auto evm = numbers(
        faded({"--snr-db", "10", "--time-interpolation", "linear,average"}, {"noise", "channel,noise"}),
        "evm_rms");
    ASSERT_EQ(evm.size(), 3U);
    EXPECT_LT(evm[1], evm[0]);
    EXPECT_LT(evm[2], evm[1]);
}

TEST_F(LinkSim, TakesADelaySpreadThatIsGiven) {
    const auto evm = [&](const std::string& spread) {
        return faded({"--snr-db", "25", "--delay-spread", spread}, {"none"}).front()["evm_rms"].number();
    };
    EXPECT_LT(evm("100"), 0.9 * evm("10"));
}

TEST_F(LinkSim, RefusesWhatMakesNoSense) {
    const auto refuse = [&](const Arguments& options, const std::vector<std::string>& words) {
        Arguments all = {link_sim_program()};
        all.insert(all.end(), options.begin(), options.end());
        expect_failure(all, 2, words);
    };
    refuse({"--modulation", "qpsk,8psk"}, {"--modulation", "8psk", "16qam"});
    refuse({"--snr-db", "0:0:3"}, {"--snr-db 0:0:3", "FIRST:STEP:LAST"});
    for (const std::string channel :
         {"tdl", "tdl:", "tdl:-1", "tdl-d:100", "tdl:nan", "rice", "tdl-a100", "taps", "taps:", "taps:0",
          "taps:0:", "taps::0", "taps:0:nan", "taps:1e5:0", "taps:0:0,", "taps:0:0:0"})
        refuse({"--channel", channel}, {"--channel " + channel, "awgn", "flat", "tdl", "taps"});
    refuse({"--antennas", "0"}, {"--antennas 0", "from 1 to 16"});
    refuse({"--layers", "5"}, {"--layers 5", "from 1 to 4"});
    refuse({"--layers", "3", "--antennas", "2"}, {"--antennas 2", "3 layers"});
    refuse({"--known", "channel,timing"}, {"--known channel,timing", "noise"});
    refuse({"--known", ""}, {"--known", "none"});
    refuse({"--llr", "int8,int4"}, {"--llr", "int4", "float16"});
    refuse({"--llr-scale", "6,0"}, {"--llr-scale", "0", "4096"});
    refuse({"--method", "map"}, {"--method", "logmap"});
    refuse({"--equalizer", "mrc"}, {"--equalizer mrc", "zero-forcing"});
    refuse({"--subcarrier-spacing", "20000"}, {"--subcarrier-spacing 20000", "60000"});
    refuse({"--delay-spread", "-1"}, {"--delay-spread -1"});
    refuse({"--errors", "0"}, {"--errors 0"});
    refuse({"--max-bits", "0"}, {"--max-bits 0"});
    refuse({"--min-slots", "0"}, {"--min-slots 0"});
    refuse({"--resource-blocks", "276"}, {"--resource-blocks 276"});
    refuse({"--dmrs-symbols", "2,14"}, {"--dmrs-symbols", "14"});
    refuse({"--dmrs-type", "3"}, {"--dmrs-type 3"});
    refuse({"--threads", "-1"}, {"--threads -1"});
    refuse({"--backend", "cuda"}, {"--backend cuda", "CPU"});
    refuse({"--backend", "abacus"}, {"abacus", "scalar"});
    refuse({"--modulation", "qpsk,16qam,qpsk"}, {"--modulation qpsk", "twice"});
    refuse({"--llr", "int8,int8"}, {"--llr int8", "twice"});
    refuse({"--llr-scale", "6"}, {"--llr-scale: only with soft bits in int8"});
    refuse({"--llr-scale", "6,6.0"}, {"--llr-scale 6.0", "twice"});
    refuse({"--known", "none", "--known", "noise,channel", "--known", "channel,noise"},
           {"--known channel,noise", "twice"});
    refuse({"--interference", "101"}, {"--interference 101", "from -100 to 100"});
    refuse({"--interference", "0"}, {"--interference: expected a --channel that fades"});
    refuse({"--interference-rejection", "yes"}, {"--interference-rejection yes", "off, on"});
    refuse({"--interference-rejection", "off,off"}, {"--interference-rejection off", "twice"});
    refuse({"--joint-detection", "on"}, {"--joint-detection on", "--layers 1", "expected 2"});
    refuse({"--joint-detection", "on", "--layers", "2", "--method", "logmap"},
           {"--joint-detection on", "--method logmap", "maxlog"});
    refuse({"--joint-detection", "on", "--layers", "2", "--modulation", "bpsk"},
           {"--joint-detection on", "--modulation bpsk", "QPSK"});
    refuse({"--doppler", "-1"}, {"--doppler -1", "from 0 to 10000"});
    refuse({"--doppler", "5"}, {"--doppler: expected a --channel that fades"});
    refuse({"--time-interpolation", "cubic"}, {"--time-interpolation cubic", "average, linear or wiener"});
    refuse({"--antennas", "2", "--antenna-gains", "0"}, {"--antenna-gains: 1 gains", "2 antennas"});
    refuse({"--antennas", "2", "--antenna-gains", "0,nan"}, {"--antenna-gains 0,nan", "from -100 to 100"});
    refuse({"--channel", "flat", "--delay-spread", "5000"}, {"--delay-spread 5000", "0.1 of a symbol"});
    refuse({"16qam"}, {"'16qam'", "options alone", "--help"});
    refuse({"--timing-offset", "inf"}, {"--timing-offset inf"});
    refuse({"--frequency-offset", "x"}, {"--frequency-offset x"});
    expect_failure({link_sim_program(), "--csv", path("nowhere/t.csv")}, 1,
                   {"nowhere/t.csv", "no such directory"});
}

/// The first point ends at once, the second never.
TEST_F(LinkSim, KeepsThePointsThatAreDoneWhenItIsInterrupted) {
    for (auto delay = std::chrono::milliseconds(300); delay < std::chrono::seconds(20); delay *= 2) {
        Subprocess process({link_sim_program(), "--modulation", "qpsk", "--snr-db", "0:40:40", "--max-bits",
                            "1000000000000", "--json", "--quiet", "--csv", path("t.csv"), "--force"});
        std::this_thread::sleep_for(delay);
        process.signal(SIGINT);
        const Outcome outcome = process.wait();
        EXPECT_EQ(outcome.status, 130);
        EXPECT_EQ(outcome.err, "link_sim: interrupted\n");
        if (outcome.out.empty()) continue;
        const JsonValue report = parse_json(outcome.out);
        EXPECT_FALSE(report["context"]["complete"].boolean());
        ASSERT_EQ(report["points"].array().size(), 1U);
        EXPECT_EQ(report["points"].array()[0]["snr_db"].number(), 0.0);
        EXPECT_EQ(std::ranges::count(text_of("t.csv"), '\n'), 2);
        return;
    }
    FAIL() << "no point was done in 20 s";
}

TEST_F(LinkSim, CanBeInterrupted) {
    Subprocess process({link_sim_program(), "--errors", "1000000000", "--max-bits", "1000000000000", "--csv",
                        path("t.csv")});
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    process.signal(SIGINT);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.status, 130);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "link_sim: interrupted\n");
    EXPECT_TRUE(files().empty());
}

}  // namespace
}  // namespace phy::test
