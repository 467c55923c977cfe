#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/pipeline/stage.hpp"

namespace phy {

/// Stages one after another as one stage. What a stage gives goes by its port's name to the later stages that
/// take it, in scratch memory: on a device it stays there. What no earlier stage gives is an input of the
/// chain, and what no later stage takes is an output; both in the order of the stages.
///
/// The granularity is the least common multiple of the stages'. A stage may be in one chain only, and there
/// once.
class PHY_EXPORT Chain : public Stage {
public:
    /// The stages must outlive the chain. also_out names ports that are outputs although a stage takes them.
    /// Throws ArgumentError where there is no stage or one is there twice, where two stages give a port of
    /// one name, where a stage takes one that it or a later stage gives, where a port's records differ
    /// between two stages, and where also_out names one that no stage gives.
    explicit Chain(const std::vector<std::reference_wrapper<Stage>>& stages,
                   const std::vector<std::string>& also_out = {});
    ~Chain() override;
    Chain(Chain&&) noexcept;
    Chain& operator=(Chain&&) noexcept;

    /// The names of the stages with "+" between them, such as "equalise+demap".
    [[nodiscard]] std::string_view name() const override;
    [[nodiscard]] std::vector<Port> inputs() const override;
    [[nodiscard]] std::vector<Port> outputs() const override;
    [[nodiscard]] std::size_t granularity() const override;
    [[nodiscard]] std::size_t scratch_bytes(std::size_t items) const override;
    std::unique_ptr<StageRunner> on(const Place& place) override;
    void start_run() override;
    void end_run() override;
    [[nodiscard]] std::vector<std::reference_wrapper<Stage>> parts() const override;

private:
    struct Impl;
    detail::Owned<Impl, "Chain"> impl_;
};

}  // namespace phy
