#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "phy/core/export.hpp"
#include "phy/core/full_scale.hpp"
#include "phy/core/view.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/machine/host.hpp"

/// Samples at another rate: a polyphase filter (F. Harris, Multirate Signal Processing, chapter 7).
namespace phy {

/// Rates in Hz.
struct PHY_EXPORT ResamplerConfig {
    double input_rate = 0.0;
    double output_rate = 0.0;

    /// Two-sided, around frequency 0: what passes. It must leave a transition of at least 0.9 % of the input
    /// rate below the smaller rate.
    double bandwidth = 0.0;

    FullScale full_scale = {};  ///< of integer samples
};

/// Where the outputs of a row lie among its inputs, in 2^-32 input samples.
struct ResampledRow {
    std::uint64_t position = 0;  ///< of the first output, from the first input on; below 2^62
    std::uint64_t step = 0;      ///< from one output to the next

    friend bool operator==(const ResampledRow&, const ResampledRow&) = default;
};

/// Resamples rows of samples, such as those of antennas.
///
/// The filter is a Kaiser window times a sinc. Frequencies within the bandwidth change by less than 0.002 dB;
/// images and aliases that fall into it are 80 dB below their signals. Its delay is 0: an output is the
/// signal at its position, rounded to the nearest of 16,384 phases per input sample. Components that are not
/// finite become NaN.
///
/// Every backend and number of threads gives the same bytes. The threads of the host share a call. A
/// resampler works for one caller at a time.
class PHY_EXPORT Resampler {
public:
    using Config = ResamplerConfig;

    /// Throws ArgumentError if a rate is not a positive finite number, if the output rate is above 64 times
    /// the input rate or below 1/64 of it, and for a bandwidth that is not above 0 or leaves too small a
    /// transition.
    Resampler(const Host& host, const Config& config);
    ~Resampler();
    Resampler(Resampler&&) noexcept;
    Resampler& operator=(Resampler&&) noexcept;

    /// Input samples to either side of a position on which its output depends.
    [[nodiscard]] std::size_t margin() const;

    /// ResampledRow::step of the rates.
    [[nodiscard]] std::uint64_t step() const;

    /// input: (rows, inputs); output: (rows, outputs). Samples before the first and after the last input of a
    /// row count as 0. Steps may differ from step() by at most one part in 1,000. Throws ArgumentError for
    /// other steps, for positions from 2^62 on, for outputs of a row that span 2^30 inputs or more, and for
    /// sizes that are no multiples of rows.size(). Allocates nothing.
    void operator()(SymbolView input, std::span<const ResampledRow> rows, std::span<cf32> output);

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace phy

namespace phy::gpu {

/// Resamples rows in device memory. Output bytes are those of phy::Resampler.
///
/// A call starts a kernel on the caller's stream. It returns at once, does not allocate or wait, and can be
/// captured in a graph. Many threads may use one resampler.
class PHY_EXPORT Resampler {
public:
    using Config = ResamplerConfig;

    /// Throws ArgumentError as phy::Resampler does.
    Resampler(const Device& device, const Config& config);
    ~Resampler();
    Resampler(Resampler&&) noexcept;
    Resampler& operator=(Resampler&&) noexcept;

    [[nodiscard]] std::size_t margin() const;
    [[nodiscard]] std::uint64_t step() const;

    /// As in phy::Resampler. Samples are aligned to their components. Outputs of a row with another step than
    /// allowed, or with a position from 2^62 on, are NaN.
    void operator()(SymbolView input, DeviceSpan<const ResampledRow> rows, DeviceSpan<cf32> output,
                    cudaStream_t stream) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace phy::gpu
