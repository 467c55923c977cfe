#include "phy/estimator/estimator.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "phy/estimator/host/slot.hpp"
#include "phy/machine/thread_pool.hpp"

#define PHY_KERNELS "phy/estimator/host/kernels-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy {
namespace detail {
namespace {

const EstimatorKernels& estimator_kernels(const Backend& backend) {
    return PHY_KERNELS_FOR(backend, EstimatorKernels);
}

}  // namespace
}  // namespace detail

struct PHY_HIDDEN ChannelEstimator::Impl {
    Impl(const Host& on, std::shared_ptr<const detail::EstimatorPlan> shared)
        : host(on), shared_plan(std::move(shared)), plan(*shared_plan) {
        // Each thread has its own slot; the threads may also share the slot of the first.
        const int threads = host.threads();
        slots.reserve(static_cast<std::size_t>(threads));
        for (int i = 0; i < threads; ++i)
            slots.emplace_back(plan, detail::estimator_kernels(host.backend()),
                               detail::array_kernels(host.backend()), detail::fft_kernels(host.backend()),
                               i == 0 ? threads : 1);
    }

    Host host;
    std::shared_ptr<const detail::EstimatorPlan> shared_plan;
    const detail::EstimatorPlan& plan;
    std::vector<detail::SlotEstimator> slots;
};

ChannelEstimator::ChannelEstimator(const Host& host, const Config& config)
    : impl_(std::make_unique<Impl>(host, detail::estimator_plan(config))) {}
int ChannelEstimator::estimates() const {
    return impl_->plan.layout.estimates;
}

std::size_t ChannelEstimator::channel_size() const {
    return impl_->plan.slot_sizes().channel;
}

std::span<const float> ChannelEstimator::time_weights() const {
    return impl_->plan.time.weights;
}

int ChannelEstimator::time_sets() const {
    return impl_->plan.time.count();
}

const Host& ChannelEstimator::host() const {
    return impl_->host;
}

const ChannelEstimator::Config& ChannelEstimator::config() const {
    return impl_->plan.config;
}

void ChannelEstimator::operator()(SymbolView grid, std::span<const cf32> pilots, std::span<float> channel,
                                  std::span<SlotEstimate> slots, std::span<cf32> covariance) {
    const detail::EstimatorPlan& plan = impl_->plan;
    const detail::EstimatorCallSizes sizes = plan.slot_sizes();
    plan.check_call({.grid = grid.size(),
                     .pilots = pilots.size(),
                     .channel = channel.size(),
                     .slots = slots.size(),
                     .covariance = covariance.size()});
    const float unit = plan.unit_of(grid.format());
    const std::size_t of_covariance = slots.empty() ? 0 : covariance.size() / slots.size();
    const auto slot_at = [&](std::size_t i) {
        return detail::EstimatorSlot{
            .format = grid.format(),
            .grid = grid.data() + i * sizes.grid * size_of(grid.format()),
            .unit = unit,
            .pilots = pilots.data() + i * sizes.pilots,
            .channel = channel.data() + i * sizes.channel,
            .estimate = &slots[i],
            .covariance = covariance.empty() ? nullptr : covariance.data() + i * of_covariance,
            .matrices = plan.matrices(slots.size(), covariance.size())};
    };
    detail::ThreadPool& pool = impl_->host.pool();
    const auto threads = static_cast<std::size_t>(pool.size());
    if (threads > 1 && slots.size() < 2 * threads) {
        for (std::size_t i = 0; i < slots.size(); ++i)
            impl_->slots.front()(slot_at(i), &pool);
        return;
    }
    pool.for_each(slots.size(), [&](int part, std::size_t i) noexcept {
        impl_->slots[static_cast<std::size_t>(part)](slot_at(i), nullptr);
    });
}

}  // namespace phy
