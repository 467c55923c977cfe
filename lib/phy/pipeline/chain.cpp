#include "phy/pipeline/chain.hpp"

#include <algorithm>
#include <utility>

#include "phy/pipeline/chain_plan.hpp"

namespace phy {

using detail::ChainPlan;

namespace {

std::string joined_names(const std::vector<std::reference_wrapper<Stage>>& stages) {
    std::string names;
    for (const Stage& stage : stages)
        names += (names.empty() ? "" : "+") + std::string(stage.name());
    return names;
}

/// The arrays of a chunk, and those of a stage's ports among them. Of HostWork or DeviceWork.
template <typename Work>
class ChainArrays {
public:
    explicit ChainArrays(const ChainPlan& plan)
        : plan_(plan),
          readable_(plan.inputs.size() + plan.outputs.size() + plan.between.ports().size()),
          writable_(readable_.size()) {
        for (const ChainPlan::Step& step : plan.steps) {
            in_.reserve(std::max(in_.capacity(), step.inputs.size()));
            out_.reserve(std::max(out_.capacity(), step.outputs.size()));
        }
    }

    void take(const Work& work) {
        const std::size_t first_out = plan_.inputs.size();
        const std::size_t first_between = first_out + plan_.outputs.size();
        std::ranges::copy(work.out, writable_.begin() + static_cast<std::ptrdiff_t>(first_out));
        plan_.between.divide(work.scratch, work.chunk.items, std::span(writable_).subspan(first_between));
        std::ranges::copy(writable_, readable_.begin());
        std::ranges::copy(work.in, readable_.begin());
    }

    /// What a stage works on; valid until the next call.
    Work work_of(const ChainPlan::Step& step, const Work& work) {
        in_.clear();
        for (const std::size_t place : step.inputs)
            in_.push_back(readable_[place]);
        out_.clear();
        for (const std::size_t place : step.outputs)
            out_.push_back(writable_[place]);
        Work of_stage = work;
        of_stage.in = in_;
        of_stage.out = out_;
        of_stage.scratch = work.scratch.subspan(plan_.bytes_between(work.chunk.items),
                                                step.stage->scratch_bytes(work.chunk.items));
        return of_stage;
    }

private:
    using In = std::remove_cv_t<typename decltype(Work::in)::element_type>;
    using Out = std::remove_cv_t<typename decltype(Work::out)::element_type>;

    const ChainPlan& plan_;
    std::vector<In> readable_;   ///< by the places of the plan
    std::vector<Out> writable_;  ///< likewise; the chain's inputs stay empty
    std::vector<In> in_;
    std::vector<Out> out_;
};

class ChainRunner : public StageRunner {
public:
    ChainRunner(const ChainPlan& plan, const Place& place) : plan_(plan), on_host_(plan), on_device_(plan) {
        for (const ChainPlan::Step& step : plan.steps)
            runners_.push_back(step.stage->on(place));
    }

    void start_run() override {
        for (const std::unique_ptr<StageRunner>& runner : runners_)
            runner->start_run();
    }

    void run_on_host(const HostWork& work) override {
        on_host_.take(work);
        for (std::size_t i = 0; i < runners_.size(); ++i)
            runners_[i]->run_on_host(on_host_.work_of(plan_.steps[i], work));
    }

    void run_on_device(const DeviceWork& work) override {
        on_device_.take(work);
        for (std::size_t i = 0; i < runners_.size(); ++i)
            runners_[i]->run_on_device(on_device_.work_of(plan_.steps[i], work));
    }

    void end_run() override {
        for (const std::unique_ptr<StageRunner>& runner : runners_)
            runner->end_run();
    }

private:
    const ChainPlan& plan_;
    ChainArrays<HostWork> on_host_;
    ChainArrays<DeviceWork> on_device_;
    std::vector<std::unique_ptr<StageRunner>> runners_;
};

}  // namespace

struct PHY_HIDDEN Chain::Impl {
    std::string name;
    ChainPlan plan;
};

Chain::Chain(const std::vector<std::reference_wrapper<Stage>>& stages,
             const std::vector<std::string>& also_out)
    : impl_(std::make_unique<Impl>(Impl{joined_names(stages), ChainPlan(stages, also_out)})) {}

Chain::~Chain() = default;
Chain::Chain(Chain&&) noexcept = default;
Chain& Chain::operator=(Chain&&) noexcept = default;

std::string_view Chain::name() const {
    return impl_->name;
}

std::vector<Port> Chain::inputs() const {
    return impl_->plan.inputs;
}

std::vector<Port> Chain::outputs() const {
    return impl_->plan.outputs;
}

std::size_t Chain::granularity() const {
    return impl_->plan.granularity;
}

std::size_t Chain::scratch_bytes(std::size_t items) const {
    std::size_t most = 0;
    for (const ChainPlan::Step& step : impl_->plan.steps)
        most = std::max(most, step.stage->scratch_bytes(items));
    return impl_->plan.bytes_between(items) + most;
}

std::unique_ptr<StageRunner> Chain::on(const Place& place) {
    return std::make_unique<ChainRunner>(impl_->plan, place);
}

void Chain::start_run() {
    for (const ChainPlan::Step& step : impl_->plan.steps)
        step.stage->start_run();
}

void Chain::end_run() {
    for (const ChainPlan::Step& step : impl_->plan.steps)
        step.stage->end_run();
}

std::vector<std::reference_wrapper<Stage>> Chain::parts() const {
    std::vector<std::reference_wrapper<Stage>> stages;
    for (const ChainPlan::Step& step : impl_->plan.steps)
        stages.emplace_back(*step.stage);
    return stages;
}

}  // namespace phy
