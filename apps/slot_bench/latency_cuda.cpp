#include <algorithm>
#include <cstddef>

#include "common/check_soft_bits.hpp"
#include "phy/phy.hpp"
#include "slot_bench/latency.hpp"

namespace phy::apps {
namespace {

/// Moves the slot's first symbol to the end.
void turn(const Slot& slot, std::span<std::byte> symbols) {
    const auto second = symbols.begin() + static_cast<std::ptrdiff_t>(size_of(slot.signal.format));
    std::rotate(symbols.begin(), second, symbols.end());
}

/// A slot in pinned memory and on a device, and the steps between them.
class SlotOnCuda {
public:
    explicit SlotOnCuda(const Slot& slot)
        : slot_(slot),
          device_(slot.place.device()),
          stream_(device_),
          demap_(device_, slot.stage.config().demapper),
          input_(slot.bytes_in()),
          output_(slot.bytes_out()),
          on_device_in_(device_, slot.bytes_in()),
          on_device_out_(device_, slot.bytes_out()) {
        std::ranges::copy(slot.signal.samples, input_.begin());
        demap_.prepare(slot.signal.noise_variance, slot.stage.config().output);
    }

    [[nodiscard]] std::span<std::byte> input() { return input_; }
    [[nodiscard]] std::span<std::byte> output() { return output_; }

    void copy_in() { gpu::copy_async(on_device_in_, input_, stream_); }
    void copy_out() { gpu::copy_async(output_, on_device_out_, stream_); }
    void demap() {
        demap_({slot_.signal.format, on_device_in_.span()}, slot_.signal.noise_variance,
               {slot_.stage.config().output, on_device_out_.span()}, stream_);
    }
    void wait() const { stream_.synchronize(); }

    [[nodiscard]] Latency time(void (SlotOnCuda::*step)()) {
        return time_calls(slot_.calls, [&] {
            (this->*step)();
            wait();
        });
    }

    void one_after_another() {
        copy_in();
        demap();
        copy_out();
    }

    /// Uses other symbols than earlier calls, so that stale results show. Throws Error.
    void check_one_after_another() {
        turn(slot_, input());
        one_after_another();
        wait();
        check_soft_bits(slot_.stage, input(), output());
    }

private:
    const Slot& slot_;
    gpu::Device device_;
    gpu::Stream stream_;
    gpu::SoftDemapper demap_;
    gpu::PinnedBuffer<std::byte> input_;
    gpu::PinnedBuffer<std::byte> output_;
    gpu::DeviceBuffer<std::byte> on_device_in_;
    gpu::DeviceBuffer<std::byte> on_device_out_;
};

Latency time_slot_demapper(const Slot& slot) {
    gpu::SlotDemapper demapper(gpu::Device(slot.place.device()), {.demapper = slot.stage.config().demapper,
                                                                  .input = slot.signal.format,
                                                                  .output = slot.stage.config().output,
                                                                  .symbols = slot.signal.symbols});
    demapper.prepare(slot.signal.noise_variance);
    std::ranges::copy(slot.signal.samples, demapper.input().begin());
    const auto demap = [&] { return demapper.demap(slot.signal.symbols, slot.signal.noise_variance); };
    const Latency latency = time_calls(slot.calls, [&] { demap(); });
    turn(slot, demapper.input());
    check_soft_bits(slot.stage, demapper.input(), demap());
    return latency;
}

}  // namespace

std::vector<LatencyRow> measure_latency_on_cuda(const Slot& slot) {
    const gpu::CurrentDevice current(gpu::Device(slot.place.device()));
    SlotOnCuda steps(slot);
    std::vector<LatencyRow> rows;
    rows.push_back({"copy in alone", steps.time(&SlotOnCuda::copy_in), std::nullopt});
    rows.push_back({"demap alone", steps.time(&SlotOnCuda::demap), std::nullopt});
    rows.push_back({"copy out alone", steps.time(&SlotOnCuda::copy_out), std::nullopt});
    double of_parts = 0.0;
    for (const LatencyRow& part : rows)
        of_parts += part.latency.median;
    const auto add = [&](const char* name, const Latency& latency) {
        rows.push_back({name, latency, latency.median / of_parts});
    };
    add("one after another", steps.time(&SlotOnCuda::one_after_another));
    steps.check_one_after_another();
    add("Pipeline", time_pipeline(slot, steps.input(), steps.output()));
    add("SlotDemapper", time_slot_demapper(slot));
    return rows;
}

}  // namespace phy::apps
