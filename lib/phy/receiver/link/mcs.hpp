#pragma once

#include <array>
#include <span>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/modulation.hpp"
#include "phy/receiver/link.hpp"

/// The MCS tables of TS 38.214 clauses 5.1.3.1 and 6.1.4.1.
namespace phy::detail {

/// Where an MCS table is used.
enum McsUse : unsigned { pdsch = 1, pusch = 2, precoded_pusch = 4 };

McsUse mcs_use(const Link& link);

struct Mcs {
    Modulation modulation;
    double code_rate;  ///< R
};

/// The first pi2_bpsk_indices are pi/2-BPSK if that is on, else QPSK, which halves their code rate. ends has
/// the index behind the last of QPSK, 16QAM, 64QAM, 256QAM and 1024QAM. Indices from the last end on have no
/// code rate.
struct McsTable {
    const char* name;
    unsigned uses;
    int pi2_bpsk_indices;
    std::array<int, 5> ends;
    std::array<double, 29> code_rates_x1024;

    [[nodiscard]] Mcs at(int index, bool has_pi2_bpsk) const;
};

/// Tables of several uses.
std::span<const McsTable> mcs_tables();

struct McsIndex {
    const McsTable* table;
    int index;
    double code_rate;
};

/// All of the link's use and modulation.
PHY_EXPORT std::vector<McsIndex> mcs_indices(const Link& link);

}  // namespace phy::detail
