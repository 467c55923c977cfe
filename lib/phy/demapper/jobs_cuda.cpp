#include "phy/demapper/jobs_cuda.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "phy/core/check_enum.hpp"
#include "phy/core/error.hpp"
#include "phy/core/half.hpp"
#include "phy/core/number_text.hpp"
#include "phy/demapper/soft_runner.hpp"

namespace phy::gpu::detail {
namespace {

constexpr std::size_t piece = 16;

bool is_aligned(const void* memory) {
    return reinterpret_cast<std::uintptr_t>(memory) % piece == 0;
}

Evaluation evaluation_of(const phy::detail::Plan& plan, bool by_table) {
    if (by_table) return Evaluation::table;
    return plan.closed_form ? Evaluation::closed_form : Evaluation::log_sum;
}

std::vector<std::byte> bytes_of(const phy::detail::LlrTable& table) {
    if (table.key().format == SoftBitFormat::int8) return table.packed_bytes();
    const auto bytes = std::as_bytes(table.lines());
    return {bytes.begin(), bytes.end()};
}

std::vector<phy::detail::Planner> make_planners(phy::SoftDemapper::Config config) {
    phy::detail::check_enum("modulation", config.modulation, all_modulations.back());
    std::vector<phy::detail::Planner> planners;
    for (const Modulation modulation : all_modulations) {
        config.modulation = modulation;
        planners.emplace_back(config);
    }
    return planners;
}

}  // namespace

void DeviceTables::add(const phy::detail::TableKey& key) {
    if (find(key) != nullptr) return;
    const phy::detail::LlrTable table(key);
    std::vector<std::byte> bytes = bytes_of(table);
    bytes.resize((bytes.size() + piece - 1) / piece * piece);
    DeviceBuffer<std::byte> memory(device_, bytes.size());
    const Stream stream(device_);
    copy_async(memory, bytes, stream);
    stream.synchronize();
    const Table on_device{table.scale(), memory.data(), static_cast<std::uint32_t>(bytes.size())};
    entries_.push_back({key, std::move(memory), on_device});
}

const Table* DeviceTables::find(const phy::detail::TableKey& key) const {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
    return found == entries_.end() ? nullptr : &found->table;
}

void DeviceTables::clear() {
    device_.synchronize();
    entries_.clear();
}

JobMaker::JobMaker(const Device& device, const phy::SoftDemapper::Config& config)
    : device_(device),
      llr_clip_(config.llr_clip),
      full_scale_(phy::detail::checked_full_scale(config.full_scale)),
      planners_(make_planners(config)),
      tables_(device) {}

float JobMaker::unit_of(SampleFormat format) const {
    return 1.0F / (full_scale_ > 0.0F ? full_scale_ : default_full_scale(format));
}

JobMaker::Planned JobMaker::make(const Allocation& allocation) const {
    phy::detail::check_allocation(allocation);
    const SymbolView& symbols = allocation.symbols;
    const SoftBitSpan& llr = allocation.llr;
    const NoiseVariance& noise = allocation.noise;
    const phy::detail::Plan plan = planner(allocation.modulation).make_plan(noise, llr.format());

    Job job{};
    job.symbols = symbols.data();
    job.noise = noise.is_per_symbol() ? noise.values().data() : nullptr;
    job.llr = llr.data();
    job.count = symbols.size();
    if (noise.is_per_symbol()) {
        job.gain = plan.gain;
    } else {
        job.scalar = plan.scalar;
    }
    job.sample_bytes = static_cast<unsigned>(size_of(symbols.format()));
    job.unit = unit_of(symbols.format());
    job.grid = phy::detail::grid_of(allocation.modulation);
    job.law = noise.is_per_symbol() ? Law::all_segments : phy::detail::law_for(job.grid, plan.scalar.limit);
    job.format = symbols.format();
    job.rotating = allocation.modulation == Modulation::pi2_bpsk;
    job.odd = allocation.first_symbol % 2 != 0;
    job.aligned = is_aligned(symbols.data()) && is_aligned(llr.data()) && is_aligned(job.noise);
    job.end_aligned = job.aligned && symbols.size() * job.sample_bytes % piece == 0 &&
                      llr.size() * size_of(llr.format()) % piece == 0 &&
                      (job.noise == nullptr || symbols.size() * sizeof(float) % piece == 0);

    const auto key = planner(allocation.modulation).table_for(noise, llr.format());
    if (key && job.count > 0) {
        const Table* table = tables_.find(*key);
        if (table == nullptr) {
            throw ArgumentError("no table for noise variance " + phy::detail::number_text(noise.scalar()) +
                                " and " + std::string(to_string(llr.format())) +
                                ": expected prepare() before the call");
        }
        job.table = *table;
    } else {
        job.nats = plan.nats;
    }
    return {evaluation_of(plan, key.has_value()), job};
}

Common JobMaker::common(SoftBitFormat format, DemapCounters* counters) const {
    constexpr std::uint32_t largest_half = half(phy::detail::largest_half).bits;
    const bool quantised = format == SoftBitFormat::int8;
    return {format, quantised ? static_cast<std::uint32_t>(llr_clip_) : largest_half, counters};
}

Evaluation JobMaker::prepare(Modulation modulation, NoiseVariance noise, SoftBitFormat format) {
    phy::detail::check_enum("modulation", modulation, all_modulations.back());
    phy::detail::check_enum("soft-bit format", format, all_soft_bit_formats.back());
    phy::detail::check_noise(noise, noise.values().size());
    const auto key = planner(modulation).table_for(noise, format);
    if (key) tables_.add(*key);
    return evaluation_of(planner(modulation).make_plan(noise, format), key.has_value());
}

}  // namespace phy::gpu::detail
