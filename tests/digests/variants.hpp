#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "digests/outputs.hpp"

/// The lines of digests.txt.
namespace phy_test {

const std::vector<std::string>& modulations();

/// Soft bits of one call.
struct SoftLine {
    std::string name;
    SoftCall call;
    std::size_t symbols;
};

/// soft/: every combination of what selects code, for one modulation. Lines that use one table are
/// neighbours.
std::vector<SoftLine> soft_lines(const std::string& modulation);

/// scaled/: values of llr_scale, llr_clip and full_scale that are not the defaults.
std::vector<SoftLine> scaled_lines();

/// large/: so many soft bits that a CPU writes them past its caches.
std::vector<SoftLine> large_lines();

/// slot/: as one slot, from symbol 0 on.
std::vector<SoftLine> slot_lines();

/// stage/: through a pipeline.
std::vector<SoftLine> stage_lines();

/// descrambled/: descrambled where they are made.
std::vector<SoftLine> descrambled_lines();

/// batch/: many calls of all modulations at once.
struct BatchLine {
    std::string name;
    std::vector<SoftCall> calls;
    std::vector<std::size_t> symbols;  ///< of each
};
std::vector<BatchLine> batch_lines();

/// hard/: bits of one call.
struct HardLine {
    std::string name;
    std::string modulation;
    std::string input;
};
std::vector<HardLine> hard_lines();

/// map/: symbols of one call.
struct MapLine {
    std::string name;
    MapCall call;
};
std::vector<MapLine> map_lines();

}  // namespace phy_test
