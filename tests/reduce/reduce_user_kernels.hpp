#pragma once

#include <complex>

#include "phy/reduce/reduce_rows.hpp"
#include "reduce/reduce_user_operators.hpp"

namespace phy_test {

/// Operators that are not compiled into the library: those of users, and its own for other types.
using LongSum = phy::Sum<long long>;
using LongMean = phy::Mean<long long>;
using NarrowComplexSum = phy::Sum<std::complex<double>, std::complex<float>>;
using FloatSumOfShorts = phy::Sum<std::int16_t, float>;

/// gpu::detail::reduce_rows_tuned(), compiled without the library's flags, as by users.
template <class Op>
void reduce_rows_of_user(const phy::gpu::Device& device, phy::gpu::DeviceSpan<const typename Op::Element> in,
                         std::size_t rows, phy::gpu::DeviceSpan<typename Op::Result> out,
                         phy::gpu::DeviceSpan<std::byte> workspace, cudaStream_t stream, const Op& op,
                         const phy::gpu::detail::RowTuning* tuning);

}  // namespace phy_test
