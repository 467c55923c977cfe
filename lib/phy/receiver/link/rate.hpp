#pragma once

#include <optional>

/// Sample rates that an FFT takes.
namespace phy::detail {

constexpr int largest_fft = 8192;

/// Sizes are multiples of it.
constexpr int fft_step = 128;

/// True for products of 2, 3 and 5.
[[nodiscard]] bool has_no_prime_above_5(int number);

/// The size of the FFT, or none for a rate that is resampled. Both in Hz.
[[nodiscard]] std::optional<int> fft_size_at(double sample_rate, int subcarrier_spacing);

}  // namespace phy::detail
