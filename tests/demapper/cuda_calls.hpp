#pragma once

#include "demapper/call_sheet.hpp"
#include "gpu.hpp"
#include "phy/demapper/demapper_cuda.hpp"

/// Calls on device memory.
namespace phy_test {

inline phy::gpu::SoftDemapper::Config gpu_config(const Variant& variant) {
    return {.modulation = variant.modulation, .method = variant.method, .evaluator = variant.evaluator};
}

/// Device memory that holds one sheet after another, and a stream for it.
class DeviceSheet {
public:
    explicit DeviceSheet(const phy::gpu::Device& device) : device_(device), stream_(device) {}

    [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }
    [[nodiscard]] std::byte* data() const { return memory_.data(); }

    /// Starts to fill the memory, a multiple of 64, with the sheet before its calls.
    std::byte* fill(const CallSheet& sheet) {
        size_ = sheet.before().size();
        if (size_ > memory_.size()) {
            memory_ = phy::gpu::DeviceBuffer<std::byte>(device_, size_ + size_ / 2);
            copy_ = phy::gpu::PinnedBuffer<std::byte>(memory_.size());
        }
        std::ranges::copy(sheet.before(), copy_.begin());
        phy::gpu::copy_async(on_device(), on_host(), stream_);
        return data();
    }

    /// Waits for the stream, and gives what the memory holds then.
    std::span<const std::byte> contents() {
        phy::gpu::copy_async(on_host(), on_device(), stream_);
        stream_.synchronize();
        return on_host();
    }

private:
    [[nodiscard]] std::span<std::byte> on_device() const { return {memory_.data(), size_}; }
    [[nodiscard]] std::span<std::byte> on_host() const { return {copy_.data(), size_}; }

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

    [[nodiscard]] phy::DemapCounters* get() const { return memory_.data(); }

    /// Once the work that adds to them is done.
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

/// Starts the calls of a sheet one by one.
inline void call_all(const phy::gpu::SoftDemapper& demap, std::span<const phy::Allocation> calls,
                     cudaStream_t stream, phy::DemapCounters* counters = nullptr) {
    for (const phy::Allocation& call : calls)
        demap(call.symbols, call.noise, call.llr, stream, call.first_symbol, counters);
}

/// One demapper for single calls and one for batches of the same, which must not differ.
class DeviceDemappers {
public:
    DeviceDemappers(const phy::gpu::Device& device, const phy::gpu::SoftDemapper::Config& config)
        : single_(device, config),
          batch_(device, {.method = config.method,
                          .evaluator = config.evaluator,
                          .llr_scale = config.llr_scale,
                          .llr_clip = config.llr_clip,
                          .full_scale = config.full_scale}),
          memory_(device) {}

    [[nodiscard]] const phy::gpu::SoftDemapper& single() const { return single_; }
    [[nodiscard]] const phy::gpu::BatchDemapper& batch() const { return batch_; }
    [[nodiscard]] DeviceSheet& memory() { return memory_; }

    void prepare(const NoiseKind& noise, phy::SoftBitFormat format) {
        if (noise.per_symbol) return;
        single_.prepare(phy::NoiseVariance(noise.scalar), format);
        batch_.prepare(single_.config().modulation, phy::NoiseVariance(noise.scalar), format);
    }

    void forget_tables() {
        single_.forget_tables();
        batch_.forget_tables();
    }

    /// How the sheet's calls differ from what they should give, one by one and as a batch; empty if not.
    std::string difference(const CallSheet& sheet) {
        call_all(single_, sheet.calls(memory_.fill(sheet)), memory_.stream());
        const std::string of_single = sheet.difference(memory_.contents());
        if (!of_single.empty()) return "single calls: " + of_single;
        batch_(sheet.calls(memory_.fill(sheet)), memory_.stream());
        const std::string of_batch = sheet.difference(memory_.contents());
        return of_batch.empty() ? "" : "batch: " + of_batch;
    }

private:
    phy::gpu::SoftDemapper single_;
    phy::gpu::BatchDemapper batch_;
    DeviceSheet memory_;
};

}  // namespace phy_test
