#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/machine/host.hpp"
#include "phy/measure/symbol_sums.hpp"
#include "phy/reduce/tree.hpp"

namespace phy {

/// Measures power, offset, imbalance, gain, error vector magnitude and noise of symbols in one pass, as sums
/// by row. A row can be an OFDM symbol, a slot or a whole capture. measurement_of() turns sums into figures.
///
/// For the same input, every backend, number of threads and alignment gives the same bytes. So does every
/// split of a row into calls at multiples of 2^k blocks of symbol_tree.
///
/// Not thread-safe: one meter per thread. Several operators may share a Host and its threads.
class PHY_EXPORT SymbolMeter {
public:
    using Config = SymbolMeterConfig;

    /// Throws ArgumentError if a value of the configuration is out of its range.
    SymbolMeter(const Host& host, const Config& config);

    /// Measures against the nearest points. Sums every row of `row` symbols; the last row may be shorter.
    /// sums has one element per row. first_symbol is the index of the first symbol in its sequence; pi/2-BPSK
    /// needs its parity. Throws ArgumentError if row is 0, or if sums.size() is not symbols.size() / row,
    /// rounded up. Allocates nothing.
    void operator()(SymbolView symbols, std::size_t row, std::span<SymbolSums> sums,
                    std::uint64_t first_symbol = 0);

    /// Measures against the sent points, one per symbol, of unit mean power. Does not check their values: if
    /// one is not finite or beyond 2^40, the sums are undefined. Throws ArgumentError also if the number of
    /// points differs.
    void operator()(SymbolView symbols, std::span<const cf32> sent, std::size_t row,
                    std::span<SymbolSums> sums);

    /// Measures against the nearest points, and compares the errors with the noise variance of each symbol;
    /// see SymbolSums. Throws ArgumentError also if the number of variances differs.
    void operator()(std::span<const cf32> symbols, std::span<const float> noise_variance, std::size_t row,
                    std::span<SymbolSums> sums, std::uint64_t first_symbol = 0);

    /// Sums all symbols as one row, against the nearest points.
    [[nodiscard]] SymbolSums operator()(SymbolView symbols, std::uint64_t first_symbol = 0);

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "SymbolMeter"> impl_;
};

/// Estimates the amplitude of the constellation and N0. The first amplitude comes from the median power of
/// blocks; decisions at that amplitude give a better one, until it no longer changes. Ignores the gain of the
/// configuration. Some hundred thousand symbols are enough.
///
/// All symbols must be of this constellation. Resource elements without data and a DC offset count as noise.
/// So does a phase beyond half the rotation that makes clean decisions go wrong (45 degrees for QPSK, 18 for
/// 16QAM, 8 for 64QAM, 3 for 256QAM, 1 for 1024QAM).
///
/// Throws ArgumentError if no symbol is finite and not 0, or if the amplitude is outside 2^-40 ... 2^40.
PHY_EXPORT GainAndNoise estimate_gain(const Host& host, const SymbolMeterConfig& config, SymbolView symbols,
                                      std::uint64_t first_symbol = 0);

}  // namespace phy

namespace phy::gpu {

/// Sums over symbols in device memory. Writes the bytes of phy::SymbolMeter.
///
/// A call only starts kernels on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. Symbols, points, sums and workspace must be in memory that the device can
/// reach, must not overlap, and must stay there until the work is done. Any alignment of symbols is valid. If
/// they do not begin at a multiple of their size, a call can take several times as long. Thread-safe.
class PHY_EXPORT SymbolMeter {
public:
    using Config = SymbolMeterConfig;

    /// Throws ArgumentError if a value is out of its range.
    SymbolMeter(const Device& device, const Config& config);

    /// Returns the bytes of workspace that a call with this many symbols and this row length needs; 0 if
    /// rows are short.
    [[nodiscard]] static std::size_t workspace_bytes(std::size_t symbols, std::size_t row);

    /// As in phy::SymbolMeter, on the stream, which must belong to the device. Throws ArgumentError also if
    /// the workspace is smaller than workspace_bytes(), or does not begin at a multiple of 256 bytes, as
    /// every DeviceBuffer does.
    void operator()(SymbolView symbols, std::size_t row, DeviceSpan<SymbolSums> sums,
                    DeviceSpan<std::byte> workspace, cudaStream_t stream,
                    std::uint64_t first_symbol = 0) const;

    /// Measures against the sent points.
    void operator()(SymbolView symbols, DeviceSpan<const cf32> sent, std::size_t row,
                    DeviceSpan<SymbolSums> sums, DeviceSpan<std::byte> workspace, cudaStream_t stream) const;

    /// Compares the errors with the noise variance of each symbol.
    void operator()(DeviceSpan<const cf32> symbols, DeviceSpan<const float> noise_variance, std::size_t row,
                    DeviceSpan<SymbolSums> sums, DeviceSpan<std::byte> workspace, cudaStream_t stream,
                    std::uint64_t first_symbol = 0) const;

    [[nodiscard]] const Device& device() const { return device_; }
    [[nodiscard]] const Config& config() const { return config_; }

private:
    Device device_;
    Config config_;
};

}  // namespace phy::gpu
