#include <cstddef>
#include <cstdint>
#include <vector>

#include "fuzz/target.hpp"
#include "phy/dmrs/dmrs.hpp"
#include "phy/dmrs/grid_mapper.hpp"
#include "phy/receiver/link.hpp"
#include "phy/receiver/slot_schedule.hpp"

/// The input is the text of a link.
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's own name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto link = phy_fuzz::answer([&] { return phy::parse_link(phy_fuzz::text_of(data, size)); });
    if (!link) return 0;
    // A link that was read is valid: nothing here throws.
    phy_fuzz::require(phy::parse_link(phy::to_json(*link)) == *link,
                      "what is written is read as the same link");
    const phy::GridMapper mapper(link->allocation);
    std::vector<phy::cf32> pilots(mapper.pilots_per_slot());
    phy::dmrs_pilots(link->allocation, link->carrier.first_slot, pilots);
    const phy::SlotSchedule schedule(*link);
    if (link->coding) static_cast<void>(phy::code_blocks(phy::transport_block_config(*link)));

    phy_fuzz::answer([&] { return phy::ofdm_config(phy::complete_link(*link, 30.72e6, 3.5e9), 2); });
    return 0;
}
