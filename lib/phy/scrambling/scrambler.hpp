#pragma once

#include <cstdint>
#include <span>

#include "phy/core/export.hpp"
#include "phy/machine/host.hpp"
#include "phy/scrambling/gold_sequence.hpp"

/// Scrambling of TS 38.211 clauses 6.3.1.1 and 7.3.1.1. Demappers undo it on soft bits.
///
/// A call takes codewords of one length, one after another, and one c_init per codeword
/// (ScramblingIdentity::c_init()). A codeword may come in pieces: `first` is the index of the first bit of
/// the piece, and applies to all codewords of the call. Every backend, number of threads, alignment and split
/// into calls gives the same bytes.
namespace phy {

/// Adds c(i) to bit i of each codeword, modulo 2. The threads of the host share a call. Thread-safe.
class PHY_EXPORT Scrambler {
public:
    explicit Scrambler(const Host& host) : host_(host) {}

    /// Each byte holds one bit, in its least significant bit; the other bits are copied. Both arrays have one
    /// size, a multiple of c_init.size(), and may be the same array. Throws ArgumentError for other sizes and
    /// for a c_init of more than 31 bits. Allocates nothing.
    void operator()(std::span<const std::uint32_t> c_init, std::span<const std::uint8_t> bits,
                    std::span<std::uint8_t> scrambled, std::uint64_t first = 0) const;

    /// Scrambles one codeword.
    void operator()(std::uint32_t c_init, std::span<const std::uint8_t> bits,
                    std::span<std::uint8_t> scrambled, std::uint64_t first = 0) const {
        (*this)(std::span(&c_init, 1), bits, scrambled, first);
    }

    [[nodiscard]] const Host& host() const { return host_; }

private:
    Host host_;
};

}  // namespace phy
