#include "phy/pipeline/memory.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "phy/core/error.hpp"
#include "phy/pipeline/ports.hpp"

namespace phy {
namespace {

void check_arrays(const std::string& what, std::size_t arrays, const std::vector<Port>& ports) {
    if (arrays != ports.size())
        throw ArgumentError(what + " has " + std::to_string(arrays) + " arrays: expected one for each of " +
                            std::to_string(ports.size()) + " ports");
    detail::check_ports(what, ports);
}

[[noreturn]] void throw_bytes(const std::string& what, const Port& port, std::size_t bytes,
                              const std::string& expected) {
    throw ArgumentError(what + " has " + std::to_string(bytes) + " bytes of port '" + port.name +
                        "': expected " + expected);
}

void check_whole_records(const std::string& what, const Port& port, std::size_t bytes) {
    if (bytes % port.bytes != 0)
        throw_bytes(what, port, bytes, "a multiple of " + std::to_string(port.bytes));
}

/// The part of a port's array that belongs to a chunk.
template <typename Byte>
std::span<Byte> part(const Port& port, std::span<Byte> array, const Chunk& chunk) {
    const auto first = static_cast<std::size_t>(chunk.first / port.items) * port.bytes;
    return array.subspan(first, port.bytes_of(chunk.items));
}

std::uint64_t count_items(const std::vector<Port>& ports,
                          const std::vector<std::span<const std::byte>>& arrays) {
    const std::string what = "memory source";
    check_arrays(what, arrays.size(), ports);
    if (ports.empty()) throw ArgumentError(what + " has no ports: expected at least 1");
    const auto finest = std::ranges::min_element(ports, {}, &Port::items);
    const std::size_t bytes = arrays[static_cast<std::size_t>(finest - ports.begin())].size();
    check_whole_records(what, *finest, bytes);
    const std::size_t items = bytes / finest->bytes * finest->items;
    for (std::size_t i = 0; i < ports.size(); ++i) {
        const std::size_t expected = ports[i].bytes_of(items);
        if (arrays[i].size() != expected)
            throw_bytes(what, ports[i], arrays[i].size(),
                        std::to_string(expected) + " for " + std::to_string(items) + " items");
    }
    return items;
}

}  // namespace

MemorySource::MemorySource(std::vector<Port> ports, std::vector<std::span<const std::byte>> arrays)
    : ports_(std::move(ports)), arrays_(std::move(arrays)), items_(count_items(ports_, arrays_)) {}

bool MemorySource::view(const Chunk& chunk, std::span<std::span<const std::byte>> arrays) {
    for (std::size_t i = 0; i < ports_.size(); ++i)
        arrays[i] = part(ports_[i], arrays_[i], chunk);
    return true;
}

std::size_t MemorySource::fill(const Chunk& chunk, std::span<const std::span<std::byte>> arrays) {
    for (std::size_t i = 0; i < ports_.size(); ++i)
        std::ranges::copy(part(ports_[i], arrays_[i], chunk), arrays[i].begin());
    return chunk.items;
}

MemorySink::MemorySink(std::vector<Port> ports, std::vector<std::span<std::byte>> arrays)
    : ports_(std::move(ports)), arrays_(std::move(arrays)) {
    check_arrays("memory sink", arrays_.size(), ports_);
    for (std::size_t i = 0; i < ports_.size(); ++i)
        check_whole_records("memory sink", ports_[i], arrays_[i].size());
}

bool MemorySink::view(const Chunk& chunk, std::span<std::span<std::byte>> arrays) {
    for (std::size_t i = 0; i < ports_.size(); ++i) {
        const Port& port = ports_[i];
        const std::uint64_t room = arrays_[i].size() / port.bytes * port.items;
        if (chunk.first > room || chunk.items > room - chunk.first)
            throw ArgumentError("memory sink has room for " + std::to_string(room) + " items of port '" +
                                port.name + "': expected " + std::to_string(chunk.first + chunk.items));
        arrays[i] = part(port, arrays_[i], chunk);
    }
    return true;
}

}  // namespace phy
