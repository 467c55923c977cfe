#include "phy/demapper/demapper.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "phy/core/error.hpp"
#include "phy/core/names.hpp"
#include "phy/demapper/block_runner.hpp"
#include "phy/demapper/table.hpp"

namespace phy {

using detail::Block;
using detail::BlockRunner;
using detail::Gain;
using detail::GainLaw;
using detail::Law;
using detail::LlrTable;
using detail::Output;
using detail::TableKey;
using detail::Workspace;

namespace {

constexpr std::array all_methods = {Method::max_log, Method::log_map};
constexpr std::array all_evaluators = {Evaluator::automatic, Evaluator::arithmetic, Evaluator::table};

void check_config(const SoftDemapper::Config& config) {
    if (!(config.llr_scale >= 1.0F / 64 && config.llr_scale <= 4096.0F)) {
        throw ArgumentError("llr_scale is " + std::to_string(config.llr_scale) + ": expected 1/64 to 4096");
    }
    if (config.llr_clip < 1 || config.llr_clip > 127) {
        throw ArgumentError("llr_clip is " + std::to_string(config.llr_clip) + ": expected 1 to 127");
    }
}

void check_size(const char* what, std::size_t size, std::size_t expected) {
    if (size != expected) {
        throw ArgumentError(std::string(what) + " has " + std::to_string(size) + " elements: expected " +
                            std::to_string(expected));
    }
}

void check_noise(const NoiseVariance& noise, std::size_t symbols) {
    if (noise.is_per_symbol()) {
        check_size("per-symbol noise variance", noise.values().size(), symbols);
    } else if (!(noise.scalar() > 0.0F) || !std::isfinite(noise.scalar())) {
        throw ArgumentError("noise variance is " + std::to_string(noise.scalar()) +
                            ": expected a finite positive number");
    }
}

}  // namespace

std::string_view to_string(Method method) {
    return method == Method::max_log ? "maxlog" : "logmap";
}

std::string_view to_string(Evaluator evaluator) {
    constexpr std::array<std::string_view, all_evaluators.size()> names = {"auto", "arithmetic", "table"};
    return names[static_cast<std::size_t>(evaluator)];
}

Method parse_method(std::string_view name) {
    return detail::parse_name("method", name, all_methods);
}

Evaluator parse_evaluator(std::string_view name) {
    return detail::parse_name("evaluator", name, all_evaluators);
}

struct SoftDemapper::Impl {
    explicit Impl(const Config& checked)
        : config(checked), runner(checked.modulation, checked.full_scale, checked.threads, checked.backend) {}

    /// How all symbols of a call are evaluated.
    struct Plan {
        SoftBitFormat format = SoftBitFormat::int8;
        Output output = Output::int8;
        bool closed_form = true;  ///< else log-sum-exp
        GainLaw gain{};
        Gain nats{};
        Gain scalar{};
        const LlrTable* table = nullptr;
    };

    [[nodiscard]] int bits() const { return detail::bits_of(runner.grid()); }
    [[nodiscard]] TableKey key_for(float noise, SoftBitFormat format) const;
    [[nodiscard]] bool uses_table(const NoiseVariance& noise, SoftBitFormat format) const;
    [[nodiscard]] bool uses_closed_form(const NoiseVariance& noise, SoftBitFormat format) const;
    Plan make_plan(const NoiseVariance& noise, SoftBitFormat format);

    void run(SymbolView symbols, const NoiseVariance& noise, SoftBitSpan llr, std::uint64_t first_symbol,
             DemapCounters* counters);
    struct Route;
    [[nodiscard]] Route route_of(const Plan& plan, SoftBitSpan llr) const;
    [[nodiscard]] std::uint64_t count_saturated(const std::byte* llr, std::size_t count,
                                                SoftBitFormat format) const;
    void demap_block(const Plan& plan, Workspace& workspace, Block block, const float* noise, std::byte* out);
    void evaluate(const Plan& plan, Workspace& workspace, Block& block, bool per_symbol, float largest_limit,
                  void* out);
    void look_up(const LlrTable& table, Workspace& workspace, const Block& block, void* out);

    Config config;
    BlockRunner runner;
    std::optional<LlrTable> table;
};

TableKey SoftDemapper::Impl::key_for(float noise, SoftBitFormat format) const {
    return {bits(), config.method, format, noise, config.llr_scale, config.llr_clip};
}

bool SoftDemapper::Impl::uses_closed_form(const NoiseVariance& noise, SoftBitFormat format) const {
    if (bits() == 1 || config.method == Method::max_log) return true;
    // The arithmetic evaluator gives the same bytes for a scalar N0 as for the same N0 per symbol.
    return config.evaluator != Evaluator::arithmetic && !noise.is_per_symbol() &&
           format == SoftBitFormat::int8 && max_log_is_log_map(key_for(noise.scalar(), format));
}

bool SoftDemapper::Impl::uses_table(const NoiseVariance& noise, SoftBitFormat format) const {
    if (bits() == 1 || noise.is_per_symbol() || config.evaluator == Evaluator::arithmetic) return false;
    if (config.evaluator == Evaluator::automatic && config.method == Method::max_log) return false;
    if (config.method == Method::log_map && uses_closed_form(noise, format)) return false;
    return entries_needed(key_for(noise.scalar(), format)) <= static_cast<double>(detail::largest_table);
}

SoftDemapper::Impl::Plan SoftDemapper::Impl::make_plan(const NoiseVariance& noise, SoftBitFormat format) {
    Plan plan;
    plan.format = format;
    plan.output = format == SoftBitFormat::int8 ? Output::int8 : Output::float32;
    if (uses_table(noise, format)) {
        const TableKey key = key_for(noise.scalar(), format);
        if (!table || table->key() != key) table.emplace(key);
        plan.table = &*table;
        return plan;
    }
    const bool quantised = format == SoftBitFormat::int8;
    const float unit = quantised ? config.llr_scale : 1.0F;
    const auto clip = static_cast<float>(config.llr_clip);
    const float largest = quantised                          ? clip
                          : format == SoftBitFormat::float16 ? detail::largest_half
                                                             : detail::largest_llr;
    plan.closed_form = uses_closed_form(noise, format);
    if (plan.closed_form) {
        plan.gain = detail::gain_law(bits(), unit, largest);
    } else {
        plan.gain = detail::gain_law(bits(), 1.0, detail::largest_llr);
        plan.nats = {unit, largest / unit};
    }
    if (!noise.is_per_symbol()) {
        const float n0 = noise.scalar();
        float scale[1 + detail::padding];
        float limit[1 + detail::padding];
        detail::scalar_kernels().gains(&n0, 1, plan.gain, scale, limit);
        plan.scalar = {scale[0], limit[0]};
    }
    return plan;
}

void SoftDemapper::Impl::evaluate(const Plan& plan, Workspace& workspace, Block& block, bool per_symbol,
                                  float largest_limit, void* out) {
    const float q = static_cast<float>(detail::axis_units[static_cast<std::size_t>(bits())].q);
    Law law = Law::all_segments;
    if (!plan.closed_form) {
        law = Law::log_map;
        block.nats = plan.nats;
    } else if (largest_limit <= 2.0F * q) {
        law = Law::one_segment;
    } else if (largest_limit <= 6.0F * q) {
        law = Law::two_segments;
    }
    block.scale = per_symbol ? workspace.scale : &plan.scalar.scale;
    block.limit = per_symbol ? workspace.limit : &plan.scalar.limit;
    law = detail::closest_law(runner.grid(), law);
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

SoftDemapper::Impl::Route SoftDemapper::Impl::route_of(const Plan& plan, SoftBitSpan llr) const {
    const std::size_t of_symbol = bits_per_symbol(config.modulation) * size_of(llr.format());
    const std::size_t beyond = reinterpret_cast<std::uintptr_t>(llr.data()) % detail::stream_alignment;
    const std::size_t to_boundary = beyond == 0 ? 0 : detail::stream_alignment - beyond;
    Route route{};
    route.past_caches = llr.size() * size_of(llr.format()) > detail::streaming_bytes;
    route.by_kernel = route.past_caches && plan.table == nullptr && to_boundary % of_symbol == 0 &&
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
    check_noise(noise, symbols.size());
    const Plan plan = make_plan(noise, llr.format());
    const Route route = route_of(plan, llr);
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
    check_config(config);
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
    return impl_->uses_table(noise, format) ? Evaluator::table : Evaluator::arithmetic;
}

Backend SoftDemapper::backend() const {
    return impl_->runner.backend();
}

const SoftDemapper::Config& SoftDemapper::config() const {
    return impl_->config;
}

struct HardDemapper::Impl {
    Config config;
    BlockRunner runner;
};

HardDemapper::HardDemapper(const Config& config)
    : impl_(new Impl{config,
                     BlockRunner(config.modulation, config.full_scale, config.threads, config.backend)}) {}

HardDemapper::~HardDemapper() = default;
HardDemapper::HardDemapper(HardDemapper&&) noexcept = default;
HardDemapper& HardDemapper::operator=(HardDemapper&&) noexcept = default;

void HardDemapper::operator()(SymbolView symbols, std::span<std::uint8_t> bits, std::uint64_t first_symbol) {
    const std::size_t qm = bits_per_symbol(impl_->config.modulation);
    check_size("bits", bits.size(), symbols.size() * qm);
    const BlockRunner& runner = impl_->runner;
    const auto demap = runner.kernels().demap_for(runner.grid(), Output::hard, Law::one_segment, false);
    impl_->runner.for_each_block(symbols, first_symbol, false, 0,
                                 [&](Workspace&, Block block, std::size_t first) {
                                     // Any gain does: only the sign is looked at.
                                     const Gain gain{1.0F, 1.0F};
                                     block.scale = &gain.scale;
                                     block.limit = &gain.limit;
                                     demap(block, bits.data() + first * qm);
                                 });
}

Backend HardDemapper::backend() const {
    return impl_->runner.backend();
}

const HardDemapper::Config& HardDemapper::config() const {
    return impl_->config;
}

}  // namespace phy
