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
        if (bytes_.size() == 0 && size_ != 0) {
            const gpu::CurrentDevice current(device_);
            bytes_ = gpu::PinnedBuffer<std::byte>(size_);
        }
        return bytes_;
    }

private:
    gpu::Device device_;
    std::size_t size_;
    gpu::PinnedBuffer<std::byte> bytes_;
};

/// Says when the events of a device were, in seconds since a run began.
class EventClock {
public:
    explicit EventClock(const gpu::Device& device) : stream_(device), known_(device) {}

    void start_run(PipelineClock::time_point start) {
        if (start == start_) return;
        known_.record(stream_);
        known_.synchronize();
        offset_ = std::chrono::duration<double>(PipelineClock::now() - start).count();
        start_ = start;
    }

    [[nodiscard]] double at(const gpu::Event& event) const {
        return offset_ + 1e-3 * static_cast<double>(event.milliseconds_since(known_));
    }

private:
    gpu::Stream stream_;
    gpu::Event known_;
    double offset_ = 0.0;  ///< of known_
    PipelineClock::time_point start_;
};

/// Copies a chunk to a device, works on it and copies it back, all on a stream of its own.
class CudaLane : public Lane {
public:
    CudaLane(const LaneConfig& config, Stage& stage, std::shared_ptr<EventClock> clock)
        : stage_(stage),
          clock_(std::move(clock)),
          device_(config.backend.device()),
          stream_(device_),
          place_{config.backend, stream_},
          begin_(device_),
          copied_in_(device_),
          worked_(device_),
          copied_out_(device_),
          input_(device_, config.bytes_in),
          output_(device_, config.bytes_out),
          device_input_(device_, config.bytes_in),
          device_output_(device_, config.bytes_out) {}

    ~CudaLane() override { abandon_quietly(); }
    CudaLane(const CudaLane&) = delete;
    CudaLane& operator=(const CudaLane&) = delete;

    std::span<std::byte> input() override { return input_.get(); }
    std::span<std::byte> output() override { return output_.get(); }

    void start_run(PipelineClock::time_point start) override { clock_->start_run(start); }

    void take(const Chunk& chunk, std::span<const std::byte> from, std::span<std::byte> to) override {
        chunk_ = chunk;
        from_ = from;
        to_ = to;
    }

    void copy_in() override {
        begin_.record(stream_);
        gpu::copy_async(std::span(device_input_).first(from_.size()), from_, stream_);
        copied_in_.record(stream_);
    }

    void work() override {
        stage_.run(chunk_, std::span(device_input_).first(from_.size()),
                   std::span(device_output_).first(to_.size()), place_);
        worked_.record(stream_);
    }

    void copy_out() override {
        gpu::copy_async(to_, std::span(device_output_).first(to_.size()), stream_);
        copied_out_.record(stream_);
    }

    void wait() override { copied_out_.synchronize(); }
    void abandon() noexcept override { abandon_quietly(); }

    [[nodiscard]] LaneTimes times() const override {
        const double copied_in = clock_->at(copied_in_);
        const double worked = clock_->at(worked_);
        return {Period{clock_->at(begin_), copied_in},
                {copied_in, worked},
                Period{worked, clock_->at(copied_out_)}};
    }

private:
    void abandon_quietly() noexcept {
        try {
            stream_.synchronize();
        } catch (const gpu::CudaError&) {
            // Whoever issued the work has been told.
        }
    }

    Stage& stage_;
    std::shared_ptr<EventClock> clock_;
    gpu::Device device_;
    gpu::Stream stream_;
    Stage::Place place_;
    gpu::Event begin_;
    gpu::Event copied_in_;
    gpu::Event worked_;
    gpu::Event copied_out_;
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
        const auto clock = std::make_shared<EventClock>(gpu::Device(config.backend.device()));
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
