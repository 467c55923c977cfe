#include "phy/capture/streams.hpp"

#include "phy/core/error.hpp"

namespace phy {

CaptureSource::CaptureSource(CaptureReader& capture, bool noise_per_symbol)
    : capture_(capture), noise_per_symbol_(noise_per_symbol) {
    if (noise_per_symbol && !capture.description().has_noise_per_symbol)
        throw ArgumentError("capture source: one N0 per symbol: expected a capture with such a dataset");
}

std::uint64_t CaptureSource::items() const {
    return capture_.description().symbols;
}

std::size_t CaptureSource::fill(const Chunk& chunk, std::span<const std::span<std::byte>> arrays) {
    capture_.read(chunk.first, SymbolSpan(capture_.description().format, arrays[0]));
    if (noise_per_symbol_) {
        auto* const values = reinterpret_cast<float*>(arrays[1].data());
        capture_.read_noise(chunk.first, {values, arrays[1].size() / sizeof(float)});
    }
    return chunk.items;
}

}  // namespace phy
