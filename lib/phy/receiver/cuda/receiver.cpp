#include "phy/receiver/receiver.hpp"

#include <string>

#include "phy/core/error.hpp"
#include "phy/receiver/cuda/chain.hpp"

namespace phy::gpu {
namespace {

/// Checked here, because the equaliser would throw only after other kernels have started.
void check_alignment(const phy::detail::ReceiverPlan& plan, SymbolView input) {
    const std::size_t bytes = size_of(input.format());
    if (plan.demodulator || reinterpret_cast<std::uintptr_t>(input.data()) % bytes == 0) return;
    throw ArgumentError("input: expected an address that is a multiple of an element's size, " +
                        std::to_string(bytes) + " bytes");
}

}  // namespace

struct PHY_HIDDEN Receiver::Impl {
    detail::DeviceChain chain;
};

Receiver::Receiver(const Device& device, const Config& config, std::size_t max_slots)
    : impl_(new Impl{detail::DeviceChain(device, config, max_slots)}) {}
std::size_t Receiver::input_per_slot() const {
    return impl_->chain.plan().input;
}

std::size_t Receiver::soft_bits_per_slot() const {
    return impl_->chain.plan().soft_bits;
}

std::size_t Receiver::symbols_per_slot() const {
    return impl_->chain.plan().symbols;
}

std::size_t Receiver::channel_per_slot() const {
    return impl_->chain.plan().channel;
}

const SlotSchedule& Receiver::schedule() const {
    return impl_->chain.plan().schedule;
}

void Receiver::operator()(SymbolView input, std::uint64_t first, const ReceiverOutput& output,
                          cudaStream_t stream, DeviceSpan<const std::int8_t> priors) const {
    const phy::detail::ReceiverPlan& plan = impl_->chain.plan();
    const std::size_t slots = phy::detail::checked_slots(plan,
                                                         {.input = input.size(),
                                                          .llr = output.llr.size(),
                                                          .slots = output.slots.size(),
                                                          .symbols = output.symbols.size(),
                                                          .noise_variance = output.noise_variance.size(),
                                                          .channel = output.channel.size(),
                                                          .priors = priors.size()},
                                                         input.format(), output.llr.format());
    if (slots > max_slots())
        throw ArgumentError("input has " + std::to_string(slots) + " slots: expected at most " +
                            std::to_string(max_slots()) + ", the receiver's max_slots");
    check_alignment(plan, input);
    if (slots == 0) return;
    const CurrentDevice current(device());
    impl_->chain(input, first, slots, output, priors, stream);
}

const Device& Receiver::device() const {
    return impl_->chain.device();
}

const Receiver::Config& Receiver::config() const {
    return impl_->chain.plan().config;
}

std::size_t Receiver::max_slots() const {
    return impl_->chain.max_slots();
}

}  // namespace phy::gpu
