#pragma once

#include <cstddef>
#include <span>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/core/owned.hpp"
#include "phy/demapper/demapper.hpp"

namespace phy::gpu {

/// Demaps one slot at a time from host memory to host memory, with low latency. The kernel reads symbols from
/// page-locked host memory and writes soft bits there: nothing is copied before or after it, and both
/// directions of the bus are busy at once. Writes the bytes of phy::SoftDemapper. For throughput
/// phy::Pipeline is faster.
///
/// Not thread-safe: one call at a time.
class PHY_EXPORT SlotDemapper {
public:
    struct Config {
        DemapperConfig demapper = {};
        SampleFormat input = SampleFormat::cf32;
        SoftBitFormat output = SoftBitFormat::int8;
        std::size_t symbols = 0;  ///< max per slot
    };

    /// Allocates page-locked memory for the symbols of a slot, their N0 and their soft bits. Throws
    /// ArgumentError if a value is out of its range, CudaError if there is not enough memory.
    SlotDemapper(const Device& device, const Config& config);

    /// As SoftDemapper::prepare(). Also keeps the table of the latest call.
    void prepare(NoiseVariance noise);

    /// As SoftDemapper::clear_tables().
    void clear_tables();

    /// The caller writes up to Config::symbols symbols of a slot here.
    [[nodiscard]] std::span<std::byte> input();

    /// The caller writes their N0 here, for demap_per_symbol().
    [[nodiscard]] std::span<float> noise();

    /// Demaps the first `symbols` symbols of input(), waits, and returns their soft bits, which stay valid
    /// until the next call. From the third call in a row with the same arguments on, a graph is replayed,
    /// which saves some microseconds. Throws what SoftDemapper throws, and ArgumentError for more than
    /// Config::symbols symbols.
    std::span<const std::byte> demap(std::size_t symbols, float noise_variance);

    /// The same with one N0 per symbol, from the beginning of noise().
    std::span<const std::byte> demap_per_symbol(std::size_t symbols);

    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::SlotDemapper"> impl_;
};

}  // namespace phy::gpu
