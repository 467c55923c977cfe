#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "phy/capture/write/slot_writer.hpp"
#include "phy/files/common.hpp"
#include "phy/files/receive/transport_blocks.hpp"
#include "phy/files/receive/uci.hpp"
#include "phy/measure/soft_bit_meter.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/receiver/stage.hpp"

namespace phy::detail {

/// Transmitted codewords.
struct Truth {
    CaptureReader* reader = nullptr;
    std::uint64_t first = 0;  ///< row of the first received slot
};

/// Takes the output of a ReceiveStage: writes it if there is a writer, counts saturated soft bits, counts bit
/// errors if there are transmitted codewords, and keeps the measurements of each slot. Takes that of a
/// ReceiveAndDecodeStage too, and keeps the results of its transport blocks.
class ReceivedSink : public Sink {
public:
    struct Config {
        const ReceiveStage::Config& stage;
        SlotWriter* writer = nullptr;
        bool writes_llr = true;
        std::size_t decoded = 0;  ///< the first output of the decoder; 0: none
        bool writes_payload = false;
        UciReader& uci;
        bool writes_uci = false;
        Truth truth = {};
        std::uint64_t rows = 0;  ///< of truth
        std::function<void(std::uint64_t)> progress = {};
    };

    explicit ReceivedSink(const Config& config)
        : config_(config), measure_(fastest_host(), {.llr = config.stage.receiver.llr}) {}

    void take(const Chunk& chunk, std::span<const std::span<const std::byte>> arrays) override;

    [[nodiscard]] const std::vector<ReceivedSlot>& slots() const { return slots_; }
    /// Per slot with a transmitted codeword.
    [[nodiscard]] const std::vector<std::uint64_t>& bit_errors() const { return bit_errors_; }
    [[nodiscard]] std::uint64_t saturated() const { return saturated_; }
    [[nodiscard]] std::uint64_t compared_bits() const { return compared_bits_; }
    [[nodiscard]] const std::vector<DecodedBlock>& blocks() const { return blocks_; }

private:
    void measure(const Chunk& chunk, std::span<const std::byte> llr);
    void write(std::span<const std::span<const std::byte>> arrays);
    void take_blocks(std::span<const std::byte> payload, std::span<const std::byte> results);

    Config config_;
    SoftBitMeter measure_;
    std::vector<std::uint8_t> codeword_;
    std::vector<ReceivedSlot> slots_;
    std::vector<DecodedBlock> blocks_;
    std::vector<std::uint64_t> bit_errors_;
    std::uint64_t compared_bits_ = 0;
    std::uint64_t saturated_ = 0;
};

}  // namespace phy::detail
