#include "phy/files/receive/received_sink.hpp"

#include <cstring>

#include "phy/pipeline/operator_runner.hpp"

namespace phy::detail {

void ReceivedSink::take(const Chunk& chunk, std::span<const std::span<const std::byte>> arrays) {
    const std::size_t before = slots_.size();
    slots_.resize(before + chunk.items);
    std::memcpy(slots_.data() + before, arrays[1].data(), chunk.items * sizeof(ReceivedSlot));
    measure(chunk, arrays[0]);
    if (config_.writer) write(arrays);
    if (config_.decoded > 0) {
        take_blocks(arrays[config_.decoded], arrays[config_.decoded + 1]);
        config_.uci.take(chunk.items, arrays.subspan(config_.decoded + 2),
                         config_.writes_uci ? config_.writer : nullptr);
    }
    if (config_.progress) config_.progress(chunk.first + chunk.items);
}

void ReceivedSink::measure(const Chunk& chunk, std::span<const std::byte> llr) {
    const SoftBitFormat format = config_.stage.receiver.format;
    const std::size_t bytes = llr.size() / chunk.items;
    codeword_.resize(bytes / size_of(format));
    const std::size_t before = slots_.size() - chunk.items;
    for (std::size_t i = 0; i < chunk.items; ++i) {
        const SoftBitView of_slot(format, llr.subspan(i * bytes, bytes));
        if (before + i >= config_.rows) {
            saturated_ += measure_(of_slot).saturated;
            continue;
        }
        config_.truth.reader->read_codeword(config_.truth.first + before + i, codeword_);
        const SoftBitSums sums = measure_(of_slot, codeword_);
        saturated_ += sums.saturated;
        bit_errors_.push_back(sums.bit_errors);
        compared_bits_ += codeword_.size();
    }
}

void ReceivedSink::write(std::span<const std::span<const std::byte>> arrays) {
    std::size_t next = 2;
    std::span<const cf32> symbols;
    std::span<const float> noise;
    std::span<const cf32> channel;
    if (config_.stage.symbols) {
        symbols = elements_of<cf32>(arrays[next++], "symbols");
        noise = elements_of<float>(arrays[next++], "noise_variance");
    }
    if (config_.stage.channel) channel = elements_of<cf32>(arrays[next++], "channel");
    const auto llr = config_.writes_llr ? arrays[0] : std::span<const std::byte>();
    config_.writer->append(llr, symbols, noise, channel);
}

void ReceivedSink::take_blocks(std::span<const std::byte> payload, std::span<const std::byte> results) {
    const auto of_chunk = elements_of<DecodedBlock>(results, "results");
    blocks_.insert(blocks_.end(), of_chunk.begin(), of_chunk.end());
    if (!config_.writer || !config_.writes_payload) return;
    std::vector<std::uint8_t> crc;
    for (const DecodedBlock& block : of_chunk)
        crc.push_back(static_cast<std::uint8_t>(block.crc));
    config_.writer->append_transport_blocks(elements_of<std::uint8_t>(payload, "payload"), crc);
}

}  // namespace phy::detail
