#include <string>

#include "phy/core/version.hpp"
#include "phy/receiver/link.hpp"
#include "support/app_test.hpp"
#include "support/test_files.hpp"

namespace phy::test {
namespace {

class CommandLine : public AppTest {
protected:
    static const std::vector<std::string>& apps() {
        static const std::vector<std::string> names = {demod_app, capture_gen, phy_info, measure_app};
        return names;
    }
};

struct Alternative {
    std::string line;
    std::string other;
};

/// The comments of example links name them.
const std::vector<Alternative> pusch_alternatives = {
    {R"("center_frequency": 3750000000)", R"("arfcn": 650000)"},
    {R"("center_frequency": 3750000000)", R"("point_a_arfcn": 646724)"},
    {R"("modulation": "64qam")", R"("mcs_table": "qam64", "mcs_index": 20)"},
    {R"("resource_blocks": [0, 273])", R"("riv": 545)"},
    {R"("symbols": [0, 14])", R"("sliv": 27)"}};
const std::vector<Alternative> pdsch_alternatives = {
    {R"("center_frequency": 3600000000)", R"("arfcn": 640000)"},
    {R"("center_frequency": 3600000000)", R"("point_a_arfcn": 638728)"},
    {R"("modulation": "256qam")", R"("mcs_table": "qam256", "mcs_index": 20)"},
    {R"("resource_blocks": [0, 106])", R"("riv": 211)"},
    {R"("symbols": [1, 13])", R"("sliv": 40)"}};

TEST_F(CommandLine, HelpNamesTheAppAndItsOptions) {
    for (const std::string& app : apps()) {
        for (const std::string option : {"--help", "-h"}) {
            const Outcome outcome = run({app, option});
            EXPECT_EQ(outcome.status, 0);
            EXPECT_EQ(outcome.err, "");
            EXPECT_TRUE(outcome.out.starts_with("usage: " + std::filesystem::path(app).filename().string()));
            for (const std::string common : {"--help", "--version", "--log-level", "--quiet", "--json"})
                EXPECT_NE(outcome.out.find(common), std::string::npos) << common;
        }
    }
}

TEST_F(CommandLine, HelpListsEveryOption) {
    const std::string help = run({demod_app, "--help"}).out;
    for (const std::string option :
         {"-o",           "--output",         "--dataset",      "--interleaved", "--full-scale",
          "--modulation", "--noise-variance", "--method",       "--evaluator",   "--llr",
          "--llr-scale",  "--llr-clip",       "--force",        "--backend",     "--device",
          "--threads",    "--chunk",          "--streams",      "--order",       "--trace",
          "--gain",       "--from",           "--raw",          "--shape",       "--external-files",
          "--hard",       "--keep-shape",     "--count-errors", "--example-link"})
        EXPECT_NE(help.find(option + " "), std::string::npos) << option;
    const std::string meter_help = run({measure_app, "--help"}).out;
    for (const std::string option :
         {"--dataset", "--from", "--raw", "--shape", "--external-files", "--interleaved", "--full-scale",
          "--modulation", "--gain", "--reference", "--descramble", "--by", "--backend", "--device",
          "--threads", "--chunk", "--streams", "--order"})
        EXPECT_NE(meter_help.find(option + " "), std::string::npos) << option;
    const std::string generator_help = run({capture_gen, "--help"}).out;
    for (const std::string option :
         {"--modulation",   "--symbols",          "--snr-db",      "--seed",
          "--type",         "--layout",           "--no-bits",     "--per-symbol-noise",
          "--force",        "--scramble",         "--from",        "--link",
          "--slots",        "--antennas",         "--channel",     "--timing-offset",
          "--first-sample", "--frequency-offset", "--sample-rate", "--center-frequency"})
        EXPECT_NE(generator_help.find(option), std::string::npos) << option;
}

TEST_F(CommandLine, HelpAndVersionNeedNothingElse) {
    for (const std::string& app : apps()) {
        const Outcome outcome = run({app, "--version", "--log-level", "info"});
        EXPECT_EQ(outcome.status, 0);
        EXPECT_EQ(outcome.err, "");
        EXPECT_EQ(outcome.out, std::filesystem::path(app).filename().string() + " " + version + "\n");
    }
    EXPECT_EQ(run({demod_app, "no such file", "--modulation", "nonsense", "--help"}).status, 0);
}

TEST_F(CommandLine, ExampleLinks) {
    for (const std::string channel : {"pusch", "pdsch"}) {
        const Outcome outcome = run({demod_app, "--example-link", channel});
        EXPECT_EQ(outcome.status, 0);
        EXPECT_EQ(outcome.err, "");
        const Link link = parse_link(outcome.out);
        EXPECT_EQ(link.direction, channel == "pusch" ? Direction::uplink : Direction::downlink);
        EXPECT_NO_THROW(static_cast<void>(resampler_config(link)));
        EXPECT_EQ(link.allocation.dmrs.symbols, (std::vector<int>{2, 11}));
        const std::string comment = "// \"coding\"";
        std::string with_coding = outcome.out;
        ASSERT_NE(with_coding.find(comment), std::string::npos);
        const Link coded = parse_link(with_coding.erase(with_coding.find(comment), 3));
        EXPECT_EQ(link.coding, std::nullopt);
        for (const auto& [line, other] : channel == "pusch" ? pusch_alternatives : pdsch_alternatives) {
            std::string text = outcome.out;
            ASSERT_NE(text.find(line), std::string::npos) << line;
            EXPECT_NE(text.find("or " + other), std::string::npos) << other;
            const bool is_coded = other.find("mcs_index") != std::string::npos;
            EXPECT_EQ(parse_link(text.replace(text.find(line), line.size(), other)), is_coded ? coded : link)
                << other;
        }
    }
    expect_failure({demod_app, "--example-link", "pucch"}, 2, {"--example-link pucch", "'pusch' or 'pdsch'"});
    expect_failure({demod_app, "--example-link"}, 2, {"--example-link"});
}

TEST_F(CommandLine, OptionsMayNotBeAbbreviated) {
    for (const std::string& app : apps()) {
        expect_failure({app, "--hel"}, 2, {"--hel"});
        expect_failure({app, "--vers"}, 2, {"--vers"});
    }
    expect_failure({demod_app, "x.h5", "--out", path("y.h5")}, 2, {"--out"});
    expect_failure({demod_app, "x.h5", "--noise", "1"}, 2, {"--noise"});
    expect_failure({capture_gen, path("y.h5"), "--mod", "qpsk"}, 2, {"--mod"});
}

TEST_F(CommandLine, AnUnknownOptionSuggestsSimilarOnes) {
    const auto expect_meant = [&](const std::string& app, const std::string& typed,
                                  const std::string& meant) {
        SCOPED_TRACE(typed);
        expect_failure({app, "x.h5", typed}, 2,
                       {"unrecognised option", "did you mean --" + meant + "?", "--help lists"});
    };
    expect_meant(demod_app, "--modulaton", "modulation");
    expect_meant(demod_app, "--modulaton=qpsk", "modulation");
    expect_meant(demod_app, "--out=y.h5", "output");
    expect_meant(demod_app, "-modulation", "modulation");
    expect_meant(demod_app, "--noise_variance", "noise-variance");
    expect_meant(demod_app, "--nosie-variance", "noise-variance");
    expect_meant(demod_app, "--out", "output");
    expect_meant(demod_app, "--fro", "from");
    expect_meant(measure_app, "--jsno", "json");
    expect_meant(capture_gen, "--snr", "snr-db");
    for (const std::string typed : {"--nonsense", "--snr", "--max", "--a", "--", "-x", "--x", "--=3"}) {
        SCOPED_TRACE(typed);
        const Outcome outcome = run({demod_app, "x.h5", typed});
        EXPECT_NE(outcome.status, 0);
        EXPECT_EQ(outcome.err.find("did you mean"), std::string::npos) << outcome.err;
    }
}

TEST_F(CommandLine, WrongUsageOfDemodApp) {
    expect_failure({demod_app}, 2, {"CAPTURE"});
    expect_failure({measure_app, "a.h5", "b.h5"}, 2, {"measure_app"});
    expect_failure({demod_app, "a.h5", "--nonsense"}, 2, {"--nonsense"});
    expect_failure({demod_app, "a.h5", "--chunk"}, 2, {"--chunk"});
    expect_failure({demod_app, "a.h5", "--force=yes"}, 2, {"--force"});
    expect_failure({demod_app, "a.h5", "--chunk", "1", "--chunk", "2"}, 2, {"--chunk"});
    expect_failure({demod_app, "a.h5", "--log-level", "loud"}, 2, {"loud", "trace"});
    expect_failure({demod_app, "a.h5", "--quiet", "--log-level", "loud"}, 2, {"loud"});
}

TEST_F(CommandLine, WrongValuesOfDemodApp) {
    const std::string capture = generate("c.h5", {"--modulation", "qpsk", "--symbols", "10", "--quiet"});
    const auto expect_wrong = [&](const std::string& option, const std::string& value,
                                  const std::vector<std::string>& words) {
        SCOPED_TRACE(option + " " + value);
        expect_failure({demod_app, capture, "-o", path("out.h5"), option, value}, 2, words);
    };
    expect_wrong("--modulation", "8psk", {"8psk", "1024qam"});
    expect_wrong("--method", "best", {"best", "logmap"});
    expect_wrong("--evaluator", "magic", {"magic", "table"});
    expect_wrong("--llr", "int4", {"int4", "float16"});
    expect_wrong("--backend", "abacus", {"abacus"});
    for (const std::string value : {"0", "-1", "nan", "inf", "1e-60", "1e60", "1x", "", "x%1%"})
        expect_wrong("--noise-variance", value, {"--noise-variance", "above 0"});
    for (const std::string value : {"0", "-1", "nan", "inf", "1e-13", "1.1e12", "1x", "", "automatic"})
        expect_wrong("--gain", value, {"--gain " + value + ":", "2^40", "'auto'"});
    for (const std::string value : {"0", "-3", "1.5", "many", "18446744073709551616", "1000000000000000"})
        expect_wrong("--chunk", value, {"--chunk"});
    for (const std::string value : {"-1", "1e4", "2k", "1000000", "99999999999"})
        expect_wrong("--threads", value, {"--threads " + value + ":", "from 0"});
    for (const std::string value : {"0", "-6", "nan", "x", "1e9"})
        expect_wrong("--llr-scale", value, {"--llr-scale " + value + ":", "1/64"});
    for (const std::string value : {"0", "-1", "128", "1.5", "x"})
        expect_wrong("--llr-clip", value, {"--llr-clip " + value + ":", "127"});
    for (const std::string value : {"0", "-1", "nan", "inf", "1e-60", "1e60"})
        expect_wrong("--full-scale", value, {"--full-scale " + value + ":", "2^126"});
    for (const std::string value : {"-1", "x", ",", "0 1", "0,", ",0", "0,,1"})
        expect_wrong("--device", value, {"--device " + value + ":", "from 0 on"});
    for (const std::string value : {"0,0", "1,0,01"})
        expect_wrong("--device", value, {"--device " + value + ":", "twice"});
    for (const std::string value : {"0", "-1", "x", "1025"})
        expect_wrong("--streams", value, {"--streams " + value + ":", "from 1 to 1024"});
    expect_wrong("--order", "random", {"random", "sequential", "serial"});
}

TEST_F(CommandLine, OptionsWithoutEffectAreWrongUsage) {
    const std::string symbols = generate("c.h5", {"--modulation", "qpsk", "--symbols", "10", "--quiet"});
    const std::string samples = data_file("pusch_samples.h5");
    const auto expect_wrong = [this](const Arguments& arguments, const std::vector<std::string>& words) {
        Arguments command = {demod_app};
        command.insert(command.end(), arguments.begin(), arguments.end());
        expect_failure(command, 2, words);
    };
    expect_wrong({samples, "--write", "llr"}, {"--write", "only with --output"});
    expect_wrong({samples, "--durable"}, {"--durable", "--output or --trace"});
    expect_wrong({symbols, "--keep-shape"}, {"--keep-shape", "only with --output"});
    for (const std::string option : {"--llr-scale", "--llr-clip"}) {
        expect_wrong({samples, "--llr", "float32", option, "5"}, {option, "int8"});
        expect_wrong({symbols, "--llr", "float16", option, "5"}, {option, "int8"});
        expect_wrong({symbols, "--hard", option, "5"}, {option, "int8"});
        demod({symbols, "--hard", "--llr", "int8", option, "5"});
    }
}

TEST_F(CommandLine, WrongUsageOfMeasureApp) {
    const std::string capture = generate("c.h5", {"--modulation", "qpsk", "--symbols", "10", "--quiet"});
    const auto expect_wrong = [&](const std::string& option, const std::string& value,
                                  const std::vector<std::string>& words) {
        SCOPED_TRACE(option + " " + value);
        expect_failure({measure_app, capture, option, value}, 2, words);
    };
    expect_failure({measure_app}, 2, {"CAPTURE"});
    expect_failure({measure_app, capture, "--output", path("x.h5")}, 2, {"--output"});
    expect_wrong("--modulation", "8psk", {"8psk", "1024qam"});
    for (const std::string value : {"0", "-1", "nan", "inf", "1x", ""})
        expect_wrong("--gain", value, {"--gain " + value + ":", "2^40", "'auto'"});
    for (const std::string value : {"0", "-1", "1.5", "rows", "", "18446744073709551616"})
        expect_wrong("--by", value, {"--by " + value + ":", "'slot'"});
    expect_wrong("--reference", "truth", {"--reference truth:", "'decisions'", "'sent'"});
    for (const std::string value : {"0", "1000000000000000"})
        expect_wrong("--chunk", value, {"--chunk " + value});
    expect_failure({measure_app, capture, "--backend", "cpu[neon]"}, 3, {"neon"});
}

TEST_F(CommandLine, EmptyValuesAreWrongUsage) {
    for (const std::string option : {"--output", "--dataset", "--device", "--trace"})
        expect_failure({demod_app, "a.h5", option, ""}, 2, {option});
    expect_failure({demod_app, "a.h5", "-o", ""}, 2, {"-o"});
}

TEST_F(CommandLine, WrongUsageOfCaptureGen) {
    const Arguments good = {capture_gen, path("y.h5"), "--modulation", "qpsk", "--symbols", "10"};
    const auto expect_wrong = [&](const std::string& option, const std::string& value,
                                  const std::vector<std::string>& words) {
        SCOPED_TRACE(option + " " + value);
        Arguments command = good;
        command.insert(command.end(), {option, value});
        expect_failure(command, 2, words);
    };
    expect_failure({capture_gen, "--modulation", "qpsk", "--symbols", "10"}, 2, {"OUT.h5"});
    expect_failure({capture_gen, path("y.h5"), "--symbols", "10"}, 2, {"--modulation"});
    expect_failure({capture_gen, path("y.h5"), "--modulation", "qpsk"}, 2, {"--symbols is missing"});
    expect_failure({capture_gen, path("y.h5"), "--modulation", "qpsk", "--symbols", "0"}, 2,
                   {"--symbols 0", "from 1 on"});
    expect_failure({capture_gen, path("y.h5"), "--modulation", "qpsk", "--symbols", "-1"}, 2, {"--symbols"});
    expect_wrong("--type", "cf64", {"cf64", "ci16"});
    expect_wrong("--layout", "spiral", {"spiral", "gzip"});
    expect_wrong("--seed", "x", {"--seed"});
    for (const std::string value : {"nan", "inf", "-inf", "300.5", "-101", "x"})
        expect_wrong("--snr-db", value, {"--snr-db " + value + ":", "from -100 to 300"});
}

TEST_F(CommandLine, ErrorsStayOneLineAndQuietDoesNotSilenceThem) {
    expect_failure({demod_app, path("two\nlines.h5"), "--quiet"}, 1, {"two", "lines.h5"});
}

}  // namespace
}  // namespace phy::test
