#include "phy/capture/streams.hpp"

#include <string>

#include "phy/core/error.hpp"

namespace phy {

CaptureSource::CaptureSource(CaptureReader& capture, const SoftDemapStage& stage)
    : capture_(capture), stage_(stage) {
    const CaptureDescription& description = capture.description();
    const SampleFormat wanted = stage.config().input;
    if (description.format != wanted)
        throw ArgumentError("capture source: the stage takes " + std::string(to_string(wanted)) +
                            ", and the capture delivers " + std::string(to_string(description.format)));
    if (!stage.config().noise_variance && !description.has_noise_per_symbol)
        throw ArgumentError(
            "capture source: the stage takes one N0 a symbol, and the capture has no such dataset");
}

std::uint64_t CaptureSource::items() const {
    return capture_.description().symbols;
}

std::size_t CaptureSource::fill(const Chunk& chunk, std::span<std::byte> input) {
    capture_.read(chunk.first, stage_.samples_of(input, chunk.items));
    const std::span<float> noise = stage_.noise_of(input, chunk.items);
    if (!noise.empty()) capture_.read_noise(chunk.first, noise);
    return chunk.items;
}

}  // namespace phy
