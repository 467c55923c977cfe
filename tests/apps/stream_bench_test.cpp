#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "phy/core/backend.hpp"
#include "phy/core/format.hpp"
#include "phy/core/modulation.hpp"
#include "phy/core/version.hpp"
#include "support/app_test.hpp"
#include "support/gpu.hpp"
#include "support/parse_json.hpp"

namespace phy::test {
namespace {

using namespace std::chrono_literals;

class StreamBenchTest : public AppTest {
protected:
    const std::string stream_bench_ = std::filesystem::path(demod_app).replace_filename("stream_bench");

    [[nodiscard]] Outcome bench(Arguments options) const {
        options.insert(options.begin(), stream_bench_);
        Outcome outcome = run(options);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return outcome;
    }

    [[nodiscard]] JsonValue bench_json(Arguments options) const {
        options.emplace_back("--json");
        return parse_json(bench(options).out);
    }

    void expect_wrong(const std::string& option, const std::string& value,
                      const std::vector<std::string>& words) const {
        SCOPED_TRACE(option + " " + value);
        expect_failure({stream_bench_, "--symbols", "1000", "--backend", "scalar", option, value}, 2, words);
    }

    void expect_wrong_symbols(const std::string& value, const std::vector<std::string>& words) const {
        SCOPED_TRACE("--symbols " + value);
        expect_failure({stream_bench_, "--backend", "scalar", "--symbols", value}, 2, words);
    }
};

TEST_F(StreamBenchTest, HelpListsEveryOption) {
    for (const std::string option : {"--help", "-h"}) {
        const Outcome outcome = bench({option});
        EXPECT_EQ(outcome.err, "");
        EXPECT_TRUE(outcome.out.starts_with("usage: stream_bench [options]\n")) << outcome.out;
        for (const std::string name :
             {"--modulation", "--symbols", "--streams", "--chunk", "--order", "--formats", "--backend",
              "--device", "--threads", "--rounds", "--json", "--quiet", "--log-level", "--version"})
            EXPECT_NE(outcome.out.find(name + " "), std::string::npos) << name;
    }
    EXPECT_EQ(bench({"--version"}).out, std::string("stream_bench ") + version + "\n");
}

TEST_F(StreamBenchTest, WrongNumbers) {
    for (const std::string value :
         {"0", "-1", "1.5", "x", "1e-3", "1.5e0", "18446744073709551616", "auto", "5,0"})
        expect_wrong_symbols(value, {"--symbols " + value + ":", "a whole number from 1 on"});
    for (const std::string value : {"0", "-1", "x", "1025", "4,0", "auto,2000", "Auto"})
        expect_wrong("--streams", value, {"--streams " + value + ":", "from 1 to 1024, or 'auto'"});
    for (const std::string value : {"0", "-3", "x", "1.5", "auto,0"})
        expect_wrong("--chunk", value, {"--chunk " + value + ":", "from 1 on, or 'auto'"});
    for (const std::string value : {"-1", "2k", "1025", "x"})
        expect_wrong("--threads", value, {"--threads " + value + ":", "from 0 to 1024"});
    for (const std::string value : {"0", "-1", "10001", "x", "1,2"})
        expect_wrong("--rounds", value, {"--rounds " + value + ":", "from 1 to 10000"});
}

TEST_F(StreamBenchTest, WrongNames) {
    expect_wrong("--modulation", "8psk", {"8psk", "1024qam"});
    expect_wrong("--modulation", "qpsk,16qam", {"qpsk,16qam", "1024qam"});
    expect_wrong("--order", "serial,random", {"--order serial,random: 'random'", "sequential", "parallel"});
    expect_wrong("--formats", "cf32", {"--formats cf32: expected", "IN:OUT"});
    expect_wrong("--formats", "cf64:int8", {"--formats cf64:int8:", "cf64", "ci16"});
    expect_wrong("--formats", "cf32:int4", {"--formats cf32:int4:", "int4", "float16"});
    expect_wrong("--formats", "cf32:int8:int8", {"--formats", "int8:int8", "float16"});
    expect_failure({stream_bench_, "--symbols", "1000", "--backend", "abacus"}, 2, {"abacus"});
}

TEST_F(StreamBenchTest, EmptyElementsAreRefused) {
    for (const std::string list : {",", "1000,", ",1000", "1000,,2000"})
        expect_wrong_symbols(list, {"--symbols " + list + ": ''"});
    for (const std::string option : {"--streams", "--chunk", "--order", "--formats"}) {
        expect_wrong(option, ",", {option + " ,: ''"});
        expect_wrong(option, "", {option});
    }
    expect_wrong("--order", "serial,", {"--order serial,: ''"});
    expect_wrong("--device", "0,", {"--device 0,:"});
}

TEST_F(StreamBenchTest, WrongUsage) {
    expect_failure({stream_bench_, "attic"}, 2, {"stream_bench"});
    expect_failure({stream_bench_, "--sym", "5"}, 2, {"--sym"});
    expect_failure({stream_bench_, "--symbols"}, 2, {"--symbols"});
    expect_failure({stream_bench_, "--symbols", "1", "--symbols", "2"}, 2, {"--symbols"});
}

TEST_F(StreamBenchTest, TooMuchMemoryIsRefusedByName) {
    for (const std::string symbols : {"1000000000000000", "18446744073709551615"})
        expect_wrong_symbols("1000," + symbols, {"--symbols " + symbols + ":", "memory"});
    expect_wrong("--chunk", "1000,1000000000000000", {"--chunk 1000000000000000:", "memory"});
}

TEST_F(StreamBenchTest, BackendsThatAreNotThere) {
    expect_wrong("--device", "0,0", {"--device 0,0:", "twice"});
    expect_wrong("--device", "0", {"--device 0:", "scalar"});
    expect_failure({stream_bench_, "--backend", "cpu[neon]"}, 3, {"neon"});
    expect_failure({stream_bench_, "--backend", "cuda"}, 3, {"stream_bench:"}, {"CUDA_VISIBLE_DEVICES="});
    for (const std::string device : {"0", "all", "1000"})
        expect_failure({stream_bench_, "--device", device}, 3, {"--device " + device},
                       {"CUDA_VISIBLE_DEVICES="});
}

TEST_F(StreamBenchTest, EverySetOfDevicesIsChecked) {
    for (const std::string wrong : {"x", "", "0,", "1,1", "-1", "all,0"}) {
        SCOPED_TRACE(wrong);
        expect_failure({stream_bench_, "--device", "0", "--device", wrong}, 2, {"--device " + wrong + ":"});
        expect_failure({stream_bench_, "--device", wrong, "--device", "0"}, 2, {"--device " + wrong + ":"});
    }
    expect_failure({stream_bench_, "--device", "3", "--device", "0,1", "--backend", "scalar"}, 2,
                   {"--device 3:", "scalar"});
    expect_failure({stream_bench_, "--device", "1,0", "--device", "all"}, 3, {"--device 1,0:"},
                   {"CUDA_VISIBLE_DEVICES="});
}

TEST_F(StreamBenchTest, TakesTheBackendThatIsForced) {
    const Outcome outcome =
        run({stream_bench_, "--symbols", "1000", "--rounds", "1", "--json"}, {"PHY_BACKEND=scalar"});
    EXPECT_EQ(parse_json(outcome.out)["context"]["backend"].string(), "scalar") << outcome.err;
}

TEST_F(StreamBenchTest, ABackendThatWasAskedForNeedsNoOther) {
    const Outcome outcome = run({stream_bench_, "--symbols", "1000", "--rounds", "1", "--backend", "scalar"},
                                {"PHY_BACKEND=cuda", "CUDA_VISIBLE_DEVICES="});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_F(StreamBenchTest, QuietPrintsNothingButJson) {
    const Arguments small = {"--symbols", "1000", "--rounds", "1", "--quiet"};
    const Outcome quiet = bench(small);
    EXPECT_EQ(quiet.out, "");
    EXPECT_EQ(quiet.err, "");
    EXPECT_TRUE(bench_json(small).has("rows"));
}

TEST_F(StreamBenchTest, PrintsTheWarningsOfTheJson) {
    const Outcome outcome = bench({"--symbols", "1000", "--rounds", "1", "--backend", "scalar", "--json"});
    const JsonValue result = parse_json(outcome.out);
    std::string expected;
    for (const JsonValue& warning : result["warnings"].array())
        expected += "stream_bench: warning: " + warning.string() + "\n";
    EXPECT_EQ(outcome.err, expected);
}

TEST_F(StreamBenchTest, StopsWhenInterrupted) {
    Subprocess process({stream_bench_, "--symbols", "10000000", "--rounds", "10000", "--threads", "1",
                        "--backend", "scalar", "--quiet"});
    std::this_thread::sleep_for(1500ms);
    process.signal(SIGINT);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.status, 130);
    EXPECT_EQ(outcome.err, "stream_bench: interrupted\n");
    EXPECT_EQ(outcome.out, "");
}

/// What is the same on a CPU and on CUDA.
class StreamBenchOn : public StreamBenchTest, public ::testing::WithParamInterface<std::string> {
protected:
    void SetUp() override {
        if constexpr (built_with_cuda) {
            if (!on_cuda()) return;
            PHY_NEEDS_GPU();
        }
    }

    static bool on_cuda() { return GetParam() == "cuda"; }

    /// The names of all CUDA devices that can be used.
    static std::vector<std::string> devices() {
        std::vector<std::string> names;
        for (const Backend& backend : Backend::all()) {
            if (backend.kind() == Backend::Kind::cuda && backend.supported()) names.push_back(backend.name());
        }
        return names;
    }

    [[nodiscard]] Outcome bench_on(Arguments options) const {
        options.insert(options.end(), {"--backend", GetParam(), "--threads", "2"});
        return bench(options);
    }

    [[nodiscard]] JsonValue json_on(Arguments options) const {
        options.insert(options.end(), {"--backend", GetParam(), "--threads", "2"});
        return bench_json(options);
    }

    static std::string number_or_name(const JsonValue& value) {
        if (std::holds_alternative<std::string>(value.value)) return value.string();
        return std::to_string(static_cast<std::uint64_t>(value.number()));
    }
};

const std::vector<std::string> kinds =
    built_with_cuda ? std::vector<std::string>{"cpu", "cuda"} : std::vector<std::string>{"cpu"};

INSTANTIATE_TEST_SUITE_P(, StreamBenchOn, ::testing::ValuesIn(kinds),
                         [](const auto& kind) { return kind.param; });

TEST_P(StreamBenchOn, HasARowForEveryCombination) {
    std::multiset<std::string> expected;
    for (const std::string formats : {"cf32:int8", "ci16:float16"})
        for (const std::string symbols : {"1000", "300007"})
            for (const std::string streams : {"auto", "2"})
                for (const std::string chunk : {"auto", "70000"})
                    for (const std::string order : {"sequential", "parallel", "serial"})
                        expected.insert(formats + " " + symbols + " " + streams + " " + chunk + " " + order);
    const JsonValue result =
        json_on({"--rounds", "2", "--formats", "cf32:int8,ci16:float16", "--symbols", "1000,300007",
                 "--streams", "auto,2", "--chunk", "auto,70000", "--order", "sequential,parallel,serial"});
    std::multiset<std::string> found;
    for (const JsonValue& row : result["rows"].array())
        found.insert(row["formats"].string() + " " + number_or_name(row["symbols"]) + " " +
                     number_or_name(row["streams"]) + " " + number_or_name(row["chunk"]) + " " +
                     row["order"].string());
    EXPECT_EQ(found, expected);
}

// With one round, medians are what was measured in it.
TEST_P(StreamBenchOn, NumbersOfARowAgree) {
    const JsonValue result =
        json_on({"--rounds", "1", "--modulation", "64qam", "--formats", "cf32:int8,ci8:float32", "--symbols",
                 "1,200001", "--chunk", "auto,30000", "--streams", "auto,3"});
    ASSERT_EQ(result["rows"].array().size(), 16U);
    for (const JsonValue& row : result["rows"].array()) {
        SCOPED_TRACE(row["formats"].string() + " " + number_or_name(row["symbols"]));
        const bool wide = row["formats"].string() == "cf32:int8";
        const double seconds = row["seconds"].number();
        const double symbols = row["symbols"].number();
        EXPECT_GT(seconds, 0.0);
        EXPECT_GT(row["limit_seconds"].number(), 0.0);
        EXPECT_GT(row["serial_seconds"].number(), 0.0);
        EXPECT_EQ(row["lower_quartile_seconds"].number(), seconds);
        EXPECT_EQ(row["upper_quartile_seconds"].number(), seconds);
        EXPECT_DOUBLE_EQ(row["of_limit"].number(), row["limit_seconds"].number() / seconds);
        EXPECT_DOUBLE_EQ(row["of_serial"].number(), row["serial_seconds"].number() / seconds);
        EXPECT_DOUBLE_EQ(row["symbols_per_second"].number(), symbols / seconds);
        EXPECT_DOUBLE_EQ(row["bytes_in_per_second"].number(), symbols * (wide ? 8 : 2) / seconds);
        EXPECT_DOUBLE_EQ(row["bytes_out_per_second"].number(), symbols * (wide ? 6 : 24) / seconds);
        EXPECT_GE(row["chosen_streams"].number(), 1.0);
        if (number_or_name(row["streams"]) == "3") {
            EXPECT_EQ(row["chosen_streams"].number(), 3.0);
        }
        const double largest = row["largest_chunk"].number();
        if (number_or_name(row["chunk"]) == "30000") {
            EXPECT_LE(largest, 30000.0);
        }
        EXPECT_GE(row["chunks"].number() * largest, symbols);
        EXPECT_LE(largest, symbols);
    }
}

TEST_P(StreamBenchOn, QuartilesOfSeveralRoundsEncloseTheMedian) {
    const JsonValue row = json_on({"--rounds", "11", "--symbols", "100000"})["rows"].array().front();
    EXPECT_LE(row["lower_quartile_seconds"].number(), row["seconds"].number());
    EXPECT_GE(row["upper_quartile_seconds"].number(), row["seconds"].number());
    EXPECT_LT(row["lower_quartile_seconds"].number(), row["upper_quartile_seconds"].number());
}

TEST_P(StreamBenchOn, NamesTheStepsOfTheLastRound) {
    const JsonValue row = json_on({"--rounds", "1", "--symbols", "100000"})["rows"].array().front();
    std::set<std::string> steps;
    for (const auto& [step, seconds] : row["busy_seconds"].object()) {
        steps.insert(step);
        EXPECT_GE(seconds.number(), 0.0) << step;
    }
    EXPECT_EQ(steps, on_cuda() ? (std::set<std::string>{"read", "copy_in", "demap", "copy_out", "write"})
                               : (std::set<std::string>{"read", "demap", "write"}));
    EXPECT_GT(row["busy_seconds"]["demap"].number(), 0.0);
}

TEST_P(StreamBenchOn, SaysWhereItWasMeasured) {
    const JsonValue result = json_on({"--rounds", "3", "--symbols", "1000"});
    const JsonValue& context = result["context"];
    const std::string backend = Backend::parse(GetParam()).name();
    EXPECT_EQ(context["date"].string().size(), std::string("2026-01-31T12:00:00Z").size());
    EXPECT_EQ(context["phy_version"].string(), version);
    EXPECT_EQ(context["backend"].string(), backend);
    EXPECT_EQ(context["device"].is_null(), !on_cuda());
    EXPECT_FALSE(context["processor"].string().empty());
    EXPECT_EQ(context["threads"].is_null(), on_cuda());
    EXPECT_EQ(context["modulation"].string(), "256qam");
    EXPECT_EQ(context["snr_db"].number(), 30.0);
    EXPECT_EQ(context["rounds"].number(), 3.0);
    EXPECT_NE(context["limit"].string().find(on_cuda() ? "copies" : "memcpy"), std::string::npos);
    ASSERT_EQ(result["rows"].array().size(), 1U);
    const JsonValue& row = result["rows"].array().front();
    EXPECT_EQ(row["backend"].string(), backend);
    EXPECT_EQ(row["formats"].string(), "cf32:int8");
    EXPECT_EQ(row["order"].string(), "sequential");
    EXPECT_EQ(row["streams"].string(), "auto");
    EXPECT_EQ(row["chunk"].string(), "auto");
}

// The app itself fails if a soft bit that it looks at is wrong.
TEST_P(StreamBenchOn, RunsEveryModulationAndFormat) {
    std::string formats;
    for (const SampleFormat in : all_sample_formats)
        for (const SoftBitFormat out : all_soft_bit_formats)
            formats +=
                (formats.empty() ? "" : ",") + std::string(to_string(in)) + ":" + std::string(to_string(out));
    for (const Modulation modulation : all_modulations) {
        const std::string name(to_string(modulation));
        SCOPED_TRACE(name);
        const JsonValue result = json_on({"--modulation", name, "--formats", formats, "--symbols", "1,20011",
                                          "--chunk", "3001", "--rounds", "1"});
        EXPECT_EQ(result["rows"].array().size(), 24U);
    }
}

TEST_P(StreamBenchOn, TheTextNamesEveryRow) {
    const Outcome outcome = bench_on({"--rounds", "1", "--formats", "cf16:int8,cf32:float32", "--symbols",
                                      "1234,98765", "--order", "parallel,serial", "--chunk", "4321"});
    const std::string name = Backend::parse(GetParam()).name();
    for (const std::string formats : {"cf16:int8 ", "cf32:float32 "}) {
        for (const std::string symbols : {" 1234 ", " 98765 "}) {
            for (const std::string order : {" parallel ", " serial "}) {
                std::size_t rows = 0;
                std::istringstream lines(outcome.out);
                for (std::string line; std::getline(lines, line);) {
                    const auto has = [&](const std::string& word) {
                        return line.find(word) != std::string::npos;
                    };
                    if (line.starts_with(name + " ") && has(" " + formats) && has(symbols) && has(order) &&
                        has(" 4321 "))
                        ++rows;
                }
                EXPECT_EQ(rows, 1U) << formats << symbols << order << "in\n" << outcome.out;
            }
        }
    }
    for (const std::string word : {"256qam at 30 dB", "of limit: ", "of serial: ", "auto ", "Gsymbol/s",
                                   "GB/s in", on_cuda() ? "16 MiB" : "memcpy"})
        EXPECT_NE(outcome.out.find(word), std::string::npos) << word << " in\n" << outcome.out;
    EXPECT_NE(outcome.out.find(" on " + name + " ("), std::string::npos) << outcome.out;
}

TEST_P(StreamBenchOn, NamesAllDevicesThatWorkTogether) {
    Arguments options = {"--rounds", "1", "--symbols", "3000001"};
    std::string names = on_cuda() ? "" : Backend::parse("cpu").name();
    if (on_cuda()) {
        options.insert(options.end(), {"--device", "all"});
        for (const std::string& name : devices())
            names += (names.empty() ? "" : ", ") + name;
    }
    const JsonValue result = json_on(options);
    EXPECT_EQ(result["context"]["backend"].string(), names);
    EXPECT_EQ(result["rows"].array().front()["backend"].string(), names);
}

TEST_P(StreamBenchOn, MeasuresOneSetOfDevicesAfterAnother) {
    Arguments options = {"--rounds", "1", "--symbols", "1000,300007"};
    std::vector<std::string> sets = {Backend::parse(GetParam()).name()};
    const bool several = on_cuda() && devices().size() > 1;
    if (on_cuda()) {
        options.insert(options.end(), {"--device", "0", "--device", several ? "0,1" : "0"});
        sets = {"cuda[0]", several ? "cuda[0], cuda[1]" : "cuda[0]"};
    }
    const JsonValue result = json_on(options);
    EXPECT_EQ(result["context"]["backend"].string(), fmt::format("{}", fmt::join(sets, "; ")));
    EXPECT_EQ(result["context"]["limit"].string().ends_with(", split over the devices"), several);

    const std::string text = bench_on(options).out;
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    EXPECT_NE(line.find(fmt::format(" on {} (", fmt::join(sets, "; "))), std::string::npos) << text;
    std::getline(lines, line);
    ASSERT_EQ(result["rows"].array().size(), 2 * sets.size());
    for (std::size_t i = 0; i < result["rows"].array().size(); ++i) {
        EXPECT_EQ(result["rows"].array()[i]["backend"].string(), sets[i / 2]);
        std::getline(lines, line);
        EXPECT_TRUE(line.starts_with(sets[i / 2] + "  ")) << text;
    }
}

}  // namespace
}  // namespace phy::test
