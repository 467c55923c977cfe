#pragma once

#include "phy/capture/capture.hpp"
#include "phy/core/export.hpp"
#include "phy/pipeline/pipeline.hpp"

namespace phy {

/// The symbols of a capture for a pipeline, an item each; as a second array, where it is asked for, their N0.
class PHY_EXPORT CaptureSource : public Source {
public:
    /// Throws ArgumentError where N0 is asked for and the capture has none for each symbol. The reader must
    /// outlive the source.
    CaptureSource(CaptureReader& capture, bool noise_per_symbol);

    [[nodiscard]] std::uint64_t items() const override;

    /// The first array is of the capture's format, the second of binary32.
    std::size_t fill(const Chunk& chunk, std::span<const std::span<std::byte>> arrays) override;

private:
    CaptureReader& capture_;
    bool noise_per_symbol_;
};

/// Appends the one array of a stage, soft bits in the writer's format, to a file.
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
