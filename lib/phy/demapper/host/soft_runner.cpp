#include "phy/demapper/host/soft_runner.hpp"

#include <algorithm>
#include <atomic>

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

SoftWork::SoftWork(const Allocation& allocation, const Planner& planner, TableCache& tables)
    : Stretch(allocation.modulation, allocation.symbols, allocation.first_symbol),
      noise(allocation.noise.values()),
      llr(allocation.llr),
      signs(allocation.signs),
      qm(bits_per_symbol(allocation.modulation)),
      plan(planner.plan(allocation.noise.scalar(), llr.format())) {
    if (plan.table) table = &tables.table(*plan.table);
}

namespace {

/// Kernels write int8 directly, and binary32 for all other formats.
Output output_for(SoftBitFormat format) {
    return format == SoftBitFormat::int8 ? Output::int8 : Output::float32;
}

/// Bit pattern of the magnitude that counts as saturated.
unsigned saturated_bits(SoftBitFormat format, int llr_clip) {
    if (format == SoftBitFormat::int8) return static_cast<unsigned>(llr_clip);
    return bits_of_largest(format);
}

/// Returns `count` signs from `first` on, beginning at the lowest bit and padded for ArrayKernels::flip: in
/// place if possible, otherwise in the workspace.
const std::uint32_t* signs_from(std::span<const std::uint32_t> signs, std::size_t first, std::size_t count,
                                Workspace& workspace) {
    signs = signs.subspan(first / 32);
    const std::size_t shift = first % 32;
    if (shift == 0 && signs.size() >= words_of_signs(count)) return signs.data();
    for (std::size_t w = 0; w < (count + 31) / 32; ++w) {
        const std::uint64_t next = w + 1 < signs.size() ? signs[w + 1] : 0;
        workspace.signs[w] = static_cast<std::uint32_t>((next << 32 | signs[w]) >> shift);
    }
    return workspace.signs;
}

}  // namespace

void SoftRunner::evaluate(const SoftWork& work, Workspace& workspace, Block& block, bool per_symbol,
                          float largest_limit, void* out) const {
    const Plan& plan = work.plan;
    const bool is_sum = plan.algorithm == Algorithm::log_sum;
    const Formula formula = is_sum ? Formula::log_sum : formula_for(work.constellation, largest_limit);
    block.nats = plan.nats;
    block.scale = per_symbol ? workspace.scale : &plan.scalar.scale;
    block.limit = per_symbol ? workspace.limit : &plan.scalar.limit;
    blocks_.kernels().demap_for(work.constellation, output_for(plan.format), formula, per_symbol)(block, out);
}

void SoftRunner::look_up(const LlrTable& llrs, Workspace& workspace, const Block& block, void* out) const {
    const std::size_t count = 2 * block.symbols;
    if (llrs.key().format == SoftBitFormat::int8) {
        blocks_.kernels().nearest_entries(block.iq, count, llrs.scale(), workspace.entry);
        llrs.look_up(workspace.entry, block.symbols, static_cast<std::int8_t*>(out));
    } else {
        blocks_.kernels().entries_below(block.iq, count, llrs.scale(), workspace.entry, workspace.fraction);
        llrs.look_up(workspace.entry, workspace.fraction, block.symbols, static_cast<std::byte*>(out));
    }
}

/// noise is null for a scalar N0.
void SoftRunner::demap_block(const SoftWork& work, Workspace& workspace, Block block, const float* noise,
                             std::byte* out) const {
    const bool narrow = is_narrowed(work.plan.format);
    void* target = narrow ? static_cast<void*>(workspace.llr) : out;
    if (work.table != nullptr) {
        look_up(*work.table, workspace, block, target);
    } else {
        float largest_limit = work.plan.scalar.limit;
        if (noise != nullptr) {
            largest_limit = blocks_.kernels().gains(noise, block.symbols, work.plan.gain, workspace.scale,
                                                    workspace.limit);
        }
        evaluate(work, workspace, block, noise != nullptr, largest_limit, target);
    }
    if (narrow) {
        const auto format = static_cast<std::size_t>(work.plan.format);
        blocks_.arrays().narrow[format](workspace.llr, out, block.symbols * work.qm);
    }
}

void SoftRunner::choose_routes(std::span<SoftWork> works, bool counts) const {
    std::size_t bytes = 0;
    for (const SoftWork& work : works)
        bytes += work.llr.size() * size_of(work.llr.format());
    const bool past_caches = bytes > streaming_bytes;
    for (SoftWork& work : works) {
        const std::size_t of_symbol = work.qm * size_of(work.llr.format());
        const std::size_t beyond = reinterpret_cast<std::uintptr_t>(work.llr.data()) % stream_alignment;
        const std::size_t to_boundary = beyond == 0 ? 0 : stream_alignment - beyond;
        // Counting and negating come before streaming.
        work.streams = past_caches && !counts && work.signs.empty() && work.table == nullptr &&
                       to_boundary % of_symbol == 0 &&
                       blocks_.kernels().streams(work.constellation, output_for(work.plan.format));
        work.staged = past_caches && !work.streams;
        work.head = work.streams ? to_boundary / of_symbol : 0;
        work.uses_workspace = work.staged || !work.noise.empty() || work.table != nullptr || counts ||
                              !work.signs.empty() || is_narrowed(work.llr.format());
    }
}

/// Negates soft bits of a block; first is the index of its first soft bit.
void SoftRunner::flip(const SoftWork& work, Workspace& workspace, std::size_t first, std::size_t count,
                      std::byte* out) const {
    const auto format = static_cast<std::size_t>(work.plan.format);
    blocks_.arrays().flip[format](out, out, count, signs_from(work.signs, first, count, workspace));
}

std::uint64_t SoftRunner::count_saturated(SoftBitFormat format, const std::byte* llr,
                                          std::size_t count) const {
    const auto counting = blocks_.arrays().count_magnitude[static_cast<std::size_t>(format)];
    return counting == nullptr ? 0 : counting(llr, count, saturated_bits(format, llr_clip_));
}

void SoftRunner::run(std::span<SoftWork> works, DemapCounters* counters) {
    choose_routes(works, counters != nullptr);
    const ArrayKernels& arrays = blocks_.arrays();
    std::atomic<std::uint64_t> erasures = 0;
    std::atomic<std::uint64_t> saturated = 0;
    blocks_.for_each_block(
        works, [&](Workspace& workspace, const SoftWork& work, Block block, std::size_t first) {
            const float* n0 = work.noise.empty() ? nullptr : work.noise.data() + first;
            const SoftBitSpan target = work.llr.subspan(first * work.qm, block.symbols * work.qm);
            std::byte* const out = work.staged ? workspace.out : target.data();
            block.streams = work.streams && first >= work.head;
            demap_block(work, workspace, block, n0, out);
            if (!work.signs.empty()) flip(work, workspace, first * work.qm, target.size(), out);
            if (counters != nullptr) {
                erasures += arrays.count_not_finite(block.iq, 2 * block.symbols);
                if (n0 != nullptr) erasures += blocks_.kernels().count_unusable(n0, block.symbols);
                saturated += count_saturated(target.format(), out, target.size());
            }
            if (work.staged) arrays.stream(out, target.data(), target.size() * size_of(target.format()));
        });
    if (counters != nullptr) {
        counters->erasures += erasures;
        counters->saturated += saturated;
    }
}

}  // namespace phy::detail
