#pragma once

#include <cstddef>
#include <span>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/core/owned.hpp"
#include "phy/demapper/demapper_cuda.hpp"

namespace phy::gpu {

/// Soft demapping of one slot at a time from host memory to host memory, for receivers that wait for it. The
/// kernel reads the symbols from page-locked memory of the host and writes the soft bits there: nothing is
/// copied before or after it, and both directions of the link are busy at once. The bytes are those of
/// phy::SoftDemapper. Where much is to be done and nobody waits, phy::Pipeline is faster.
///
/// One call at a time.
class PHY_EXPORT SlotDemapper {
public:
    struct Config {
        DemapperConfig demapper = {};
        SampleFormat input = SampleFormat::cf32;
        SoftBitFormat output = SoftBitFormat::int8;
        std::size_t symbols = 0;  ///< of a slot, at most
    };

    /// Allocates page-locked memory for a slot, its symbols' N0 and its soft bits. Throws ArgumentError if a
    /// value is out of its range, CudaError if there is not enough memory.
    SlotDemapper(const Device& device, const Config& config);
    ~SlotDemapper();
    SlotDemapper(SlotDemapper&&) noexcept;
    SlotDemapper& operator=(SlotDemapper&&) noexcept;

    /// As SoftDemapper::prepare; the table of the latest call is kept too.
    void prepare(NoiseVariance noise);

    /// As SoftDemapper::clear_tables.
    void clear_tables();

    /// Where the caller writes a slot's symbols, Config::symbols of them.
    [[nodiscard]] std::span<std::byte> input();

    /// Where the caller writes their N0, for demap_per_symbol().
    [[nodiscard]] std::span<float> noise();

    /// Demaps that many symbols from the beginning of input(), waits, and returns their soft bits, which stay
    /// until the next call. The third and later calls in a row with the same arguments replay a graph, which
    /// takes some microseconds less. Throws as SoftDemapper, and ArgumentError for more symbols than
    /// Config::symbols.
    std::span<const std::byte> demap(std::size_t symbols, float noise_variance);

    /// The same with one N0 a symbol, from the beginning of noise().
    std::span<const std::byte> demap_per_symbol(std::size_t symbols);

    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::SlotDemapper"> impl_;
};

}  // namespace phy::gpu
