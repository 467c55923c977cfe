// The receiver on a GPU: a carrier of 100 MHz, 273 resource blocks, 4 antennas, samples in ci16, 256QAM to
// int8, two DM-RS symbols. From pinned to pinned memory through a Pipeline, beside copies of the same bytes
// both ways at once; one slot from end to end; and what the device alone takes.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/channel_signal.hpp"
#include "bench/cuda_suite.hpp"
#include "common/median.hpp"
#include "common/repeat.hpp"
#include "phy/receiver/receiver.hpp"
#include "phy/receiver/stage.hpp"
#include "stream_bench/limit.hpp"

namespace phy::bench {
namespace {

using apps::Json;

constexpr std::size_t antennas = 4;
constexpr std::size_t slots_of_frame = 20;
constexpr double slot_seconds = 0.5e-3;

/// Receives of the same kind of signal.
struct Case {
    int layers;
    bool measures_delay_spread = true;
    bool rejects_interference = true;
    bool joint_detection = false;
    bool phase_tracking = false;
    bool ptrs = false;

    [[nodiscard]] std::string name(const char* what) const {
        return fmt::format("receive/{}/{}x4/273/ci16/{}{}{}{}{}", what, layers,
                           measures_delay_spread ? "delay_measured" : "delay_given",
                           rejects_interference ? "" : "/interference_not_rejected",
                           joint_detection ? "/joint_detection" : "", phase_tracking ? "/phase_tracking" : "",
                           ptrs ? "/ptrs" : "");
    }
};

ReceiverConfig receiver_config(const Case& of) {
    ReceiverConfig config = {.antennas = antennas,
                             .interference_rejection = of.rejects_interference,
                             .joint_detection = of.joint_detection,
                             .phase_tracking = of.phase_tracking};
    if (!of.measures_delay_spread) config.delay_spread = 100e-9F;
    config.link.modulation = Modulation::qam256;
    config.link.scrambling = {.rnti = 17921, .id = 1};
    config.link.carrier.sample_rate = 122.88e6;
    config.link.carrier.center_frequency = 3.75e9;
    config.link.allocation = whole_carrier(of.layers).allocation;
    if (of.ptrs) config.link.allocation.ptrs = PtrsConfig{.rnti = config.link.scrambling.rnti};
    return config;
}

/// The slots of a frame, which may come again and again: (slots, antennas, samples of the longest).
struct Frame {
    explicit Frame(const Case& of) : config(receiver_config(of)) {
        ChannelEstimatorConfig channel;
        channel.allocation = config.link.allocation;
        channel.antennas = config.antennas;
        std::vector<cf32> pilots(dmrs_pilot_count(channel.allocation));
        std::vector<cf32> grid;
        for (std::size_t slot = 0; slot < slots_of_frame; ++slot) {
            dmrs_pilots(channel.allocation, static_cast<int>(slot), pilots);
            std::vector<cf32> received = received_slot(channel, pilots);
            if (of.phase_tracking) turn_symbols(received, antennas);
            grid.insert(grid.end(), received.begin(), received.end());
        }
        OfdmModulator modulate(Host(), ofdm_config(config.link, config.antennas));
        const std::size_t longest = modulate.timing().slot_samples(0);
        std::vector<cf32> sent(slots_of_frame * antennas * longest);
        modulate(grid, {.count = slots_of_frame, .stride = longest, .slot_stride = antennas * longest}, sent);
        double power = 0.0;
        for (const cf32& sample : sent)
            power += static_cast<double>(std::norm(sample)) / static_cast<double>(sent.size());
        const auto full_scale = static_cast<float>(4096.0 / std::sqrt(power));
        config.full_scale = full_scale;
        const auto integer = [&](float x) {
            return static_cast<std::int16_t>(std::clamp(std::round(x * full_scale), -32768.0F, 32767.0F));
        };
        for (const cf32& sample : sent)
            samples.push_back({integer(sample.real()), integer(sample.imag())});
    }

    [[nodiscard]] std::size_t slot_bytes() const { return samples.size() / slots_of_frame * sizeof(ci16); }

    /// As often as there is room.
    void fill(std::span<std::byte> memory) const {
        const auto frame = std::as_bytes(std::span(samples));
        for (std::size_t i = 0; i < memory.size(); i += frame.size())
            std::ranges::copy(frame.first(std::min(frame.size(), memory.size() - i)),
                              memory.subspan(i).begin());
    }

    ReceiverConfig config;
    std::vector<ci16> samples;
};

/// Throws if slots were not received.
void check_slots(std::span<const ReceivedSlot> slots, const ReceiverConfig& config) {
    for (const ReceivedSlot& slot : slots) {
        const SlotReport report = slot_report(slot, config, 0);
        if (!(report.evm < 0.1) || report.erasures != 0)
            throw Error(
                fmt::format("a slot was not received: EVM {}, {} erasures", report.evm, report.erasures));
    }
}

double seconds_of(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::span<ReceivedSlot> slots_in(std::span<std::byte> bytes) {
    return {reinterpret_cast<ReceivedSlot*>(bytes.data()), bytes.size() / sizeof(ReceivedSlot)};
}

void measure_pipeline(Suite& suite, const Case& of) {
    const std::string name = of.name("pipeline");
    if (!suite.wants(name)) return;
    const Frame frame(of);
    const std::size_t slots = suite.quick() ? 40 : 320;
    ReceiveStage stage({.receiver = frame.config, .format = SampleFormat::ci16});
    const std::vector<Port> ports = stage.outputs();
    const std::size_t bytes_in = slots * frame.slot_bytes();
    const std::size_t bytes_llr = slots * ports[0].bytes;
    const std::size_t bytes_out = bytes_llr + slots * ports[1].bytes;
    const std::unique_ptr<apps::Limit> limit = apps::make_cuda_limit(bytes_in, bytes_out, {suite.device()});
    frame.fill(limit->input());
    const std::span<std::byte> reports = limit->output().subspan(bytes_llr);
    MemorySource source(stage.inputs(), {limit->input()});
    MemorySink sink(ports, {limit->output().first(bytes_llr), reports});
    Pipeline pipeline({suite.device()}, stage, {.items = slots});
    pipeline.run(source, sink);
    check_slots(slots_in(reports), frame.config);

    std::vector<double> seconds;
    std::vector<double> of_limit;
    std::vector<double> share;
    for (int round = 0; round <= (suite.quick() ? 3 : 20); ++round) {
        const double copies = seconds_of([&] { limit->move(bytes_in, bytes_out); });
        const double run = seconds_of([&] { pipeline.run(source, sink); });
        if (round == 0) continue;
        seconds.push_back(run);
        of_limit.push_back(copies);
        share.push_back(copies / run);
    }
    const double each = apps::median(seconds) / static_cast<double>(slots);
    suite.keep(Json::object({{"name", name},
                             {"slots", slots},
                             {"chunk", pipeline.chunk()},
                             {"us_per_slot", each * 1e6},
                             {"limit_us_per_slot", apps::median(of_limit) / static_cast<double>(slots) * 1e6},
                             {"of_limit", apps::median(share)},
                             {"of_real_time", slot_seconds / each}}));
}

/// One slot in pinned memory, and ways to get it received.
class OneSlot {
public:
    OneSlot(const gpu::Device& device, const Frame& frame)
        : device_(device),
          stream_(device),
          config_(frame.config),
          receive_(device, frame.config, 1),
          input_(frame.slot_bytes()),
          llr_(receive_.soft_bits_per_slot()),
          slots_(1),
          input_there_(device, input_.size()),
          llr_there_(device, llr_.size()),
          slots_there_(device, 1) {
        frame.fill(input_);
    }

    /// Copies in, works and copies out.
    void copy_and_receive(cudaStream_t stream) {
        copy_async(input_there_, input_, stream);
        receive_({SampleFormat::ci16, input_there_.span()}, 0, {.llr = llr_there_, .slots = slots_there_},
                 stream);
        copy_async(llr_, llr_there_, stream);
        copy_async(slots_, slots_there_, stream);
    }

    /// Kernels read and write the host's memory.
    void receive_in_place(cudaStream_t stream) {
        receive_({SampleFormat::ci16, input_.on_device()}, 0,
                 {.llr = llr_.on_device(), .slots = slots_.on_device()}, stream);
    }

    /// Median and 99th percentile of calls that are waited for.
    Json time(const std::string& name, int calls, const apps::Launch& launch) {
        std::vector<double> seconds;
        for (int i = -calls / 10 - 3; i < calls; ++i) {
            const double one = seconds_of([&] {
                launch(stream_);
                stream_.synchronize();
            });
            if (i >= 0) seconds.push_back(one);
        }
        check_slots({slots_.data(), 1}, config_);
        slots_.data()[0] = {};
        std::ranges::sort(seconds);
        return Json::object({{"name", name},
                             {"calls", calls},
                             {"median_us", seconds[seconds.size() / 2] * 1e6},
                             {"p99_us", seconds[(seconds.size() * 99 - 1) / 100] * 1e6}});
    }

private:
    gpu::Device device_;
    gpu::Stream stream_;
    ReceiverConfig config_;
    gpu::Receiver receive_;
    gpu::PinnedBuffer<std::byte> input_;
    gpu::PinnedBuffer<std::int8_t> llr_;
    gpu::PinnedBuffer<ReceivedSlot> slots_;
    gpu::DeviceBuffer<std::byte> input_there_;
    gpu::DeviceBuffer<std::int8_t> llr_there_;
    gpu::DeviceBuffer<ReceivedSlot> slots_there_;
};

void measure_latency(Suite& suite, const Case& of) {
    const std::string name = of.name("latency");
    if (!suite.wants(name)) return;
    OneSlot slot(suite.device(), Frame(of));
    const int calls = suite.quick() ? 20 : 1000;
    const auto copies = [&](cudaStream_t stream) { slot.copy_and_receive(stream); };
    const auto in_place = [&](cudaStream_t stream) { slot.receive_in_place(stream); };
    suite.keep(slot.time(name + "/copies/graph", calls, apps::as_graph(suite.device(), copies)));
    suite.keep(slot.time(name + "/in_place/graph", calls, apps::as_graph(suite.device(), in_place)));
    suite.keep(slot.time(name + "/copies/calls", calls, copies));
    suite.keep(slot.time(name + "/in_place/calls", calls, in_place));
}

/// The chain in device memory, beside a copy of the samples and soft bits.
void measure_device(Suite& suite, const Case& of, std::size_t slots) {
    const std::string name = fmt::format("{}/{}_slots", of.name("device"), slots);
    if (!suite.wants(name)) return;
    const Frame frame(of);
    const gpu::Device& device = suite.device();
    const gpu::Receiver receive(device, frame.config, slots);
    gpu::DeviceBuffer<std::byte> input(device, slots * frame.slot_bytes());
    gpu::DeviceBuffer<std::int8_t> llr(device, slots * receive.soft_bits_per_slot());
    gpu::DeviceBuffer<ReceivedSlot> reports(device, slots);
    apps::fill_repeating(device, input.span(), std::as_bytes(std::span(frame.samples)));
    const std::size_t half = evened_bytes(input.size_bytes(), llr.size_bytes());
    gpu::DeviceBuffer<std::byte> copied(device, 2 * half);
    apps::fill_repeating(device, copied.span(), std::as_bytes(std::span(frame.samples)));
    suite.record(
        name, {.symbols = slots * receive.symbols_per_slot(),
               .moves = {{copied.data(), half, copied.data() + half, half}},
               .work =
                   [&](cudaStream_t stream) {
                       receive({SampleFormat::ci16, input.span()}, 0, {.llr = llr, .slots = reports}, stream);
                   },
               .graph = true});
}

}  // namespace

void receiver_benchmarks(Suite& suite) {
    std::vector<Case> cases = {{.layers = 2}, {.layers = 2, .joint_detection = true}};
    for (const int layers : {1, 4}) {
        cases.push_back({layers});
        cases.push_back({.layers = layers, .measures_delay_spread = false});
        cases.push_back({.layers = layers, .rejects_interference = false});
        cases.push_back({.layers = layers, .phase_tracking = true});
        cases.push_back({.layers = layers, .phase_tracking = true, .ptrs = true});
    }
    for (const Case& of : cases) {
        measure_pipeline(suite, of);
        measure_latency(suite, of);
        for (const std::size_t slots : {std::size_t{64}, std::size_t{1}})
            measure_device(suite, of, slots);
    }
}

}  // namespace phy::bench
