#include "phy/pipeline/chunk_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "phy/core/error.hpp"
#include "phy/machine/host.hpp"
#include "phy/pipeline/schedule.hpp"

namespace phy::detail {

using Culprit = PipelineSizeError::Culprit;

namespace {

/// Items per measurement: with records for blocks of items the bytes per item are a fraction.
constexpr std::size_t sample = 1024;

constexpr std::size_t max_buffer_sets = 1024;

std::size_t bytes_of_sample(const std::vector<Port>& ports) {
    std::size_t bytes = 0;
    for (const Port& port : ports)
        bytes += (sample * port.bytes + port.items - 1) / port.items;
    return bytes;
}

/// In floating point, because the number of items may be huge.
double bytes_of(const std::vector<Port>& ports, std::size_t items) {
    double bytes = 0.0;
    for (const Port& port : ports)
        bytes += std::ceil(static_cast<double>(items) / static_cast<double>(port.items)) *
                 static_cast<double>(port.bytes);
    return bytes;
}

const char* remedy_for(Culprit culprit) {
    switch (culprit) {
        case Culprit::chunk:
            return "smaller chunks";
        case Culprit::buffer_sets:
            return "fewer buffer sets";
        case Culprit::chunk_and_buffer_sets:
            return "smaller chunks, fewer buffer sets or both";
        case Culprit::stage:
            break;
    }
    return "smaller blocks or less scratch memory";
}

}  // namespace

ChunkSizes::ChunkSizes(const Stage& stage, const StagePorts& ports)
    : stage_(stage),
      ports_(ports),
      granularity_(stage.granularity()),
      bytes_of_sample_(
          std::max({bytes_of_sample(ports.inputs), bytes_of_sample(ports.outputs), std::size_t{1}})) {}

std::size_t ChunkSizes::items_for_bytes(std::size_t bytes) const {
    const std::size_t items = std::max<std::size_t>(1, bytes * sample / bytes_of_sample_);
    return rounded(items < sample ? items : items / sample * sample);
}

std::size_t ChunkSizes::fast(std::uint64_t items, const PipelineTuning& tuning) const {
    const auto of_sample = static_cast<double>(bytes_of_sample_);
    return items_for_bytes(fast_chunk_bytes(static_cast<double>(items) * of_sample / sample, tuning));
}

double ChunkSizes::memory_of(const WantedSizes& wanted, double enough) const {
    const double of_chunk = bytes_of(ports_.inputs, wanted.chunk) + bytes_of(ports_.outputs, wanted.chunk);
    const double of_ports = of_chunk * static_cast<double>(wanted.buffer_sets);
    // The stage need not compute scratch memory for chunks that exceed all memory.
    if (of_ports > enough) return of_ports;
    return of_ports +
           static_cast<double>(stage_.scratch_bytes(wanted.chunk)) * static_cast<double>(wanted.places);
}

PipelineSizeError::Culprit ChunkSizes::culprit_of(const WantedSizes& wanted, double most) const {
    const auto fits = [&](std::size_t chunk, std::size_t buffer_sets) {
        return memory_of({.chunk = chunk, .buffer_sets = buffer_sets, .places = wanted.places}, most) <= most;
    };
    const bool smaller_chunks_do = fits(granularity_, wanted.buffer_sets);
    const bool fewer_buffer_sets_do = fits(wanted.chunk, wanted.places);
    if (smaller_chunks_do != fewer_buffer_sets_do)
        return smaller_chunks_do ? Culprit::chunk : Culprit::buffer_sets;
    if (!smaller_chunks_do)
        return fits(granularity_, wanted.places) ? Culprit::chunk_and_buffer_sets : Culprit::stage;
    if (wanted.chunk_is_given == wanted.buffer_sets_are_given) return Culprit::chunk_and_buffer_sets;
    return wanted.chunk_is_given ? Culprit::chunk : Culprit::buffer_sets;
}

void ChunkSizes::check_memory(const WantedSizes& wanted) const {
    if (wanted.buffer_sets > max_buffer_sets)
        throw PipelineSizeError("pipeline: " + std::to_string(wanted.buffer_sets) +
                                    " buffer sets: expected at most " + std::to_string(max_buffer_sets),
                                Culprit::buffer_sets);
    const auto memory = static_cast<double>(machine_memory());
    const double needed = memory_of(wanted, memory / 2);
    if (needed <= memory / 2) return;
    const Culprit culprit = culprit_of(wanted, memory / 2);
    std::ostringstream text;
    text << "pipeline: " << wanted.buffer_sets << " buffer sets for chunks of " << wanted.chunk
         << " items take " << needed / 1e9 << " GB of memory, more than half of this machine's "
         << memory / 1e9 << " GB: expected " << remedy_for(culprit);
    if (culprit == Culprit::stage) text << " of stage '" << stage_.name() << "'";
    throw PipelineSizeError(text.str(), culprit);
}

}  // namespace phy::detail
