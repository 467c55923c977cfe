#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "phy/core/cuda.hpp"
#include "phy/pipeline/lane.hpp"
#include "phy/pipeline/tuning.hpp"

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

/// Before and after each step of a chunk, in the order of time; what lies between two steps on one stream is
/// one mark.
using Marks = std::array<const gpu::Event*, 6>;

enum class ChunkTiming : std::uint8_t { off, stand_in, on };

/// What the lanes of a device share: a stream for each step, where chunks come one after another, so that
/// what two marks enclose is the step and no waiting for the chunk before; and what the marks mean to the
/// host.
class DeviceSteps {
public:
    DeviceSteps(const gpu::Device& device, std::size_t lanes)
        : copy_in(device), work(device), copy_out(device), known_(device), lanes_(lanes) {}

    gpu::Stream copy_in;
    gpu::Stream work;
    gpu::Stream copy_out;

    void start_run(const LaneRun& run) {
        if (run.start == start_) return;
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

    /// Seconds since the run began.
    [[nodiscard]] double now() const {
        return std::chrono::duration<double>(PipelineClock::now() - start_).count();
    }

    /// Counts a chunk that comes, and says how it is to be timed. Beside a run's first chunks memory may be
    /// allocated and code loaded: the very first stands in for later ones.
    ChunkTiming count_chunk() {
        const std::uint64_t index = chunks_++;
        if (traces_) return ChunkTiming::on;
        if (index < lanes_) return index == 0 ? ChunkTiming::stand_in : ChunkTiming::off;
        return (index - lanes_) % timed_one_of == 0 ? ChunkTiming::on : ChunkTiming::off;
    }

    /// Of the next chunk that was timed; its marks have passed, and the host knows that it was under way
    /// within `bounds`. Without a trace the steps are as long as they were, and end with the bounds.
    LaneTimes times(const Marks& marks, const Period& bounds) {
        // Not all from known_: a float does not tell microseconds apart after a minute.
        std::array<double, 6> at{};
        at[5] = traces_ ? offset_ + seconds(known_, *marks[5]) : bounds.end;
        for (std::size_t i = 5; i-- > 0;)
            at[i] = at[i + 1] - (marks[i] == marks[i + 1] ? 0.0 : seconds(*marks[i], *marks[i + 1]));
        for (double& time : at)
            time = std::clamp(time, bounds.begin, bounds.end);
        const LaneTimes times{Period{at[0], at[1]}, {at[2], at[3]}, Period{at[4], at[5]}};
        if (!traces_) return times;
        last_ = {after(last_.copy_in, *times.copy_in), after(last_.work, times.work),
                 after(last_.copy_out, *times.copy_out)};
        return last_;
    }

private:
    static double seconds(const gpu::Event& from, const gpu::Event& to) {
        return 1e-3 * static_cast<double>(to.milliseconds_since(from));
    }

    /// No sooner than the same step of the chunk before has ended: roundings are larger than what is between.
    static Period after(const std::optional<Period>& before, const Period& period) {
        const double end = std::max(period.begin, period.end);
        return {before ? std::clamp(before->end, period.begin, end) : period.begin, end};
    }

    gpu::Event known_;
    double offset_ = 0.0;  ///< of known_ from the start of the run, in seconds
    PipelineClock::time_point start_;
    bool traces_ = false;
    std::uint64_t lanes_;
    std::uint64_t chunks_ = 0;
    LaneTimes last_;  ///< with a trace: of the chunk before
};

/// Copies a chunk to a device, works on it and copies it back.
class CudaLane : public Lane {
public:
    CudaLane(const LaneConfig& config, Stage& stage, std::shared_ptr<DeviceSteps> steps)
        : stage_(stage),
          steps_(std::move(steps)),
          backend_(config.backend),
          device_(config.backend.device()),
          copied_in_(device_, gpu::Event::Timing::off),
          worked_(device_, gpu::Event::Timing::off),
          copied_out_(device_, gpu::Event::Timing::off),
          events_{gpu::Event(device_), gpu::Event(device_), gpu::Event(device_),
                  gpu::Event(device_), gpu::Event(device_), gpu::Event(device_)},
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

    void start_run(const LaneRun& run) override {
        run_ = run;
        steps_->start_run(run);
    }

    void take(const Chunk& chunk, std::span<const std::byte> from, std::span<std::byte> to) override {
        chunk_ = chunk;
        from_ = from;
        to_ = to;
        timing_ = steps_->count_chunk();
        bounds_.begin = steps_->now();
    }

    void copy_in() override {
        const gpu::Stream& stream = steps_->copy_in;
        record(0, stream);
        gpu::copy_async(std::span(device_input_).first(from_.size()), from_, stream);
        record(1, stream);
        if (run_.overlaps) copied_in_.record(stream);
    }

    void work() override {
        const gpu::Stream& stream = work_stream();
        const gpu::CurrentDevice current(device_);
        if (run_.overlaps) copied_in_.hold_back(stream);
        record(2, stream);
        stage_.run(chunk_, std::span(device_input_).first(from_.size()),
                   std::span(device_output_).first(to_.size()), {backend_, stream});
        record(3, stream);
        if (run_.overlaps) worked_.record(stream);
    }

    void copy_out() override {
        const gpu::Stream& stream = copy_out_stream();
        if (run_.overlaps) worked_.hold_back(stream);
        record(4, stream);
        gpu::copy_async(to_, std::span(device_output_).first(to_.size()), stream);
        record(5, stream);
        copied_out_.record(stream);
    }

    void wait() override {
        copied_out_.synchronize();
        bounds_.end = steps_->now();
    }

    void abandon() noexcept override { abandon_quietly(); }

    std::optional<LaneTimes> times() override {
        if (timing_ == ChunkTiming::off) return std::nullopt;
        const gpu::CurrentDevice current(device_);
        LaneTimes times =
            steps_->times({&mark(0), &mark(1), &mark(2), &mark(3), &mark(4), &mark(5)}, bounds_);
        times.stands_in = timing_ == ChunkTiming::stand_in;
        return times;
    }

private:
    /// One chunk at a time needs no more than one stream, and steps need not wait for each other.
    [[nodiscard]] const gpu::Stream& work_stream() const {
        return run_.overlaps ? steps_->work : steps_->copy_in;
    }
    [[nodiscard]] const gpu::Stream& copy_out_stream() const {
        return run_.overlaps ? steps_->copy_out : steps_->copy_in;
    }

    /// On one stream a step begins where the one before has ended.
    [[nodiscard]] const gpu::Event& mark(std::size_t index) const {
        return events_[run_.overlaps || index == 0 || index % 2 == 1 ? index : index - 1];
    }

    void record(std::size_t index, const gpu::Stream& stream) const {
        if (timing_ != ChunkTiming::off && &mark(index) == &events_[index]) events_[index].record(stream);
    }

    void abandon_quietly() noexcept {
        for (const gpu::Stream* stream : {&steps_->copy_in, &steps_->work, &steps_->copy_out}) {
            try {
                stream->synchronize();
            } catch (...) {
                // Whoever issued the work has been told.
            }
        }
    }

    Stage& stage_;
    std::shared_ptr<DeviceSteps> steps_;
    Backend backend_;
    gpu::Device device_;
    gpu::Event copied_in_;
    gpu::Event worked_;
    gpu::Event copied_out_;
    std::array<gpu::Event, 6> events_;  ///< by which a chunk is timed
    Memory input_;
    Memory output_;
    gpu::DeviceBuffer<std::byte> device_input_;
    gpu::DeviceBuffer<std::byte> device_output_;
    LaneRun run_{};
    ChunkTiming timing_ = ChunkTiming::off;
    Period bounds_;
    Chunk chunk_;
    std::span<const std::byte> from_;
    std::span<std::byte> to_;
};

}  // namespace

Lanes make_cuda_lanes(const LaneConfig& config, Stage& stage) {
    try {
        const auto steps = std::make_shared<DeviceSteps>(gpu::Device(config.backend.device()), config.count);
        Lanes lanes;
        for (std::size_t i = 0; i < config.count; ++i)
            lanes.push_back(std::make_unique<CudaLane>(config, stage, steps));
        return lanes;
    } catch (const gpu::CudaError& error) {
        if (!error.out_of_memory()) throw;
        throw Error(config.backend.name() + ": out of GPU memory: it has no room for " +
                    std::to_string(config.count) + " chunks in flight, each of " +
                    std::to_string(config.bytes_in + config.bytes_out) + " bytes");
    }
}

}  // namespace phy::detail
