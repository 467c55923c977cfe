#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "phy/core/error.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/pipeline/buffer_set.hpp"
#include "phy/pipeline/device_memory.hpp"
#include "phy/pipeline/device_steps.hpp"

namespace phy::detail {
namespace {

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

std::unique_ptr<StageRunner> make_runner(const BufferSetConfig& config) {
    const gpu::CurrentDevice current(config.place.device());
    return config.stage.on(config.place);
}

std::string describe(const BufferSetConfig& config) {
    const std::size_t bytes = PortLayout(config.ports.inputs, device_alignment).bytes(config.chunk) +
                              PortLayout(config.ports.outputs, device_alignment).bytes(config.chunk);
    const std::size_t scratch = config.stage.scratch_bytes(config.chunk);
    return std::to_string(config.buffer_sets) + " chunks in flight, each of " + std::to_string(bytes) +
           " bytes" + (scratch == 0 ? "" : ", and " + std::to_string(scratch) + " bytes of scratch memory");
}

}  // namespace

std::unique_ptr<BufferSetGroup> make_cuda_buffer_sets(const BufferSetConfig& config) {
    std::unique_ptr<StageRunner> runner = make_runner(config);
    try {
        return std::make_unique<CudaBufferSetGroup>(config, std::move(runner));
    } catch (const gpu::CudaError& error) {
        if (!error.out_of_memory()) throw;
        throw Error(config.place.name() + ": out of GPU memory: it has no room for " + describe(config));
    }
}

}  // namespace phy::detail
