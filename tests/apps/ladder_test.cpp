#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "support/app_test.hpp"
#include "support/gpu.hpp"
#include "support/parse_json.hpp"

namespace phy::test {
namespace {

class LadderTest : public AppTest {
protected:
    const std::string ladder_ = std::filesystem::path(demod_app).replace_filename("ladder");
};

TEST_F(LadderTest, WithoutADeviceItSaysSo) {
    expect_failure({ladder_}, 3, {"ladder:"}, {"CUDA_VISIBLE_DEVICES="});
}

TEST_F(LadderTest, WrongUsage) {
    expect_failure({ladder_, "attic"}, 2, {"'attic'", "expected one of demap, streams, reduce, average"});
    expect_failure({ladder_, "--symbols", "0"}, 2, {"--symbols 0"});
    expect_failure({ladder_, "reduce", "--elements", "0"}, 2, {"--elements 0", "from 1 to 2^34"});
    expect_failure({ladder_, "average", "--length", "4097"}, 2, {"--length 4097", "from 1 to 4096"});
    expect_failure({ladder_, "average", "--batches", "0"}, 2, {"--batches 0", "from 1 to 2^20"});
    expect_failure({ladder_, "average", "--observations", "0"}, 2, {"--observations 0", "from 1 to 2^20"});
    expect_failure({ladder_, "--snr-db", "31"}, 2, {"--snr-db 31", "from 0 to 30"});
    expect_failure({ladder_, "--snr-db", "nan"}, 2, {"--snr-db nan"});
    expect_failure({ladder_, "--device", "first"}, 2, {"--device", "'first'"});
}

// The app itself fails if a step computes something else than the library.
TEST_F(LadderTest, EveryStepComputesTheSame) {
    PHY_NEEDS_GPU();
    for (const std::string snr_db : {"0", "12.5", "30"}) {
        for (const std::string symbols : {"1", "1023", "1048577"}) {
            const Outcome outcome =
                run({ladder_, "demap", "--json", "--snr-db", snr_db, "--symbols", symbols});
            ASSERT_EQ(outcome.status, 0) << outcome.err;
            const JsonValue result = parse_json(outcome.out);
            EXPECT_EQ(result["symbols"].number(), std::stod(symbols));
            EXPECT_EQ(result["snr_db"].number(), std::stod(snr_db));
            EXPECT_EQ(result["bytes"].number(), 16.0 * std::stod(symbols));
            EXPECT_EQ(result["copy"].string(), "copy kernel");
            const auto& steps = result["steps"].array();
            ASSERT_EQ(steps.size(), 7U);
            EXPECT_EQ(steps.front()["name"].string(), "naive");
            EXPECT_EQ(steps.back()["name"].string(), "phy");
            for (const JsonValue& step : steps) {
                EXPECT_GT(step["seconds"].number(), 0.0);
                EXPECT_LE(step["lower_quartile_seconds"].number(), step["seconds"].number());
                EXPECT_GE(step["upper_quartile_seconds"].number(), step["seconds"].number());
                EXPECT_GT(step["of_copy"].number(), 0.0);
                EXPECT_GT(step["symbols_per_second"].number(), 0.0);
                EXPECT_GT(step["speed_up_over_first"].number(), 0.0);
            }
        }
    }
}

TEST_F(LadderTest, EveryOrderOfStreamsComputesTheSame) {
    PHY_NEEDS_GPU();
    for (const std::string symbols : {"1", "5", "1048577", "9000001"}) {
        const Outcome outcome = run({ladder_, "streams", "--json", "--symbols", symbols});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        const JsonValue result = parse_json(outcome.out);
        EXPECT_EQ(result["ladder"].string(), "streams");
        EXPECT_EQ(result["copy"].string(), "both copies");
        const auto& steps = result["steps"].array();
        ASSERT_EQ(steps.size(), 5U);
        EXPECT_EQ(steps.front()["name"].string(), "serial");
        EXPECT_EQ(steps.back()["name"].string(), "phy");
        for (const JsonValue& step : steps)
            EXPECT_GT(step["seconds"].number(), 0.0);
    }
}

// The app itself fails if a sum is not that of the host. The counts need one launch of a step, two, three and
// four, and fill no block, or many and not the last.
TEST_F(LadderTest, EveryStepOfAReductionSumsTheSame) {
    PHY_NEEDS_GPU();
    for (const std::string elements :
         {"1", "2", "31", "255", "256", "257", "513", "4097", "65537", "1000003", "16777217"}) {
        const Outcome outcome = run({ladder_, "reduce", "--json", "--elements", elements});
        ASSERT_EQ(outcome.status, 0) << elements << ": " << outcome.err;
        const JsonValue result = parse_json(outcome.out);
        EXPECT_EQ(result["ladder"].string(), "reduce");
        EXPECT_EQ(result["elements"].number(), std::stod(elements));
        EXPECT_EQ(result["bytes"].number(), 4.0 * std::stod(elements));
        EXPECT_EQ(result["read"].string(), "CUB");
        EXPECT_GT(result["read_seconds"].number(), 0.0);
        const auto& steps = result["steps"].array();
        ASSERT_EQ(steps.size(), 9U);
        EXPECT_EQ(steps.front()["name"].string(), "modulo");
        EXPECT_EQ(steps.back()["name"].string(), "phy");
        EXPECT_EQ(steps.front()["speed_up"].number(), 1.0);
        EXPECT_EQ(steps.front()["speed_up_over_first"].number(), 1.0);
        for (const JsonValue& step : steps) {
            const double seconds = step["seconds"].number();
            EXPECT_GT(seconds, 0.0);
            EXPECT_GT(step["of_read"].number(), 0.0);
            EXPECT_DOUBLE_EQ(step["elements_per_second"].number(), std::stod(elements) / seconds);
            EXPECT_DOUBLE_EQ(step["bytes_per_second"].number(), 4.0 * std::stod(elements) / seconds);
            EXPECT_DOUBLE_EQ(step["speed_up_over_first"].number(),
                             steps.front()["seconds"].number() / seconds);
        }
    }
}

// The app itself fails if an output is not that of the host.
TEST_F(LadderTest, EveryStepOfAnAverageComputesTheSame) {
    PHY_NEEDS_GPU();
    const std::vector<std::array<std::string, 3>> shapes = {
        {"1", "1", "1"}, {"3", "31", "33"}, {"17", "513", "5"}, {"200", "64", "4100"}, {"2", "4096", "2"}};
    for (const auto& [batches, length, observations] : shapes) {
        const Outcome outcome = run({ladder_, "average", "--json", "--batches", batches, "--length", length,
                                     "--observations", observations});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        const JsonValue result = parse_json(outcome.out);
        EXPECT_EQ(result["ladder"].string(), "average");
        EXPECT_EQ(result["read"].string(), "CUB");
        EXPECT_EQ(result["elements"].number(),
                  std::stod(batches) * std::stod(length) * std::stod(observations));
        EXPECT_GT(result["cpu_loops_seconds"].number(), 0.0);
        EXPECT_GT(result["cpu_phy_seconds"].number(), 0.0);
        EXPECT_LT(result["largest_relative_difference"].number(), 1e-11);
        const auto& steps = result["steps"].array();
        ASSERT_EQ(steps.size(), 5U);
        EXPECT_EQ(steps.front()["name"].string(), "one block");
        EXPECT_EQ(steps.back()["name"].string(), "phy");
    }
}

TEST_F(LadderTest, TheTextNamesEveryStep) {
    PHY_NEEDS_GPU();
    const Outcome outcome = run({ladder_, "--symbols", "100000"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    for (const std::string name :
         {"naive", "block size", "packed store", "merged load", "table", "unrolled", "phy", "copy kernel"})
        EXPECT_NE(outcome.out.find("\n" + name), std::string::npos) << name << " in:\n" << outcome.out;
}

TEST_F(LadderTest, TheTextNamesEveryStepOfAReduction) {
    PHY_NEEDS_GPU();
    const Outcome outcome = run({ladder_, "reduce", "--elements", "100000"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    for (const std::string name : {"modulo", "strided", "sequential", "first add", "last warp", "unrolled",
                                   "many adds", "shuffle", "phy", "CUB"})
        EXPECT_NE(outcome.out.find("\n" + name), std::string::npos) << name << " in:\n" << outcome.out;
    EXPECT_NE(outcome.out.find("of read"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace phy::test
