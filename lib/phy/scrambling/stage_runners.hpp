#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "phy/scrambling/stage.hpp"

namespace phy::detail {

/// Calls piece(soft bits before it in the chunk, soft bits, index of the first in its codeword) for the part
/// of each codeword in a chunk of items.
template <typename Piece>
void for_codewords(const DescrambleStage::Config& config, const Chunk& chunk, const Piece& piece) {
    const std::uint64_t first = config.first + chunk.first * config.soft_bits_of_item;
    const std::uint64_t count = chunk.items * config.soft_bits_of_item;
    for (std::uint64_t done = 0; done < count;) {
        const std::uint64_t in_codeword =
            config.codeword == 0 ? first + done : (first + done) % config.codeword;
        const std::uint64_t now =
            config.codeword == 0 ? count : std::min(count - done, config.codeword - in_codeword);
        piece(done, now, in_codeword);
        done += now;
    }
}

std::unique_ptr<StageRunner> make_descramble_on_device(const DescrambleStage::Config& config, int device);

}  // namespace phy::detail
