#pragma once

#include <cstddef>
#include <span>

#include "phy/pipeline/pipeline.hpp"

namespace phy {

/// Items that all lie in memory, each of the same number of bytes. On CUDA, pinned memory (PinnedBuffer) is
/// copied from at full speed, other memory is not. Not for a SoftDemapStage with one N0 a symbol: its chunks
/// hold all samples and then all N0.
class MemorySource : public Source {
public:
    /// Throws ArgumentError if there are not whole items in the bytes.
    MemorySource(std::span<const std::byte> bytes, std::size_t item_bytes);

    [[nodiscard]] std::uint64_t items() const override { return bytes_.size() / item_bytes_; }
    [[nodiscard]] std::span<const std::byte> view(const Chunk& chunk) override;
    std::size_t fill(const Chunk& chunk, std::span<std::byte> input) override;

private:
    std::span<const std::byte> bytes_;
    std::size_t item_bytes_;
};

/// Room in memory for the stage's bytes of all items, the same number of each. On CUDA as MemorySource.
class MemorySink : public Sink {
public:
    /// Throws ArgumentError if there is not room for whole items.
    MemorySink(std::span<std::byte> bytes, std::size_t item_bytes);

    /// Throws ArgumentError if there is no room for the chunk.
    [[nodiscard]] std::span<std::byte> view(const Chunk& chunk) override;
    void take(const Chunk& /*chunk*/, std::span<const std::byte> /*output*/) override {}

private:
    std::span<std::byte> bytes_;
    std::size_t item_bytes_;
};

}  // namespace phy
