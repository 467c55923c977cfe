#include "phy/capture/streams.hpp"

#include <cmath>
#include <string>

#include "phy/core/error.hpp"
#include "phy/core/number_text.hpp"

namespace phy {

SoftDemapStage::Config demap_config(const CaptureDescription& capture) {
    const std::string name = capture.file.string() + ": " + capture.dataset;
    if (!capture.modulation) throw FileError(name + " has no attribute modulation");
    SoftDemapStage::Config config;
    config.modulation = *capture.modulation;
    config.input = capture.format;
    config.full_scale = static_cast<float>(capture.full_scale.value_or(0.0));
    if (capture.has_noise_per_symbol) return config;
    if (!capture.noise_variance)
        throw FileError(name + " has neither an attribute nor a dataset noise_variance");
    if (!(*capture.noise_variance > 0.0F) || !std::isfinite(*capture.noise_variance))
        throw FileError(name + " has the noise_variance " + detail::number_text(*capture.noise_variance) +
                        ", expected a finite number above 0");
    config.noise_variance = capture.noise_variance;
    return config;
}

SoftBitWriter::Config soft_bit_config(const CaptureDescription& capture, const SoftDemapStage& stage) {
    const SoftDemapStage::Config& config = stage.config();
    return {.symbols = capture.symbols,
            .format = config.output,
            .modulation = config.modulation,
            .llr_scale = config.llr_scale,
            .llr_clip = config.llr_clip,
            .noise_variance = config.noise_variance,
            .method = std::string(to_string(config.method)),
            .source = capture.file.string() + ":" + capture.dataset,
            .sample_rate = capture.sample_rate,
            .center_frequency = capture.center_frequency};
}

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
