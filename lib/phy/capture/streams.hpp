#pragma once

#include "phy/capture/capture.hpp"
#include "phy/core/export.hpp"
#include "phy/pipeline/pipeline.hpp"

namespace phy {

/// Feeds the symbols of a capture to a pipeline, one per item; a second, optional array has their N0.
class PHY_EXPORT CaptureSource : public Source {
public:
    /// noise_per_symbol adds the array of N0. Throws ArgumentError if the capture has no N0 per symbol. The
    /// reader must outlive the source.
    CaptureSource(CaptureReader& capture, bool noise_per_symbol);

    [[nodiscard]] std::uint64_t items() const override;

    /// The first array has the capture's format, the second is binary32.
    std::size_t fill(const Chunk& chunk, std::span<const std::span<std::byte>> arrays) override;

private:
    CaptureReader& capture_;
    bool noise_per_symbol_;
};

/// Appends the array of a stage, soft bits in the writer's format, to a file.
class PHY_EXPORT SoftBitSink : public Sink {
public:
    explicit SoftBitSink(SoftBitWriter& writer) : writer_(writer) {}

    void take(const Chunk& /*chunk*/, std::span<const std::span<const std::byte>> arrays) override {
        writer_.append(arrays[0]);
    }

private:
    SoftBitWriter& writer_;
};

}  // namespace phy
