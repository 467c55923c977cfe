#pragma once

#include "demapper/recorded_calls.hpp"
#include "phy/demapper/batch.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/demapper/math/plan.hpp"
#include "support/gpu.hpp"

/// Calls on device memory.
namespace phy_test {

/// Device memory for recorded calls, reused from set to set, and its stream.
class DeviceCallMemory {
public:
    explicit DeviceCallMemory(const phy::gpu::Device& device) : device_(device), stream_(device) {}

    [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }

    /// The memory of the calls; begins at a multiple of 64 bytes.
    [[nodiscard]] phy::gpu::DeviceSpan<std::byte> bytes() { return memory_.first(size_); }

    /// Starts filling the memory with the state before the calls.
    phy::gpu::DeviceSpan<std::byte> fill(const RecordedCalls& recorded) {
        size_ = recorded.before().size();
        if (size_ > memory_.size()) {
            memory_ = phy::gpu::DeviceBuffer<std::byte>(device_, size_ + size_ / 2);
            copy_ = phy::gpu::PinnedBuffer<std::byte>(memory_.size());
        }
        std::ranges::copy(recorded.before(), copy_.begin());
        phy::gpu::copy_async(bytes(), on_host(), stream_);
        return bytes();
    }

    /// Waits for the stream and returns the content of the memory.
    std::span<const std::byte> contents() {
        phy::gpu::copy_async(on_host(), bytes(), stream_);
        stream_.synchronize();
        return on_host();
    }

private:
    [[nodiscard]] std::span<std::byte> on_host() { return std::span(copy_).first(size_); }

    phy::gpu::Device device_;
    phy::gpu::Stream stream_;
    phy::gpu::DeviceBuffer<std::byte> memory_;
    phy::gpu::PinnedBuffer<std::byte> copy_;
    std::size_t size_ = 0;
};

/// Counters in device memory.
class DeviceCounters {
public:
    DeviceCounters(const phy::gpu::Device& device, const phy::DemapCounters& start)
        : stream_(device), memory_(device, 1) {
        phy::gpu::copy_async(memory_, std::span(&start, 1), stream_);
        stream_.synchronize();
    }

    [[nodiscard]] phy::gpu::DeviceSpan<phy::DemapCounters> get() { return memory_; }

    /// Call it after the work that adds to the counters.
    [[nodiscard]] phy::DemapCounters value() const {
        phy::DemapCounters result;
        phy::gpu::copy_async(std::span(&result, 1), memory_, stream_);
        stream_.synchronize();
        return result;
    }

private:
    phy::gpu::Stream stream_;
    phy::gpu::DeviceBuffer<phy::DemapCounters> memory_;
};

/// Starts recorded calls one by one.
inline void call_all(const phy::gpu::SoftDemapper& demap, std::span<const phy::gpu::Allocation> calls,
                     cudaStream_t stream, phy::gpu::DeviceSpan<phy::DemapCounters> counters = {}) {
    for (const phy::gpu::Allocation& call : calls)
        demap(call.symbols, call.noise, call.llr, stream, call.first_symbol, counters);
}

/// A demapper for single calls and one for batches; their results must be equal.
class DeviceDemappers {
public:
    DeviceDemappers(const phy::gpu::Device& device, const phy::DemapperConfig& config)
        : single_(device, config), batch_(device, phy::detail::without_modulation(config)), memory_(device) {}

    [[nodiscard]] const phy::gpu::SoftDemapper& single() const { return single_; }
    [[nodiscard]] const phy::gpu::BatchDemapper& batch() const { return batch_; }
    [[nodiscard]] DeviceCallMemory& memory() { return memory_; }

    void prepare(const NoiseKind& noise, phy::SoftBitFormat format) {
        if (noise.per_symbol) return;
        single_.prepare(noise.scalar, format);
        batch_.prepare(single_.config().modulation, noise.scalar, format);
    }

    void clear_tables() {
        single_.clear_tables();
        batch_.clear_tables();
    }

    /// Describes how recorded calls differ from the expected bytes, one by one and as a batch; empty if they
    /// do not.
    std::string difference(const RecordedCalls& recorded) {
        call_all(single_, recorded.calls(memory_.fill(recorded)), memory_.stream());
        const std::string of_single = recorded.difference(memory_.contents());
        if (!of_single.empty()) return "single calls: " + of_single;
        batch_(recorded.calls(memory_.fill(recorded)), memory_.stream());
        const std::string of_batch = recorded.difference(memory_.contents());
        return of_batch.empty() ? "" : "batch: " + of_batch;
    }

private:
    phy::gpu::SoftDemapper single_;
    phy::gpu::BatchDemapper batch_;
    DeviceCallMemory memory_;
};

}  // namespace phy_test
