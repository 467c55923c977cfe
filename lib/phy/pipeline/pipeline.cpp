#include "phy/pipeline/pipeline.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include <unistd.h>

#include "phy/core/check_enum.hpp"
#include "phy/core/cuda.hpp"
#include "phy/core/error.hpp"
#include "phy/core/version.hpp"
#include "phy/pipeline/lane.hpp"
#include "phy/pipeline/run.hpp"
#include "phy/pipeline/tuning.hpp"

namespace phy {

using detail::LaneConfig;
using detail::Lanes;
using detail::PipelineRun;
using detail::PipelineTuning;
using detail::Schedule;

namespace {

bool is_cuda(const Backend& backend) {
    return backend.kind() == Backend::Kind::cuda;
}

std::vector<Backend> checked_backends(std::vector<Backend> backends) {
    if (backends.empty()) backends.push_back(Backend::best());
    for (const Backend& backend : backends) {
        if (!backend.supported())
            throw BackendError(backend.name() + " does not run here: " + backend.description());
        if (backends.size() > 1 && !is_cuda(backend))
            throw ArgumentError("pipeline: " + backend.name() + " beside others: expected CUDA devices");
    }
    return backends;
}

const PipelineTuning& tuning_of(const Backend& backend) {
    return is_cuda(backend) ? detail::cuda_tuning : detail::host_tuning;
}

/// Sizes need not be proportional to small numbers of items.
constexpr std::size_t sample = 1024;

constexpr std::size_t most_lanes = 1024;

/// How many items have that many bytes, in the direction that has more of them.
std::size_t items_of(const Stage& stage, std::size_t bytes) {
    const std::size_t of_sample =
        std::max({stage.input_bytes(sample), stage.output_bytes(sample), std::size_t{1}});
    const std::size_t items = std::max<std::size_t>(1, bytes * sample / of_sample);
    return items < sample ? items : items / sample * sample;
}

std::size_t fast_chunk(const Stage& stage, const PipelineTuning& tuning, std::uint64_t items) {
    const auto of_sample = static_cast<double>(
        std::max({stage.input_bytes(sample), stage.output_bytes(sample), std::size_t{1}}));
    return items_of(stage, detail::fast_chunk_bytes(static_cast<double>(items) * of_sample / sample, tuning));
}

/// Refused before anything is allocated, and whatever Config::items is: memory that is never used may be had,
/// and the system ends whoever uses it.
void check_memory(const Stage& stage, std::size_t chunk, std::size_t lanes) {
    if (lanes > most_lanes)
        throw ArgumentError("pipeline: " + std::to_string(lanes) + " lanes: expected at most " +
                            std::to_string(most_lanes));
    const std::size_t of_sample = stage.input_bytes(sample) + stage.output_bytes(sample);
    const double wanted =
        static_cast<double>(of_sample) / sample * static_cast<double>(chunk) * static_cast<double>(lanes);
    const double memory =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    if (wanted <= memory / 2) return;
    std::ostringstream text;
    text << "pipeline: " << lanes << " lanes for chunks of " << chunk << " items take " << wanted / 1e9
         << " GB of memory, more than half of this machine's " << memory / 1e9 << " GB";
    throw ArgumentError(text.str());
}

Lanes make_lanes(const LaneConfig& config, Stage& stage) {
    if constexpr (built_with_cuda) {
        if (is_cuda(config.backend)) return detail::make_cuda_lanes(config, stage);
    }
    return detail::make_host_lanes(config, stage);
}

std::size_t total_lanes(const Pipeline::Config& config) {
    const std::size_t backends = config.backends.size();
    return config.lanes > SIZE_MAX / backends ? SIZE_MAX : config.lanes * backends;
}

void prepare(Stage& stage, const Backend& backend) {
    if constexpr (built_with_cuda) {
        if (is_cuda(backend)) {
            const gpu::CurrentDevice current(gpu::Device(backend.device()));
            return stage.prepare(backend);
        }
    }
    stage.prepare(backend);
}

/// Chunks go to the backends in turn.
Lanes make_lanes(const Pipeline::Config& config, Stage& stage) {
    std::vector<Lanes> by_backend;
    for (const Backend& backend : config.backends)
        by_backend.push_back(make_lanes({.backend = backend,
                                         .count = config.lanes,
                                         .bytes_in = stage.input_bytes(config.chunk),
                                         .bytes_out = stage.output_bytes(config.chunk)},
                                        stage));
    Lanes lanes;
    for (std::size_t i = 0; i < config.lanes; ++i) {
        for (Lanes& of_backend : by_backend)
            lanes.push_back(std::move(of_backend[i]));
    }
    return lanes;
}

}  // namespace

struct Pipeline::Impl {
    Impl(const Config& config_of_user, Stage& stage_of_user);

    PipelineReport run(Source& source, Sink& sink, std::stop_token stop);
    [[nodiscard]] Schedule::Limits limits(std::uint64_t items) const;
    [[nodiscard]] std::size_t chosen_chunk(std::uint64_t items) const;
    [[nodiscard]] std::vector<PipelineReport::Busy> busy(const PipelineRun::Result& result) const;

    Config config;
    bool chooses_chunks;
    Stage& stage;
    Lanes lanes;
};

Pipeline::Impl::Impl(const Config& config_of_user, Stage& stage_of_user)
    : config(config_of_user), chooses_chunks(config_of_user.chunk == 0), stage(stage_of_user) {
    detail::check_enum("issue order", config.order, IssueOrder::serial);
    config.backends = checked_backends(std::move(config.backends));
    const PipelineTuning& tuning = tuning_of(config.backends.front());
    if (config.chunk == 0) config.chunk = chosen_chunk(config.items);
    if (config.lanes == 0) config.lanes = tuning.lanes;
    check_memory(stage, config.chunk, total_lanes(config));
    config.chunk = static_cast<std::size_t>(std::clamp<std::uint64_t>(config.items, 1, config.chunk));
    for (const Backend& backend : config.backends)
        prepare(stage, backend);
    lanes = make_lanes(config, stage);
}

PipelineReport Pipeline::Impl::run(Source& source, Sink& sink, std::stop_token stop) {
    const Schedule schedule(source.items(), limits(source.items()));
    PipelineRun::Result result =
        PipelineRun(lanes, {source, stage, sink, std::move(stop), schedule, config.order, config.trace})
            .run();
    PipelineReport report;
    report.items = result.items;
    report.chunks = result.chunks;
    report.cancelled = result.cancelled;
    report.seconds = result.seconds;
    report.busy = busy(result);
    report.stage = stage.name();
    for (std::size_t i = 0; i < lanes.size(); ++i)
        report.lanes.push_back(config.backends[i % config.backends.size()].name());
    report.spans = std::move(result.spans);
    return report;
}

/// What the user wants is done, and nothing is gained by cutting what goes in turn.
Schedule::Limits Pipeline::Impl::limits(std::uint64_t items) const {
    if (!chooses_chunks || config.order == IssueOrder::serial) return Schedule::even(config.chunk);
    const std::size_t most = std::min(config.chunk, chosen_chunk(items));
    const std::size_t least = items_of(stage, tuning_of(config.backends.front()).least_bytes);
    return {.most = most, .least = std::min(most, least)};
}

std::size_t Pipeline::Impl::chosen_chunk(std::uint64_t items) const {
    const PipelineTuning& tuning = tuning_of(config.backends.front());
    const bool has_gaps = config.order != IssueOrder::serial && tuning.gap_bytes != 0;
    return has_gaps ? fast_chunk(stage, tuning, items / config.backends.size())
                    : items_of(stage, tuning.chunk_bytes);
}

std::vector<PipelineReport::Busy> Pipeline::Impl::busy(const PipelineRun::Result& result) const {
    using Step = PipelineSpan::Step;
    const double all_of_timed =
        result.timed_items == 0 ? 0.0
                                : static_cast<double>(result.items) / static_cast<double>(result.timed_items);
    const auto seconds = [&](Step step) {
        const double timed = result.busy[static_cast<std::size_t>(step)];
        return step == Step::read || step == Step::write ? timed : timed * all_of_timed;
    };
    std::vector<PipelineReport::Busy> busy;
    const bool copies = is_cuda(config.backends.front());
    busy.push_back({"read", seconds(Step::read)});
    if (copies) busy.push_back({"copy_in", seconds(Step::copy_in)});
    busy.push_back({std::string(stage.name()), seconds(Step::work)});
    if (copies) busy.push_back({"copy_out", seconds(Step::copy_out)});
    busy.push_back({"write", seconds(Step::write)});
    return busy;
}

Pipeline::Pipeline(const Config& config, Stage& stage) : impl_(std::make_unique<Impl>(config, stage)) {}

Pipeline::~Pipeline() = default;
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline& Pipeline::operator=(Pipeline&&) noexcept = default;

PipelineReport Pipeline::run(Source& source, Sink& sink, std::stop_token stop) {
    return impl_->run(source, sink, std::move(stop));
}

std::size_t Pipeline::chunk() const {
    return impl_->config.chunk;
}

std::size_t Pipeline::lanes() const {
    return impl_->lanes.size();
}

const std::vector<Backend>& Pipeline::backends() const {
    return impl_->config.backends;
}

}  // namespace phy
