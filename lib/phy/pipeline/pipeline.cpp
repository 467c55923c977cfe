#include "phy/pipeline/pipeline.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/core/names.hpp"
#include "phy/core/version.hpp"
#include "phy/pipeline/buffer_set.hpp"
#include "phy/pipeline/chunk_sizes.hpp"
#include "phy/pipeline/run.hpp"
#include "phy/pipeline/tuning.hpp"

namespace phy {
namespace detail {

/// Marks the stage as used by one pipeline while this object lives.
class StageUse {
public:
    /// Throws ArgumentError if the stage is in use.
    explicit StageUse(Stage& stage) : mark_(stage.in_use_) {
        if (!mark_.set())
            throw ArgumentError("pipeline: stage '" + std::string(stage.name()) +
                                "' is in use by another pipeline or run: expected one at a time");
    }
    ~StageUse() { mark_.clear(); }
    StageUse(const StageUse&) = delete;
    StageUse& operator=(const StageUse&) = delete;

private:
    UseMark& mark_;
};

}  // namespace detail

using detail::BufferSetConfig;
using detail::BufferSetGroup;
using detail::PipelineRun;
using detail::PipelineTuning;
using detail::RunTotals;
using detail::Schedule;

namespace {

constexpr std::array all_issue_orders = {IssueOrder::sequential, IssueOrder::parallel, IssueOrder::serial};

std::vector<Place> checked_places(std::vector<Place> places) {
    if (places.empty()) throw ArgumentError("pipeline: no places: expected a Host or CUDA devices");
    for (const Place& place : places) {
        if (places.size() > 1 && !place.is_cuda())
            throw ArgumentError("pipeline: " + place.name() +
                                " with other places: expected CUDA devices only");
    }
    return places;
}

std::unique_ptr<BufferSetGroup> make_buffer_sets(const BufferSetConfig& config) {
    if constexpr (built_with_cuda) {
        if (config.place.is_cuda()) return detail::make_cuda_buffer_sets(config);
    }
    return detail::make_host_buffer_sets(config);
}

std::size_t product(std::size_t a, std::size_t b) {
    return a > SIZE_MAX / b ? SIZE_MAX : a * b;
}

}  // namespace

std::string_view to_string(IssueOrder order) {
    constexpr std::array<std::string_view, all_issue_orders.size()> names = {"sequential", "parallel",
                                                                             "serial"};
    return names[static_cast<std::size_t>(order)];
}

IssueOrder parse_issue_order(std::string_view name) {
    return detail::parse_name("order", name, all_issue_orders);
}

void StageRunner::run_on_host(const HostWork& /*work*/) {
    throw BackendError("the stage does not run on a CPU");
}

void StageRunner::run_on_device(const DeviceWork& /*work*/) {
    throw BackendError("the stage does not run on a CUDA device");
}

std::unique_ptr<StageRunner> detail::make_runner(const BufferSetConfig& config) {
    std::unique_ptr<StageRunner> runner = config.stage.on(config.place);
    if (!runner)
        throw Error("stage '" + std::string(config.stage.name()) + "': on(" + config.place.name() +
                    ") returned no runner");
    return runner;
}

struct PHY_HIDDEN Pipeline::Impl {
    Impl(std::vector<Place> places_of_user, Stage& stage_of_user, const Config& config_of_user);

    PipelineReport run(Source& source, Sink& sink, std::stop_token stop);
    [[nodiscard]] PipelineTuning tuning() const;
    [[nodiscard]] Schedule::Limits limits(std::uint64_t items) const;
    [[nodiscard]] std::size_t chosen_chunk(std::uint64_t items) const;

    std::vector<Place> places;
    Config config;
    bool chooses_chunks;
    Stage& stage;
    detail::StagePorts ports;
    detail::ChunkSizes sizes;
    std::vector<std::unique_ptr<BufferSetGroup>> groups;  ///< by place
};

Pipeline::Impl::Impl(std::vector<Place> places_of_user, Stage& stage_of_user, const Config& config_of_user)
    : places(checked_places(std::move(places_of_user))),
      config(config_of_user),
      chooses_chunks(config_of_user.chunk == 0),
      stage(stage_of_user),
      ports(detail::checked_ports(stage_of_user)),
      sizes(stage, ports) {
    detail::check_enum("issue order", config.order, IssueOrder::serial);
    config.chunk = config.chunk == 0 ? chosen_chunk(config.items) : sizes.rounded(config.chunk);
    if (config.buffer_sets == 0) config.buffer_sets = tuning().buffer_sets;
    sizes.check_memory({.chunk = config.chunk,
                        .buffer_sets = product(config.buffer_sets, places.size()),
                        .places = places.size(),
                        .chunk_is_given = config_of_user.chunk != 0,
                        .buffer_sets_are_given = config_of_user.buffer_sets != 0});
    const std::uint64_t most = std::clamp<std::uint64_t>(config.items, 1, config.chunk);
    config.chunk = sizes.rounded(static_cast<std::size_t>(most));
    const detail::StageUse use(stage);
    for (const Place& place : places)
        groups.push_back(make_buffer_sets({place, stage, ports, config.buffer_sets, config.chunk}));
}

PipelineReport Pipeline::Impl::run(Source& source, Sink& sink, std::stop_token stop) {
    const detail::StageUse use(stage);
    const std::uint64_t items = source.items();
    const std::uint64_t first = source.first();
    if (first % sizes.granularity() != 0)
        throw ArgumentError("pipeline: the first item of the source is " + std::to_string(first) +
                            ": expected a multiple of " + std::to_string(sizes.granularity()) +
                            ", the stage's granularity");
    const Schedule schedule(items, limits(items), first);
    PipelineRun run(groups,
                    {source, stage, sink, ports, std::move(stop), schedule, config.order, config.trace});
    RunTotals totals = run.run();
    PipelineReport report;
    report.items = totals.items();
    report.chunks = totals.chunks();
    report.cancelled = run.cancelled();
    report.seconds = run.seconds();
    report.busy = totals.busy(stage.name(), places.front().is_cuda());
    report.stage = stage.name();
    for (std::size_t i = 0; i < config.buffer_sets * places.size(); ++i)
        report.buffer_sets.push_back(places[i % places.size()].name());
    report.spans = totals.take_spans();
    return report;
}

PipelineTuning Pipeline::Impl::tuning() const {
    if (places.front().is_cuda()) return detail::cuda_tuning;
    PipelineTuning tuning = detail::host_tuning;
    const auto threads = static_cast<std::size_t>(places.front().host().threads());
    tuning.chunk_bytes = std::max(tuning.chunk_bytes, threads * detail::chunk_bytes_of_thread);
    return tuning;
}

/// Sizes that the user gave are kept. Serial order gains nothing from smaller chunks.
Schedule::Limits Pipeline::Impl::limits(std::uint64_t items) const {
    if (!chooses_chunks || config.order == IssueOrder::serial) return Schedule::even(config.chunk);
    const std::size_t most = std::min(config.chunk, chosen_chunk(items));
    const std::size_t least = sizes.items_for_bytes(tuning().min_bytes);
    return {.max = most, .min = std::min(most, least), .granularity = sizes.granularity()};
}

std::size_t Pipeline::Impl::chosen_chunk(std::uint64_t items) const {
    const bool has_gaps = config.order != IssueOrder::serial && tuning().gap_bytes != 0;
    return has_gaps ? sizes.fast(items / places.size(), tuning())
                    : sizes.items_for_bytes(tuning().chunk_bytes);
}

Pipeline::Pipeline(std::vector<Place> places, Stage& stage, const Config& config)
    : impl_(std::make_unique<Impl>(std::move(places), stage, config)) {}

Pipeline::Pipeline(std::vector<Place> places, Stage& stage) : Pipeline(std::move(places), stage, Config{}) {}

PipelineReport Pipeline::run(Source& source, Sink& sink, std::stop_token stop) {
    return impl_->run(source, sink, std::move(stop));
}

std::size_t Pipeline::chunk() const {
    return impl_->config.chunk;
}

std::size_t Pipeline::buffer_sets() const {
    return impl_->config.buffer_sets * impl_->places.size();
}

const std::vector<Place>& Pipeline::places() const {
    return impl_->places;
}

}  // namespace phy
