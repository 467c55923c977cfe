#include "common/chunk_demapper.hpp"

#include <vector>

#include "phy/core/version.hpp"

namespace phy::apps {
namespace {

class HostChunkDemapper : public ChunkDemapper {
public:
    explicit HostChunkDemapper(const Config& config) : demap_(config.demapper) {}

    HostMemory allocate(std::size_t bytes) override {
        const auto memory = std::make_shared<std::vector<std::byte>>(bytes);
        return {memory, memory->data()};
    }

    void demap(SymbolView symbols, NoiseVariance noise, SoftBitSpan soft_bits,
               std::uint64_t first_symbol) override {
        demap_(symbols, noise, soft_bits, counters_, first_symbol);
    }

    DemapCounters counters() override { return counters_; }
    [[nodiscard]] Backend backend() const override { return demap_.backend(); }
    [[nodiscard]] std::optional<std::string> device() const override { return std::nullopt; }

private:
    SoftDemapper demap_;
    DemapCounters counters_;
};

}  // namespace

std::unique_ptr<ChunkDemapper> make_chunk_demapper(const ChunkDemapper::Config& config) {
    if constexpr (built_with_cuda) {
        if (config.demapper.backend.kind() == Backend::Kind::cuda) return make_cuda_chunk_demapper(config);
    }
    return std::make_unique<HostChunkDemapper>(config);
}

}  // namespace phy::apps
