#include <algorithm>
#include <new>

#include "phy/pipeline/buffer_set.hpp"

namespace phy::detail {
namespace {

constexpr std::align_val_t alignment{host_alignment};

struct Free {
    void operator()(std::byte* memory) const { ::operator delete[](memory, alignment); }
};

/// Allocated at the first use and not initialised, so that its pages belong to the thread that writes them
/// first.
class Memory {
public:
    explicit Memory(std::size_t size) : size_(size) {}

    std::span<std::byte> get() {
        if (!bytes_ && size_ != 0) bytes_.reset(static_cast<std::byte*>(::operator new[](size_, alignment)));
        return {bytes_.get(), size_};
    }

private:
    std::unique_ptr<std::byte[], Free> bytes_;
    std::size_t size_;
};

/// A buffer set's memory for the ports of one direction.
class HostPortMemory {
public:
    HostPortMemory(const std::vector<Port>& ports, std::size_t most)
        : layout_(ports, host_alignment), memory_(layout_.bytes(most)), arrays_(ports.size()) {}

    std::span<const std::span<std::byte>> arrays(std::size_t items) {
        layout_.divide(memory_.get(), items, std::span(arrays_));
        return arrays_;
    }

private:
    PortLayout layout_;
    Memory memory_;
    std::vector<std::span<std::byte>> arrays_;
};

/// The stage and scratch memory that the buffer sets of a host share.
class HostStage {
public:
    explicit HostStage(const BufferSetConfig& config)
        : stage_(config.stage),
          runner_(make_runner(config)),
          scratch_(config.stage.scratch_bytes(config.chunk)) {}

    void start_run(const RunProperties& run) {
        start_ = run.start;
        runner_->start_run();
    }

    void end_run() { runner_->end_run(); }

    Period run(const ChunkBuffers& chunk) {
        const std::span<std::byte> scratch = scratch_.get();
        const std::size_t bytes = std::min(scratch.size(), stage_.scratch_bytes(chunk.chunk.items));
        const double begin = now();
        runner_->run_on_host(
            {.chunk = chunk.chunk, .in = chunk.from, .out = chunk.to, .scratch = scratch.first(bytes)});
        return {begin, now()};
    }

private:
    [[nodiscard]] double now() const {
        return std::chrono::duration<double>(PipelineClock::now() - start_).count();
    }

    Stage& stage_;
    std::unique_ptr<StageRunner> runner_;
    Memory scratch_;
    PipelineClock::time_point start_;
};

class HostBufferSet : public BufferSet {
public:
    HostBufferSet(const BufferSetConfig& config, HostStage& stage)
        : stage_(stage),
          input_(config.ports.inputs, config.chunk),
          output_(config.ports.outputs, config.chunk) {}

    std::span<const std::span<std::byte>> input(std::size_t items) override { return input_.arrays(items); }
    std::span<const std::span<std::byte>> output(std::size_t items) override { return output_.arrays(items); }

    void take(const ChunkBuffers& chunk) override { chunk_ = &chunk; }
    void copy_in() override {}
    void work() override { times_.work = stage_.run(*chunk_); }
    void copy_out() override {}
    void wait() override {}
    std::optional<ChunkTimes> times() override { return times_; }

private:
    HostStage& stage_;
    HostPortMemory input_;
    HostPortMemory output_;
    const ChunkBuffers* chunk_ = nullptr;
    ChunkTimes times_;
};

class HostBufferSetGroup : public BufferSetGroup {
public:
    explicit HostBufferSetGroup(const BufferSetConfig& config) : stage_(config) {
        for (std::size_t i = 0; i < config.buffer_sets; ++i)
            buffer_sets_.push_back(std::make_unique<HostBufferSet>(config, stage_));
    }

    [[nodiscard]] std::span<const std::unique_ptr<BufferSet>> buffer_sets() const override {
        return buffer_sets_;
    }
    void enter_thread() override {}
    void start_run(const RunProperties& run) override { stage_.start_run(run); }
    void end_run() override { stage_.end_run(); }
    void abandon() noexcept override {}

private:
    HostStage stage_;
    std::vector<std::unique_ptr<BufferSet>> buffer_sets_;
};

}  // namespace

std::unique_ptr<BufferSetGroup> make_host_buffer_sets(const BufferSetConfig& config) {
    return std::make_unique<HostBufferSetGroup>(config);
}

}  // namespace phy::detail
