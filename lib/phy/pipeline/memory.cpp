#include "phy/pipeline/memory.hpp"

#include <algorithm>
#include <string>

#include "phy/core/error.hpp"

namespace phy {
namespace {

std::size_t checked_item_bytes(const char* what, std::size_t bytes, std::size_t item_bytes) {
    if (item_bytes == 0 || bytes % item_bytes != 0)
        throw ArgumentError(std::string(what) + " has " + std::to_string(bytes) +
                            " bytes: expected a multiple of " + std::to_string(item_bytes));
    return item_bytes;
}

}  // namespace

MemorySource::MemorySource(std::span<const std::byte> bytes, std::size_t item_bytes)
    : bytes_(bytes), item_bytes_(checked_item_bytes("memory source", bytes.size(), item_bytes)) {}

std::span<const std::byte> MemorySource::view(const Chunk& chunk) {
    return bytes_.subspan(static_cast<std::size_t>(chunk.first) * item_bytes_, chunk.items * item_bytes_);
}

std::size_t MemorySource::fill(const Chunk& chunk, std::span<std::byte> input) {
    std::ranges::copy(view(chunk), input.begin());
    return chunk.items;
}

MemorySink::MemorySink(std::span<std::byte> bytes, std::size_t item_bytes)
    : bytes_(bytes), item_bytes_(checked_item_bytes("memory sink", bytes.size(), item_bytes)) {}

std::span<std::byte> MemorySink::view(const Chunk& chunk) {
    const std::uint64_t room = bytes_.size() / item_bytes_;
    if (chunk.first > room || chunk.items > room - chunk.first)
        throw ArgumentError("memory sink has room for " + std::to_string(room) + " items: expected " +
                            std::to_string(chunk.first + chunk.items));
    return bytes_.subspan(static_cast<std::size_t>(chunk.first) * item_bytes_, chunk.items * item_bytes_);
}

}  // namespace phy
