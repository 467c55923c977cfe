#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "phy/pipeline/ports.hpp"

namespace phy::detail {

/// Which arrays the stages of a chain take and give.
struct ChainPlan {
    /// A stage and the arrays of its ports, by their places in inputs, outputs and what is between, one list
    /// behind the other.
    struct Step {
        Stage* stage;
        std::vector<std::size_t> inputs;
        std::vector<std::size_t> outputs;
    };

    std::vector<Step> steps;
    std::vector<Port> inputs;   ///< of the chain
    std::vector<Port> outputs;  ///< of the chain

    /// What goes from stage to stage, in scratch memory; aligned for a device on a host too.
    PortLayout between = PortLayout({}, device_alignment);

    std::size_t granularity = 1;

    /// Throws ArgumentError as Chain's constructor.
    ChainPlan(const std::vector<std::reference_wrapper<Stage>>& stages,
              const std::vector<std::string>& also_out);

    /// Behind so many bytes of the scratch memory lies the stages' own.
    [[nodiscard]] std::size_t bytes_between(std::size_t items) const {
        return round_up(between.bytes(items), device_alignment);
    }
};

}  // namespace phy::detail
