#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "phy/receiver/receiver.hpp"
#include "receiver_cases.hpp"

/// The output of gpu::Receiver.
namespace phy_test {

/// Where a receiver's input is: in device memory, or in host memory.
enum class InputMemory { device, host };

constexpr InputMemory input_memories[] = {InputMemory::device, InputMemory::host};

/// Bytes in either memory.
class InputBytes {
public:
    InputBytes(const phy::gpu::Device& device, InputMemory memory, std::size_t size)
        : on_device_(device, memory == InputMemory::device ? size : 0),
          on_host_(memory == InputMemory::host ? size : 0),
          span_(memory == InputMemory::device ? on_device_.span() : on_host_.on_device()) {}

    [[nodiscard]] phy::gpu::DeviceSpan<std::byte> span() const { return span_; }

private:
    phy::gpu::DeviceBuffer<std::byte> on_device_;
    phy::gpu::PinnedBuffer<std::byte> on_host_;
    phy::gpu::DeviceSpan<std::byte> span_;
};

/// How gpu::Receiver is called.
struct GpuCalls {
    std::size_t slots = SIZE_MAX;  ///< per call
    std::size_t shift = 0;         ///< bytes from a multiple of 256 to the input
    unsigned wanted = 15;          ///< bit 0 for soft bits, then for slots, symbols and the channel
    InputMemory memory = InputMemory::device;
    std::vector<std::int8_t> priors = {};  ///< none, or those of all slots
};

inline Received received_on_gpu(const phy::ReceiverConfig& config, phy::SymbolView input, std::uint64_t first,
                                const GpuCalls& calls) {
    using phy::gpu::DeviceBuffer;
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    const std::size_t of_slot =
        static_cast<std::size_t>(config.antennas) * phy::Receiver(phy::Host(), config).input_per_slot();
    const std::size_t slots = input.size() / of_slot;
    const std::size_t most = std::min(slots, calls.slots);
    const phy::gpu::Receiver receiver(device, config, most);
    const auto room = [&](unsigned output, std::size_t each) {
        return (calls.wanted >> output & 1U) == 0 ? 0 : slots * each;
    };
    const std::size_t bytes = receiver.soft_bits_per_slot() * size_of(config.format);
    Received written = {.llr = std::vector<std::byte>(room(0, bytes)),
                        .slots = std::vector<phy::ReceivedSlot>(room(1, 1)),
                        .symbols = std::vector<phy::cf32>(room(2, receiver.symbols_per_slot())),
                        .noise_variance = std::vector<float>(room(2, receiver.symbols_per_slot())),
                        .channel = std::vector<phy::cf32>(room(3, receiver.channel_per_slot()))};
    const InputBytes memory(device, calls.memory, input.bytes().size() + calls.shift);
    const auto in = memory.span().subspan(calls.shift, input.bytes().size());
    DeviceBuffer<std::byte> llr(device, written.llr.size());
    DeviceBuffer<phy::ReceivedSlot> reports(device, written.slots.size());
    DeviceBuffer<phy::cf32> symbols(device, written.symbols.size());
    DeviceBuffer<float> noise(device, written.noise_variance.size());
    DeviceBuffer<phy::cf32> channel(device, written.channel.size());
    DeviceBuffer<std::int8_t> priors(device, calls.priors.size());
    copy_async(in, input.bytes(), stream);
    copy_async(priors, calls.priors, stream);
    for (std::size_t s = 0; s < slots; s += most) {
        const std::size_t count = std::min(most, slots - s);
        const auto part = [&]<typename T>(DeviceBuffer<T>& all, std::size_t each) {
            return all.size() == 0 ? all.span() : all.subspan(s * each, count * each);
        };
        const std::size_t sample = size_of(input.format());
        receiver({input.format(), in.subspan(s * of_slot * sample, count * of_slot * sample)}, first + s,
                 {.llr = {config.format, part(llr, bytes)},
                  .slots = part(reports, 1),
                  .symbols = part(symbols, receiver.symbols_per_slot()),
                  .noise_variance = part(noise, receiver.symbols_per_slot()),
                  .channel = part(channel, receiver.channel_per_slot())},
                 stream, part(priors, receiver.soft_bits_per_slot()));
    }
    copy_async(written.llr, llr, stream);
    copy_async(written.slots, reports, stream);
    copy_async(written.symbols, symbols, stream);
    copy_async(written.noise_variance, noise, stream);
    copy_async(written.channel, channel, stream);
    stream.synchronize();
    return written;
}

/// Describes which arrays differ, and where first.
inline std::string difference(const Received& one, const Received& other) {
    std::string text;
    const auto compare = [&]<typename T>(const char* name, const std::vector<T>& a, const std::vector<T>& b) {
        if (a.size() != b.size()) {
            text += std::string(name) + " has " + std::to_string(a.size()) + " elements, expected " +
                    std::to_string(b.size()) + "; ";
            return;
        }
        std::size_t wrong = 0;
        std::size_t at = 0;
        for (std::size_t i = a.size(); i-- > 0;) {
            if (std::memcmp(&a[i], &b[i], sizeof(T)) == 0) continue;
            ++wrong;
            at = i;
        }
        if (wrong > 0)
            text += std::to_string(wrong) + " of " + std::to_string(a.size()) + " " + name + " from " +
                    std::to_string(at) + " on; ";
    };
    compare("llr", one.llr, other.llr);
    compare("slots", one.slots, other.slots);
    compare("symbols", one.symbols, other.symbols);
    compare("noise_variance", one.noise_variance, other.noise_variance);
    compare("channel", one.channel, other.channel);
    return text;
}

}  // namespace phy_test
