#include "phy/demapper/demapper.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "phy/core/check_size.hpp"
#include "phy/core/error.hpp"
#include "phy/demapper/block_runner.hpp"
#include "phy/demapper/plan.hpp"

namespace phy {

using detail::Block;
using detail::BlockRunner;
using detail::check_size;
using detail::Law;
using detail::LlrTable;
using detail::Plan;
using detail::Workspace;

struct SoftDemapper::Impl {
    explicit Impl(const Config& checked)
        : config(checked),
          runner(checked.modulation, checked.full_scale, checked.threads, checked.backend),
          planner(checked) {}

    void run(SymbolView symbols, const NoiseVariance& noise, SoftBitSpan llr, std::uint64_t first_symbol,
             DemapCounters* counters);
    Plan make_plan(const NoiseVariance& noise, SoftBitFormat format);
    struct Route;
    [[nodiscard]] Route route_of(const Plan& plan, SoftBitSpan llr, bool counts) const;
    [[nodiscard]] std::uint64_t count_saturated(const std::byte* llr, std::size_t count,
                                                SoftBitFormat format) const;
    void demap_block(const Plan& plan, Workspace& workspace, Block block, const float* noise, std::byte* out);
    void evaluate(const Plan& plan, Workspace& workspace, Block& block, bool per_symbol, float largest_limit,
                  void* out);
    void look_up(const LlrTable& table, Workspace& workspace, const Block& block, void* out);

    Config config;
    BlockRunner runner;
    detail::Planner planner;
    std::optional<LlrTable> table;  ///< of the last N0 that was served by one
};

Plan SoftDemapper::Impl::make_plan(const NoiseVariance& noise, SoftBitFormat format) {
    Plan plan = planner.make_plan(noise, format);
    if (const auto key = planner.table_for(noise, format)) {
        if (!table || table->key() != *key) table.emplace(*key);
        plan.table = &*table;
    }
    return plan;
}

void SoftDemapper::Impl::evaluate(const Plan& plan, Workspace& workspace, Block& block, bool per_symbol,
                                  float largest_limit, void* out) {
    const Law law = plan.closed_form ? detail::law_for(runner.grid(), largest_limit) : Law::log_map;
    block.nats = plan.nats;
    block.scale = per_symbol ? workspace.scale : &plan.scalar.scale;
    block.limit = per_symbol ? workspace.limit : &plan.scalar.limit;
    runner.kernels().demap_for(runner.grid(), plan.output, law, per_symbol)(block, out);
}

void SoftDemapper::Impl::look_up(const LlrTable& llrs, Workspace& workspace, const Block& block, void* out) {
    const std::size_t count = 2 * block.symbols;
    if (llrs.key().format == SoftBitFormat::int8) {
        runner.kernels().nearest_entries(block.iq, count, llrs.scale(), workspace.entry);
        llrs.look_up(workspace.entry, block.symbols, static_cast<std::int8_t*>(out));
    } else {
        runner.kernels().entries_below(block.iq, count, llrs.scale(), workspace.entry, workspace.fraction);
        llrs.look_up(workspace.entry, workspace.fraction, block.symbols, static_cast<std::byte*>(out));
    }
}

/// noise is null where one N0 serves all.
void SoftDemapper::Impl::demap_block(const Plan& plan, Workspace& workspace, Block block, const float* noise,
                                     std::byte* out) {
    const bool narrow = plan.format == SoftBitFormat::float16;
    void* target = narrow ? static_cast<void*>(workspace.llr) : out;
    if (plan.table != nullptr) {
        look_up(*plan.table, workspace, block, target);
    } else {
        float largest_limit = plan.scalar.limit;
        if (noise != nullptr) {
            largest_limit =
                runner.kernels().gains(noise, block.symbols, plan.gain, workspace.scale, workspace.limit);
        }
        evaluate(plan, workspace, block, noise != nullptr, largest_limit, target);
    }
    if (narrow) {
        const std::size_t count = block.symbols * bits_per_symbol(config.modulation);
        runner.kernels().narrow_f16(workspace.llr, out, count);
    }
}

/// How a call's output reaches memory.
struct SoftDemapper::Impl::Route {
    bool past_caches;  ///< the output is so large that it is streamed
    bool by_kernel;    ///< by the kernel itself, else from the workspace
    std::size_t head;  ///< symbols until the output is aligned for the kernel
};

SoftDemapper::Impl::Route SoftDemapper::Impl::route_of(const Plan& plan, SoftBitSpan llr, bool counts) const {
    const std::size_t of_symbol = bits_per_symbol(config.modulation) * size_of(llr.format());
    const std::size_t beyond = reinterpret_cast<std::uintptr_t>(llr.data()) % detail::stream_alignment;
    const std::size_t to_boundary = beyond == 0 ? 0 : detail::stream_alignment - beyond;
    Route route{};
    route.past_caches = llr.size() * size_of(llr.format()) > detail::streaming_bytes;
    // What is to be counted is counted before it leaves.
    route.by_kernel = route.past_caches && !counts && plan.table == nullptr && to_boundary % of_symbol == 0 &&
                      runner.kernels().streams(runner.grid(), plan.output);
    route.head = route.by_kernel ? to_boundary / of_symbol : 0;
    return route;
}

std::uint64_t SoftDemapper::Impl::count_saturated(const std::byte* llr, std::size_t count,
                                                  SoftBitFormat format) const {
    constexpr std::uint16_t largest = half(detail::largest_half).bits;
    switch (format) {
        case SoftBitFormat::int8:
            return runner.kernels().count_magnitude_i8(llr, count, config.llr_clip);
        case SoftBitFormat::float16:
            return runner.kernels().count_magnitude_f16(llr, count, largest);
        case SoftBitFormat::float32:
            break;
    }
    return 0;
}

void SoftDemapper::Impl::run(SymbolView symbols, const NoiseVariance& noise, SoftBitSpan llr,
                             std::uint64_t first_symbol, DemapCounters* counters) {
    const std::size_t qm = bits_per_symbol(config.modulation);
    check_size("llr", llr.size(), symbols.size() * qm);
    detail::check_noise(noise, symbols.size());
    const Plan plan = make_plan(noise, llr.format());
    const Route route = route_of(plan, llr, counters != nullptr);
    const bool staged = route.past_caches && !route.by_kernel;
    const bool uses_workspace = staged || noise.is_per_symbol() || plan.table != nullptr ||
                                counters != nullptr || llr.format() == SoftBitFormat::float16;
    std::atomic<std::uint64_t> erasures = 0;
    std::atomic<std::uint64_t> saturated = 0;
    runner.for_each_block(
        symbols, first_symbol, uses_workspace, route.head,
        [&](Workspace& workspace, Block block, std::size_t first) {
            const float* n0 = noise.is_per_symbol() ? noise.values().data() + first : nullptr;
            const SoftBitSpan target = llr.subspan(first * qm, block.symbols * qm);
            std::byte* const out = staged ? workspace.out : target.data();
            block.streams = route.by_kernel && first >= route.head;
            demap_block(plan, workspace, block, n0, out);
            if (counters != nullptr) {
                erasures += runner.kernels().count_not_finite(block.iq, 2 * block.symbols);
                if (n0 != nullptr) erasures += runner.kernels().count_unusable(n0, block.symbols);
                saturated += count_saturated(out, target.size(), llr.format());
            }
            if (staged) runner.kernels().stream(out, target.data(), target.size() * size_of(llr.format()));
        });
    if (counters != nullptr) {
        counters->erasures += erasures;
        counters->saturated += saturated;
    }
}

SoftDemapper::SoftDemapper(const Config& config) {
    impl_ = std::make_unique<Impl>(config);
}

SoftDemapper::~SoftDemapper() = default;
SoftDemapper::SoftDemapper(SoftDemapper&&) noexcept = default;
SoftDemapper& SoftDemapper::operator=(SoftDemapper&&) noexcept = default;

void SoftDemapper::operator()(SymbolView symbols, NoiseVariance noise, SoftBitSpan llr,
                              std::uint64_t first_symbol) {
    impl_->run(symbols, noise, llr, first_symbol, nullptr);
}

void SoftDemapper::operator()(SymbolView symbols, NoiseVariance noise, SoftBitSpan llr,
                              DemapCounters& counters, std::uint64_t first_symbol) {
    impl_->run(symbols, noise, llr, first_symbol, &counters);
}

Evaluator SoftDemapper::evaluator_for(NoiseVariance noise, SoftBitFormat format) const {
    return impl_->planner.table_for(noise, format) ? Evaluator::table : Evaluator::arithmetic;
}

Backend SoftDemapper::backend() const {
    return impl_->runner.backend();
}

const SoftDemapper::Config& SoftDemapper::config() const {
    return impl_->config;
}

}  // namespace phy
