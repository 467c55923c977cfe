#include "phy/receiver/link/mcs.hpp"

#include <algorithm>
#include <iterator>

namespace phy::detail {
namespace {

constexpr Modulation modulations[] = {Modulation::qpsk, Modulation::qam16, Modulation::qam64,
                                      Modulation::qam256, Modulation::qam1024};

/// TS 38.214 tables 5.1.3.1-1 to 5.1.3.1-4, 6.1.4.1-1 and 6.1.4.1-2.
constexpr McsTable tables[] = {
    {"qam64", pdsch | pusch, 0, {10, 17, 29, 29, 29}, {120, 157, 193, 251, 308, 379, 449, 526, 602, 679,
                                                       340, 378, 434, 490, 553, 616, 658, 438, 466, 517,
                                                       567, 616, 666, 719, 772, 822, 873, 910, 948}},
    {"qam256", pdsch | pusch | precoded_pusch, 0, {5, 11, 20, 28, 28}, {120, 193, 308, 449, 602, 378,   434,
                                                                        490, 553, 616, 658, 466, 517,   567,
                                                                        616, 666, 719, 772, 822, 873,   682.5,
                                                                        711, 754, 797, 841, 885, 916.5, 948}},
    {"qam64LowSE", pdsch | pusch, 0, {15, 21, 29, 29, 29}, {30,  40,  50,  64,  78,  99,  120, 157, 193, 251,
                                                            308, 379, 449, 526, 602, 340, 378, 434, 490, 553,
                                                            616, 438, 466, 517, 567, 616, 666, 719, 772}},
    {"qam1024", pdsch, 0, {3, 6, 15, 23, 27}, {120, 193, 449, 378,   490, 616,   466,   517,   567,
                                               616, 666, 719, 772,   822, 873,   682.5, 711,   754,
                                               797, 841, 885, 916.5, 948, 805.5, 853,   900.5, 948}},
    {"qam64", precoded_pusch, 2, {10, 17, 28, 28, 28}, {240, 314, 193, 251, 308, 379, 449, 526, 602, 679,
                                                        340, 378, 434, 490, 553, 616, 658, 466, 517, 567,
                                                        616, 666, 719, 772, 822, 873, 910, 948}},
    {"qam64LowSE", precoded_pusch, 6, {16, 24, 28, 28, 28}, {60,  80,  100, 128, 156, 198, 120, 157, 193, 251,
                                                             308, 379, 449, 526, 602, 679, 378, 434, 490, 553,
                                                             616, 658, 699, 772, 567, 616, 666, 772}}};

}  // namespace

McsUse mcs_use(const Link& link) {
    if (link.direction == Direction::downlink) return pdsch;
    return link.allocation.dmrs.transform_precoding ? precoded_pusch : pusch;
}

Mcs McsTable::at(int index, bool has_pi2_bpsk) const {
    const double code_rate = code_rates_x1024.at(static_cast<std::size_t>(index)) / 1024;
    if (index < pi2_bpsk_indices)
        return has_pi2_bpsk ? Mcs{Modulation::pi2_bpsk, code_rate} : Mcs{Modulation::qpsk, code_rate / 2};
    const auto* const end = std::upper_bound(ends.begin(), ends.end(), index);
    return {modulations[end - ends.begin()], code_rate};
}

std::span<const McsTable> mcs_tables() {
    return tables;
}

std::vector<McsIndex> mcs_indices(const Link& link) {
    std::vector<McsIndex> indices;
    for (const McsTable& table : tables) {
        if ((table.uses & mcs_use(link)) == 0) continue;
        for (int index = 0; index < table.ends.back(); ++index) {
            const Mcs mcs = table.at(index, link.modulation == Modulation::pi2_bpsk);
            if (mcs.modulation == link.modulation) indices.push_back({&table, index, mcs.code_rate});
        }
    }
    return indices;
}

}  // namespace phy::detail
