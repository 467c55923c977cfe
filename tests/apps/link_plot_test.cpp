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

/// The bound is where the interval ends, apart from the line, and has a name.
TEST_F(LinkPlot, DrawsPointsWithoutErrorsAsBounds) {
    const std::string script = R"(
import pathlib
import sys
import plot_link
points, context = plot_link.read_points(pathlib.Path(sys.argv[1]))
rate, _, _, legend = plot_link.draw(points, context).axes
measured, bound = rate.containers
assert list(measured.lines[0].get_ydata()) == [points[0]["bit_error_rate"]], measured.lines[0].get_ydata()
assert list(bound.lines[0].get_ydata()) == [points[1]["bit_error_rate_high"]], bound.lines[0].get_ydata()
(bar,) = measured.lines[2][0].get_segments()
assert abs(bar[0][1] / points[0]["bit_error_rate_low"] - 1) < 1e-9, bar
assert abs(bar[1][1] / points[0]["bit_error_rate_high"] - 1) < 1e-9, bar
texts = [text.get_text() for text in legend.get_legend().get_texts()]
assert any("upper bound" in text for text in texts), texts
assert rate.get_ylim()[0] < points[1]["bit_error_rate_high"], rate.get_ylim()
)";
    const Outcome simulated = run({link_sim_program(), "--modulation", "qpsk", "--snr-db", "0:40:40",
                                   "--max-bits", "100k", "--json", "--quiet"});
    std::ofstream(path("r.json")) << simulated.out;
    const Outcome outcome = run_python({"-c", script, path("r.json")});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
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
