#include "phy/estimator/math/subbands.hpp"

#include <cstddef>

namespace phy::detail {
namespace {

EstimatorSubbandShape shape_of(const EstimatorLayout& layout) {
    const int blocks = layout.subcarriers / subcarriers_per_resource_block;
    return {.subcarriers = subband_blocks(layout.antennas) * subcarriers_per_resource_block,
            .count = subbands(layout.antennas, blocks),
            .used = 0,
            .pilots = 0};
}

void add_pilots(EstimatorSubbands& bands, const EstimatorLayout& layout) {
    std::vector<std::int32_t>& pilot_at = bands.pilot_at;
    pilot_at.assign(static_cast<std::size_t>(layout.subcarriers), -1);
    for (const int group : layout.groups)
        for (std::size_t m = 0; m < layout.subcarrier_of.size(); ++m)
            if (layout.subcarrier_of[m] >= 0)
                pilot_at[static_cast<std::size_t>(layout.subcarrier_of[m] + group)] = layout.pilot_of[m];
    for (const int k : layout.erased)
        pilot_at[static_cast<std::size_t>(k)] = -1;
    for (int k = 0; k < layout.subcarriers; ++k) {
        if (k % bands.subcarriers == 0) bands.first_pilot.push_back(static_cast<int>(bands.pilot.size()));
        const std::int32_t index = pilot_at[static_cast<std::size_t>(k)];
        if (index >= 0) bands.pilot.push_back({k % bands.subcarriers, index});
    }
    bands.first_pilot.push_back(static_cast<int>(bands.pilot.size()));
    bands.pilots = static_cast<int>(bands.pilot.size());
    for (int i = 0; i < bands.count; ++i)
        if (bands.pilots_of(i) > 0) ++bands.used;
}

/// The combs of a layer begin anew in each resource block.
void add_signs(EstimatorSubbands& bands, const EstimatorLayout& layout, const EstimatorStream& stream,
               bool is_negative) {
    const int layer = stream.layer[is_negative ? 1 : 0];
    if (layer < 0) return;
    const int first = layout.groups[static_cast<std::size_t>(stream.group)];
    for (int time = 0; time < layout.length; ++time) {
        float* const signs =
            &bands.signs[static_cast<std::size_t>((time * layout.layers + layer) * bands.subcarriers)];
        const float in_time = stream.in_time[static_cast<std::size_t>(time)];
        for (int k = first; k < bands.subcarriers; k += layout.spacing) {
            signs[k] = in_time;
            signs[k + layout.comb_shift] = is_negative ? -in_time : in_time;
        }
    }
}

}  // namespace

EstimatorSubbands::EstimatorSubbands(const EstimatorLayout& layout)
    : EstimatorSubbandShape(shape_of(layout)),
      signs(static_cast<std::size_t>(layout.length * layout.layers * subcarriers)) {
    add_pilots(*this, layout);
    for (const EstimatorStream& stream : layout.streams)
        for (const bool is_negative : {false, true})
            add_signs(*this, layout, stream, is_negative);
}

}  // namespace phy::detail
