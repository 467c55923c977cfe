#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "phy/demapper/demapper.hpp"

namespace phy::apps {

/// Host memory for chunks, of the kind that a backend is fastest with.
using HostMemory = std::shared_ptr<std::byte[]>;

/// Demaps chunks that lie in host memory, on any backend. One thread at a time.
class ChunkDemapper {
public:
    struct Config {
        SoftDemapper::Config demapper;
        SampleFormat samples;
        SoftBitFormat soft_bits;
        std::optional<float> noise_variance;  ///< none: one a symbol
        std::size_t chunk;                    ///< symbols, at most
    };

    virtual ~ChunkDemapper() = default;

    /// Throws Error or std::bad_alloc if there is not enough.
    virtual HostMemory allocate(std::size_t bytes) = 0;

    /// As phy::SoftDemapper, in the formats of the Config, and counts.
    virtual void demap(SymbolView symbols, NoiseVariance noise, SoftBitSpan soft_bits,
                       std::uint64_t first_symbol) = 0;

    /// Of all calls.
    virtual DemapCounters counters() = 0;

    /// The backend that runs, and its device's name; none on a CPU.
    [[nodiscard]] virtual Backend backend() const = 0;
    [[nodiscard]] virtual std::optional<std::string> device() const = 0;
};

/// For Config::demapper.backend. Throws as phy::SoftDemapper's constructor, and Error if the device has not
/// enough memory.
std::unique_ptr<ChunkDemapper> make_chunk_demapper(const ChunkDemapper::Config& config);

/// The one for a CUDA backend; only where phy was built with CUDA.
std::unique_ptr<ChunkDemapper> make_cuda_chunk_demapper(const ChunkDemapper::Config& config);

}  // namespace phy::apps
