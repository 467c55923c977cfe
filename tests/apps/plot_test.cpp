#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/app_test.hpp"

namespace phy::test {
namespace {

/// A Python that has h5py and Matplotlib, or nothing.
std::string plotting_python() {
    for (std::string python : {"/usr/bin/python3", "python3"}) {
        if (run({"/bin/sh", "-c", python + " -c 'import h5py, matplotlib'"}).status == 0) return python;
    }
    return "";
}

class Plot : public AppTest {
protected:
    void SetUp() override {
        const char* const required = std::getenv("PHY_REQUIRE_H5PY");
        if (!python_.empty()) return;
        if (required != nullptr && std::string(required) == "1")
            FAIL() << "no python3 with h5py and Matplotlib was found";
        GTEST_SKIP() << "no python3 with h5py and Matplotlib was found";
    }

    [[nodiscard]] Outcome plot(Arguments arguments) const {
        const char* const installed = std::getenv("PHY_PLOT_SCRIPT");
        const std::string script = installed == nullptr ? PHY_PLOT_SCRIPT : installed;
        arguments.insert(arguments.begin(), {"/bin/sh", "-c", R"(exec "$0" "$@")", python_, script,
                                             "--measure-app", measure_app});
        return run(arguments, {"MPLCONFIGDIR=" + path("matplotlib")});
    }

    void expect_image(const Arguments& arguments) const {
        std::filesystem::remove(path("c.png"));
        Arguments all = {path("c.h5"), "-o", path("c.png")};
        all.insert(all.end(), arguments.begin(), arguments.end());
        const Outcome outcome = plot(all);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        std::string head(8, '\0');
        std::ifstream(path("c.png"), std::ios::binary).read(head.data(), 8);
        EXPECT_EQ(head, "\x89PNG\r\n\x1a\n");
        EXPECT_GT(std::filesystem::file_size(path("c.png")), 10'000U);
    }

private:
    const std::string python_ = plotting_python();
};

TEST_F(Plot, DrawsACaptureAndItsSoftBits) {
    const std::string capture =
        generate("c.h5", {"--modulation", "64qam", "--symbols", "20000", "--type", "ci16", "--quiet"});
    demod({capture, "-o", path("s.h5"), "--quiet"});
    expect_image({"--soft-bits", path("s.h5")});
    const Outcome report = run({measure_app, capture, "--by", "100", "--json"});
    std::ofstream(path("m.json")) << report.out;
    expect_image({"--measure", path("m.json")});
    expect_image({"--", "--reference", "sent"});
}

TEST_F(Plot, ReadsAsMeasureAppDoes) {
    for (const Arguments& made :
         {Arguments{"--type", "cf16"}, {"--type", "ci16", "--layout", "interleaved"}}) {
        Arguments all = {"--modulation", "qpsk", "--symbols", "2000", "--quiet", "--force"};
        all.insert(all.end(), made.begin(), made.end());
        generate("c.h5", all);
        if (made.size() == 2) {
            expect_image({});
        } else {
            expect_image({"--interleaved"});
            expect_image({"--", "--interleaved"});
        }
    }
}

/// Whatever the capture says, because measure_app may have been told another.
TEST_F(Plot, TakesTheFullScaleOfTheReport) {
    generate("c.h5", {"--modulation", "qpsk", "--symbols", "2000", "--type", "ci16", "--quiet"});
    const auto image = [&](const std::string& full_scale) {
        std::ofstream(path("m.json"))
            << R"({"symbols": 2000, "modulation": "qpsk", "gain": 1.0, "full_scale": )" + full_scale + "}";
        expect_image({"--measure", path("m.json")});
        std::ifstream stream(path("c.png"), std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(stream), {});
    };
    EXPECT_TRUE(image("8192") == image("null"));
    EXPECT_FALSE(image("8192") == image("32768"));
    const JsonValue report = measure_json({path("c.h5"), "--full-scale", "32768"});
    EXPECT_EQ(report["full_scale"].number(), 32768.0);
}

TEST_F(Plot, SaysWhatIsWrong) {
    const Outcome outcome = plot({path("missing.h5"), "-o", path("c.png")});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.err, "plot_capture.py: " + path("missing.h5") + ": No such file or directory\n");
    generate("c.h5", {"--modulation", "qpsk", "--symbols", "100", "--quiet"});
    for (const Arguments& wrong : {Arguments{"--dataset", "/none"},
                                   {"--measure", path("none.json")},
                                   {"--soft-bits", path("c.h5")},
                                   {"--", "--by", "nothing"}}) {
        Arguments all = {path("c.h5"), "-o", path("c.png")};
        all.insert(all.end(), wrong.begin(), wrong.end());
        const Outcome failed = plot(all);
        EXPECT_EQ(failed.status, 1);
        EXPECT_TRUE(failed.err.starts_with("plot_capture.py: ")) << failed.err;
    }
    EXPECT_FALSE(std::filesystem::exists(path("c.png")));
}

}  // namespace
}  // namespace phy::test
