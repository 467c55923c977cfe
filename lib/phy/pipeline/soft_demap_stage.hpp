#pragma once

#include <memory>
#include <optional>

#include "phy/demapper/demapper.hpp"
#include "phy/pipeline/pipeline.hpp"

namespace phy {

/// Soft demapping of a stream of symbols: phy::SoftDemapper on a CPU, phy::gpu::SoftDemapper on CUDA. An item
/// is a symbol.
class SoftDemapStage : public Stage {
public:
    struct Config {
        Modulation modulation = Modulation::qpsk;
        SampleFormat input = SampleFormat::cf32;
        SoftBitFormat output = SoftBitFormat::int8;
        std::optional<float> noise_variance = {};  ///< N0 of all symbols; none: each has its own

        // As in SoftDemapper::Config.
        Method method = Method::max_log;
        Evaluator evaluator = Evaluator::automatic;
        float llr_scale = 6.0F;
        int llr_clip = 127;
        float full_scale = 0.0F;
        int threads = 1;  ///< of a CPU

        bool counts = false;  ///< keep counters(), which costs some of the speed
    };

    /// Throws ArgumentError if a value is out of its range.
    explicit SoftDemapStage(const Config& config);
    ~SoftDemapStage() override;
    SoftDemapStage(SoftDemapStage&&) noexcept;
    SoftDemapStage& operator=(SoftDemapStage&&) noexcept;

    /// Where the samples of a chunk of that many symbols lie in its input.
    [[nodiscard]] SymbolSpan samples_of(std::span<std::byte> input, std::size_t symbols) const;

    /// Where each symbol's N0 lies; nothing where one serves all.
    [[nodiscard]] std::span<float> noise_of(std::span<std::byte> input, std::size_t symbols) const;

    /// The soft bits of a chunk's output.
    [[nodiscard]] SoftBitSpan soft_bits_of(std::span<std::byte> output) const;

    /// Of all chunks of all runs, with Config::counts; else zeros. While a pipeline runs the stage, they may
    /// be of any part of its chunks.
    [[nodiscard]] DemapCounters counters() const;

    [[nodiscard]] const Config& config() const;

    [[nodiscard]] std::string_view name() const override { return "demap"; }
    [[nodiscard]] std::size_t input_bytes(std::size_t items) const override;
    [[nodiscard]] std::size_t output_bytes(std::size_t items) const override;
    void prepare(const Backend& backend) override;
    void run(const Chunk& chunk, std::span<const std::byte> input, std::span<std::byte> output,
             const Place& place) override;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace phy
