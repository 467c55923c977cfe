#pragma once

#include <cstddef>

#include "phy/core/export.hpp"
#include "phy/core/modulation.hpp"

/// The size of a transport block of PUSCH or PDSCH (TS 38.214 clauses 5.1.3.2 and 6.1.4.2).
namespace phy {

/// The resources and the MCS of one codeword in a slot.
struct PHY_EXPORT TransportBlockResources {
    int resource_blocks = 0;  ///< n_PRB, from 1 to 275
    int symbols = 14;         ///< N_symb^sh, from 1 to 14

    /// N_DMRS^PRB: elements of a resource block without data in DM-RS symbols, all CDM groups without data.
    int dmrs_elements = 0;

    int overhead = 0;        ///< N_oh^PRB, xOverhead of RRC: 0, 6, 12 or 18 elements of a resource block
    double code_rate = 0.0;  ///< R of the MCS, above 0 and at most 1
    Modulation modulation = Modulation::qpsk;
    int layers = 1;        ///< from 1 to 8
    double scaling = 1.0;  ///< S, of a PDSCH for paging or random access: 1, 0.5 or 0.25

    friend bool operator==(const TransportBlockResources&, const TransportBlockResources&) = default;
};

/// The size in bits. It is exact for the code rates of the MCS tables, multiples of 1/2048; one that was
/// rounded may give another size. Throws ArgumentError for a value out of its range, and if DM-RS and
/// overhead leave no element.
[[nodiscard]] PHY_EXPORT std::size_t transport_block_size(const TransportBlockResources& resources);

}  // namespace phy
