#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/cuda/buffer.hpp"

/// Sums of rows by CUB.
namespace phy::apps {

/// The sum of all elements, or the sum of each row if there are several.
template <class T>
class CubSum {
public:
    CubSum(const gpu::Device& device, gpu::DeviceSpan<const T> in, std::size_t rows);

    void operator()(cudaStream_t stream);

    [[nodiscard]] gpu::DeviceSpan<const T> sums() const { return out_; }

private:
    gpu::DeviceSpan<const T> in_;
    std::size_t rows_;
    gpu::DeviceBuffer<T> out_;
    gpu::DeviceBuffer<std::int64_t> offsets_;  ///< where rows begin, and the end of the last
    gpu::DeviceBuffer<std::byte> workspace_;
};

extern template class CubSum<float>;
extern template class CubSum<double>;
extern template class CubSum<std::int32_t>;

}  // namespace phy::apps
