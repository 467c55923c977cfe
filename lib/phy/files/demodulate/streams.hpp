#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "phy/capture/streams.hpp"
#include "phy/files/common.hpp"
#include "phy/files/demodulate/spread_blocks.hpp"
#include "phy/files/demodulate/symbol_sample.hpp"
#include "phy/measure/soft_bit_meter.hpp"

namespace phy::detail {

/// Transmitted bits to compare with, one per byte: those of some symbols of each chunk in flight.
struct Truth {
    SpreadBlocks symbols;                         ///< the compared ones
    std::vector<std::vector<std::uint8_t>> bits;  ///< per buffer set; empty if nothing is compared
};

/// Also reads the transmitted bits, and keeps symbols for the check.
class TruthfulSource : public CaptureSource {
public:
    TruthfulSource(CaptureReader& capture, bool noise_per_symbol, Truth& truth, SymbolSample& sample)
        : CaptureSource(capture, noise_per_symbol), capture_(capture), truth_(truth), sample_(sample) {}

    std::size_t fill(const Chunk& chunk, std::span<const std::span<std::byte>> arrays) override;

private:
    void read_truth(const Chunk& chunk);

    CaptureReader& capture_;
    Truth& truth_;
    SymbolSample& sample_;
};

/// Compares bits, writes if there is a writer, and reports progress.
class ComparingSink : public Sink {
public:
    /// soft_bits: per item.
    ComparingSink(std::optional<SoftBitWriter>& writer, const Truth& truth, SoftBitFormat format,
                  std::size_t soft_bits_of_item, std::function<void(std::uint64_t)> progress);

    void take(const Chunk& chunk, std::span<const std::span<const std::byte>> arrays) override;

    [[nodiscard]] std::uint64_t compared() const { return compared_; }
    [[nodiscard]] std::uint64_t bit_errors() const { return bit_errors_; }

private:
    void compare(const Chunk& chunk, SoftBitView soft_bits);

    std::optional<SoftBitWriter>& writer_;
    const Truth& truth_;
    SoftBitFormat format_;
    std::size_t soft_bits_of_item_;
    std::function<void(std::uint64_t)> progress_;
    SoftBitMeter measure_{fastest_host(), {}};
    std::uint64_t compared_ = 0;
    std::uint64_t bit_errors_ = 0;
};

}  // namespace phy::detail
