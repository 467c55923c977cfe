#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "phy/resampler/resampler.hpp"

namespace phy::detail {

/// Coefficients are summed in this many parts, so that vectors and threads add in the same order.
inline constexpr unsigned partial_sums = 16;

/// Phases per input sample: rounding to one of them adds an error of -85 dB at the edge of a band.
inline constexpr unsigned phase_bits_of_sample = 14;
inline constexpr std::uint32_t phases_of_sample = 1U << phase_bits_of_sample;

/// A filter for kernels: (phases, taps), taps a multiple of partial_sums. Tap t weighs the sample
/// t - (taps / 2 - 1) after the one before the output.
struct Polyphase {
    const float* coefficients = nullptr;
    std::uint32_t taps = 0;
};

/// Positions of outputs in a window of samples, rounded to the nearest phase.
class PolyphasePositions {
public:
    /// The whole samples of row.position are left out.
    explicit constexpr PolyphasePositions(const ResampledRow& row)
        : first_(((row.position & 0xFFFFFFFFU) << phase_bits_of_sample) + (std::uint64_t{1} << 31U)),
          step_(row.step << phase_bits_of_sample) {}

    /// The number of phases to the output. At most 2^18 samples.
    [[nodiscard]] constexpr std::uint32_t operator()(std::size_t output) const {
        return static_cast<std::uint32_t>((first_ + output * step_) >> 32U);
    }

private:
    std::uint64_t first_;
    std::uint64_t step_;
};

/// Positions of outputs are below twice this number.
inline constexpr std::uint64_t max_position = std::uint64_t{1} << 62U;

/// Sizes of a call, per row.
struct ResampledSizes {
    std::size_t rows = 0;
    std::size_t inputs = 0;
    std::size_t outputs = 0;
};

/// A resampler without its coefficients, which take long to compute.
class ResamplerPlan {
public:
    /// Throws ArgumentError as Resampler does.
    explicit ResamplerPlan(const ResamplerConfig& config);

    [[nodiscard]] std::uint32_t taps() const { return taps_; }
    [[nodiscard]] std::size_t margin() const { return taps_ / 2; }

    /// Nominal, min and max ResampledRow::step.
    [[nodiscard]] std::uint64_t step() const { return step_; }
    [[nodiscard]] std::uint64_t min_step() const { return step_ - step_ / 1000; }
    [[nodiscard]] std::uint64_t max_step() const { return step_ + step_ / 1000; }
    [[nodiscard]] bool allows(std::uint64_t step) const { return step >= min_step() && step <= max_step(); }

    /// Throws ArgumentError as Resampler does.
    [[nodiscard]] ResampledSizes checked_sizes(std::size_t rows, std::size_t inputs,
                                               std::size_t outputs) const;

private:
    std::uint32_t taps_ = 0;
    std::uint64_t step_ = 0;
};

class PolyphaseFilter : public ResamplerPlan {
public:
    explicit PolyphaseFilter(const ResamplerConfig& config);

    [[nodiscard]] const std::vector<float>& coefficients() const { return coefficients_; }
    [[nodiscard]] Polyphase view() const { return {coefficients_.data(), taps()}; }

private:
    std::vector<float> coefficients_;
};

}  // namespace phy::detail
