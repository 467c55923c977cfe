// Transport blocks of link_sim.

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "link_sim_program.hpp"
#include "phy/coding/transport_block_size.hpp"
#include "support/app_test.hpp"

namespace phy::test {
namespace {

class LinkSimBlocks : public AppTest {
protected:
    [[nodiscard]] std::string table(const Arguments& more) const {
        Arguments all = {link_sim_program(), "--quiet", "--force", "--csv", path("t.csv")};
        all.insert(all.end(), more.begin(), more.end());
        const Outcome outcome = run(all);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        std::ifstream stream(path("t.csv"));
        return {std::istreambuf_iterator<char>(stream), {}};
    }
};

JsonValue::Array block_error_points(const Arguments& arguments) {
    return simulate(arguments)["points"].array();
}

/// 3 dB on each side of the SNR at which a tenth of the blocks fails.
TEST_F(LinkSimBlocks, FailBelowTheThresholdAlone) {
    for (const auto& [mcs, snr_db] :
         {std::pair("0", "-8.8:6:-2.8"), {"10", "0.4:6:6.4"}, {"25", "12.9:6:18.9"}}) {
        SCOPED_TRACE(mcs);
        const auto all = block_error_points({"--mcs", mcs, "--snr-db", snr_db, "--resource-blocks", "12",
                                             "--max-blocks", "25", "--block-errors", "25"});
        ASSERT_EQ(all.size(), 2U);
        EXPECT_EQ(all[0]["block_errors"].number(), 25.0);
        EXPECT_EQ(all[0]["throughput_bits_per_second"].number(), 0.0);
        EXPECT_EQ(all[0]["iterations_per_code_block"].number(), 20.0);
        EXPECT_EQ(all[1]["block_errors"].number(), 0.0);
        EXPECT_LT(all[1]["iterations_per_code_block"].number(), 6.0);
        for (const JsonValue& point : all)
            EXPECT_EQ(point["blocks"].number(), 25.0);
    }
}

TEST_F(LinkSimBlocks, FailLessWithIterations) {
    const Arguments options = {"--channel",         "tdl-a:100", "--layers",       "2",
                               "--antennas",        "2",         "--mcs",          "14",
                               "--snr-db",          "12",        "--max-blocks",   "120",
                               "--resource-blocks", "25",        "--block-errors", "120",
                               "--joint-detection", "off,on",    "--iterations",   "0,3"};
    const auto all = block_error_points(options);
    ASSERT_EQ(all.size(), 3U);
    const auto errors = [&](std::size_t i) { return all[i]["block_errors"].number(); };
    EXPECT_FALSE(all[0]["joint_detection"].boolean());
    EXPECT_EQ(all[0]["iterations"].number(), 0.0);
    EXPECT_EQ(all[1]["iterations"].number(), 0.0);
    EXPECT_EQ(all[2]["iterations"].number(), 3.0);
    EXPECT_GT(errors(1), 10.0);
    EXPECT_LT(errors(1), errors(0));
    EXPECT_LT(errors(2), 0.75 * errors(1));
    // Soft bits are compared before iterations.
    EXPECT_EQ(all[1]["bit_errors"].number(), all[2]["bit_errors"].number());
    const auto refuse = [this](const Arguments& more, const Arguments& parts) {
        Arguments arguments = {link_sim_program(), "--quiet", "--mcs",    "14",
                               "--layers",         "2",       "--snr-db", "5"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        expect_failure(arguments, 2, parts);
    };
    refuse({"--iterations", "1"}, {"--iterations: only with --joint-detection on"});
    expect_failure({link_sim_program(), "--quiet", "--snr-db", "5", "--iterations", "1"}, 2,
                   {"--iterations: only with --mcs or --code-rate"});
    refuse({"--iterations", "11", "--joint-detection", "on"}, {"--iterations 11", "from 0 to 10"});
    refuse({"--iterations", "1,1", "--joint-detection", "on"}, {"--iterations 1", "twice"});
}

TEST_F(LinkSimBlocks, DependOnTheSeedAlone) {
    const Arguments options = {"--mcs",
                               "3,11",
                               "--mcs-table",
                               "qam256",
                               "--snr-db",
                               "6:2:8",
                               "--channel",
                               "tdl:100",
                               "--antennas",
                               "2",
                               "--known",
                               "channel,noise",
                               "--known",
                               "none",
                               "--llr",
                               "int8,float16",
                               "--max-blocks",
                               "40",
                               "--block-errors",
                               "5",
                               "--min-slots",
                               "10",
                               "--resource-blocks",
                               "6"};
    const auto with = [&](const Arguments& more) {
        Arguments all = options;
        all.insert(all.end(), more.begin(), more.end());
        return table(all);
    };
    const std::string once = with({"--threads", "1"});
    EXPECT_EQ(with({"--threads", "3"}), once);
    EXPECT_EQ(with({"--threads", "2", "--backend", "scalar"}), once);
    EXPECT_NE(with({"--seed", "2"}), once);
}

TEST_F(LinkSimBlocks, HaveEveryField) {
    const JsonValue report =
        simulate({"--mcs", "20", "--mcs-table", "qam256", "--layers", "2", "--snr-db", "18.5",
                  "--resource-blocks", "10", "--max-blocks", "50", "--block-errors", "50",
                  "--subcarrier-spacing", "60000", "--decoder-iterations", "8"});
    EXPECT_EQ(report["context"]["mcs_table"].string(), "qam256");
    EXPECT_EQ(report["context"]["decoder_iterations"].number(), 8.0);
    EXPECT_EQ(report["context"]["block_errors"].number(), 50.0);
    EXPECT_EQ(report["context"]["max_blocks"].number(), 50.0);
    EXPECT_TRUE(report["context"]["errors"].is_null());
    EXPECT_TRUE(report["context"]["max_bits"].is_null());
    const JsonValue& point = report["points"].array().front();
    EXPECT_EQ(point["modulation"].string(), "256qam");
    EXPECT_EQ(point["mcs"].number(), 20.0);
    EXPECT_EQ(point["code_rate"].number(), 682.5 / 1024);
    const auto size = static_cast<double>(transport_block_size({.resource_blocks = 10,
                                                                .dmrs_elements = 24,
                                                                .code_rate = 682.5 / 1024,
                                                                .modulation = Modulation::qam256,
                                                                .layers = 2}));
    EXPECT_EQ(point["transport_block_bits"].number(), size);
    EXPECT_EQ(point["slots"].number(), 50.0);
    EXPECT_EQ(point["blocks"].number(), 50.0);
    const double errors = point["block_errors"].number();
    EXPECT_GT(errors, 0.0);
    EXPECT_LT(errors, 50.0);
    EXPECT_EQ(point["block_error_rate"].number(), errors / 50.0);
    EXPECT_LT(point["block_error_rate_low"].number(), errors / 50.0);
    EXPECT_GT(point["block_error_rate_high"].number(), errors / 50.0);
    EXPECT_GT(point["iterations_per_code_block"].number(), 2.0);
    EXPECT_LE(point["iterations_per_code_block"].number(), 8.0);
    EXPECT_NEAR(point["throughput_bits_per_second"].number(), size * (50.0 - errors) / (50.0 * 250e-6), 1.0);
    EXPECT_NEAR(point["bit_error_rate"].number(), point["theory"].number(), 0.05 * point["theory"].number());
}

TEST_F(LinkSimBlocks, ComeOfEachModulationAndCodeRate) {
    const auto all = block_error_points({"--modulation", "qpsk,64qam", "--code-rate", "0.25,0.75", "--snr-db",
                                         "25", "--max-blocks", "3", "--resource-blocks", "4"});
    ASSERT_EQ(all.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(all[i]["modulation"].string(), i < 2 ? "qpsk" : "64qam");
        EXPECT_EQ(all[i]["code_rate"].number(), i % 2 == 0 ? 0.25 : 0.75);
        EXPECT_TRUE(all[i]["mcs"].is_null());
        EXPECT_EQ(all[i]["block_errors"].number(), 0.0);
    }
}

/// Another cell, as strong as the signal, fades over the band. One antenna can only tell where.
TEST_F(LinkSimBlocks, HoldBesideACellThatFadesOverTheBand) {
    const auto rates = [](const std::string& antennas, const std::string& mcs) {
        const auto all = block_error_points({"--channel",
                                             "tdl-a:100",
                                             "--antennas",
                                             antennas,
                                             "--mcs",
                                             mcs,
                                             "--resource-blocks",
                                             "25",
                                             "--snr-db",
                                             "24",
                                             "--interference",
                                             "0",
                                             "--interference-rejection",
                                             "off,on",
                                             "--max-blocks",
                                             "200",
                                             "--block-errors",
                                             "200",
                                             "--min-slots",
                                             "1"});
        return std::pair(all.at(0)["block_error_rate"].number(), all.at(1)["block_error_rate"].number());
    };
    const auto [of_two_without, of_two_with] = rates("2", "10");
    EXPECT_GT(of_two_without, 0.3);
    EXPECT_LT(of_two_with, 0.1);
    const auto [of_one_without, of_one_with] = rates("1", "2");
    EXPECT_GT(of_one_without, 0.15);
    EXPECT_LT(of_one_with, 0.95 * of_one_without);
}

TEST_F(LinkSimBlocks, EndAPoint) {
    const auto errors =
        block_error_points({"--mcs", "10", "--snr-db", "0", "--block-errors", "4", "--resource-blocks", "4"});
    EXPECT_EQ(errors[0]["block_errors"].number(), 4.0);
    EXPECT_EQ(errors[0]["blocks"].number(), 4.0);
    const auto slots = block_error_points({"--mcs", "10", "--snr-db", "0", "--block-errors", "4",
                                           "--resource-blocks", "4", "--min-slots", "9"});
    EXPECT_EQ(slots[0]["blocks"].number(), 9.0);
}

TEST_F(LinkSimBlocks, TextHasATable) {
    const Outcome outcome = run(
        {link_sim_program(), "--mcs", "10", "--snr-db", "9", "--max-blocks", "5", "--resource-blocks", "4"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    for (const std::string word : {"95 % interval", "iterations", "Mbit/s", " < 0.45 ", "0 to 0.451"})
        EXPECT_NE(outcome.out.find(word), std::string::npos) << word << " in\n" << outcome.out;
}

TEST_F(LinkSimBlocks, TextHasSpaceBetweenColumns) {
    const Outcome outcome = run({link_sim_program(), "--mcs", "10", "--snr-db", "20", "--channel", "flat",
                                 "--layers", "2", "--max-blocks", "1", "--resource-blocks", "4", "--known",
                                 "channel,noise", "--known", "noise", "--joint-detection", "off,on"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    std::size_t column = std::string::npos;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("modulation")) column = line.find("method");
        const std::size_t at = line.find(" maxlog ");
        EXPECT_TRUE(at == std::string::npos || at + 1 == column) << outcome.out;
    }
    EXPECT_NE(column, std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("channel,noise, joint  maxlog"), std::string::npos) << outcome.out;
}

TEST_F(LinkSimBlocks, RefuseWhatMakesNoSense) {
    const auto refuse = [&](const Arguments& options, const std::vector<std::string>& words) {
        Arguments all = {link_sim_program()};
        all.insert(all.end(), options.begin(), options.end());
        expect_failure(all, 2, words);
    };
    refuse({"--mcs", "29"}, {"--mcs 29", "code rate in table qam64"});
    refuse({"--mcs", "28", "--mcs-table", "qam256"}, {"--mcs 28", "table qam256"});
    refuse({"--mcs", "1,32"}, {"--mcs", "32", "from 0 to 31"});
    refuse({"--mcs", "1,1"}, {"--mcs 1", "twice"});
    refuse({"--mcs", "1", "--mcs-table", "qam16"}, {"--mcs-table qam16", "qam64LowSE"});
    refuse({"--mcs", "1", "--mcs-table", "\""}, {"--mcs-table \""});
    refuse({"--mcs", "1", "--modulation", "qpsk"}, {"--modulation", "--mcs"});
    refuse({"--mcs", "1", "--code-rate", "0.5"}, {"--code-rate", "--mcs"});
    for (const std::string rate : {"0", "-0.1", "1.01", "nan", "x", ""})
        refuse({"--code-rate", rate}, {"--code-rate " + rate, "above 0, at most 1"});
    refuse({"--mcs", "1", "--decoder-iterations", "0"}, {"--decoder-iterations 0", "from 1 to 255"});
    refuse({"--mcs", "1", "--decoder-iterations", "256"}, {"--decoder-iterations 256", "from 1 to 255"});
    refuse({"--mcs", "1", "--block-errors", "0"}, {"--block-errors 0"});
    refuse({"--mcs", "1", "--max-blocks", "0"}, {"--max-blocks 0"});
    refuse({"--mcs", "1", "--errors", "9"}, {"--errors", "--block-errors"});
    refuse({"--code-rate", "0.5", "--max-bits", "9"}, {"--max-bits", "--max-blocks"});
    refuse({"--mcs-table", "qam64", "--code-rate", "0.5"}, {"--mcs-table", "only with --mcs"});
    for (const std::string option : {"--decoder-iterations", "--block-errors", "--max-blocks"})
        refuse({option, "5"}, {option, "only with --mcs or --code-rate"});
}

}  // namespace
}  // namespace phy::test
