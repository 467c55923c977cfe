#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/pipeline/stage.hpp"

namespace phy {

/// How to descramble the soft bits of a stream of symbols: with gold_sequence(), which starts again at every
/// codeword (TS 38.211 clauses 6.3.1.1 and 7.3.1.1).
struct PHY_EXPORT Descrambling {
    std::uint32_t c_init = 0;  ///< ScramblingIdentity::c_init()
    /// Symbols per codeword, for pi/2-BPSK an even number. None: the stream is one codeword.
    std::optional<std::uint64_t> codeword_symbols = {};
    std::uint64_t first_symbol = 0;  ///< index of the stream's first symbol in its codeword
};

/// Soft demapping of a stream of symbols: phy::SoftDemapper on a CPU, phy::gpu::SoftDemapper on CUDA. An item
/// is a symbol. Inputs: "symbols", and "noise_variance" (binary32) if each symbol has its own N0. Output:
/// "llr".
class PHY_EXPORT SoftDemapStage : public Stage {
public:
    struct Config {
        DemapperConfig demapper = {};
        SampleFormat input = SampleFormat::cf32;
        SoftBitFormat output = SoftBitFormat::int8;
        std::optional<float> noise_variance = {};  ///< N0 of all symbols; none: one per symbol
        bool counts = false;                       ///< enables counters(), which costs some speed
        std::optional<Descrambling> descramble = {};
    };

    /// Throws ArgumentError if a value is out of its range.
    explicit SoftDemapStage(const Config& config);

    /// Returns the counts of all completed runs if Config::counts is set, else zeros.
    [[nodiscard]] DemapCounters counters() const;

    [[nodiscard]] const Config& config() const;

    [[nodiscard]] std::string_view name() const override { return "demap"; }
    [[nodiscard]] std::vector<Port> inputs() const override;
    [[nodiscard]] std::vector<Port> outputs() const override;
    [[nodiscard]] std::size_t scratch_bytes(std::size_t items) const override;
    std::unique_ptr<StageRunner> on(const Place& place) override;

private:
    struct Impl;
    detail::Owned<Impl, "SoftDemapStage"> impl_;
};

}  // namespace phy
