#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "phy/capture/write/slot_writer.hpp"
#include "phy/files/common.hpp"
#include "phy/measure/soft_bit_meter.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/receiver/stage.hpp"

namespace phy::detail {

/// Takes the output of a ReceiveStage: writes it if there is a writer, counts saturated soft bits, counts bit
/// errors if there are transmitted codewords, and keeps the measurements of each slot.
class ReceivedSink : public Sink {
public:
    struct Config {
        const ReceiveStage::Config& stage;
        SlotWriter* writer = nullptr;
        bool writes_llr = true;
        CaptureReader* codewords = nullptr;
        std::uint64_t rows = 0;  ///< transmitted codewords
        std::function<void(std::uint64_t)> progress = {};
    };

    explicit ReceivedSink(const Config& config)
        : config_(config), measure_(fastest_host(), {.llr = config.stage.receiver.llr}) {}

    void take(const Chunk& chunk, std::span<const std::span<const std::byte>> arrays) override;

    [[nodiscard]] const std::vector<ReceivedSlot>& slots() const { return slots_; }
    [[nodiscard]] std::uint64_t bit_errors() const { return bit_errors_; }
    [[nodiscard]] std::uint64_t saturated() const { return saturated_; }
    [[nodiscard]] std::uint64_t compared_bits() const { return compared_bits_; }

private:
    void measure(const Chunk& chunk, std::span<const std::byte> llr);
    void write(std::span<const std::span<const std::byte>> arrays);

    Config config_;
    SoftBitMeter measure_;
    std::vector<std::uint8_t> codeword_;
    std::vector<ReceivedSlot> slots_;
    std::uint64_t bit_errors_ = 0;
    std::uint64_t compared_bits_ = 0;
    std::uint64_t saturated_ = 0;
};

}  // namespace phy::detail
