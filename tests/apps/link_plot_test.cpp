#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "link_sim_program.hpp"
#include "support/app_test.hpp"

namespace phy::test {
namespace {

/// A Python that has Matplotlib, or nothing.
std::string plotting_python() {
    for (std::string python : {"/usr/bin/python3", "python3"}) {
        if (run({"/bin/sh", "-c", python + " -c 'import matplotlib'"}).status == 0) return python;
    }
    return "";
}

class LinkPlot : public AppTest {
protected:
    void SetUp() override {
        const char* const required = std::getenv("PHY_REQUIRE_H5PY");
        if (!python_.empty()) return;
        if (required != nullptr && std::string(required) == "1")
            FAIL() << "no python3 with Matplotlib was found";
        GTEST_SKIP() << "no python3 with Matplotlib was found";
    }

    [[nodiscard]] Outcome plot(Arguments arguments) const {
        const char* const installed = std::getenv("PHY_PLOT_LINK_SCRIPT");
        const std::string script = installed == nullptr ? PHY_PLOT_LINK_SCRIPT : installed;
        arguments.insert(arguments.begin(), {"/bin/sh", "-c", R"(exec "$0" "$@")", python_, script});
        return run(arguments, {"MPLCONFIGDIR=" + path("matplotlib")});
    }

    [[nodiscard]] std::string bytes_of(const std::string& file) const {
        std::ifstream stream(path(file), std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    void expect_image(const Arguments& reports, const std::string& image) const {
        std::filesystem::remove(path(image));
        const Outcome outcome = plot(reports);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.out, path(image) + "\n");
        const std::string bytes = bytes_of(image);
        EXPECT_TRUE(bytes.starts_with("\x89PNG\r\n\x1a\n"));
        EXPECT_GT(bytes.size(), 10'000U);
    }

private:
    const std::string python_ = plotting_python();
};

TEST_F(LinkPlot, DrawsReportsAndTables) {
    const Outcome outcome =
        run({link_sim_program(), "--modulation", "qpsk,64qam", "--snr-db", "0:5:25", "--method",
             "maxlog,logmap", "--errors", "10", "--max-bits", "1000", "--csv", path("t.csv"), "--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    std::ofstream(path("r.json")) << outcome.out;
    expect_image({path("r.json")}, "r.png");
    expect_image({path("t.csv"), "-o", path("table.png")}, "table.png");
    expect_image({path("r.json"), path("t.csv"), "-o", path("both.png")}, "both.png");
}

TEST_F(LinkPlot, SaysWhatIsWrong) {
    std::ofstream(path("other.json")) << R"({"symbols": 3})";
    std::ofstream(path("empty.json")) << R"({"points": []})";
    for (const auto& [name, words] : {std::pair("missing.json", "No such file"),
                                      {"other.json", "expected what link_sim prints"},
                                      {"empty.json", "no points"}}) {
        const Outcome outcome = plot({path(name), "-o", path("x.png")});
        EXPECT_EQ(outcome.status, 1);
        EXPECT_TRUE(outcome.err.starts_with("plot_link.py: " + path(name))) << outcome.err;
        EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
        EXPECT_FALSE(std::filesystem::exists(path("x.png")));
    }
}

}  // namespace
}  // namespace phy::test
