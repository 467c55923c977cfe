// One symbol at a time: the reference that every instruction set is compared with.

#include "phy/measure/host/symbol_kernels.hpp"
#include "phy/measure/math/symbol_step-inl.h"

namespace phy::detail {
namespace scalar {
namespace {

SymbolAccumulators<Ops> load(const SymbolLanes& lanes, std::size_t lane) {
    SymbolAccumulators<Ops> loaded{};
    for (unsigned k = 0; k < summed_of_symbols; ++k)
        loaded.sums[k] = lanes.sums[k][lane];
    loaded.peak = lanes.peak[lane];
    loaded.error_peak = lanes.error_peak[lane];
    return loaded;
}

void store(const SymbolAccumulators<Ops>& from, SymbolLanes& lanes, std::size_t lane) {
    for (unsigned k = 0; k < summed_of_symbols; ++k)
        lanes.sums[k][lane] = from.sums[k];
    lanes.peak[lane] = from.peak;
    lanes.error_peak[lane] = from.error_peak;
}

Decision<Ops> decision(const SymbolScale& scale, const SymbolPiece& piece, std::size_t s) {
    const bool turned = scale.rotating && (s + static_cast<std::size_t>(piece.phase)) % 2 != 0;
    const LaneScale<Ops> of_lane = lane_scale<Ops>(scale, turned ? -1.0F : 1.0F);
    const float i = piece.iq[2 * s];
    const float q = piece.iq[2 * s + 1];
    if (piece.sent != nullptr) return compare<Ops>(i, q, piece.sent[2 * s], piece.sent[2 * s + 1], of_lane);
    return scale.diagonal ? decide<Ops, true>(i, q, of_lane) : decide<Ops, false>(i, q, of_lane);
}

void add(const SymbolScale& scale, const SymbolPiece& piece, SymbolLanes& lanes) {
    for (std::size_t lane = 0; lane < symbol_tree.lanes; ++lane) {
        SymbolAccumulators<Ops> sums = load(lanes, lane);
        for (std::size_t s = lane; s < piece.symbols; s += symbol_tree.lanes) {
            const float i = piece.iq[2 * s];
            const float q = piece.iq[2 * s + 1];
            const float power = power_of<Ops>(i, q);
            if (power < scale.usable_power) {
                add_symbol<Ops>(sums, i, q, power, decision(scale, piece, s));
            } else {
                ++lanes.not_finite;
            }
        }
        store(sums, lanes, lane);
    }
}

}  // namespace
}  // namespace scalar

constinit const SymbolKernels scalar_symbol_kernels = {&scalar::add};

}  // namespace phy::detail
