#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/pipeline/pipeline.hpp"

namespace phy {

/// A source whose items are in memory: one array per input port of a stage. On CUDA, copies from pinned
/// memory (PinnedBuffer) run at full speed; copies from other memory are slower.
class PHY_EXPORT MemorySource : public Source {
public:
    /// ports: Stage::inputs(). The array with records for the fewest items determines the number of items; it
    /// must hold whole records, and the others the bytes for as many items. Throws ArgumentError otherwise,
    /// without ports, and unless there is one array per port.
    MemorySource(std::vector<Port> ports, std::vector<std::span<const std::byte>> arrays);

    [[nodiscard]] std::uint64_t items() const override { return items_; }
    [[nodiscard]] bool view(const Chunk& chunk, std::span<std::span<const std::byte>> arrays) override;
    std::size_t fill(const Chunk& chunk, std::span<const std::span<std::byte>> arrays) override;

private:
    std::vector<Port> ports_;
    std::vector<std::span<const std::byte>> arrays_;
    std::uint64_t items_;
};

/// A sink that keeps the output of all items in memory: one array per output port of a stage. For CUDA see
/// MemorySource.
class PHY_EXPORT MemorySink : public Sink {
public:
    /// ports: Stage::outputs(). Throws ArgumentError unless there is one array of whole records per port.
    MemorySink(std::vector<Port> ports, std::vector<std::span<std::byte>> arrays);

    /// Throws ArgumentError if the chunk does not fit.
    [[nodiscard]] bool view(const Chunk& chunk, std::span<std::span<std::byte>> arrays) override;
    void take(const Chunk& /*chunk*/, std::span<const std::span<const std::byte>> /*arrays*/) override {}

private:
    std::vector<Port> ports_;
    std::vector<std::span<std::byte>> arrays_;
};

}  // namespace phy
