#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/random.hpp"
#include "phy/phy.hpp"

namespace phy::apps {

/// Bits of a codeword to the grids of its layers.
class Transmitter {
public:
    struct Config {
        SlotAllocation allocation;
        Modulation modulation = Modulation::qpsk;
        ScramblingIdentity scrambling;
    };

    Transmitter(const Host& host, const Config& config);

    [[nodiscard]] std::size_t bits_per_slot() const { return scrambled_.size(); }

    /// slot: its number in the frame; bits: one per byte.
    void transmit(int slot, std::span<const std::uint8_t> bits);

    /// Of the last slot: data symbols, (data elements, layers), before transform precoding; pilots, as
    /// dmrs_pilots() writes them; the grid, (layers, symbols, subcarriers).
    [[nodiscard]] std::span<const cf32> symbols() const { return symbols_; }
    [[nodiscard]] std::span<const cf32> pilots() const { return pilots_; }
    [[nodiscard]] std::span<const cf32> grid() const { return grid_; }

private:
    void precode(int slot);

    Config config_;
    Scrambler scramble_;
    Mapper map_;
    std::optional<TransformPrecoder> precode_;
    GridMapper to_grid_;
    std::vector<std::uint8_t> scrambled_;
    std::vector<cf32> symbols_;
    PrecoderInput samples_;  ///< empty without transform precoding
    std::vector<cf32> precoded_;
    std::vector<cf32> ptrs_;  ///< of an OFDM symbol, precoded ones alone
    std::vector<cf32> pilots_;
    std::vector<cf32> grid_;
};

/// Random bits, one per byte.
void draw_bits(const RandomSequence& random, std::span<std::uint8_t> bits);

}  // namespace phy::apps
