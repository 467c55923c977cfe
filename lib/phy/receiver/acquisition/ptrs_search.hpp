#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/dmrs/slot_allocation.hpp"

namespace phy::detail {

/// Where PT-RS are, if the link has them elsewhere or not at all.
struct FoundPtrs {
    int subcarrier = 0;   ///< of a resource block
    int first_block = 0;  ///< of the carrier, the lowest one with PT-RS
    int frequency_density = 2;
    std::optional<int> time_density = {};  ///< none: not clear
    std::optional<int> port = {};          ///< of a layer; none: PT-RS of no layer are there
    int resource_element_offset = 0;       ///< for that port
};

struct PtrsSigns {
    bool are_missing = false;  ///< the link has PT-RS, the signal has none
    std::optional<FoundPtrs> found = {};
    std::optional<PtrsConfig> precoded = {};  ///< the same with transform precoding
};

/// Looks for PT-RS in data symbols, by no more than this: they repeat the first DM-RS on their subcarrier, so
/// that the products of both have one phase in all resource blocks. Those of data have any.
class PtrsSearch {
public:
    explicit PtrsSearch(const SlotAllocation& allocation);

    /// grid: of a slot with DM-RS, (antennas, symbols, subcarriers).
    void add(std::span<const cf32> grid, std::size_t antennas);

    /// pilot_coherence: of DM-RS; noise hides PT-RS if it is low. PT-RS that chance shows with a probability
    /// above about 1e-8 are not found.
    [[nodiscard]] PtrsSigns signs(double pilot_coherence) const;

private:
    static constexpr std::size_t comb = 4;  ///< at most, resource blocks from one with PT-RS to the next

    /// Sums of unit products over resource blocks that lie `comb` apart.
    using Sums = std::array<std::array<std::complex<double>, comb>, subcarriers_per_resource_block>;
    using SlotSums = std::array<Sums, symbols_per_slot>;

    /// Their squares over the number of blocks: 1 by chance.
    using Powers = std::array<std::array<double, comb>, subcarriers_per_resource_block>;

    /// The resource blocks with PT-RS on a subcarrier, by their index modulo comb.
    struct Pattern {
        int subcarrier = 0;
        std::array<bool, comb> has = {};
    };

    void add_symbol(std::span<const cf32> grid, std::size_t antennas, std::size_t symbol, Sums& sums);
    [[nodiscard]] bool is_repetition(const SlotSums& slot) const;
    [[nodiscard]] double blocks_at(std::size_t offset) const;
    [[nodiscard]] double independent(const std::vector<int>& symbols) const;
    [[nodiscard]] double sure_power(const std::vector<int>& symbols) const;
    [[nodiscard]] double mean_power(const std::vector<int>& symbols, std::size_t subcarrier,
                                    std::size_t offset) const;
    [[nodiscard]] bool is_there(int time_density, std::size_t subcarrier, std::size_t offset) const;
    [[nodiscard]] std::vector<Pattern> expected() const;
    [[nodiscard]] std::vector<Pattern> found() const;
    [[nodiscard]] std::optional<int> time_density_of(const Pattern& pattern) const;
    [[nodiscard]] bool lacks(const std::vector<Pattern>& of_link) const;
    [[nodiscard]] FoundPtrs description_of(const std::vector<Pattern>& patterns) const;

    SlotAllocation allocation_;
    std::vector<int> blocks_;  ///< ascending
    std::array<Powers, symbols_per_slot> powers_ = {};
    double slots_ = 0.0;
    std::vector<SlotSums> different_;  ///< those slots that repeat no earlier one
};

}  // namespace phy::detail
