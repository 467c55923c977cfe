#include "phy/pipeline/chunk_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "phy/core/error.hpp"
#include "phy/core/machine_memory.hpp"
#include "phy/pipeline/schedule.hpp"

namespace phy::detail {
namespace {

/// Records of blocks of items make the bytes of one item a fraction.
constexpr std::size_t sample = 1024;

constexpr std::size_t most_lanes = 1024;

std::size_t bytes_of_sample(const std::vector<Port>& ports) {
    std::size_t bytes = 0;
    for (const Port& port : ports)
        bytes += (sample * port.bytes + port.items - 1) / port.items;
    return bytes;
}

/// Of any number of items, however large.
double bytes_of(const std::vector<Port>& ports, std::size_t items) {
    double bytes = 0.0;
    for (const Port& port : ports)
        bytes += std::ceil(static_cast<double>(items) / static_cast<double>(port.items)) *
                 static_cast<double>(port.bytes);
    return bytes;
}

}  // namespace

ChunkSizes::ChunkSizes(const Stage& stage, const StagePorts& ports)
    : stage_(stage),
      ports_(ports),
      granularity_(stage.granularity()),
      bytes_of_sample_(
          std::max({bytes_of_sample(ports.inputs), bytes_of_sample(ports.outputs), std::size_t{1}})) {}

std::size_t ChunkSizes::of_bytes(std::size_t bytes) const {
    const std::size_t items = std::max<std::size_t>(1, bytes * sample / bytes_of_sample_);
    return rounded(items < sample ? items : items / sample * sample);
}

std::size_t ChunkSizes::fast(std::uint64_t items, const PipelineTuning& tuning) const {
    const auto of_sample = static_cast<double>(bytes_of_sample_);
    return of_bytes(fast_chunk_bytes(static_cast<double>(items) * of_sample / sample, tuning));
}

void ChunkSizes::check_memory(std::size_t chunk, std::size_t lanes, std::size_t places) const {
    if (lanes > most_lanes)
        throw ArgumentError("pipeline: " + std::to_string(lanes) + " lanes: expected at most " +
                            std::to_string(most_lanes));
    const auto memory = static_cast<double>(machine_memory());
    const auto check = [&](double wanted) {
        if (wanted <= memory / 2) return;
        std::ostringstream text;
        text << "pipeline: " << lanes << " lanes for chunks of " << chunk << " items take " << wanted / 1e9
             << " GB of memory, more than half of this machine's " << memory / 1e9 << " GB";
        throw ArgumentError(text.str());
    };
    const double of_ports =
        (bytes_of(ports_.inputs, chunk) + bytes_of(ports_.outputs, chunk)) * static_cast<double>(lanes);
    // First without scratch memory: a stage need not know the bytes of chunks that no memory holds.
    check(of_ports);
    check(of_ports + static_cast<double>(stage_.scratch_bytes(chunk)) * static_cast<double>(places));
}

}  // namespace phy::detail
