#include <filesystem>
#include <fstream>
#include <string>

#include "link_sim_program.hpp"
#include "plot_program.hpp"

namespace phy::test {
namespace {

class LinkPlot : public PlotTest {
protected:
    LinkPlot() : PlotTest("matplotlib", "PHY_PLOT_LINK_SCRIPT", PHY_PLOT_LINK_SCRIPT) {}

    void expect_image(const Arguments& reports, const std::string& image) const {
        std::filesystem::remove(path(image));
        const Outcome outcome = run_script(reports);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.out, path(image) + "\n");
        expect_png(image);
    }
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
        const Outcome outcome = run_script({path(name), "-o", path("x.png")});
        EXPECT_EQ(outcome.status, 1);
        EXPECT_TRUE(outcome.err.starts_with("plot_link.py: " + path(name))) << outcome.err;
        EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
        EXPECT_FALSE(std::filesystem::exists(path("x.png")));
    }
}

}  // namespace
}  // namespace phy::test
