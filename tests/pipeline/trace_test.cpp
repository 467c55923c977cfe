#include "phy/pipeline/pipeline.hpp"

#include <gtest/gtest.h>

#include <locale>
#include <map>
#include <set>

#include "pipeline/checked_run.hpp"
#include "support/parse_json.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::IssueOrder;
using phy::Pipeline;
using phy::PipelineReport;
using phy::PipelineSpan;
using phy::test::JsonValue;
using phy::test::parse_json;
using Step = PipelineSpan::Step;

/// Nanoseconds are what the text has.
constexpr double rounding = 0.0005 + 1e-6;

std::string step_name(const PipelineReport& report, Step step) {
    switch (step) {
        case Step::read:
            return "read";
        case Step::copy_in:
            return "copy_in";
        case Step::work:
            return report.stage;
        case Step::copy_out:
            return "copy_out";
        case Step::write:
            break;
    }
    return "write";
}

std::string row_name(const PipelineReport& report, const PipelineSpan& span) {
    if (span.step == Step::read) return "read";
    if (span.step == Step::write) return "write";
    return "buffer set " + std::to_string(span.chunk.buffer_set) + ", " +
           report.buffer_sets[span.chunk.buffer_set];
}

/// The events of one kind.
std::vector<const JsonValue*> events_of(const JsonValue& trace, const std::string& phase) {
    std::vector<const JsonValue*> events;
    for (const JsonValue& event : trace["traceEvents"].array()) {
        if (event["ph"].string() == phase) events.push_back(&event);
    }
    return events;
}

/// Names of the rows by their number, and their places among each other.
std::map<double, std::string> rows_of(const JsonValue& trace) {
    std::map<double, std::string> rows;
    for (const JsonValue* event : events_of(trace, "M")) {
        if ((*event)["name"].string() != "thread_name") continue;
        EXPECT_TRUE(rows.emplace((*event)["tid"].number(), (*event)["args"]["name"].string()).second);
    }
    return rows;
}

void expect_rows(const JsonValue& trace, const PipelineReport& report) {
    std::vector<std::string> expected = {"read"};
    for (std::size_t buffer_set = 0; buffer_set < report.buffer_sets.size(); ++buffer_set)
        expected.push_back("buffer set " + std::to_string(buffer_set) + ", " +
                           report.buffer_sets[buffer_set]);
    expected.emplace_back("write");
    std::map<double, std::string> by_place;
    const std::map<double, std::string> rows = rows_of(trace);
    for (const JsonValue* event : events_of(trace, "M")) {
        if ((*event)["name"].string() != "thread_sort_index") continue;
        by_place.emplace((*event)["args"]["sort_index"].number(), rows.at((*event)["tid"].number()));
    }
    std::vector<std::string> shown;
    for (const auto& [place, name] : by_place)
        shown.push_back(name);
    EXPECT_EQ(shown, expected);
}

/// The trace has each span of the report once, and no other.
void expect_spans(const JsonValue& trace, const PipelineReport& report) {
    const std::map<double, std::string> rows = rows_of(trace);
    std::map<std::pair<std::string, double>, const JsonValue*> spans;
    for (const JsonValue* event : events_of(trace, "X")) {
        const std::pair key((*event)["name"].string(), (*event)["args"]["chunk"].number());
        EXPECT_TRUE(spans.emplace(key, event).second) << key.first << " " << key.second;
    }
    ASSERT_EQ(spans.size(), report.spans.size());
    for (const PipelineSpan& span : report.spans) {
        const std::pair key(step_name(report, span.step), static_cast<double>(span.chunk.index));
        SCOPED_TRACE(key.first + " " + std::to_string(span.chunk.index));
        ASSERT_TRUE(spans.contains(key));
        const JsonValue& event = *spans.at(key);
        EXPECT_EQ(rows.at(event["tid"].number()), row_name(report, span));
        EXPECT_NEAR(event["ts"].number(), 1e6 * span.begin, rounding);
        EXPECT_NEAR(event["dur"].number(), 1e6 * (span.end - span.begin), rounding);
        EXPECT_EQ(event["args"]["first"].number(), static_cast<double>(span.chunk.first));
        EXPECT_EQ(event["args"]["items"].number(), static_cast<double>(span.chunk.items));
    }
}

/// Viewers take events together that have the same pid.
void expect_one_process(const JsonValue& trace) {
    std::set<double> processes;
    for (const JsonValue& event : trace["traceEvents"].array())
        processes.insert(event["pid"].number());
    EXPECT_EQ(processes.size(), 1U);
}

void expect_trace(const PipelineReport& report) {
    const JsonValue trace = parse_json(trace_events(report));
    expect_rows(trace, report);
    expect_spans(trace, report);
    expect_one_process(trace);
}

/// Two devices, all steps, times that show rounding.
PipelineReport made_up_report() {
    PipelineReport report;
    report.stage = "demap";
    report.buffer_sets = {"cuda[0]", "cuda[1]", "cuda[0]", "cuda[1]"};
    double time = 0.0;
    for (std::uint64_t index = 0; index < 9; ++index) {
        const phy::Chunk chunk{.index = index,
                               .first = index * 1'234'567'890,
                               .items = 1'234'567'890,
                               .buffer_set = static_cast<std::size_t>(index % 4)};
        for (const Step step : {Step::read, Step::copy_in, Step::work, Step::copy_out, Step::write}) {
            report.spans.push_back({step, chunk, time, time + 1.0 / 3.0});
            time += 0.1234567;
        }
    }
    return report;
}

TEST(Trace, HasARowForTheSourceEachBufferSetAndTheSink) {
    expect_trace(made_up_report());
}

TEST(Trace, OfAnEmptyReportIsValid) {
    expect_trace({});
    PipelineReport report = made_up_report();
    report.spans.clear();
    expect_trace(report);
}

TEST(Trace, OfTimesBeyondASecondAndBelowANanosecond) {
    PipelineReport report = made_up_report();
    report.spans.resize(3);
    report.spans[0].begin = 0.0;
    report.spans[0].end = 1e-10;
    report.spans[1].begin = 86'400.0;
    report.spans[1].end = 172'800.5;
    report.spans[2].end = report.spans[2].begin;
    expect_trace(report);
}

TEST(Trace, EscapesNames) {
    PipelineReport report = made_up_report();
    report.stage = R"(say "soft" \ not hard)";
    report.buffer_sets[1] = R"(\"[1])";
    expect_trace(report);
    report.stage = "a\tb\nc";
    const JsonValue trace = parse_json(trace_events(report));
    std::set<std::string> names;
    for (const JsonValue* event : events_of(trace, "X"))
        names.insert((*event)["name"].string());
    EXPECT_TRUE(names.contains("a b c") || names.contains(report.stage));
}

// As a program that shows numbers as its user likes them.
TEST(Trace, DoesNotDependOnTheLocale) {
    struct Grouped : std::numpunct<char> {
        [[nodiscard]] char do_decimal_point() const override { return ','; }
        [[nodiscard]] char do_thousands_sep() const override { return '.'; }
        [[nodiscard]] std::string do_grouping() const override { return "\3"; }
    };
    const std::string expected = trace_events(made_up_report());
    const std::locale before = std::locale::global(std::locale(std::locale(), new Grouped));
    const std::string text = trace_events(made_up_report());
    std::locale::global(before);
    EXPECT_EQ(text, expected);
}

class TraceOfRun : public OnPlaces {};

TEST_P(TraceOfRun, MatchesItsReport) {
    const TestStream stream(1037);
    for (const IssueOrder order : all_orders) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, {.chunk = 100, .buffer_sets = 3, .order = order, .trace = true});
        CheckedRun checked(stream, SourceMode::fill, SinkMode::take);
        const PipelineReport report = checked.run(pipeline, stage);
        EXPECT_EQ(checked.mistake(report), "");
        EXPECT_GT(report.spans.size(), 30U);
        expect_trace(report);
    }
}

INSTANTIATE_TEST_SUITE_P(, TraceOfRun, testing::ValuesIn(place_sets()), name_of_set);

}  // namespace
