#include "phy/demapper/host/soft_runner.hpp"

#include <algorithm>
#include <limits>

#include "phy/machine/thread_pool.hpp"

#define PHY_KERNELS "phy/demapper/host/kernels-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy::detail {

void TableCache::start_call() {
    if (entries_.size() > capacity_)
        std::erase_if(entries_, [this](const auto& entry) { return entry.second.last_call != call_; });
    ++call_;
}

void TableCache::make_room() {
    while (entries_.size() >= capacity_) {
        const auto oldest =
            std::ranges::min_element(entries_, {}, [](const auto& entry) { return entry.second.last_call; });
        if (oldest->second.last_call == call_) return;
        entries_.erase(oldest);
    }
}

const LlrTable& TableCache::table(const TableKey& key) {
    auto found = entries_.find(key);
    if (found == entries_.end()) {
        make_room();
        found = entries_.emplace(key, Entry{LlrTable(key), call_}).first;
    }
    found->second.last_call = call_;
    return found->second.table;
}

SoftWork::SoftWork(const Allocation& of_call, const Planner& planner, TableCache& tables)
    : allocation(of_call), plan(planner.plan(of_call.noise.scalar(), of_call.llr.format())) {
    if (plan.table) table = &tables.table(*plan.table);
}

namespace {

/// Outputs of more bytes than this do not stay in the caches. They are streamed past them, which saves
/// reading memory that is about to be overwritten.
constexpr std::size_t streaming_bytes = 16 << 20;

/// So that threads do not share cache lines.
constexpr std::size_t cut_multiple = 64;

constexpr std::size_t multiple_from(std::size_t symbols) {
    return (symbols + cut_multiple - 1) / cut_multiple * cut_multiple;
}

Output output_for(SoftBitFormat format) {
    switch (format) {
        case SoftBitFormat::int8:
            return Output::int8;
        case SoftBitFormat::float16:
            return Output::float16;
        default:
            return Output::float32;
    }
}

/// Bit pattern of the magnitude that counts as saturated.
unsigned saturated_bits(SoftBitFormat format, int llr_clip) {
    if (format == SoftBitFormat::int8) return static_cast<unsigned>(llr_clip);
    return bits_of_largest(format);
}

}  // namespace

SoftRunner::SoftRunner(const Host& host, const BatchDemapperConfig& config)
    : host_(host),
      arrays_(&array_kernels(host.backend())),
      kernels_(&PHY_KERNELS_FOR(host.backend(), DemapKernels)),
      units_{},
      llr_clip_(config.llr.clip),
      workspaces_(static_cast<std::size_t>(host.threads())) {
    for (const SampleFormat format : all_sample_formats)
        units_[static_cast<std::size_t>(format)] = unit_of(config, format);
}

void SoftRunner::run(std::span<SoftWork> works, DemapCounters* counters) {
    const std::size_t row = arrange(works, counters != nullptr);
    const std::size_t of_item = symbols_of_item(row, works.size());
    Counts counts;
    host_.pool().for_each((row + of_item - 1) / of_item, [&](int part, std::size_t item) noexcept {
        const std::size_t begin = item * of_item;
        const std::size_t end = begin + of_item;
        auto work = std::ranges::upper_bound(works, begin, {}, &SoftWork::begin) - 1;
        for (; work != works.end() && work->begin < end; ++work) {
            const std::size_t last = work->before(end);
            std::size_t count = 0;
            for (std::size_t first = work->before(begin); first < last; first += count) {
                count = std::min(first < work->head ? work->head : work->block, last - first);
                demap_block(*work, first, count, workspaces_[static_cast<std::size_t>(part)],
                            counters == nullptr ? nullptr : &counts);
            }
        }
        arrays_->finish_streams();
    });
    if (counters == nullptr) return;
    counters->erasures += counts.erasures;
    counters->saturated += counts.saturated;
}

std::size_t SoftRunner::arrange(std::span<SoftWork> works, bool counts) const {
    std::size_t bytes = 0;
    for (const SoftWork& work : works)
        bytes += work.allocation.llr.size() * size_of(work.allocation.llr.format());
    const bool past_caches = bytes > streaming_bytes;
    std::size_t end = 0;
    for (SoftWork& work : works) {
        const auto& [modulation, symbols, noise, llr, first_symbol, signs] = work.allocation;
        const std::size_t of_symbol = bits_per_symbol(modulation) * size_of(llr.format());
        const std::size_t beyond = reinterpret_cast<std::uintptr_t>(llr.data()) % stream_alignment;
        const std::size_t to_boundary = beyond == 0 ? 0 : stream_alignment - beyond;
        // Counting and negating come before streaming.
        const bool is_plain = !counts && signs.empty() && work.table == nullptr;
        work.streams = past_caches && is_plain && to_boundary % of_symbol == 0 &&
                       kernels_->streams(constellation_of(modulation), output_for(llr.format()));
        work.staged = past_caches && !work.streams;
        work.head = work.streams ? to_boundary / of_symbol : 0;
        // Blocks are as large as a thread's items unless a step needs the workspace.
        const bool in_one_step = is_plain && !work.staged && !noise.is_per_symbol() && !widens(symbols);
        work.block = in_one_step ? std::numeric_limits<std::size_t>::max() : block_symbols;
        work.begin = end;
        end += multiple_from(symbols.size());
    }
    return end;
}

std::size_t SoftRunner::symbols_of_item(std::size_t symbols, std::size_t works) const {
    const auto threads = static_cast<std::size_t>(host_.threads());
    if (threads == 1) return std::max<std::size_t>(symbols, 1);
    // For less work, waking a thread costs more than it saves. But a symbol of one work may take ten times as
    // long as one of another.
    const std::size_t smallest = works == 1 ? 4096 : 1024;
    constexpr std::size_t items_of_thread = 8;
    return std::max(smallest, multiple_from(symbols / (threads * items_of_thread)));
}

void SoftRunner::demap_block(const SoftWork& work, std::size_t first, std::size_t symbols,
                             Workspace& workspace, Counts* counts) const {
    const Allocation& call = work.allocation;
    const Plan& plan = work.plan;
    const auto format = static_cast<std::size_t>(plan.format);
    const std::size_t qm = bits_per_symbol(call.modulation);
    const std::size_t soft_bits = symbols * qm;
    const float* const n0 = call.noise.is_per_symbol() ? call.noise.values().data() + first : nullptr;
    const SoftBitSpan target = call.llr.subspan(first * qm, soft_bits);
    std::byte* const out = work.staged ? workspace.out : target.data();
    const Block block = load_block(work, first, symbols, workspace);
    if (work.table != nullptr) {
        look_up(*work.table, workspace, block, out);
    } else {
        const float largest_limit =
            n0 == nullptr ? plan.scalar.limit
                          : kernels_->gains(n0, symbols, plan.gain, workspace.scale, workspace.limit);
        const Constellation constellation = constellation_of(call.modulation);
        const Formula formula = plan.algorithm == Algorithm::log_sum
                                    ? Formula::log_sum
                                    : formula_for(constellation, largest_limit);
        kernels_->demap_for(constellation, output_for(plan.format), formula, n0 != nullptr)(block, out);
    }
    if (!call.signs.empty())
        arrays_->flip[format](out, out, soft_bits,
                              signs_from(call.signs, first * qm, soft_bits, workspace.signs));
    if (counts != nullptr) {
        counts->erasures += arrays_->count_not_finite(block.iq, 2 * symbols);
        if (n0 != nullptr) counts->erasures += kernels_->count_unusable(n0, symbols);
        counts->saturated += count_saturated(plan.format, out, soft_bits);
    }
    if (work.staged) arrays_->stream(out, target.data(), target.bytes().size());
}

/// The symbols of a block, and where its gains are.
Block SoftRunner::load_block(const SoftWork& work, std::size_t first, std::size_t symbols,
                             Workspace& workspace) const {
    const Allocation& call = work.allocation;
    const bool per_symbol = call.noise.is_per_symbol();
    return {.iq = load(call.symbols.subspan(first, symbols), workspace),
            .symbols = symbols,
            .scale = per_symbol ? workspace.scale : &work.plan.scalar.scale,
            .limit = per_symbol ? workspace.limit : &work.plan.scalar.limit,
            .nats = work.plan.nats,
            .phase = static_cast<int>((call.first_symbol + first) & 1),
            .streams = work.streams && first >= work.head,
            .rotating = call.modulation == Modulation::pi2_bpsk};
}

bool SoftRunner::widens(SymbolView symbols) const {
    const bool aligned = reinterpret_cast<std::uintptr_t>(symbols.data()) % alignof(float) == 0;
    const float unit = units_[static_cast<std::size_t>(symbols.format())];
    return symbols.format() != SampleFormat::cf32 || !aligned || unit != 1.0F;
}

const float* SoftRunner::load(SymbolView symbols, Workspace& workspace) const {
    if (!widens(symbols)) return reinterpret_cast<const float*>(symbols.data());
    const auto format = static_cast<std::size_t>(symbols.format());
    arrays_->widen[format](symbols.data(), workspace.iq, 2 * symbols.size(), units_[format]);
    return workspace.iq;
}

void SoftRunner::look_up(const LlrTable& llrs, Workspace& workspace, const Block& block,
                         std::byte* out) const {
    const std::size_t count = 2 * block.symbols;
    const SoftBitFormat format = llrs.key().format;
    if (format == SoftBitFormat::int8) {
        kernels_->nearest_entries(block.iq, count, llrs.scale(), workspace.entry);
        llrs.look_up(workspace.entry, block.symbols, reinterpret_cast<std::int8_t*>(out));
        return;
    }
    kernels_->entries_below(block.iq, count, llrs.scale(), workspace.entry, workspace.fraction);
    const bool rounds = is_narrowed(format);
    std::byte* const evaluated = rounds ? reinterpret_cast<std::byte*>(workspace.llr) : out;
    llrs.look_up(workspace.entry, workspace.fraction, block.symbols, evaluated);
    if (rounds)
        arrays_->narrow[static_cast<std::size_t>(format)](
            workspace.llr, out, 2 * block.symbols * static_cast<std::size_t>(llrs.key().bits));
}

std::uint64_t SoftRunner::count_saturated(SoftBitFormat format, const std::byte* llr,
                                          std::size_t count) const {
    const auto counting = arrays_->count_magnitude[static_cast<std::size_t>(format)];
    return counting == nullptr ? 0 : counting(llr, count, saturated_bits(format, llr_clip_));
}

}  // namespace phy::detail
