#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "phy/core/integers.hpp"
#include "phy/pipeline/stage.hpp"

namespace phy::detail {

/// The ports of a stage. Kept because the stage builds the lists at each call.
struct StagePorts {
    std::vector<Port> inputs;
    std::vector<Port> outputs;
};

/// Throws ArgumentError, which begins with the owner, for ports with empty or equal names, and for records of
/// 0 bytes or for 0 items.
void check_ports(const std::string& owner, const std::vector<Port>& ports);

/// The ports of a stage after the same check. Also throws unless blocks of its granularity hold whole
/// records.
StagePorts checked_ports(const Stage& stage);

/// The layout of the arrays of several ports in one block of memory.
class PortLayout {
public:
    /// Arrays begin at multiples of alignment.
    PortLayout(std::vector<Port> ports, std::size_t alignment)
        : ports_(std::move(ports)), alignment_(alignment) {}

    [[nodiscard]] const std::vector<Port>& ports() const { return ports_; }

    /// Bytes to the end of the last array.
    [[nodiscard]] std::size_t bytes(std::size_t items) const {
        std::size_t end = 0;
        for (const Port& port : ports_)
            end = round_up(end, alignment_) + port.bytes_of(items);
        return end;
    }

    /// Sets the arrays to the parts of the block for this many items. Span: a span of bytes in any memory.
    template <typename Span>
    void divide(Span block, std::size_t items, std::span<Span> arrays) const {
        std::size_t end = 0;
        for (std::size_t i = 0; i < ports_.size(); ++i) {
            const std::size_t first = round_up(end, alignment_);
            const std::size_t bytes = ports_[i].bytes_of(items);
            arrays[i] = block.subspan(first, bytes);
            end = first + bytes;
        }
    }

private:
    std::vector<Port> ports_;
    std::size_t alignment_;
};

/// The alignments that HostWork and DeviceWork guarantee, in bytes.
inline constexpr std::size_t host_alignment = 64;
inline constexpr std::size_t device_alignment = 256;

}  // namespace phy::detail
