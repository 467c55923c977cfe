#include "phy/files/receive/slot_sink.hpp"

#include <cstring>

namespace phy::detail {
namespace {

/// Arrays of a pipeline are aligned for any such type.
template <typename T>
std::span<const T> elements_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

}  // namespace

void ReceivedSink::take(const Chunk& chunk, std::span<const std::span<const std::byte>> arrays) {
    const std::size_t before = slots_.size();
    slots_.resize(before + chunk.items);
    std::memcpy(slots_.data() + before, arrays[1].data(), chunk.items * sizeof(ReceivedSlot));
    measure(chunk, arrays[0]);
    if (config_.writer) write(arrays);
    if (config_.progress) config_.progress(chunk.first + chunk.items);
}

void ReceivedSink::measure(const Chunk& chunk, std::span<const std::byte> llr) {
    const SoftBitFormat format = config_.stage.receiver.format;
    const std::size_t bytes = llr.size() / chunk.items;
    codeword_.resize(bytes / size_of(format));
    for (std::size_t i = 0; i < chunk.items; ++i) {
        const SoftBitView of_slot(format, llr.subspan(i * bytes, bytes));
        if (chunk.first + i >= config_.rows) {
            saturated_ += measure_(of_slot).saturated;
            continue;
        }
        config_.codewords->read_codeword(chunk.first + i, codeword_);
        const SoftBitSums sums = measure_(of_slot, codeword_);
        saturated_ += sums.saturated;
        bit_errors_ += sums.bit_errors;
        compared_bits_ += codeword_.size();
    }
}

void ReceivedSink::write(std::span<const std::span<const std::byte>> arrays) {
    std::size_t next = 2;
    std::span<const cf32> symbols;
    std::span<const float> noise;
    std::span<const cf32> channel;
    if (config_.stage.symbols) {
        symbols = elements_of<cf32>(arrays[next++]);
        noise = elements_of<float>(arrays[next++]);
    }
    if (config_.stage.channel) channel = elements_of<cf32>(arrays[next++]);
    const auto llr = config_.writes_llr ? arrays[0] : std::span<const std::byte>();
    config_.writer->append(llr, symbols, noise, channel);
}

}  // namespace phy::detail
