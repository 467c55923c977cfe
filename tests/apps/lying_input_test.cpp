#include <cstddef>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "support/app_test.hpp"
#include "support/random_seed.hpp"
#include "support/test_files.hpp"

namespace phy::test {
namespace {

/// demod_app where what is said about symbols is not so.
class LyingInput : public AppTest {
protected:
    /// What is on stderr, and the same in the report; both are empty where nothing is wrong.
    static std::string warning(const Arguments& arguments) {
        const Outcome text = demod(arguments);
        Arguments with_json = arguments;
        with_json.emplace_back("--json");
        const Outcome json = demod(with_json);
        EXPECT_EQ(json.err, text.err);
        const JsonValue report = parse_json(json.out);
        const std::vector<JsonValue>& warnings = report["warnings"].array();
        if (warnings.empty()) {
            EXPECT_EQ(text.err, "");
            return "";
        }
        EXPECT_EQ(warnings.size(), 1U);
        EXPECT_EQ(text.err, "demod_app: warning: " + warnings[0].string() + "\n");
        return warnings[0].string();
    }

    static void expect_words(const std::string& text, const std::vector<std::string>& words) {
        for (const std::string& word : words)
            EXPECT_NE(text.find(word), std::string::npos) << word << " in " << text;
    }
};

TEST_F(LyingInput, CorrectInputHasNoWarnings) {
    const std::string capture =
        generate("c.h5", {"--modulation", "256qam", "--symbols", "20000", "--snr-db", "28", "--quiet"});
    EXPECT_EQ(warning({capture}), "");
    const JsonValue report = demod_json({capture});
    EXPECT_EQ(report["checked_symbols"].number(), 7.0 * 1024.0 + 544.0);
    EXPECT_NEAR(report["mean_power"].number(), 1.0, 0.03);
    EXPECT_NEAR(report["evm_rms"].number(), 0.0398, 0.001);
    EXPECT_NEAR(report["expected_evm_rms"].number(), 0.0398, 0.0005);
    const std::string text = demod({capture}).out;
    expect_words(text, {"\nmean power      ", ", of 7712 symbols\n", "\nEVM             ", " % by N0\n"});
}

TEST_F(LyingInput, OfIntegersOfAnotherFullScale) {
    const std::string capture = generate("c.h5", {"--modulation", "64qam", "--symbols", "20000", "--snr-db",
                                                  "25", "--type", "ci16", "--quiet"});
    const std::string found = warning({capture, "--full-scale", "32768"});
    expect_words(found, {"c.h5: /iq: the mean power", "-12.", "dB", "--gain auto", "--full-scale 8"});
    // What it says mends it.
    const std::string option = "--full-scale ";
    const std::size_t at = found.find(option) + option.size();
    EXPECT_EQ(warning({capture, "--full-scale", found.substr(at, found.find(' ', at) - at)}), "");
    EXPECT_EQ(warning({capture, "--full-scale", "32768", "--gain", "auto"}), "");
}

TEST_F(LyingInput, OfFloatsOfAnotherAmplitude) {
    std::mt19937 random(phy_test::random_seed());
    std::vector<float> iq(4000);
    for (float& component : iq)
        component = random() % 2 == 0 ? 300.0F : -300.0F;
    const std::string capture = path("c.cf32");
    std::ofstream(capture, std::ios::binary)
        .write(reinterpret_cast<const char*>(iq.data()),
               static_cast<std::streamsize>(iq.size() * sizeof(float)));
    const Arguments arguments = {capture, "--raw", "cf32", "--modulation", "qpsk", "--noise-variance",
                                 "0.01"};
    expect_words(warning(arguments), {"mean power", "--gain auto", "--gain 422."});
}

TEST_F(LyingInput, FloatsHaveNoFullScale) {
    const std::string capture = generate("c.h5", {"--modulation", "qpsk", "--symbols", "1000", "--quiet"});
    const std::vector<std::string> words = {"full_scale", "c.h5: /iq", "floating point", "--gain"};
    expect_failure({demod_app, capture, "--full-scale", "2"}, 2, words);
    expect_failure({measure_app, capture, "--full-scale", "2"}, 2, words);
    expect_failure({demod_app, data_file("pdsch_grid.h5"), "--full-scale", "2"}, 2,
                   {"pdsch_grid.h5: /grid", "does not matter"});
    EXPECT_EQ(soft_bits(capture, {"--gain", "1"}), soft_bits(capture));
}

TEST_F(LyingInput, OfAnotherNoise) {
    const std::string capture =
        generate("c.h5", {"--modulation", "16qam", "--symbols", "20000", "--snr-db", "18", "--quiet"});
    for (const std::string noise : {"0.0001", "0.2"}) {
        expect_words(warning({capture, "--noise-variance", noise}),
                     {"c.h5: /iq: the EVM is 12", "--noise-variance estimate"});
    }
    EXPECT_EQ(warning({capture, "--noise-variance", "estimate"}), "");
}

TEST_F(LyingInput, OfSamplesInTime) {
    const std::string capture = data_file("pusch_samples.h5");
    expect_words(warning({capture, "--from", "symbols", "--modulation", "64qam", "--noise-variance", "0.01"}),
                 {"pusch_samples.h5: /samples", "no constellation", "--from samples --link FILE"});
}

TEST_F(LyingInput, IsDemodulatedAllTheSame) {
    const std::string capture =
        generate("c.h5", {"--modulation", "16qam", "--symbols", "20000", "--snr-db", "18", "--quiet"});
    EXPECT_EQ(soft_bits(capture, {"--gain", "3"}).size(), 80'000U);
    const Outcome outcome = demod({capture, "--gain", "3", "--quiet"});
    EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace phy::test
