#include <string>

#include "support/app_test.hpp"
#include "support/hdf5_file.hpp"

namespace phy::test {
namespace {

/// Captures whose bits capture_gen has scrambled, and demod_app descrambles.
class Scrambled : public AppTest {
protected:
    [[nodiscard]] std::string capture(const std::string& name, const Arguments& options = {}) const {
        Arguments all = {"--modulation", "64qam", "--symbols", "60001", "--snr-db", "20", "--quiet"};
        all.insert(all.end(), options.begin(), options.end());
        return generate(name, all);
    }
};

TEST_F(Scrambled, DescrambledBitsAreThoseBeforeScrambling) {
    // Noise and bits are the same, so the errors of the plain capture are about those of the other.
    const double plain = demod_json({capture("plain.h5")})["bit_error_rate"].number();
    const std::string scrambled = capture("scrambled.h5", {"--scramble", "4711,77,1"});
    EXPECT_GT(plain, 0.0);
    EXPECT_NEAR(demod_json({scrambled})["bit_error_rate"].number(), 0.5, 0.01);
    EXPECT_NEAR(demod_json({scrambled, "--descramble", "4711,77"})["bit_error_rate"].number(), 0.5, 0.01);
    for (const std::string llr : {"int8", "float16", "float32"}) {
        for (const std::string chunk : {"777", "100000"}) {
            const JsonValue report =
                demod_json({scrambled, "--descramble", "4711,77,1", "--llr", llr, "--chunk", chunk});
            EXPECT_NEAR(report["bit_error_rate"].number(), plain, 0.2 * plain) << llr;
            EXPECT_EQ(report["descrambled_c_init"].number(), 4711.0 * 32768 + 16384 + 77);
        }
    }
}

TEST_F(Scrambled, BytesAreTheSameHoweverTheWorkIsDivided) {
    const std::string scrambled = capture("scrambled.h5", {"--scramble", "1,2"});
    const std::vector<std::byte> whole = soft_bits(scrambled, {"--descramble", "1,2"});
    EXPECT_NE(whole, soft_bits(scrambled));
    EXPECT_EQ(whole, soft_bits(scrambled, {"--descramble", "1,2,0", "--chunk", "1001"}));
    EXPECT_EQ(whole, soft_bits(scrambled, {"--descramble", "1,2", "--backend", "scalar"}));
    EXPECT_EQ(whole, soft_bits(scrambled, {"--descramble", "1,2", "--gain", "1"}));
}

TEST_F(Scrambled, GainAndDescramblingGoTogether) {
    const std::string scrambled = capture("scrambled.h5", {"--scramble", "1,2"});
    const JsonValue report = demod_json({scrambled, "--descramble", "1,2", "--gain", "auto"});
    EXPECT_LT(report["bit_error_rate"].number(), 0.1);
}

TEST_F(Scrambled, IsMeasuredAgainstWhatWasSent) {
    const std::string scrambled = capture("scrambled.h5", {"--scramble", "4711,77,1"});
    const auto snr_db = [&](const Arguments& options) {
        Arguments all = {scrambled, "--reference", "sent"};
        all.insert(all.end(), options.begin(), options.end());
        return measure_json(all)["snr_db"].number();
    };
    EXPECT_LT(snr_db({}), 3.0);
    for (const std::string chunk : {"777", "100000"})
        EXPECT_NEAR(snr_db({"--descramble", "4711,77,1", "--chunk", chunk}), 20.0, 0.1);
    expect_failure({measure_app, scrambled, "--descramble", "4711,77,1"}, 2,
                   {"--descramble", "--reference sent"});
}

TEST_F(Scrambled, IdentitiesMayBeHexadecimal) {
    const std::string scrambled = capture("scrambled.h5", {"--scramble", "17921,255,1"});
    const JsonValue report = demod_json({scrambled, "--descramble", "0x4601,0xfF,0x1"});
    EXPECT_EQ(report["descrambled_c_init"].number(), 17921.0 * 32768 + 16384 + 255);
    EXPECT_LT(report["bit_error_rate"].number(), 0.1);
}

TEST_F(Scrambled, OutputAndReportSaySo) {
    const std::string scrambled = capture("scrambled.h5", {"--scramble", "1,2"});
    const std::string text = demod({scrambled, "--descramble", "1,2", "-o", path("out.h5")}).out;
    EXPECT_NE(text.find("descrambled     c_init 32770\n"), std::string::npos) << text;
    EXPECT_EQ(demod({scrambled}).out.find("descrambled"), std::string::npos);
    EXPECT_FALSE(demod_json({scrambled}).has("descrambled_c_init"));
    EXPECT_EQ(read_number(path("out.h5"), "/llr", "descrambled_c_init"), 32770.0);
}

TEST_F(Scrambled, WrongIdentitiesAreWrongUsage) {
    const std::string plain = capture("plain.h5");
    for (const std::string wrong : {"", "1", "1,2,3", "65536,0", "0,1024", "0,0,2", "-1,0", "1,2,0,0", "a,b",
                                    "1,,0", "1, 2", "0x10000,0", "0x,0", "0xg,1", "-0x1,0", "0x-1,0"}) {
        expect_failure({demod_app, plain, "--descramble", wrong}, 2, {"--descramble", "n_RNTI"});
        expect_failure(
            {capture_gen, path("x.h5"), "--modulation", "qpsk", "--symbols", "10", "--scramble", wrong}, 2,
            {"--scramble", "n_RNTI"});
    }
}

}  // namespace
}  // namespace phy::test
