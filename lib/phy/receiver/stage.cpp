#include "phy/receiver/stage.hpp"

#include <algorithm>
#include <string>

#include "phy/coding/decode_chunk.hpp"
#include "phy/core/check.hpp"
#include "phy/pipeline/operator_runner.hpp"
#include "phy/receiver/chain/plan.hpp"
#include "phy/receiver/cuda/tuning.hpp"
#include "phy/receiver/receiver.hpp"

namespace phy {
namespace {

/// Max slots per call of the receiver on a device: all slots of most chunks. bytes: of a slot's input.
std::size_t max_slots_of(std::size_t bytes) {
    return std::clamp(gpu::detail::call_bytes / bytes, gpu::detail::min_call_slots,
                      gpu::detail::max_call_slots);
}

/// Slots of a chunk.
struct Slots {
    std::size_t first = 0;
    std::size_t count = 0;

    /// Their part of an array of the chunk.
    auto of(const auto& array, const Chunk& chunk) const {
        const std::size_t size = array.size() / chunk.items;
        return array.subspan(first * size, count * size);
    }
};

/// Receives some slots of a chunk.
void receive_slots(const ReceiveStage::Config& config, Slots slots, auto& receive, const auto& work,
                   const auto&... device) {
    const auto part = [&](auto of_chunk) { return slots.of(of_chunk, work.chunk); };
    std::size_t next = 2;
    const auto if_wanted = [&]<typename T>(bool is_wanted, const char* port, T /*element*/) {
        using Elements = decltype(detail::elements_of<T>(work.out[0], port));
        return is_wanted ? detail::elements_of<T>(part(work.out[next++]), port) : Elements();
    };
    // Braces, so that the optional ports are taken in their order.
    receive({config.format, part(work.in[0])}, work.chunk.first + slots.first,
            {.llr = {config.receiver.format, part(work.out[0])},
             .slots = detail::elements_of<ReceivedSlot>(part(work.out[1]), "slots"),
             .symbols = if_wanted(config.symbols, "symbols", cf32()),
             .noise_variance = if_wanted(config.symbols, "noise_variance", float()),
             .channel = if_wanted(config.channel, "channel", cf32())},
            device.stream...);
}

/// Calls receive(slots) for all slots of a chunk: at once on a host, at most max_slots at a time on a device.
void for_slots(const auto& work, std::size_t max_slots, bool is_device, const auto& receive) {
    const std::size_t items = work.chunk.items;
    const std::size_t at_once = is_device ? max_slots : items;
    for (std::size_t first = 0; first < items; first += at_once)
        receive(Slots{first, std::min(at_once, items - first)});
}

void receive_chunk(const ReceiveStage::Config& config, std::size_t max_slots, auto& receive, const auto& work,
                   const auto&... device) {
    for_slots(work, max_slots, sizeof...(device) > 0,
              [&](Slots slots) { receive_slots(config, slots, receive, work, device...); });
}

/// Calls receive(slots) for all runs of slots whose transport blocks have failed.
void for_failed_slots(std::span<const DecodedBlock> results, const auto& receive) {
    for (std::size_t first = 0; first < results.size(); ++first) {
        std::size_t end = first;
        while (end < results.size() && results[end].crc == 0)
            ++end;
        if (end > first) receive(Slots{first, end - first});
        first = end;
    }
}

/// How a ReceiveAndDecodeStage divides its outputs, and its chunks on a device.
struct Division {
    std::size_t received = 0;  ///< outputs of the receiver
    std::size_t max_slots = 0;
};

template <class Receive, class Decode>
class ReceiveAndDecode {
public:
    using Config = ReceiveAndDecodeStage::Config;

    ReceiveAndDecode(const auto& where, const Config& config, const auto&... max_slots)
        : config_(config),
          receive_(where, config.receive.receiver, max_slots...),
          decode_(where, config.decode) {}

    void run(const Division& division, const auto& work, const auto&... device) {
        auto of_receiver = work;
        of_receiver.out = work.out.first(division.received);
        auto of_decoder = work;
        of_decoder.out = work.out.subspan(division.received);
        receive_chunk(config_.receive, division.max_slots, receive_, of_receiver, device...);
        const std::size_t bytes = config_.iterations > 0 ? work.out[0].size() : 0;
        const auto llr = work.scratch.subspan(0, bytes);
        const auto extrinsic = detail::elements_of<std::int8_t>(
            work.scratch.subspan(bytes, bytes / size_of(config_.decode.decoder.format)), "extrinsic");
        decode_.run(work.out[0], of_decoder, extrinsic, device...);
        for (int i = 0; i < config_.iterations; ++i) {
            receive_again(division.max_slots, of_decoder, llr, extrinsic, device...);
            decode_.repeat(llr, of_decoder, extrinsic, device...);
        }
    }

private:
    /// Soft bits with priors: on a host those of slots that have failed, on a device all.
    void receive_again(std::size_t max_slots, const auto& work, const auto& llr, const auto& priors,
                       const auto&... device) {
        const auto again = [&](Slots slots) {
            const auto part = [&](auto of_chunk) { return slots.of(of_chunk, work.chunk); };
            receive_({config_.receive.format, part(work.in[0])}, work.chunk.first + slots.first,
                     {.llr = {config_.receive.receiver.format, part(llr)}}, device.stream..., part(priors));
        };
        if constexpr (sizeof...(device) == 0)
            for_failed_slots(detail::elements_of<DecodedBlock>(work.out[1], "results"), again);
        else
            for_slots(work, max_slots, true, again);
    }

    Config config_;
    Receive receive_;
    Decode decode_;
};

}  // namespace

struct PHY_HIDDEN ReceiveStage::Impl {
    Config config;
    detail::ReceiverPlan plan;
};

ReceiveStage::ReceiveStage(const Config& config) {
    detail::check_enum("sample format", config.format, all_sample_formats.back());
    impl_.reset(new Impl{config, detail::ReceiverPlan(config.receiver)});
}

const ReceiveStage::Config& ReceiveStage::config() const {
    return impl_->config;
}

std::vector<Port> ReceiveStage::inputs() const {
    const detail::ReceiverPlan& plan = impl_->plan;
    return {{.name = "input", .bytes = plan.antennas * plan.input * size_of(impl_->config.format)}};
}

std::vector<Port> ReceiveStage::outputs() const {
    const detail::ReceiverPlan& plan = impl_->plan;
    std::vector<Port> ports = {{.name = "llr", .bytes = plan.soft_bits * size_of(plan.config.format)},
                               {.name = "slots", .bytes = sizeof(ReceivedSlot)}};
    if (impl_->config.symbols) {
        ports.push_back({.name = "symbols", .bytes = plan.symbols * sizeof(cf32)});
        ports.push_back({.name = "noise_variance", .bytes = plan.symbols * sizeof(float)});
    }
    if (impl_->config.channel) ports.push_back({.name = "channel", .bytes = plan.channel * sizeof(cf32)});
    return ports;
}

std::unique_ptr<StageRunner> ReceiveStage::on(const Place& place) {
    const std::size_t max_slots = max_slots_of(inputs()[0].bytes);
    const auto run = [&config = impl_->config, max_slots](auto& receive, const auto& work,
                                                          const auto&... device) {
        receive_chunk(config, max_slots, receive, work, device...);
    };
    return detail::operator_runner<Receiver, gpu::Receiver>(place, impl_->config.receiver, run, max_slots);
}

namespace {}  // namespace

ReceiveAndDecodeStage::ReceiveAndDecodeStage(const Config& config)
    : config_(config), receive_(config.receive), decode_(config.decode) {
    const ReceiverConfig& receiver = config.receive.receiver;
    if (receiver.format != config.decode.decoder.format)
        throw ArgumentError("decode.decoder.format: expected that of the receiver");
    detail::check_size("soft bits of a slot", receive_.outputs()[0].bytes / size_of(receiver.format),
                       decode_.inputs()[0].bytes / size_of(receiver.format));
    detail::check_range("iterations", config.iterations, 0, max_iterations);
    if (config.iterations == 0) return;
    if (!receiver.joint_detection)
        throw ArgumentError("iterations without joint_detection, which takes the decoder's priors");
    if (config.decode.uci) throw ArgumentError("iterations with UCI: expected UL-SCH alone");
}

std::vector<Port> ReceiveAndDecodeStage::outputs() const {
    std::vector<Port> ports = receive_.outputs();
    for (const Port& port : decode_.outputs())
        ports.push_back(port);
    return ports;
}

/// Of iterations: soft bits and extrinsic LLRs.
std::size_t ReceiveAndDecodeStage::scratch_bytes(std::size_t items) const {
    const std::size_t soft_bits = receive_.outputs()[0].bytes / size_of(config_.receive.receiver.format);
    const std::size_t iterating =
        config_.iterations > 0 ? items * soft_bits * (size_of(config_.receive.receiver.format) + 1) : 0;
    return std::max(iterating, decode_.scratch_bytes(items));
}

std::unique_ptr<StageRunner> ReceiveAndDecodeStage::on(const Place& place) {
    const Division division{receive_.outputs().size(), max_slots_of(inputs()[0].bytes)};
    const auto run = [division](auto& both, const auto& work, const auto&... device) {
        both.run(division, work, device...);
    };
    return detail::operator_runner<ReceiveAndDecode<Receiver, detail::HostDecoding>,
                                   ReceiveAndDecode<gpu::Receiver, detail::DeviceDecoding>>(
        place, config_, run, division.max_slots);
}

}  // namespace phy
