#include "phy/demapper/cuda/jobs.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/core/integers.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/demapper/math/check.hpp"

namespace phy::gpu::detail {
namespace {

constexpr std::size_t piece = 16;

bool is_aligned(const void* memory) {
    return phy::detail::is_aligned(memory, piece);
}

std::vector<std::byte> bytes_of(const phy::detail::LlrTable& table) {
    if (table.key().format == SoftBitFormat::int8) return table.packed_bytes();
    const auto bytes = std::as_bytes(table.lines());
    return {bytes.begin(), bytes.end()};
}

}  // namespace

void DeviceTables::add(const phy::detail::TableKey& key) {
    ++calls_;
    if (const auto known = entries_.find(key); known != entries_.end()) {
        known->second.added = calls_;
        return;
    }
    const phy::detail::LlrTable table(key);
    std::vector<std::byte> bytes = bytes_of(table);
    bytes.resize((bytes.size() + piece - 1) / piece * piece);
    DeviceBuffer<std::byte> memory = upload(device_, bytes);
    const Table on_device{table.scale(), memory.data(), static_cast<std::uint32_t>(bytes.size())};
    entries_.emplace(key, Entry{std::move(memory), on_device, calls_});
    if (entries_.size() <= SoftDemapper::max_tables) return;
    device_.synchronize();
    entries_.erase(
        std::ranges::min_element(entries_, {}, [](const auto& entry) { return entry.second.added; }));
}

const Table* DeviceTables::find(const phy::detail::TableKey& key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : &found->second.table;
}

void DeviceTables::clear() {
    device_.synchronize();
    entries_.clear();
}

JobMaker::JobMaker(const Device& device, const BatchDemapperConfig& config)
    : device_(device), config_(config), planners_(phy::detail::planners_of(config)), tables_(device) {}

JobMaker::Planned JobMaker::make(const Allocation& allocation) const {
    phy::detail::check_allocation(allocation);
    const SymbolView& symbols = allocation.symbols;
    const SoftBitSpan& llr = allocation.llr;
    const NoiseVariance& noise = allocation.noise;
    const phy::detail::Plan plan = planner(allocation.modulation).plan(noise.scalar(), llr.format());

    const bool is_float = default_full_scale(symbols.format()) == 1.0F;
    Job job{};
    job.symbols = symbols.data();
    job.noise = noise.values().data();
    job.llr = llr.data();
    job.count = symbols.size();
    job.signs = allocation.signs.empty() ? nullptr : allocation.signs.data();
    if (noise.is_per_symbol()) {
        job.gain = plan.gain;
    } else {
        job.scalar = plan.scalar;
    }
    job.sample_bytes = static_cast<unsigned>(size_of(symbols.format()));
    job.unit = phy::detail::unit_of(config_, symbols.format());
    job.constellation = phy::detail::constellation_of(allocation.modulation);
    job.formula = noise.is_per_symbol() ? Formula::all_segments
                                        : phy::detail::formula_for(job.constellation, plan.scalar.limit);
    job.loading = loading_of(symbols.format(), is_float && job.unit != 1.0F);
    job.rotating = allocation.modulation == Modulation::pi2_bpsk;
    job.odd = allocation.first_symbol % 2 != 0;
    job.aligned = is_aligned(symbols.data()) && is_aligned(llr.data()) && is_aligned(job.noise);
    job.end_aligned = job.aligned && symbols.size() * job.sample_bytes % piece == 0 &&
                      llr.size() * size_of(llr.format()) % piece == 0 &&
                      (job.noise == nullptr || symbols.size() * sizeof(float) % piece == 0);
    if (plan.algorithm == Algorithm::table && job.count > 0) {
        job.table = prepared_table(*plan.table);
    } else {
        job.nats = plan.nats;
    }
    return {plan.algorithm, job};
}

const Table& JobMaker::prepared_table(const phy::detail::TableKey& key) const {
    if (const Table* table = tables_.find(key)) return *table;
    throw ArgumentError("no table for noise variance " + phy::detail::number_text(key.noise) + " and " +
                        std::string(to_string(key.format)) + ": expected prepare() before the call");
}

Common JobMaker::common(SoftBitFormat format, DeviceSpan<DemapCounters> counters) const {
    if (counters.size() > 1) phy::detail::check_size("counters", counters.size(), 1);
    const bool is_chosen = format == SoftBitFormat::int8;
    const auto saturated =
        is_chosen ? static_cast<std::uint32_t>(config_.llr.clip) : phy::detail::bits_of_largest(format);
    return {format, saturated, counters.empty() ? nullptr : counters.data()};
}

Algorithm JobMaker::prepare(Modulation modulation, NoiseVariance noise, SoftBitFormat format) {
    phy::detail::check_enum("modulation", modulation, all_modulations.back());
    phy::detail::check_enum("soft-bit format", format, all_soft_bit_formats.back());
    phy::detail::check_noise(noise.scalar(), noise.values().size(), noise.values().size());
    const phy::detail::Plan plan = planner(modulation).plan(noise.scalar(), format);
    if (plan.table) tables_.add(*plan.table);
    return plan.algorithm;
}

}  // namespace phy::gpu::detail
