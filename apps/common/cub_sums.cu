#include "common/cub_sums.hpp"

#include <vector>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include "phy/cuda/device.hpp"

namespace phy::apps {
namespace {

template <class T>
void start(void* workspace, std::size_t& bytes, gpu::DeviceSpan<const T> in, std::size_t rows, T* out,
           const std::int64_t* offsets, cudaStream_t stream) {
    if (rows == 1) {
        gpu::check(cub::DeviceReduce::Sum(workspace, bytes, in.data(), out,
                                          static_cast<std::int64_t>(in.size()), stream));
    } else {
        gpu::check(cub::DeviceSegmentedReduce::Sum(
            workspace, bytes, in.data(), out, static_cast<std::int64_t>(rows), offsets, offsets + 1, stream));
    }
}

}  // namespace

template <class T>
CubSum<T>::CubSum(const gpu::Device& device, gpu::DeviceSpan<const T> in, std::size_t rows)
    : in_(in), rows_(rows), out_(device, rows), offsets_(device, rows + 1) {
    std::vector<std::int64_t> offsets(rows + 1);
    for (std::size_t row = 0; row <= rows; ++row)
        offsets[row] = static_cast<std::int64_t>(row * (in.size() / rows));
    const gpu::Stream stream(device);
    gpu::copy_async(offsets_, offsets, stream);
    stream.synchronize();
    std::size_t bytes = 0;
    start<T>(nullptr, bytes, in_, rows_, out_.data(), offsets_.data(), stream);
    workspace_ = gpu::DeviceBuffer<std::byte>(device, bytes);
}

template <class T>
void CubSum<T>::operator()(cudaStream_t stream) {
    std::size_t bytes = workspace_.size();
    start<T>(workspace_.data(), bytes, in_, rows_, out_.data(), offsets_.data(), stream);
}

template class CubSum<float>;
template class CubSum<double>;
template class CubSum<std::int32_t>;

}  // namespace phy::apps
