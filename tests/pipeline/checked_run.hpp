#pragma once

#include <string>
#include <utility>

#include "phy/pipeline/pipeline.hpp"
#include "pipeline/call_hooks.hpp"
#include "pipeline/fake_sink.hpp"
#include "pipeline/fake_source.hpp"
#include "pipeline/fake_stage.hpp"
#include "pipeline/place_sets.hpp"

namespace phy_test {

/// One run from a fake source to a fake sink.
class CheckedRun {
public:
    CheckedRun(const TestStream& stream, SourceMode source_mode, SinkMode sink_mode,
               const CallHooks& hooks = {})
        : stream_(stream),
          hooks_(hooks),
          source_(stream, source_mode, hooks),
          sink_(stream, sink_mode, hooks) {}

    phy::PipelineReport run(phy::Pipeline& pipeline, FakeStage& stage, std::stop_token stop = {}) {
        stage.hooks = hooks_;
        stage_ = &stage;
        return pipeline.run(source_, sink_, std::move(stop));
    }

    [[nodiscard]] std::uint64_t items() const { return sink_.items(); }
    [[nodiscard]] std::uint64_t chunks() const { return sink_.chunks(); }

    /// The mistake in the sink's data, complete or not; empty if there is none.
    [[nodiscard]] std::string mistake() const {
        if (stage_ != nullptr && !stage_->mistake().empty()) return stage_->mistake();
        for (const std::string& text : {source_.mistake(), sink_.mistake()}) {
            if (!text.empty()) return text;
        }
        return sink_.has_right_bytes() ? "" : "wrong bytes";
    }

    /// The same for a run that was not cancelled.
    [[nodiscard]] std::string mistake(const phy::PipelineReport& report) const {
        if (std::string text = mistake(); !text.empty()) return text;
        if (report.cancelled) return "cancelled";
        if (items() != stream_.items()) return std::to_string(items()) + " items for the sink";
        return mistake_of_counts(report);
    }

    /// The same for a cancelled run.
    [[nodiscard]] std::string mistake_of_cancelled(const phy::PipelineReport& report) const {
        if (std::string text = mistake(); !text.empty()) return text;
        if (!report.cancelled) return "not cancelled";
        return mistake_of_counts(report);
    }

    /// The same for a run that may have been stopped. If its report does not say so, all items must be there.
    [[nodiscard]] std::string mistake_of_stopped(const phy::PipelineReport& report) const {
        return report.cancelled ? mistake_of_cancelled(report) : mistake(report);
    }

private:
    [[nodiscard]] std::string mistake_of_counts(const phy::PipelineReport& report) const {
        if (report.items != items()) return std::to_string(report.items) + " items in the report";
        if (report.chunks != chunks()) return std::to_string(report.chunks) + " chunks in the report";
        return "";
    }

    const TestStream& stream_;
    CallHooks hooks_;
    FakeSource source_;
    FakeSink sink_;
    const FakeStage* stage_ = nullptr;
};

/// The mistake of a complete run; empty if there is none.
inline std::string mistake_of_run(phy::Pipeline& pipeline, FakeStage& stage, const TestStream& stream,
                                  SourceMode source_mode = SourceMode::fill,
                                  SinkMode sink_mode = SinkMode::take) {
    CheckedRun run(stream, source_mode, sink_mode);
    return run.mistake(run.run(pipeline, stage));
}

}  // namespace phy_test
