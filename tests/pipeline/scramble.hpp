#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace phy_test {

/// The array of a port, beginning with a chunk's first record.
template <typename Byte>
struct ScrambleArray {
    Byte* data;
    std::size_t bytes;  ///< per record
    std::size_t items;  ///< per record
};

/// The work of a fake stage on a chunk, on a host or on a device. It depends on all bytes of the input, the
/// items' numbers and whole blocks of items.
struct Scramble {
    static constexpr std::size_t max_ports = 3;

    std::uint64_t first;  ///< the chunk's first item
    std::size_t items;    ///< of the chunk
    std::size_t granularity;
    std::uint64_t seed;  ///< of the stage
    std::size_t inputs;
    std::size_t outputs;
    std::array<ScrambleArray<const std::byte>, max_ports> in;
    std::array<ScrambleArray<std::byte>, max_ports> out;
    std::uint64_t* scratch;  ///< one number per item of the chunk, or null

    /// A number that depends on all input of an item.
    [[nodiscard]] constexpr std::uint64_t number_of(std::size_t item) const {
        std::uint64_t number = seed + (first + item + 1) * 0x9E3779B97F4A7C15U;
        for (std::size_t port = 0; port < inputs; ++port) {
            const std::byte* const record = in[port].data + item / in[port].items * in[port].bytes;
            for (std::size_t i = 0; i < in[port].bytes; ++i)
                number = (number ^ static_cast<std::uint64_t>(record[i])) * 0x100000001B3U;
        }
        return number;
    }

    /// The same from scratch memory, if it has it.
    [[nodiscard]] constexpr std::uint64_t known_number_of(std::size_t item) const {
        return scratch != nullptr ? scratch[item] : number_of(item);
    }

    /// Writes a record from its first and last item and the first and last of its block.
    constexpr void put(std::size_t port, std::size_t record) const {
        const ScrambleArray<std::byte>& array = out[port];
        const std::size_t begin = record * array.items;
        const std::size_t block = begin / granularity * granularity;
        std::uint64_t number = port + 1;
        for (const std::size_t item : {begin, std::min(begin + array.items, items) - 1, block,
                                       std::min(block + granularity, items) - 1})
            number = (number ^ known_number_of(item)) * 0xFF51AFD7ED558CCDU;
        for (std::size_t i = 0; i < array.bytes; ++i)
            array.data[record * array.bytes + i] = static_cast<std::byte>((number * (2 * i + 1)) >> 56U);
    }

    [[nodiscard]] constexpr std::size_t records(std::size_t port) const {
        return (items + out[port].items - 1) / out[port].items;
    }
};

/// Runs all of it on the host.
inline void run_scramble(const Scramble& scramble) {
    if (scramble.scratch != nullptr) {
        for (std::size_t item = 0; item < scramble.items; ++item)
            scramble.scratch[item] = scramble.number_of(item);
    }
    for (std::size_t port = 0; port < scramble.outputs; ++port) {
        for (std::size_t record = 0; record < scramble.records(port); ++record)
            scramble.put(port, record);
    }
}

}  // namespace phy_test
