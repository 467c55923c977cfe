#include <new>

#include "phy/pipeline/lane.hpp"

namespace phy::detail {
namespace {

constexpr std::align_val_t cache_line{64};

struct Free {
    void operator()(std::byte* memory) const { ::operator delete[](memory, cache_line); }
};

/// Uninitialised, so that its pages belong to who writes them first.
class Memory {
public:
    explicit Memory(std::size_t size) : size_(size) {}

    std::span<std::byte> get() {
        if (!bytes_) bytes_.reset(static_cast<std::byte*>(::operator new[](size_, cache_line)));
        return {bytes_.get(), size_};
    }

private:
    std::unique_ptr<std::byte[], Free> bytes_;
    std::size_t size_;
};

/// Works where the chunk lies.
class HostLane : public Lane {
public:
    HostLane(const LaneConfig& config, Stage& stage)
        : place_{config.backend, nullptr},
          stage_(stage),
          input_(config.bytes_in),
          output_(config.bytes_out) {}

    std::span<std::byte> input() override { return input_.get(); }
    std::span<std::byte> output() override { return output_.get(); }

    void enter_thread() override {}
    void start_run(const LaneRun& run) override { start_ = run.start; }

    void take(const Chunk& chunk, std::span<const std::byte> from, std::span<std::byte> to) override {
        chunk_ = chunk;
        from_ = from;
        to_ = to;
    }

    void copy_in() override {}

    void work() override {
        times_.work.begin = now();
        stage_.run(chunk_, from_, to_, place_);
        times_.work.end = now();
    }

    void copy_out() override {}
    void wait() override {}
    void abandon() noexcept override {}
    std::optional<LaneTimes> times() override { return times_; }

private:
    [[nodiscard]] double now() const {
        return std::chrono::duration<double>(PipelineClock::now() - start_).count();
    }

    Stage::Place place_;
    Stage& stage_;
    Memory input_;
    Memory output_;
    PipelineClock::time_point start_;
    Chunk chunk_;
    std::span<const std::byte> from_;
    std::span<std::byte> to_;
    LaneTimes times_;
};

}  // namespace

Lanes make_host_lanes(const LaneConfig& config, Stage& stage) {
    Lanes lanes;
    for (std::size_t i = 0; i < config.count; ++i)
        lanes.push_back(std::make_unique<HostLane>(config, stage));
    return lanes;
}

}  // namespace phy::detail
