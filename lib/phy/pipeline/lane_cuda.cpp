#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "phy/core/cuda.hpp"
#include "phy/pipeline/lane.hpp"

namespace phy::detail {
namespace {

/// Page-locked memory that is allocated when first asked for.
class Memory {
public:
    Memory(const gpu::Device& device, std::size_t size) : device_(device), size_(size) {}

    std::span<std::byte> get() {
        if (bytes_.size() == 0 && size_ != 0) allocate();
        return bytes_;
    }

private:
    void allocate() {
        const gpu::CurrentDevice current(device_);
        try {
            bytes_ = gpu::PinnedBuffer<std::byte>(size_);
        } catch (const gpu::CudaError& error) {
            if (!error.out_of_memory()) throw;
            throw Error("pipeline: no " + std::to_string(size_) +
                        " bytes of page-locked memory for a chunk in flight");
        }
    }

    gpu::Device device_;
    std::size_t size_;
    gpu::PinnedBuffer<std::byte> bytes_;
};

/// Says when the steps of a device's chunks were. Chunks wait for each other in its engines, which events do
/// not show: a step is taken to begin when the same step of the chunk before has ended.
class StepClock {
public:
    explicit StepClock(const gpu::Device& device) : stream_(device), known_(device) {}

    void start_run(PipelineClock::time_point start) {
        if (start == start_) return;
        known_.record(stream_);
        known_.synchronize();
        offset_ = std::chrono::duration<double>(PipelineClock::now() - start).count();
        start_ = start;
        last_ = {};
    }

    /// Of the next chunk; the events around its steps have passed.
    LaneTimes times(const std::array<gpu::Event, 4>& events) {
        // Not all from known_: a float does not tell microseconds apart after a minute.
        const double end = offset_ + seconds(known_, events[3]);
        const double worked = end - seconds(events[2], events[3]);
        const double copied_in = worked - seconds(events[1], events[2]);
        const double begin = copied_in - seconds(events[0], events[1]);
        last_ = {after(last_.copy_in, begin, copied_in), after(last_.work, copied_in, worked),
                 after(last_.copy_out, worked, end)};
        return last_;
    }

private:
    static double seconds(const gpu::Event& from, const gpu::Event& to) {
        return 1e-3 * static_cast<double>(to.milliseconds_since(from));
    }

    static Period after(const std::optional<Period>& before, double begin, double end) {
        return {before ? std::clamp(before->end, begin, std::max(begin, end)) : begin, end};
    }

    gpu::Stream stream_;
    gpu::Event known_;
    double offset_ = 0.0;  ///< of known_ from the start of the run, in seconds
    PipelineClock::time_point start_;
    LaneTimes last_;
};

/// Copies a chunk to a device, works on it and copies it back, all on a stream of its own.
class CudaLane : public Lane {
public:
    CudaLane(const LaneConfig& config, Stage& stage, std::shared_ptr<StepClock> clock)
        : stage_(stage),
          clock_(std::move(clock)),
          device_(config.backend.device()),
          stream_(device_),
          place_{config.backend, stream_},
          events_{gpu::Event(device_), gpu::Event(device_), gpu::Event(device_), gpu::Event(device_)},
          input_(device_, config.bytes_in),
          output_(device_, config.bytes_out),
          device_input_(device_, config.bytes_in),
          device_output_(device_, config.bytes_out) {}

    ~CudaLane() override { abandon_quietly(); }
    CudaLane(const CudaLane&) = delete;
    CudaLane& operator=(const CudaLane&) = delete;

    std::span<std::byte> input() override { return input_.get(); }
    std::span<std::byte> output() override { return output_.get(); }

    void enter_thread() override { device_.make_current(); }
    void start_run(PipelineClock::time_point start) override { clock_->start_run(start); }

    void take(const Chunk& chunk, std::span<const std::byte> from, std::span<std::byte> to) override {
        chunk_ = chunk;
        from_ = from;
        to_ = to;
    }

    void copy_in() override {
        events_[0].record(stream_);
        gpu::copy_async(std::span(device_input_).first(from_.size()), from_, stream_);
        events_[1].record(stream_);
    }

    void work() override {
        const gpu::CurrentDevice current(device_);
        stage_.run(chunk_, std::span(device_input_).first(from_.size()),
                   std::span(device_output_).first(to_.size()), place_);
        events_[2].record(stream_);
    }

    void copy_out() override {
        gpu::copy_async(to_, std::span(device_output_).first(to_.size()), stream_);
        events_[3].record(stream_);
    }

    void wait() override { events_[3].synchronize(); }
    void abandon() noexcept override { abandon_quietly(); }

    LaneTimes times() override {
        const gpu::CurrentDevice current(device_);
        return clock_->times(events_);
    }

private:
    void abandon_quietly() noexcept {
        try {
            stream_.synchronize();
        } catch (...) {
            // Whoever issued the work has been told.
        }
    }

    Stage& stage_;
    std::shared_ptr<StepClock> clock_;
    gpu::Device device_;
    gpu::Stream stream_;
    Stage::Place place_;
    std::array<gpu::Event, 4> events_;  ///< before, between and after its steps
    Memory input_;
    Memory output_;
    gpu::DeviceBuffer<std::byte> device_input_;
    gpu::DeviceBuffer<std::byte> device_output_;
    Chunk chunk_;
    std::span<const std::byte> from_;
    std::span<std::byte> to_;
};

}  // namespace

Lanes make_cuda_lanes(const LaneConfig& config, Stage& stage) {
    try {
        const auto clock = std::make_shared<StepClock>(gpu::Device(config.backend.device()));
        Lanes lanes;
        for (std::size_t i = 0; i < config.count; ++i)
            lanes.push_back(std::make_unique<CudaLane>(config, stage, clock));
        return lanes;
    } catch (const gpu::CudaError& error) {
        if (!error.out_of_memory()) throw;
        throw Error(config.backend.name() + ": out of GPU memory: it has no room for " +
                    std::to_string(config.count) + " chunks in flight, each of " +
                    std::to_string(config.bytes_in + config.bytes_out) + " bytes");
    }
}

}  // namespace phy::detail
