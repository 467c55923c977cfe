#pragma once

#include <memory>

#include "phy/pipeline/soft_demap_stage.hpp"

namespace phy::detail {

/// The demapper of one backend.
class DemapOn {
public:
    virtual ~DemapOn() = default;
    virtual void run(SymbolView symbols, NoiseVariance noise, SoftBitSpan llr, std::uint64_t first_symbol,
                     cudaStream_t stream) = 0;
    [[nodiscard]] virtual DemapCounters counters() const = 0;
};

std::unique_ptr<DemapOn> make_demap_on_cuda(const SoftDemapStage::Config& config, const Backend& backend);

}  // namespace phy::detail
