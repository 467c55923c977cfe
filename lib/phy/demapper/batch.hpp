#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "phy/demapper/demapper.hpp"

namespace phy {

/// One piece of a batch: symbols of one modulation and noise, and where their soft bits go.
struct Allocation {
    Modulation modulation;
    SymbolView symbols;
    NoiseVariance noise;
    SoftBitSpan llr;                 ///< symbols.size() * Qm
    std::uint64_t first_symbol = 0;  ///< see SoftDemapper
};

/// Many allocations, such as the users of a slot, in one call. The bytes are those of SoftDemapper, which
/// says what the configuration means. Not thread-safe: one demapper a thread.
class BatchDemapper {
public:
    struct Config {
        Method method = Method::max_log;
        Evaluator evaluator = Evaluator::automatic;
        float llr_scale = 6.0F;
        int llr_clip = 127;
        float full_scale = 0.0F;
        int threads = 1;  ///< threads that share one call; 0 means one a processor
        Backend backend = Backend::best();
    };

    /// Throws as SoftDemapper's constructor.
    explicit BatchDemapper(const Config& config);
    ~BatchDemapper();
    BatchDemapper(BatchDemapper&&) noexcept;
    BatchDemapper& operator=(BatchDemapper&&) noexcept;

    /// Demaps all allocations; the threads share the batch, however it is divided. Outputs must not overlap,
    /// and all have one format. An invalid allocation is an ArgumentError that gives its index, and nothing
    /// was written. Allocates when it sees more allocations than before, or must build a table: those of the
    /// latest calls are kept, up to 32 or as many as one call needed.
    void operator()(std::span<const Allocation> allocations);

    /// The same, and adds to the counters; see SoftDemapper.
    void operator()(std::span<const Allocation> allocations, DemapCounters& counters);

    [[nodiscard]] Backend backend() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace phy
