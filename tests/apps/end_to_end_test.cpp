#include <map>
#include <string>
#include <tuple>

#include "phy/capture/capture.hpp"
#include "phy/core/format.hpp"
#include "phy/core/modulation.hpp"
#include "support/app_test.hpp"
#include "support/hdf5_file.hpp"

namespace phy::test {
namespace {

/// Es/N0 in decibel at which the bit error rate is about 1 %.
std::string snr_db(Modulation modulation) {
    static const std::map<Modulation, std::string> values = {
        {Modulation::pi2_bpsk, "4"}, {Modulation::bpsk, "4"},   {Modulation::qpsk, "7"},
        {Modulation::qam16, "14"},   {Modulation::qam64, "20"}, {Modulation::qam256, "26"},
        {Modulation::qam1024, "32"}};
    return values.at(modulation);
}

using Combination = std::tuple<Modulation, SampleFormat, CaptureLayout>;

class EndToEnd : public AppTest, public ::testing::WithParamInterface<Combination> {};

TEST_P(EndToEnd, SoftBitsAreRightAndTheSameOnEveryBackend) {
    const auto [modulation, type, layout] = GetParam();
    const std::string capture =
        generate("c.h5", {"--modulation", std::string(to_string(modulation)), "--symbols", "4001", "--snr-db",
                          snr_db(modulation), "--type", std::string(to_string(type)), "--layout",
                          std::string(to_string(layout)), "--quiet"});
    Arguments reading;
    if (layout == CaptureLayout::interleaved) reading.emplace_back("--interleaved");
    const auto with = [&](Arguments options) {
        options.insert(options.end(), reading.begin(), reading.end());
        return options;
    };

    const JsonValue report = demod_json(with({capture}));
    const std::size_t bits = 4001 * bits_per_symbol(modulation);
    EXPECT_EQ(report["soft_bits"].number(), static_cast<double>(bits));
    EXPECT_EQ(report["modulation"].string(), to_string(modulation));
    EXPECT_EQ(report["erasures"].number(), 0.0);
    EXPECT_GT(report["bit_error_rate"].number(), 0.003);
    EXPECT_LT(report["bit_error_rate"].number(), 0.03);
    EXPECT_DOUBLE_EQ(report["bit_error_rate"].number(),
                     report["bit_errors"].number() / static_cast<double>(bits));

    const auto scalar = soft_bits(capture, with({"--backend", "scalar", "--threads", "1"}));
    EXPECT_EQ(scalar.size(), bits);
    EXPECT_EQ(soft_bits(capture, with({"--backend", "cpu"})), scalar);
    EXPECT_EQ(soft_bits(capture, with({"--chunk", "333", "--threads", "2"})), scalar);
}

std::string name_of(const ::testing::TestParamInfo<Combination>& info) {
    const auto [modulation, type, layout] = info.param;
    std::string name = std::string(to_string(modulation)) + "_" + std::string(to_string(type)) + "_" +
                       std::string(to_string(layout));
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(All, EndToEnd,
                         ::testing::Combine(::testing::ValuesIn(all_modulations),
                                            ::testing::ValuesIn(all_sample_formats),
                                            ::testing::Values(CaptureLayout::compound,
                                                              CaptureLayout::trailing,
                                                              CaptureLayout::interleaved,
                                                              CaptureLayout::chunked, CaptureLayout::gzip)),
                         name_of);

class Demodulation : public AppTest {};

TEST_F(Demodulation, EveryFormatMethodAndChunkGivesTheSameBytesOnEveryBackend) {
    const std::string capture =
        generate("c.h5", {"--modulation", "256qam", "--symbols", "5003", "--snr-db", "24", "--quiet"});
    for (const std::string llr : {"int8", "float16", "float32"}) {
        for (const std::string method : {"maxlog", "logmap"}) {
            SCOPED_TRACE(llr + " " + method);
            const Arguments how = {"--llr", llr, "--method", method};
            const auto with = [&how](Arguments options) {
                options.insert(options.end(), how.begin(), how.end());
                return options;
            };
            const auto scalar = soft_bits(capture, with({"--backend", "scalar", "--threads", "1"}));
            EXPECT_EQ(soft_bits(capture, with({"--backend", "cpu", "--threads", "1", "--chunk", "1"})),
                      scalar);
            EXPECT_EQ(soft_bits(capture, with({"--backend", "cpu", "--threads", "3", "--chunk", "1024"})),
                      scalar);
            const double rate = demod_json(with({capture}))["bit_error_rate"].number();
            EXPECT_GT(rate, 0.005);
            EXPECT_LT(rate, 0.05);
        }
    }
}

TEST_F(Demodulation, NoiseOfEachSymbolIsUsedUnlessANumberIsGiven) {
    const Arguments how = {"--modulation", "16qam", "--symbols", "3000", "--quiet", "--per-symbol-noise"};
    const std::string capture = generate("c.h5", how);
    EXPECT_EQ(demod_json({capture})["noise_variance"].string(), "per_symbol");
    EXPECT_EQ(demod_json({capture, "--noise-variance", "auto"})["noise_variance"].string(), "per_symbol");
    EXPECT_EQ(demod_json({capture, "--noise-variance", "0.25"})["noise_variance"].number(), 0.25);
    const auto by_symbol = soft_bits(capture, {"--llr", "float32"});
    EXPECT_EQ(soft_bits(capture, {"--llr", "float32", "--backend", "scalar", "--chunk", "77"}), by_symbol);
    EXPECT_NE(soft_bits(capture, {"--llr", "float32", "--noise-variance", "0.01"}), by_symbol);
}

TEST_F(Demodulation, NoiseVarianceOfTheCaptureIsTheDefault) {
    const std::string capture =
        generate("c.h5", {"--modulation", "16qam", "--symbols", "300", "--snr-db", "10", "--quiet"});
    EXPECT_NEAR(demod_json({capture})["noise_variance"].number(), 0.1, 1e-8);
    EXPECT_EQ(soft_bits(capture, {"--noise-variance", "0.1"}), soft_bits(capture));
}

TEST_F(Demodulation, TruthOfAnotherModulationGivesAWarningAndNoErrorRate) {
    const std::string capture = generate("c.h5", {"--modulation", "16qam", "--symbols", "300", "--quiet"});
    const Outcome outcome = demod({capture, "--modulation", "64qam", "--json"});
    EXPECT_NE(outcome.err.find("bits"), std::string::npos);
    EXPECT_FALSE(parse_json(outcome.out).has("bit_errors"));
    EXPECT_EQ(demod({capture, "--modulation", "64qam", "--quiet"}).err, "");
}

class Generation : public AppTest {
protected:
    [[nodiscard]] std::vector<std::byte> dataset(const std::string& name, Arguments options,
                                                 const std::string& dataset) const {
        options.insert(options.end(), {"--quiet", "--force"});
        return read_dataset(generate(name, options), dataset);
    }
};

TEST_F(Generation, DependsOnTheSeedAndNothingElse) {
    const Arguments how = {"--modulation", "64qam", "--symbols", "1000", "--per-symbol-noise", "--seed"};
    const auto with_seed = [&how](const std::string& seed) {
        Arguments options = how;
        options.push_back(seed);
        return options;
    };
    for (const std::string part : {"/iq", "/bits", "/noise_variance"}) {
        const auto first = dataset("a.h5", with_seed("7"), part);
        EXPECT_EQ(dataset("b.h5", with_seed("7"), part), first) << part;
        EXPECT_NE(dataset("c.h5", with_seed("8"), part), first) << part;
    }
}

TEST_F(Generation, ALongerCaptureBeginsLikeAShorterOne) {
    const auto with_symbols = [](const std::string& symbols) {
        return Arguments{"--modulation", "pi2-bpsk", "--symbols", symbols};
    };
    for (const std::string part : {"/iq", "/bits"}) {
        const auto shorter = dataset("a.h5", with_symbols("70001"), part);
        auto longer = dataset("b.h5", with_symbols("140000"), part);
        longer.resize(shorter.size());
        EXPECT_EQ(longer, shorter) << part;
    }
}

TEST_F(Generation, RotationContinuesAcrossChunks) {
    const std::string capture =
        generate("c.h5", {"--modulation", "pi2-bpsk", "--symbols", "200000", "--snr-db", "4", "--quiet"});
    EXPECT_NEAR(demod_json({capture, "--chunk", "1001"})["bit_error_rate"].number(), 0.0125, 0.002);
}

TEST_F(Generation, ReportsWhatItWrote) {
    const Outcome outcome = run({capture_gen, path("c.h5"), "--modulation", "qpsk", "--symbols", "100",
                                 "--type", "ci8", "--json", "--no-bits"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const JsonValue report = parse_json(outcome.out);
    EXPECT_EQ(report["symbols"].number(), 100.0);
    EXPECT_EQ(report["type"].string(), "ci8");
    EXPECT_EQ(report["full_scale"].number(), 32.0);
    EXPECT_FALSE(report["has_bits"].boolean());
    EXPECT_FALSE(demod_json({path("c.h5")}).has("bit_errors"));
}

}  // namespace
}  // namespace phy::test
