#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/pipeline/pipeline.hpp"

namespace phy {

/// Items that all lie in memory: an array for each input port of a stage. On CUDA, pinned memory
/// (PinnedBuffer) is copied from at full speed, other memory is not.
class PHY_EXPORT MemorySource : public Source {
public:
    /// ports are Stage::inputs(). The array whose records are for the fewest items, the first of several,
    /// says how many items there are. Throws ArgumentError unless there is a port, there is an array for each
    /// port, that one holds whole records and the others have the bytes of as many items.
    MemorySource(std::vector<Port> ports, std::vector<std::span<const std::byte>> arrays);

    [[nodiscard]] std::uint64_t items() const override { return items_; }
    [[nodiscard]] bool view(const Chunk& chunk, std::span<std::span<const std::byte>> arrays) override;
    std::size_t fill(const Chunk& chunk, std::span<const std::span<std::byte>> arrays) override;

private:
    std::vector<Port> ports_;
    std::vector<std::span<const std::byte>> arrays_;
    std::uint64_t items_;
};

/// Room in memory for the stage's bytes of all items, an array for each output port. On CUDA as MemorySource.
class PHY_EXPORT MemorySink : public Sink {
public:
    /// ports are Stage::outputs(). Throws ArgumentError unless there is an array of whole records for each
    /// port.
    MemorySink(std::vector<Port> ports, std::vector<std::span<std::byte>> arrays);

    /// Throws ArgumentError if there is no room for the chunk.
    [[nodiscard]] bool view(const Chunk& chunk, std::span<std::span<std::byte>> arrays) override;
    void take(const Chunk& /*chunk*/, std::span<const std::span<const std::byte>> /*arrays*/) override {}

private:
    std::vector<Port> ports_;
    std::vector<std::span<std::byte>> arrays_;
};

}  // namespace phy
