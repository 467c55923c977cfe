#include "phy/pipeline/chain_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

#include "phy/core/error.hpp"

namespace phy::detail {
namespace {

/// A port's name in a chain.
struct Use {
    Port port;
    std::size_t giver;  ///< the stage's place; none: the chain takes it
    bool is_taken = false;

    static constexpr std::size_t none = SIZE_MAX;
};

/// Who gives what, and whether others take it.
class PortUses {
public:
    explicit PortUses(std::vector<StagePorts> ports, const std::vector<std::string>& also_out)
        : ports_(std::move(ports)) {
        for (std::size_t stage = 0; stage < ports_.size(); ++stage) {
            for (const Port& port : ports_[stage].outputs)
                add_given(port, stage);
        }
        for (std::size_t stage = 0; stage < ports_.size(); ++stage) {
            for (const Port& port : ports_[stage].inputs)
                add_taken(port, stage);
        }
        for (const std::string& name : also_out)
            add_also_out(name);
    }

    /// Sorts the ports into the chain's, in the order of the stages.
    void divide(ChainPlan& plan) const {
        std::vector<Port> between;
        for (const StagePorts& of_stage : ports_) {
            for (const Port& port : of_stage.inputs) {
                if (uses_.at(port.name).giver == Use::none && !has(plan.inputs, port.name))
                    plan.inputs.push_back(port);
            }
            for (const Port& port : of_stage.outputs)
                (uses_.at(port.name).is_taken ? between : plan.outputs).push_back(port);
        }
        plan.between = PortLayout(std::move(between), device_alignment);
    }

private:
    static bool has(const std::vector<Port>& ports, const std::string& name) {
        return std::ranges::find(ports, name, &Port::name) != ports.end();
    }

    void add_given(const Port& port, std::size_t stage) {
        if (!uses_.emplace(port.name, Use{port, stage}).second)
            throw ArgumentError("chain: two stages give port '" + port.name + "'");
    }

    void add_taken(const Port& port, std::size_t stage) {
        Use& use = uses_.emplace(port.name, Use{port, Use::none}).first->second;
        if (use.giver != Use::none && use.giver >= stage)
            throw ArgumentError("chain: port '" + port.name + "' is taken before a stage gives it");
        if (use.port != port)
            throw ArgumentError("chain: records of port '" + port.name + "' have " +
                                std::to_string(use.port.bytes) + " bytes for " +
                                std::to_string(use.port.items) + " items in one stage and " +
                                std::to_string(port.bytes) + " bytes for " + std::to_string(port.items) +
                                " items in another");
        use.is_taken = true;
    }

    void add_also_out(const std::string& name) {
        const auto found = uses_.find(name);
        if (found == uses_.end() || found->second.giver == Use::none)
            throw ArgumentError("chain: no stage gives port '" + name + "', which is to be an output");
        found->second.is_taken = false;
    }

    std::vector<StagePorts> ports_;
    std::map<std::string, Use> uses_;
};

std::size_t min_common_multiple(std::size_t a, std::size_t b) {
    const std::size_t factor = b / std::gcd(a, b);
    if (a > SIZE_MAX / factor)
        throw ArgumentError("chain: the granularities have no common multiple that a number can be");
    return a * factor;
}

void require_once(const Stage& stage, const std::vector<std::reference_wrapper<Stage>>& stages) {
    if (std::ranges::count_if(stages, [&](const Stage& other) { return &other == &stage; }) > 1)
        throw ArgumentError("chain: stage '" + std::string(stage.name()) + "' is there twice");
}

/// By name, which all of them have.
std::vector<std::size_t> places_of(const std::vector<Port>& ports, const std::vector<Port>& all) {
    std::vector<std::size_t> places;
    for (const Port& port : ports)
        places.push_back(
            static_cast<std::size_t>(std::ranges::find(all, port.name, &Port::name) - all.begin()));
    return places;
}

}  // namespace

ChainPlan::ChainPlan(const std::vector<std::reference_wrapper<Stage>>& stages,
                     const std::vector<std::string>& also_out) {
    if (stages.empty()) throw ArgumentError("chain: no stages: expected at least 1");
    std::vector<StagePorts> ports;
    for (const Stage& stage : stages) {
        require_once(stage, stages);
        ports.push_back(checked_ports(stage));
        granularity = min_common_multiple(granularity, stage.granularity());
    }
    PortUses(ports, also_out).divide(*this);
    std::vector<Port> all = inputs;
    all.insert(all.end(), outputs.begin(), outputs.end());
    all.insert(all.end(), between.ports().begin(), between.ports().end());
    for (std::size_t i = 0; i < stages.size(); ++i)
        steps.push_back(
            {&stages[i].get(), places_of(ports[i].inputs, all), places_of(ports[i].outputs, all)});
}

}  // namespace phy::detail
