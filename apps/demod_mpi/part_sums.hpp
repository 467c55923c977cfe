#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demod/demodulation.hpp"

namespace phy::apps {

/// Numbers of parts, which add up.
struct PartSums {
    std::uint64_t slots = 0;  ///< of samples and grids
    std::uint64_t slots_with_dmrs = 0;
    std::uint64_t soft_bits = 0;
    std::uint64_t saturated = 0;
    std::uint64_t bit_errors = 0;
    std::uint64_t compared_bits = 0;
    std::uint64_t transport_blocks = 0;
    std::uint64_t valid_transport_blocks = 0;
    std::vector<std::string> warnings;  ///< each text once

    void add(const PartSums& other);
};

/// Of a part that was made.
PartSums sums_of(const Demodulated& done);

/// A number or a warning in each line.
std::string to_text(const PartSums& sums);

/// Throws FileError for other text.
PartSums parse_sums(const std::string& text);

}  // namespace phy::apps
