#include "phy/equalizer/equalizer.hpp"

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/equalizer/host/block_equalizer.hpp"
#include "phy/machine/thread_pool.hpp"

namespace phy {

using detail::BlockEqualizer;
using detail::ElementRun;
using detail::EqualizedRow;
using detail::EqualizerWorkspace;

namespace {

/// Into the arrays of a call.
struct Arrays {
    float* symbols;  ///< of the slot
    float* noise;
    std::size_t layers;

    EqualizedRow operator()(const ElementRun& run) const {
        return {symbols + 2 * layers * run.first_element, noise + layers * run.first_element};
    }
    void done(const ElementRun& /*run*/) const {}
};

}  // namespace

struct PHY_HIDDEN Equalizer::Impl {
    Host host;
    BlockEqualizer blocks;
    std::vector<EqualizerWorkspace> workspaces;  ///< by part of the pool

    Impl(const Host& on, const EqualizerConfig& config)
        : host(on),
          blocks(on, config),
          workspaces(static_cast<std::size_t>(on.threads()), EqualizerWorkspace(blocks.plan())) {}
};

Equalizer::Equalizer(const Host& host, const Config& config) : impl_(new Impl(host, config)) {}

Equalizer::~Equalizer() = default;
Equalizer::Equalizer(Equalizer&&) noexcept = default;
Equalizer& Equalizer::operator=(Equalizer&&) noexcept = default;

std::size_t Equalizer::elements_per_slot() const {
    return impl_->blocks.plan().map().elements();
}

std::size_t Equalizer::symbols_per_slot() const {
    return impl_->blocks.plan().symbols();
}

int Equalizer::estimates() const {
    return impl_->blocks.plan().estimates();
}

void Equalizer::operator()(SymbolView grid, std::span<const float> channel,
                           std::span<const SlotEstimate> slots, std::span<cf32> symbols,
                           std::span<float> noise_variance, std::span<const cf32> covariance) {
    const detail::EqualizerPlan& plan = impl_->blocks.plan();
    plan.check_inputs({grid.size(), channel.size(), slots.size(), covariance.size()}, grid.format());
    detail::check_size("symbols", symbols.size(), slots.size() * plan.symbols());
    detail::check_size("noise_variance", noise_variance.size(), slots.size() * plan.symbols());
    if (covariance.empty()) detail::check_noise(slots);
    const BlockEqualizer::Call call = {grid, channel.data(), slots,
                                       covariance.empty() ? nullptr : covariance.data(),
                                       impl_->blocks.next_call()};
    const std::size_t blocks = impl_->blocks.blocks();
    impl_->host.pool().for_each(slots.size() * blocks, [&](int part, std::size_t item) noexcept {
        const std::size_t slot = item / blocks;
        const std::size_t first = slot * plan.symbols();
        // std::complex is laid out as two floats.
        Arrays target = {reinterpret_cast<float*>(symbols.data() + first), noise_variance.data() + first,
                         static_cast<std::size_t>(plan.layers())};
        impl_->blocks.run(impl_->workspaces[static_cast<std::size_t>(part)], call, slot, item % blocks,
                          target);
    });
}

const Host& Equalizer::host() const {
    return impl_->host;
}

const Equalizer::Config& Equalizer::config() const {
    return impl_->blocks.plan().config();
}

}  // namespace phy
