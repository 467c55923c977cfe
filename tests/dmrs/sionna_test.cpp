#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dmrs/sionna_vectors.hpp"
#include "phy/dmrs/grid_mapper.hpp"
#include "phy/mapper/mapper.hpp"
#include "phy/scrambling/scrambler.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::cf32;

void expect_near(std::span<const cf32> grid, std::span<const cf32> expected) {
    ASSERT_EQ(grid.size(), expected.size());
    double largest = 0.0;
    for (std::size_t i = 0; i < grid.size(); ++i)
        largest = std::max(largest, static_cast<double>(std::abs(grid[i] - expected[i])));
    EXPECT_LE(largest, 1e-6);
}

TEST(Sionna, GridsAreThoseOfItsTransmitter) {
    for (const SionnaVector& vector : sionna_vectors()) {
        SCOPED_TRACE(vector.name);
        const phy::GridMapper map_to_grid(vector.allocation);
        const phy::Mapper modulate(phy::Host(), {.modulation = vector.modulation});
        std::vector<cf32> symbols(map_to_grid.symbols_per_slot());
        modulate(vector.codeword, symbols);
        std::vector<cf32> pilots(map_to_grid.pilots_per_slot());
        phy::dmrs_pilots(vector.allocation, vector.slot, pilots);
        std::vector<cf32> grid(map_to_grid.grid_size(), cf32(9.0F));
        map_to_grid(symbols, pilots, grid);
        expect_near(grid, vector.grid);
    }
}

/// Without scrambling, the first bits of every symbol are the first code block's, which begins with the
/// transport block from bit 2 Z_c on, where Z_c is at most 384 (TS 38.212 clauses 5.3.2 and 5.4.2.2).
TEST(Sionna, DescrambledCodewordsBeginWithTheTransportBlock) {
    for (const SionnaVector& vector : sionna_vectors()) {
        SCOPED_TRACE(vector.name);
        const std::uint32_t c_init =
            phy::ScramblingIdentity{.rnti = vector.rnti, .id = vector.scrambling_id}.c_init();
        std::vector<std::uint8_t> bits(vector.codeword.size());
        phy::Scrambler{phy::Host()}(c_init, vector.codeword, bits);
        const std::size_t qm = bits_per_symbol(vector.modulation);
        const auto& sent = vector.transport_block;
        // At most a third of a block's bits are the 2 Z_c that are not sent.
        const std::size_t compared = std::min<std::size_t>({512, bits.size() / qm, sent.size() / 2});
        std::vector<std::uint8_t> first_bits(compared);
        for (std::size_t i = 0; i < compared; ++i)
            first_bits[i] = bits[i * qm];
        const auto end = sent.begin() + static_cast<std::ptrdiff_t>(std::min(sent.size(), 768 + compared));
        const auto found = std::search(sent.begin(), end, first_bits.begin(), first_bits.end());
        EXPECT_NE(found, end);
        EXPECT_EQ((found - sent.begin()) % 2, 0);
    }
}

TEST(Sionna, DmrsSymbolsAreThoseOfItsTransmitter) {
    for (const SionnaVector& vector : sionna_vectors()) {
        EXPECT_EQ(phy::dmrs_symbols({.mapping_type = vector.mapping_type,
                                     .first_symbol = vector.allocation.first_symbol,
                                     .symbols = vector.allocation.symbols,
                                     .type_a_position = vector.type_a_position,
                                     .additional_positions = vector.additional_positions,
                                     .length = vector.allocation.dmrs.length}),
                  vector.allocation.dmrs.symbols)
            << vector.name;
    }
}

}  // namespace
