// What link_sim reports: JSON, a table of numbers and text.

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "link_sim_program.hpp"
#include "support/app_test.hpp"

namespace phy::test {
namespace {

class LinkSimReport : public AppTest {};

TEST_F(LinkSimReport, HasEveryField) {
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
        EXPECT_GT(point["mutual_information_bits"].number(), 3.0);
    }
    EXPECT_EQ(all[0]["llr_scale"].number(), 3.0);
    EXPECT_EQ(all[1]["llr_scale"].number(), 12.5);
    EXPECT_LT(all[0]["saturated"].number(), all[1]["saturated"].number());
}

/// In fading and with phase noise slots are the trials, in white noise bits.
TEST_F(LinkSimReport, HasIntervalsOfBitErrorRates) {
    const Arguments of_noise = {"--modulation", "qpsk", "--snr-db", "0:40:40", "--max-bits", "1M"};
    const Points noise = points(of_noise);
    const double rate = noise[0]["bit_error_rate"].number();
    const double low = noise[0]["bit_error_rate_low"].number();
    const double high = noise[0]["bit_error_rate_high"].number();
    EXPECT_LT(low, rate);
    EXPECT_LT(rate, high);
    EXPECT_LT(high - low, 0.2 * rate);
    EXPECT_EQ(noise[1]["bit_error_rate"].number(), 0.0);
    EXPECT_EQ(noise[1]["bit_error_rate_low"].number(), 0.0);
    EXPECT_NEAR(noise[1]["bit_error_rate_high"].number() * noise[1]["bits"].number(), 2.996, 0.001);

    const auto fading = [](const std::string& snr) {
        return points({"--modulation", "qpsk", "--snr-db", snr, "--channel", "flat", "--antennas", "2",
                       "--min-slots", "50", "--max-bits", "1", "--resource-blocks", "4"});
    };
    EXPECT_EQ(fading("60")[0]["bit_errors"].number(), 0.0);
    EXPECT_NEAR(fading("60")[0]["bit_error_rate_high"].number(), 1.0 - std::pow(0.05, 1.0 / 50.0), 1e-12);
    const JsonValue faded = fading("0")[0];
    EXPECT_GT(faded["bit_error_rate_high"].number() - faded["bit_error_rate_low"].number(),
              0.2 * faded["bit_error_rate"].number());

    const JsonValue rotated = points({"--modulation", "qpsk", "--snr-db", "40", "--phase-noise", "-110",
                                      "--max-bits", "1", "--resource-blocks", "4"})[0];
    EXPECT_EQ(rotated["slots"].number(), 200.0);
    EXPECT_EQ(rotated["bit_errors"].number(), 0.0);
    EXPECT_NEAR(rotated["bit_error_rate_high"].number(), 1.0 - std::pow(0.05, 1.0 / 200.0), 1e-12);

    Arguments all = {link_sim_program()};
    all.insert(all.end(), of_noise.begin(), of_noise.end());
    const Outcome text = run(all);
    EXPECT_NE(text.out.find("95 % interval"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find(" < 3e-06  "), std::string::npos) << text.out;
}

TEST_F(LinkSimReport, WritesTheSameToATable) {
    const Arguments options = {"--modulation", "qpsk", "--snr-db", "0:5:5", "--csv", path("t.csv")};
    const Points all = points(options);
    const auto text_of_table = [&] {
        std::ifstream stream(path("t.csv"));
        return std::string(std::istreambuf_iterator<char>(stream), {});
    };
    const std::string table = text_of_table();
    EXPECT_TRUE(
        table.starts_with("modulation,snr_db,known,interference_rejection,time_interpolation,phase_tracking,"
                          "joint_detection,iterations,method,llr,llr_scale,slots,"
                          "bits,"
                          "bit_errors,bit_error_rate,bit_error_rate_low,bit_error_rate_high,theory,evm_rms,"
                          "mutual_information_bits,saturated,mcs,"
                          "code_rate,transport_block_bits,blocks,block_errors,block_error_rate,"
                          "block_error_rate_low,block_error_rate_high,iterations_per_code_block,"
                          "throughput_bits_per_second\n"))
        << table;
    EXPECT_EQ(std::ranges::count(table, '\n'), 3);
    EXPECT_NE(table.find("\n\"qpsk\",5,\"channel,noise\",false,,false,false,0,\"maxlog\",\"float32\",,"),
              std::string::npos)
        << table;
    Arguments again = options;
    again.insert(again.begin(), link_sim_program());
    expect_failure(again, 1, {"t.csv", "--force"});
    EXPECT_EQ(text_of_table(), table);
}

TEST_F(LinkSimReport, TextHasATable) {
    const Outcome outcome =
        run({link_sim_program(), "--modulation", "qpsk", "--snr-db", "4", "--llr", "int8"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    for (const std::string word :
         {"awgn, 1 x 1", "52 resource blocks", "channel,noise", "maxlog", "int8, 6", "0.0565"})
        EXPECT_NE(outcome.out.find(word), std::string::npos) << word << " in\n" << outcome.out;
}

}  // namespace
}  // namespace phy::test
