#pragma once

#include "phy/capture/capture.hpp"
#include "phy/pipeline/soft_demap_stage.hpp"

namespace phy {

/// How to demap a capture: its modulation, format, full scale and N0, one a symbol if it has that. Throws
/// FileError if it says no modulation or no N0 that is finite and positive.
SoftDemapStage::Config demap_config(const CaptureDescription& capture);

/// What to write when it is demapped so.
SoftBitWriter::Config soft_bit_config(const CaptureDescription& capture, const SoftDemapStage& stage);

/// The symbols of a capture, and each one's N0 where the stage wants it, for a pipeline.
class CaptureSource : public Source {
public:
    /// The stage takes the capture's format, and one N0 a symbol only if the capture has that
    /// (ArgumentError). Both must outlive the source.
    CaptureSource(CaptureReader& capture, const SoftDemapStage& stage);

    [[nodiscard]] std::uint64_t items() const override;
    std::size_t fill(const Chunk& chunk, std::span<std::byte> input) override;

private:
    CaptureReader& capture_;
    const SoftDemapStage& stage_;
};

/// Appends soft bits to a file, whose format is the stage's.
class SoftBitSink : public Sink {
public:
    explicit SoftBitSink(SoftBitWriter& writer) : writer_(writer) {}

    void take(const Chunk& /*chunk*/, std::span<const std::byte> output) override { writer_.append(output); }

private:
    SoftBitWriter& writer_;
};

}  // namespace phy
