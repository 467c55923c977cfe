#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gpu.hpp"
#include "pipeline/fakes.hpp"

namespace phy_test {

/// How long a test waits for what must happen at once, before it fails.
inline constexpr std::chrono::seconds patience{60};

inline constexpr std::array all_orders = {phy::IssueOrder::sequential, phy::IssueOrder::parallel,
                                          phy::IssueOrder::serial};

/// What one pipeline works on.
struct DeviceSet {
    std::string name;
    std::vector<phy::Backend> backends;  ///< none where there are no such devices
    bool on_cuda = false;

    [[nodiscard]] bool is_cuda() const { return on_cuda; }
};

/// For gtest, instead of the bytes.
inline void PrintTo(const DeviceSet& set, std::ostream* out) {  // NOLINT(readability-identifier-naming)
    *out << set.name;
}

/// Every test of a pipeline runs on each of them. Of CPUs one is enough, as FakeStage makes no difference.
inline std::vector<DeviceSet> device_sets() {
    std::vector<DeviceSet> sets = {{"host", {phy::Backend::scalar()}}};
    if (!phy::built_with_cuda) return sets;
    std::vector<phy::Backend> devices;
    std::ranges::copy_if(phy::Backend::all(), std::back_inserter(devices), [](const phy::Backend& backend) {
        return backend.kind() == phy::Backend::Kind::cuda && backend.supported();
    });
    const bool several = devices.size() > 1;
    sets.push_back({"cuda", {devices.begin(), devices.begin() + (devices.empty() ? 0 : 1)}, true});
    sets.push_back({"several_cuda", several ? devices : std::vector<phy::Backend>(), true});
    return sets;
}

inline std::string name_of_set(const testing::TestParamInfo<DeviceSet>& info) {
    return info.param.name;
}

class OnDevices : public testing::TestWithParam<DeviceSet> {
protected:
    void SetUp() override {
        if constexpr (phy::built_with_cuda) {
            if (!GetParam().is_cuda()) return;
            PHY_NEEDS_GPU();
            if (GetParam().backends.empty()) GTEST_SKIP() << "there is one GPU only";
        }
    }

    /// Leaves the other fields as they are.
    [[nodiscard]] static phy::Pipeline::Config on_devices(phy::Pipeline::Config config) {
        config.backends = GetParam().backends;
        return config;
    }
};

/// One run from a fake source to a fake sink.
class Trial {
public:
    Trial(const Stream& stream, Feed feed, Drain drain, const Watch& watch = {})
        : stream_(stream), watch_(watch), source_(stream, feed, watch), sink_(stream, drain, watch) {}

    phy::PipelineReport run(phy::Pipeline& pipeline, FakeStage& stage, std::stop_token stop = {}) {
        stage.watch = watch_;
        fault_of_stage_ = &stage.fault();
        return pipeline.run(source_, sink_, std::move(stop));
    }

    [[nodiscard]] std::uint64_t items() const { return sink_.items(); }
    [[nodiscard]] std::uint64_t chunks() const { return sink_.chunks(); }

    /// What is wrong with what the sink had, be it all or a part; empty if nothing is.
    [[nodiscard]] std::string flaw() const {
        for (const std::string& fault : {*fault_of_stage_, source_.fault(), sink_.fault()}) {
            if (!fault.empty()) return fault;
        }
        return sink_.has_right_bytes() ? "" : "wrong bytes";
    }

    /// The same of a run that was not cancelled.
    [[nodiscard]] std::string flaw(const phy::PipelineReport& report) const {
        if (std::string fault = flaw(); !fault.empty()) return fault;
        if (report.cancelled) return "cancelled";
        if (items() != stream_.items()) return std::to_string(items()) + " items for the sink";
        return flaw_of_counts(report);
    }

    /// The same of one that was.
    [[nodiscard]] std::string flaw_of_cancelled(const phy::PipelineReport& report) const {
        if (std::string fault = flaw(); !fault.empty()) return fault;
        if (!report.cancelled) return "not cancelled";
        return flaw_of_counts(report);
    }

    /// The same of one that may have been stopped; if it says nothing of that, all items have come.
    [[nodiscard]] std::string flaw_of_stopped(const phy::PipelineReport& report) const {
        return report.cancelled ? flaw_of_cancelled(report) : flaw(report);
    }

private:
    [[nodiscard]] std::string flaw_of_counts(const phy::PipelineReport& report) const {
        if (report.items != items()) return std::to_string(report.items) + " items in the report";
        if (report.chunks != chunks()) return std::to_string(report.chunks) + " chunks in the report";
        return "";
    }

    const Stream& stream_;
    Watch watch_;
    FakeSource source_;
    FakeSink sink_;
    const std::string* fault_of_stage_ = nullptr;
};

/// What is wrong when all goes through the pipeline; empty if nothing is.
inline std::string flaw_of_run(phy::Pipeline& pipeline, FakeStage& stage, const Stream& stream,
                               Feed feed = Feed::fill, Drain drain = Drain::take) {
    Trial trial(stream, feed, drain);
    return trial.flaw(trial.run(pipeline, stage));
}

/// Another one each time, unless PHY_TEST_SEED says which; printed, so that a failure can be repeated.
inline unsigned new_seed() {
    const char* wanted = std::getenv("PHY_TEST_SEED");
    const unsigned seed =
        wanted != nullptr ? static_cast<unsigned>(std::stoul(wanted)) : std::random_device()();
    std::cout << "PHY_TEST_SEED=" << seed << "\n";
    return seed;
}

}  // namespace phy_test
