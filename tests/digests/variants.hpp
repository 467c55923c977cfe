#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "digests/outputs.hpp"

/// The lines of digests.txt.
namespace phy_test {

const std::vector<std::string>& modulations();

/// Soft bits of a call.
struct SoftLine {
    std::string name;
    SoftCall call;
    std::size_t symbols;
};

/// soft/: every combination of settings that select code, for one modulation. Lines with the same table are
/// neighbours.
std::vector<SoftLine> soft_lines(const std::string& modulation);

/// scaled/: other values of llr_scale, llr_clip and full_scale than the defaults.
std::vector<SoftLine> scaled_lines();

/// gain/: amplitudes that are not 1.
std::vector<SoftLine> gain_lines();

/// large/: enough soft bits that a CPU bypasses its caches.
std::vector<SoftLine> large_lines();

/// slot/: as one slot, from symbol 0 on.
std::vector<SoftLine> slot_lines();

/// stage/: through a pipeline.
std::vector<SoftLine> stage_lines();

/// descrambled/: descrambled by the demapper.
std::vector<SoftLine> descrambled_lines();

/// batch/: many calls of all modulations at once.
struct BatchLine {
    std::string name;
    std::vector<SoftCall> calls;
    std::vector<std::size_t> symbols;  ///< of each
};
std::vector<BatchLine> batch_lines();

/// map/: symbols of one call.
struct MapLine {
    std::string name;
    MapCall call;
};
std::vector<MapLine> map_lines();

}  // namespace phy_test
