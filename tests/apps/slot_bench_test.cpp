#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "phy/core/version.hpp"
#include "support/app_test.hpp"
#include "support/gpu.hpp"
#include "support/parse_json.hpp"

namespace phy::test {
namespace {

// The app itself fails if a way gives other soft bits than the scalar backend.
class SlotBenchTest : public AppTest {
protected:
    const std::string slot_bench_ = std::filesystem::path(demod_app).replace_filename("slot_bench");

    [[nodiscard]] Outcome bench(Arguments options) const {
        options.insert(options.begin(), {slot_bench_, "--slots", "7"});
        Outcome outcome = run(options);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return outcome;
    }

    /// The ways of the rows of that many symbols, each with its median; of the rows it checks the numbers.
    static std::map<std::string, double> ways(const JsonValue& result, double symbols) {
        std::map<std::string, double> medians;
        for (const JsonValue& row : result["rows"].array()) {
            if (row["symbols"].number() != symbols) continue;
            const double median = row["median_seconds"].number();
            EXPECT_GT(median, 0.0);
            EXPECT_GE(row["p99_seconds"].number(), median);
            EXPECT_LE(row["lower_quartile_seconds"].number(), median);
            EXPECT_GE(row["upper_quartile_seconds"].number(), median);
            EXPECT_TRUE(medians.emplace(row["way"].string(), median).second) << row["way"].string();
        }
        return medians;
    }
};

TEST_F(SlotBenchTest, OnACpu) {
    for (const std::string backend : {"scalar", "cpu"}) {
        const JsonValue result = parse_json(
            bench({"--json", "--backend", backend, "--symbols", "12,5000", "--formats", "ci16:int8"}).out);
        EXPECT_EQ(result["context"]["slots"].number(), 7.0);
        EXPECT_EQ(result["context"]["threads"].number(), 1.0);
        EXPECT_EQ(result["rows"].array().size(), 4U);
        EXPECT_LE(result["warnings"].array().size(), 1U);
        for (const double symbols : {12.0, 5000.0}) {
            const auto medians = ways(result, symbols);
            EXPECT_TRUE(medians.contains("SoftDemapper") && medians.contains("Pipeline"));
        }
    }
}

TEST_F(SlotBenchTest, OnAGpuTheWaysStandBesideTheSumOfTheParts) {
    if constexpr (built_with_cuda) {
        PHY_NEEDS_GPU();
    } else {
        GTEST_SKIP() << "built without CUDA";
    }
    const JsonValue result = parse_json(bench({"--json", "--backend", "cuda", "--symbols", "1,45864"}).out);
    for (const double symbols : {1.0, 45864.0}) {
        auto medians = ways(result, symbols);
        ASSERT_EQ(medians.size(), 6U);
        const double parts = medians["copy in alone"] + medians["demap alone"] + medians["copy out alone"];
        for (const JsonValue& row : result["rows"].array()) {
            const std::string way = row["way"].string();
            if (row["symbols"].number() != symbols || way.ends_with(" alone")) continue;
            EXPECT_NEAR(row["of_parts"].number(), medians[way] / parts, 1e-6) << way;
        }
    }
}

TEST_F(SlotBenchTest, RunsEveryModulationAndFormat) {
    for (const std::string modulation : {"pi2-bpsk", "qpsk", "64qam", "1024qam"})
        EXPECT_EQ(bench({"--quiet", "--modulation", modulation, "--symbols", "100", "--formats",
                         "cf32:int8,cf16:float16,ci16:float32,ci8:int8"})
                      .out,
                  "");
}

TEST_F(SlotBenchTest, TheTextNamesTheSetting) {
    const Outcome outcome = bench({"--backend", "scalar", "--symbols", "600"});
    for (const std::string words :
         {"256qam at 30 dB on scalar", "7 slots", "cf32:int8", "600", "Pipeline", "spread"})
        EXPECT_NE(outcome.out.find(words), std::string::npos) << words << " in:\n" << outcome.out;
    EXPECT_EQ(bench({"--quiet", "--backend", "scalar"}).out, "");
}

TEST_F(SlotBenchTest, WrongUsage) {
    expect_failure({slot_bench_, "--slots", "0"}, 2, {"--slots 0", "from 1 to 10000000"});
    expect_failure({slot_bench_, "--symbols", "0"}, 2, {"--symbols 0:", "a whole number from 1 on"});
    expect_failure({slot_bench_, "--symbols", "18446744073709551615"}, 2, {"--symbols", "memory"});
    for (const std::string devices : {"0,1", "all", "x"})
        expect_failure({slot_bench_, "--device", devices}, 2, {"--device " + devices, "a whole number"});
}

}  // namespace
}  // namespace phy::test
