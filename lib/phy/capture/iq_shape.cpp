#include "phy/capture/iq_shape.hpp"

#include "phy/core/file_error.hpp"

namespace phy::detail {
namespace {

bool is_odd_interleaved(const InputDataset& iq, const IqLayout& layout) {
    return layout.kind == IqLayout::Kind::interleaved && iq.dimensions().back() % 2 != 0;
}

}  // namespace

Dimensions shape_of(const InputDataset& iq, const IqLayout& layout) {
    Dimensions shape(iq.dimensions().begin(), iq.dimensions().end());
    if (layout.elements_per_symbol == 1) return shape;
    if (is_odd_interleaved(iq, layout)) return {iq.size() / 2};
    if (layout.kind == IqLayout::Kind::trailing) {
        shape.pop_back();
    } else {
        shape.back() /= 2;
    }
    return shape;
}

std::uint64_t antennas_of(CaptureKind kind, const InputDataset& iq, const IqLayout& layout,
                          const Dimensions& shape) {
    if (kind == CaptureKind::symbols) return 1;
    const std::size_t rank = kind == CaptureKind::grid ? 3 : 2;
    const bool has_rank = shape.size() == rank || shape.size() == rank - 1;
    if (!has_rank || is_odd_interleaved(iq, layout))
        throw file_error(iq.name(),
                         "is " + describe(iq.type(), iq.dimensions()) + ": expected " +
                             (kind == CaptureKind::grid ? "a grid of (antennas, OFDM symbols, subcarriers)"
                                                        : "samples of (antennas, samples)") +
                             ", the first dimension left out for one antenna");
    return shape.size() == rank ? shape.front() : 1;
}

}  // namespace phy::detail
