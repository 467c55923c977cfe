#include <filesystem>
#include <fstream>
#include <string>

#include "plot_program.hpp"

namespace phy::test {
namespace {

class TracePlot : public PlotTest {
protected:
    TracePlot() : PlotTest("matplotlib", "PHY_PLOT_TRACE_SCRIPT", PHY_PLOT_TRACE_SCRIPT) {}

    void expect_image(const Arguments& arguments, const std::string& image) const {
        std::filesystem::remove(path(image));
        const Outcome outcome = run_script(arguments);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.out, path(image) + "\n");
        expect_png(image);
    }

    void expect_refused(const Arguments& arguments, const std::string& words) const {
        Arguments all = arguments;
        all.insert(all.end(), {"-o", path("x.png")});
        const Outcome outcome = run_script(all);
        EXPECT_EQ(outcome.status, 1) << words;
        EXPECT_TRUE(outcome.err.starts_with("plot_trace.py: ")) << outcome.err;
        EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
        EXPECT_FALSE(std::filesystem::exists(path("x.png")));
    }
};

TEST_F(TracePlot, DrawsWhatDemodAppWrites) {
    const std::string capture = generate("c.h5", {"--modulation", "qpsk", "--symbols", "20000", "--quiet"});
    demod({capture, "-o", path("out.h5"), "--trace", path("t.json"), "--chunk", "3000", "--quiet"});
    expect_image({path("t.json")}, "t.png");
    expect_image({path("t.json"), "-o", path("part.png"), "--from", "0", "--to", "0.5"}, "part.png");
}

/// Every buffer set and step has its row, and what is drawn is what the trace says.
TEST_F(TracePlot, DrawsEverySpan) {
    std::ofstream(path("t.json")) << R"({"traceEvents": [
        {"ph": "M", "name": "thread_name", "tid": 1, "args": {"name": "buffer set 0"}},
        {"ph": "X", "name": "read", "tid": 0, "ts": 0, "dur": 1500},
        {"ph": "X", "name": "demap", "tid": 1, "ts": 1500.5, "dur": 500},
        {"ph": "X", "name": "demap", "tid": 1, "ts": 3000, "dur": 1000},
        {"ph": "X", "name": "a step of a name that is long", "tid": 7, "ts": 4000, "dur": 1},
        {"ph": "X", "name": "another step of a name that is long", "tid": 7, "ts": 4001, "dur": 1},
        {"ph": "X", "name": "a third step of a name that is long", "tid": 7, "ts": 4002, "dur": 1},
        {"ph": "X", "name": "a fourth step of a name that is long", "tid": 7, "ts": 4003, "dur": 1},
        {"ph": "X", "name": "a fifth step of a name that is long", "tid": 7, "ts": 4004, "dur": 1}]})";
    const std::string script = R"(
import pathlib, sys
import plot_trace
names, spans = plot_trace.read_trace(pathlib.Path(sys.argv[1]))
figure = plot_trace.draw(names, spans, 0.0, 4.005)
figure.canvas.draw()
axes, legend = figure.axes
assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "buffer set 0", "7"]
bars = {tuple(round(x, 4) for x in (*path.vertices[0], *path.vertices[2]))
        for bars in axes.collections for path in bars.get_paths()}
assert len(bars) == 8, bars
assert {(0.0, -0.4, 1.5, 0.4), (1.5005, 0.6, 2.0005, 1.4), (3.0, 0.6, 4.0, 1.4)} <= bars, bars
texts = legend.get_legend().get_texts()
assert [text.get_text() for text in texts][:2] == ["read", "demap"] and len(texts) == 7
box, whole = legend.get_legend().get_window_extent(), figure.bbox
assert whole.x0 <= box.x0 and box.x1 <= whole.x1 and box.y1 <= whole.y1, (box, whole)
assert box.y0 >= axes.get_window_extent().y1, "the legend is on the picture"
)";
    const Outcome outcome = run_python({"-c", script, path("t.json")});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_F(TracePlot, SaysWhatIsWrong) {
    std::ofstream(path("text.json")) << "{ trace }";
    std::ofstream(path("other.json")) << R"({"symbols": 3})";
    std::ofstream(path("time.json"))
        << R"({"traceEvents": [{"ph": "X", "name": "read", "tid": 0, "ts": "now", "dur": 1}]})";
    std::ofstream(path("empty.json")) << R"({"traceEvents": []})";
    std::ofstream(path("t.json"))
        << R"({"traceEvents": [{"ph": "X", "name": "read", "tid": 0, "ts": 0, "dur": 2000}]})";
    expect_refused({path("missing.json")}, "missing.json: No such file");
    for (const std::string name : {"text.json", "other.json", "time.json"})
        expect_refused({path(name)}, name + ": expected Trace Event JSON");
    expect_refused({path("empty.json")}, "empty.json: has no spans");
    for (const Arguments& range :
         {Arguments{"--from", "3"}, {"--to", "-1"}, {"--to", "inf"}, {"--from", "nan"}})
        expect_refused({path("t.json"), range[0], range[1]}, "the trace ends at 2");
    EXPECT_EQ(run_script({path("t.json"), "--fro", "1"}).status, 2) << "no abbreviations";
}

}  // namespace
}  // namespace phy::test
