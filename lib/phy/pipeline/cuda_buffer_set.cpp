#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "phy/core/error.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/pipeline/buffer_set.hpp"
#include "phy/pipeline/tuning.hpp"

namespace phy::detail {
namespace {

/// A buffer set's memory for the ports of one direction: a block on the device and, unless source or sink
/// lend memory, a page-locked block with the same layout, so that one copy moves all ports.
class DevicePortMemory {
public:
    DevicePortMemory(const gpu::Device& device, const std::vector<Port>& ports, std::size_t most);

    /// Size of the block on the device.
    [[nodiscard]] std::size_t bytes() const { return on_device_.size(); }

    /// Arrays for this many items in page-locked memory, which is allocated at the first call.
    std::span<const std::span<std::byte>> host_arrays(std::size_t items);

    /// Arrays for this many items on the device; later copies use them.
    std::span<const gpu::DeviceSpan<std::byte>> device_arrays(std::size_t items);

    /// Both copy the records of a chunk to or from `arrays`, which lie in the page-locked block unless
    /// is_lent.
    void copy_in(std::span<const std::span<const std::byte>> arrays, bool is_lent, cudaStream_t stream);
    void copy_out(std::span<const std::span<std::byte>> arrays, bool is_lent, cudaStream_t stream);

private:
    std::span<std::byte> pinned();
    [[nodiscard]] bool is_one_copy(bool is_lent) const;

    gpu::Device device_;
    PortLayout layout_;
    gpu::DeviceBuffer<std::byte> on_device_;
    gpu::PinnedBuffer<std::byte> on_host_;
    std::size_t items_of_host_ = 0;  ///< for which host_arrays_ are
    std::size_t items_of_device_ = 0;
    std::vector<std::span<std::byte>> host_arrays_;
    std::vector<gpu::DeviceSpan<std::byte>> device_arrays_;
};

DevicePortMemory::DevicePortMemory(const gpu::Device& device, const std::vector<Port>& ports,
                                   std::size_t most)
    : device_(device),
      layout_(ports, device_alignment),
      on_device_(device, layout_.bytes(most)),
      host_arrays_(ports.size()),
      device_arrays_(ports.size()) {}

std::span<const std::span<std::byte>> DevicePortMemory::host_arrays(std::size_t items) {
    layout_.divide(pinned(), items, std::span(host_arrays_));
    items_of_host_ = items;
    return host_arrays_;
}

std::span<const gpu::DeviceSpan<std::byte>> DevicePortMemory::device_arrays(std::size_t items) {
    layout_.divide(on_device_.span(), items, std::span(device_arrays_));
    items_of_device_ = items;
    return device_arrays_;
}

void DevicePortMemory::copy_in(std::span<const std::span<const std::byte>> arrays, bool is_lent,
                               cudaStream_t stream) {
    if (is_one_copy(is_lent)) {
        const std::size_t bytes = layout_.bytes(items_of_device_);
        return gpu::copy_async(on_device_.first(bytes), std::span<const std::byte>(on_host_).first(bytes),
                               stream);
    }
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        if (!arrays[i].empty()) gpu::copy_async(device_arrays_[i], arrays[i], stream);
    }
}

void DevicePortMemory::copy_out(std::span<const std::span<std::byte>> arrays, bool is_lent,
                                cudaStream_t stream) {
    if (is_one_copy(is_lent)) {
        const std::size_t bytes = layout_.bytes(items_of_device_);
        return gpu::copy_async(std::span<std::byte>(on_host_).first(bytes), on_device_.first(bytes), stream);
    }
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        if (!arrays[i].empty()) gpu::copy_async(arrays[i], device_arrays_[i], stream);
    }
}

std::span<std::byte> DevicePortMemory::pinned() {
    const std::size_t size = on_device_.size();
    if (size == 0 || on_host_.size() != 0) return on_host_;
    const gpu::CurrentDevice current(device_);
    try {
        on_host_ = gpu::PinnedBuffer<std::byte>(size);
    } catch (const gpu::CudaError& error) {
        if (!error.out_of_memory()) throw;
        throw Error("pipeline: cannot allocate " + std::to_string(size) +
                    " bytes of page-locked memory for a chunk in flight");
    }
    return on_host_;
}

/// If the source ended with fewer items than requested, the layouts differ.
bool DevicePortMemory::is_one_copy(bool is_lent) const {
    return !is_lent && !layout_.ports().empty() && items_of_host_ == items_of_device_;
}

/// Events before and after each step of a chunk, in order of time. Neighbouring steps on one stream share an
/// event.
using Marks = std::array<const gpu::Event*, 6>;

enum class ChunkTiming : std::uint8_t { off, stand_in, on };

/// State that the buffer sets of a device share: one stream per step, and the conversion of marks to host
/// time. Chunks follow each other on a step's stream, so its marks do not enclose the wait for the previous
/// chunk.
class DeviceSteps {
public:
    DeviceSteps(const gpu::Device& device, std::size_t buffer_sets)
        : copy_in(device), work(device), copy_out(device), known_(device), buffer_sets_(buffer_sets) {}

    gpu::Stream copy_in;
    gpu::Stream work;
    gpu::Stream copy_out;

    void start_run(const RunProperties& run);

    /// Waits for all streams and ignores errors: they have been reported already.
    void abandon() const noexcept;

    /// Seconds since the run began.
    [[nodiscard]] double now() const {
        return std::chrono::duration<double>(PipelineClock::now() - start_).count();
    }

    /// Counts a new chunk and returns how to time it. During the first chunks memory may be allocated and
    /// code loaded, so they are not timed; the very first stands in until a later chunk is timed.
    ChunkTiming count_chunk();

    /// Times of the next timed chunk. Its marks have passed. The host saw it in progress within `bounds`.
    /// Without a trace only the durations are measured, and the steps end with the bounds.
    ChunkTimes times(const Marks& marks, const Period& bounds);

private:
    gpu::Event known_;
    double offset_ = 0.0;  ///< time of known_ since the start of the run, in seconds
    PipelineClock::time_point start_;
    bool traces_ = false;
    std::uint64_t buffer_sets_;
    std::uint64_t chunks_ = 0;
    ChunkTimes last_;  ///< with a trace: times of the previous chunk
};

double seconds(const gpu::Event& from, const gpu::Event& to) {
    return 1e-3 * static_cast<double>(to.milliseconds_since(from));
}

/// Moves a period behind the same step of the previous chunk: rounding errors exceed the gap between them.
Period after(const std::optional<Period>& before, const Period& period) {
    const double end = std::max(period.begin, period.end);
    return {before ? std::clamp(before->end, period.begin, end) : period.begin, end};
}

void DeviceSteps::start_run(const RunProperties& run) {
    start_ = run.start;
    traces_ = run.trace;
    chunks_ = 0;
    last_ = {};
    if (!traces_) return;
    const double before = now();
    known_.record(copy_in);
    known_.synchronize();
    offset_ = (before + now()) / 2;
}

void DeviceSteps::abandon() const noexcept {
    for (const gpu::Stream* stream : {&copy_in, &work, &copy_out}) {
        try {
            stream->synchronize();
        } catch (...) {
        }
    }
}

ChunkTiming DeviceSteps::count_chunk() {
    const std::uint64_t index = chunks_++;
    if (traces_) return ChunkTiming::on;
    if (index < buffer_sets_) return index == 0 ? ChunkTiming::stand_in : ChunkTiming::off;
    return (index - buffer_sets_) % timed_one_of == 0 ? ChunkTiming::on : ChunkTiming::off;
}

ChunkTimes DeviceSteps::times(const Marks& marks, const Period& bounds) {
    // Not all relative to known_: after a minute a float does not resolve microseconds.
    std::array<double, 6> at{};
    at[5] = traces_ ? offset_ + seconds(known_, *marks[5]) : bounds.end;
    for (std::size_t i = 5; i-- > 0;)
        at[i] = at[i + 1] - (marks[i] == marks[i + 1] ? 0.0 : seconds(*marks[i], *marks[i + 1]));
    for (double& time : at)
        time = std::clamp(time, bounds.begin, bounds.end);
    const ChunkTimes times{Period{at[0], at[1]}, {at[2], at[3]}, Period{at[4], at[5]}};
    if (!traces_) return times;
    last_ = {after(last_.copy_in, *times.copy_in), after(last_.work, times.work),
             after(last_.copy_out, *times.copy_out)};
    return last_;
}

/// The stage and scratch memory that the buffer sets of a device share.
class DeviceStage {
public:
    DeviceStage(const BufferSetConfig& config, std::unique_ptr<StageRunner> runner)
        : device(config.place.device()),
          steps(device, config.buffer_sets),
          stage_(config.stage),
          runner_(std::move(runner)),
          scratch_(device, config.stage.scratch_bytes(config.chunk)) {}

    gpu::Device device;
    DeviceSteps steps;
    RunProperties of_run{};

    [[nodiscard]] std::size_t scratch_bytes() const { return scratch_.size(); }

    void start_run(const RunProperties& run) {
        of_run = run;
        steps.start_run(run);
        const gpu::CurrentDevice current(device);
        runner_->start_run();
    }

    void end_run() {
        const gpu::CurrentDevice current(device);
        runner_->end_run();
    }

    /// The device must be current.
    void run(const Chunk& chunk, std::span<const gpu::DeviceSpan<const std::byte>> in,
             std::span<const gpu::DeviceSpan<std::byte>> out, cudaStream_t stream) {
        const std::size_t bytes = std::min(scratch_.size(), stage_.scratch_bytes(chunk.items));
        runner_->run_on_device(
            {.chunk = chunk, .in = in, .out = out, .scratch = scratch_.first(bytes), .stream = stream});
    }

private:
    Stage& stage_;
    std::unique_ptr<StageRunner> runner_;
    gpu::DeviceBuffer<std::byte> scratch_;
};

class CudaBufferSet : public BufferSet {
public:
    CudaBufferSet(const BufferSetConfig& config, DeviceStage& stage)
        : stage_(stage),
          steps_(stage.steps),
          copied_in_(stage.device, gpu::Event::Timing::off),
          worked_(stage.device, gpu::Event::Timing::off),
          copied_out_(stage.device, gpu::Event::Timing::off),
          events_{gpu::Event(stage.device), gpu::Event(stage.device), gpu::Event(stage.device),
                  gpu::Event(stage.device), gpu::Event(stage.device), gpu::Event(stage.device)},
          input_(stage.device, config.ports.inputs, config.chunk),
          output_(stage.device, config.ports.outputs, config.chunk),
          in_(config.ports.inputs.size()) {}

    std::span<const std::span<std::byte>> input(std::size_t items) override {
        return input_.host_arrays(items);
    }
    std::span<const std::span<std::byte>> output(std::size_t items) override {
        return output_.host_arrays(items);
    }

    void take(const ChunkBuffers& chunk) override {
        chunk_ = &chunk;
        timing_ = steps_.count_chunk();
        bounds_.begin = steps_.now();
        std::ranges::copy(input_.device_arrays(chunk.chunk.items), in_.begin());
        out_ = output_.device_arrays(chunk.chunk.items);
    }

    void copy_in() override {
        const gpu::Stream& stream = steps_.copy_in;
        const gpu::CurrentDevice current(stage_.device);
        record(0, stream);
        input_.copy_in(chunk_->from, chunk_->source_lends, stream);
        record(1, stream);
        if (overlaps()) copied_in_.record(stream);
    }

    void work() override {
        const gpu::Stream& stream = work_stream();
        const gpu::CurrentDevice current(stage_.device);
        if (overlaps()) copied_in_.delay(stream);
        record(2, stream);
        stage_.run(chunk_->chunk, in_, out_, stream);
        record(3, stream);
        if (overlaps()) worked_.record(stream);
    }

    void copy_out() override {
        const gpu::Stream& stream = copy_out_stream();
        const gpu::CurrentDevice current(stage_.device);
        if (overlaps()) worked_.delay(stream);
        record(4, stream);
        output_.copy_out(chunk_->to, chunk_->sink_lends, stream);
        record(5, stream);
        copied_out_.record(stream);
    }

    void wait() override {
        copied_out_.synchronize();
        bounds_.end = steps_.now();
    }

    std::optional<ChunkTimes> times() override {
        if (timing_ == ChunkTiming::off) return std::nullopt;
        const gpu::CurrentDevice current(stage_.device);
        ChunkTimes times =
            steps_.times({&mark(0), &mark(1), &mark(2), &mark(3), &mark(4), &mark(5)}, bounds_);
        times.stands_in = timing_ == ChunkTiming::stand_in;
        return times;
    }

private:
    [[nodiscard]] bool overlaps() const { return stage_.of_run.overlaps; }

    /// With one chunk at a time one stream suffices: steps then need no events between them.
    [[nodiscard]] const gpu::Stream& work_stream() const { return overlaps() ? steps_.work : steps_.copy_in; }
    [[nodiscard]] const gpu::Stream& copy_out_stream() const {
        return overlaps() ? steps_.copy_out : steps_.copy_in;
    }

    /// On one stream a step begins where the previous one ends.
    [[nodiscard]] const gpu::Event& mark(std::size_t index) const {
        return events_[overlaps() || index == 0 || index % 2 == 1 ? index : index - 1];
    }

    void record(std::size_t index, const gpu::Stream& stream) const {
        if (timing_ != ChunkTiming::off && &mark(index) == &events_[index]) events_[index].record(stream);
    }

    DeviceStage& stage_;
    DeviceSteps& steps_;
    gpu::Event copied_in_;
    gpu::Event worked_;
    gpu::Event copied_out_;
    std::array<gpu::Event, 6> events_;  ///< for timing
    DevicePortMemory input_;
    DevicePortMemory output_;
    std::vector<gpu::DeviceSpan<const std::byte>> in_;
    std::span<const gpu::DeviceSpan<std::byte>> out_;
    ChunkTiming timing_ = ChunkTiming::off;
    Period bounds_;
    const ChunkBuffers* chunk_ = nullptr;
};

class CudaBufferSetGroup : public BufferSetGroup {
public:
    CudaBufferSetGroup(const BufferSetConfig& config, std::unique_ptr<StageRunner> runner)
        : stage_(config, std::move(runner)) {
        for (std::size_t i = 0; i < config.buffer_sets; ++i)
            buffer_sets_.push_back(std::make_unique<CudaBufferSet>(config, stage_));
    }
    ~CudaBufferSetGroup() override { stage_.steps.abandon(); }
    CudaBufferSetGroup(const CudaBufferSetGroup&) = delete;  ///< its buffer sets hold a reference
    CudaBufferSetGroup& operator=(const CudaBufferSetGroup&) = delete;

    [[nodiscard]] std::span<const std::unique_ptr<BufferSet>> buffer_sets() const override {
        return buffer_sets_;
    }
    void enter_thread() override { stage_.device.make_current(); }
    void start_run(const RunProperties& run) override { stage_.start_run(run); }
    void end_run() override { stage_.end_run(); }
    void abandon() noexcept override { stage_.steps.abandon(); }

private:
    DeviceStage stage_;
    std::vector<std::unique_ptr<BufferSet>> buffer_sets_;
};

std::string describe(const BufferSetConfig& config) {
    const std::size_t bytes = PortLayout(config.ports.inputs, device_alignment).bytes(config.chunk) +
                              PortLayout(config.ports.outputs, device_alignment).bytes(config.chunk);
    const std::size_t scratch = config.stage.scratch_bytes(config.chunk);
    return std::to_string(config.buffer_sets) + " chunks in flight, each of " + std::to_string(bytes) +
           " bytes" + (scratch == 0 ? "" : ", and " + std::to_string(scratch) + " bytes of scratch memory");
}

}  // namespace

std::unique_ptr<BufferSetGroup> make_cuda_buffer_sets(const BufferSetConfig& config) {
    std::unique_ptr<StageRunner> runner = [&] {
        const gpu::CurrentDevice current(config.place.device());
        return make_runner(config);
    }();
    try {
        return std::make_unique<CudaBufferSetGroup>(config, std::move(runner));
    } catch (const gpu::CudaError& error) {
        if (!error.out_of_memory()) throw;
        throw Error(config.place.name() + ": out of GPU memory: it has no room for " + describe(config));
    }
}

}  // namespace phy::detail
