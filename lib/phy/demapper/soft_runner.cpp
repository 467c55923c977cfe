#include "phy/demapper/soft_runner.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <tuple>

#include "phy/core/check_enum.hpp"
#include "phy/core/check_size.hpp"
#include "phy/core/error.hpp"

namespace phy::detail {

bool TableCache::Before::operator()(const TableKey& a, const TableKey& b) const {
    const auto fields = [](const TableKey& key) {
        return std::tie(key.bits, key.method, key.format, key.noise, key.llr_scale, key.llr_clip);
    };
    return fields(a) < fields(b);
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

void check_allocation(const Allocation& allocation) {
    check_enum("modulation", allocation.modulation, all_modulations.back());
    check_enum("sample format", allocation.symbols.format(), all_sample_formats.back());
    check_enum("soft-bit format", allocation.llr.format(), all_soft_bit_formats.back());
    check_size("llr", allocation.llr.size(),
               allocation.symbols.size() * bits_per_symbol(allocation.modulation));
    check_noise(allocation.noise, allocation.symbols.size());
}

void check_same_format(const Allocation& allocation, const Allocation& first) {
    const SoftBitFormat format = allocation.llr.format();
    const SoftBitFormat of_first = first.llr.format();
    if (format == of_first) return;
    throw ArgumentError("soft bits in " + std::string(to_string(format)) + ": expected " +
                        std::string(to_string(of_first)) + ", as in allocation 0");
}

SoftWork::SoftWork(const Allocation& allocation, const Planner& planner, TableCache& tables)
    : Stretch(allocation.modulation, allocation.symbols, allocation.first_symbol),
      noise(allocation.noise),
      llr(allocation.llr),
      qm(bits_per_symbol(allocation.modulation)),
      plan(planner.make_plan(noise, llr.format())) {
    if (const auto key = planner.table_for(noise, llr.format())) plan.table = &tables.table(*key);
}

void SoftRunner::evaluate(const SoftWork& work, Workspace& workspace, Block& block, bool per_symbol,
                          float largest_limit, void* out) const {
    const Plan& plan = work.plan;
    const Law law = plan.closed_form ? law_for(work.grid, largest_limit) : Law::log_map;
    block.nats = plan.nats;
    block.scale = per_symbol ? workspace.scale : &plan.scalar.scale;
    block.limit = per_symbol ? workspace.limit : &plan.scalar.limit;
    blocks_.kernels().demap_for(work.grid, plan.output, law, per_symbol)(block, out);
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

/// noise is null where one N0 serves all.
void SoftRunner::demap_block(const SoftWork& work, Workspace& workspace, Block block, const float* noise,
                             std::byte* out) const {
    const Kernels& kernels = blocks_.kernels();
    const bool narrow = work.plan.format == SoftBitFormat::float16;
    void* target = narrow ? static_cast<void*>(workspace.llr) : out;
    if (work.plan.table != nullptr) {
        look_up(*work.plan.table, workspace, block, target);
    } else {
        float largest_limit = work.plan.scalar.limit;
        if (noise != nullptr) {
            largest_limit =
                kernels.gains(noise, block.symbols, work.plan.gain, workspace.scale, workspace.limit);
        }
        evaluate(work, workspace, block, noise != nullptr, largest_limit, target);
    }
    if (narrow) kernels.narrow_f16(workspace.llr, out, block.symbols * work.qm);
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
        // What is to be counted is counted before it leaves.
        work.streams = past_caches && !counts && work.plan.table == nullptr && to_boundary % of_symbol == 0 &&
                       blocks_.kernels().streams(work.grid, work.plan.output);
        work.staged = past_caches && !work.streams;
        work.head = work.streams ? to_boundary / of_symbol : 0;
        work.uses_workspace = work.staged || work.noise.is_per_symbol() || work.plan.table != nullptr ||
                              counts || work.llr.format() == SoftBitFormat::float16;
    }
}

std::uint64_t SoftRunner::count_saturated(SoftBitFormat format, const std::byte* llr,
                                          std::size_t count) const {
    constexpr std::uint16_t largest = half(largest_half).bits;
    switch (format) {
        case SoftBitFormat::int8:
            return blocks_.kernels().count_magnitude_i8(llr, count, llr_clip_);
        case SoftBitFormat::float16:
            return blocks_.kernels().count_magnitude_f16(llr, count, largest);
        case SoftBitFormat::float32:
            break;
    }
    return 0;
}

void SoftRunner::run(std::span<SoftWork> works, DemapCounters* counters) {
    choose_routes(works, counters != nullptr);
    const Kernels& kernels = blocks_.kernels();
    std::atomic<std::uint64_t> erasures = 0;
    std::atomic<std::uint64_t> saturated = 0;
    blocks_.for_each_block(
        works, [&](Workspace& workspace, const SoftWork& work, Block block, std::size_t first) {
            const float* n0 = work.noise.is_per_symbol() ? work.noise.values().data() + first : nullptr;
            const SoftBitSpan target = work.llr.subspan(first * work.qm, block.symbols * work.qm);
            std::byte* const out = work.staged ? workspace.out : target.data();
            block.streams = work.streams && first >= work.head;
            demap_block(work, workspace, block, n0, out);
            if (counters != nullptr) {
                erasures += kernels.count_not_finite(block.iq, 2 * block.symbols);
                if (n0 != nullptr) erasures += kernels.count_unusable(n0, block.symbols);
                saturated += count_saturated(target.format(), out, target.size());
            }
            if (work.staged) kernels.stream(out, target.data(), target.size() * size_of(target.format()));
        });
    if (counters != nullptr) {
        counters->erasures += erasures;
        counters->saturated += saturated;
    }
}

}  // namespace phy::detail
