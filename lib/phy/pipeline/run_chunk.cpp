#include <algorithm>
#include <string>

#include "phy/core/error.hpp"
#include "phy/core/machine.hpp"
#include "phy/pipeline/run.hpp"

/// A run's steps for each chunk, and before the first and after the last.
namespace phy::detail {
namespace {

/// Names a scope of the calling thread for NVIDIA's profilers.
class Range {
public:
    explicit Range(const char* name) { push_range(name); }
    ~Range() { pop_range(); }
    Range(const Range&) = delete;  ///< the scope is this object's
    Range& operator=(const Range&) = delete;
};

void check_filled(std::size_t items, std::size_t asked) {
    if (items > asked)
        throw ArgumentError("pipeline: the source filled " + std::to_string(items) +
                            " items: expected at most " + std::to_string(asked));
}

/// who: "source" or "sink".
template <typename Array>
void check_view(const char* who, const std::vector<Array>& arrays, const std::vector<Port>& ports,
                std::size_t items) {
    for (std::size_t i = 0; i < ports.size(); ++i) {
        const std::size_t expected = ports[i].bytes_of(items);
        if (arrays[i].size() != expected)
            throw ArgumentError("pipeline: the " + std::string(who) + "'s view of port '" + ports[i].name +
                                "' has " + std::to_string(arrays[i].size()) + " bytes: expected " +
                                std::to_string(expected));
    }
}

}  // namespace

void PipelineRun::start_stage() {
    task_.stage.start_run();
    for (const std::unique_ptr<BufferSetGroup>& group : groups_)
        group->start_run({start_, overlaps_, task_.trace});
}

void PipelineRun::end_stage() {
    for (const std::unique_ptr<BufferSetGroup>& group : groups_)
        group->end_run();
    task_.stage.end_run();
}

/// Reads the next chunk into its slot. False: the source has ended.
bool PipelineRun::read_next() {
    std::optional<Chunk> next = task_.schedule.next();
    if (!next) return false;
    const Range range("read");
    const std::uint64_t index = next->index;
    next->buffer_set = static_cast<std::size_t>(index % buffer_sets_.size());
    Slot& slot = slot_of(index);
    slot.chunk.chunk = *next;
    slot.read.begin = now();
    if (!read_from_source(slot.chunk, buffer_set_of(index))) return false;
    make_room_for_sink(slot.chunk, buffer_set_of(index));
    slot.read.end = now();
    return true;
}

bool PipelineRun::read_from_source(ChunkBuffers& chunk, BufferSet& buffer_set) {
    const std::vector<Port>& ports = task_.ports.inputs;
    std::ranges::fill(chunk.from, std::span<const std::byte>());
    chunk.source_lends = task_.source.view(chunk.chunk, chunk.from);
    if (chunk.source_lends) {
        check_view("source", chunk.from, ports, chunk.chunk.items);
        return true;
    }
    const std::size_t asked = chunk.chunk.items;
    const std::span<const std::span<std::byte>> arrays = buffer_set.input(asked);
    const std::size_t filled = task_.source.fill(chunk.chunk, arrays);
    check_filled(filled, asked);
    if (filled < asked) task_.schedule.end();
    if (filled == 0) return false;
    chunk.chunk.items = filled;
    for (std::size_t i = 0; i < ports.size(); ++i)
        chunk.from[i] = arrays[i].first(ports[i].bytes_of(filled));
    return true;
}

void PipelineRun::make_room_for_sink(ChunkBuffers& chunk, BufferSet& buffer_set) {
    std::ranges::fill(chunk.to, std::span<std::byte>());
    chunk.sink_lends = task_.sink.view(chunk.chunk, chunk.to);
    if (chunk.sink_lends) {
        check_view("sink", chunk.to, task_.ports.outputs, chunk.chunk.items);
    } else {
        std::ranges::copy(buffer_set.output(chunk.chunk.items), chunk.to.begin());
    }
}

void PipelineRun::issue(std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t index = first; index < end; ++index) {
        const Range range("copy_in");
        buffer_set_of(index).take(slot_of(index).chunk);
        buffer_set_of(index).copy_in();
    }
    for (std::uint64_t index = first; index < end; ++index) {
        const Range range(stage_name_.c_str());
        buffer_set_of(index).work();
    }
    for (std::uint64_t index = first; index < end; ++index) {
        const Range range("copy_out");
        buffer_set_of(index).copy_out();
    }
}

void PipelineRun::write(std::uint64_t index) {
    const Slot& slot = slot_of(index);
    const Chunk& chunk = slot.chunk.chunk;
    BufferSet& buffer_set = buffer_set_of(index);
    buffer_set.wait();
    const Range range("write");
    const double begin = now();
    arrays_of_sink_.assign(slot.chunk.to.begin(), slot.chunk.to.end());
    task_.sink.take(chunk, arrays_of_sink_);
    totals_.add_read(chunk, slot.read);
    if (const std::optional<ChunkTimes> times = buffer_set.times()) totals_.add_times(chunk, *times);
    totals_.add_written(chunk, {begin, now()});
}

}  // namespace phy::detail
