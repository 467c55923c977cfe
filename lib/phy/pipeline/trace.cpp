#include "phy/pipeline/pipeline.hpp"

#include <array>
#include <sstream>

namespace phy {
namespace {

using Step = PipelineSpan::Step;

/// Row 0: source. Then one row per buffer set. Last row: sink.
std::size_t row_of(const PipelineReport& report, const PipelineSpan& span) {
    if (span.step == Step::read) return 0;
    if (span.step == Step::write) return report.buffer_sets.size() + 1;
    return 1 + span.chunk.buffer_set;
}

std::string_view name_of(const PipelineReport& report, Step step) {
    constexpr std::array<std::string_view, 5> names = {"read", "copy_in", "", "copy_out", "write"};
    return step == Step::work ? std::string_view(report.stage) : names[static_cast<std::size_t>(step)];
}

std::string escaped(std::string_view name) {
    std::string text;
    for (const char c : name) {
        if (c == '"' || c == '\\') text += '\\';
        text += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return text;
}

void name_row(std::ostream& text, std::size_t row, const std::string& name) {
    text << R"({"ph":"M","name":"thread_name","pid":1,"tid":)" << row << R"(,"args":{"name":")"
         << escaped(name) << "\"}},\n"
         << R"({"ph":"M","name":"thread_sort_index","pid":1,"tid":)" << row << R"(,"args":{"sort_index":)"
         << row << "}},\n";
}

void add_span(std::ostream& text, const PipelineReport& report, const PipelineSpan& span) {
    constexpr double microseconds = 1e6;
    text << R"({"ph":"X","name":")" << escaped(name_of(report, span.step)) << R"(","pid":1,"tid":)"
         << row_of(report, span) << R"(,"ts":)" << microseconds * span.begin << R"(,"dur":)"
         << microseconds * (span.end - span.begin) << R"(,"args":{"chunk":)" << span.chunk.index
         << R"(,"first":)" << span.chunk.first << R"(,"items":)" << span.chunk.items << "}},\n";
}

}  // namespace

std::string trace_events(const PipelineReport& report) {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text.setf(std::ios::fixed);
    text.precision(3);
    text << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
    name_row(text, 0, "read");
    for (std::size_t buffer_set = 0; buffer_set < report.buffer_sets.size(); ++buffer_set)
        name_row(text, 1 + buffer_set,
                 "buffer set " + std::to_string(buffer_set) + ", " + report.buffer_sets[buffer_set]);
    name_row(text, report.buffer_sets.size() + 1, "write");
    for (const PipelineSpan& span : report.spans)
        add_span(text, report, span);
    text << R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"phy"}}]})"
         << "\n";
    return text.str();
}

}  // namespace phy
