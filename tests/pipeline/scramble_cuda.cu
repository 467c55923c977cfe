#include "phy/cuda/device.hpp"
#include "pipeline/scramble_cuda.hpp"

namespace phy_test {
namespace {

constexpr unsigned threads = 128;

__global__ void fill_scratch(Scramble scramble) {
    const std::size_t item = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (item < scramble.items) scramble.scratch[item] = scramble.number_of(item);
}

__global__ void put_records(Scramble scramble, std::size_t port) {
    const std::size_t record = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (record < scramble.records(port)) scramble.put(port, record);
}

unsigned blocks_of(std::size_t count) {
    return static_cast<unsigned>((count + threads - 1) / threads);
}

}  // namespace

void run_scramble_on_device(const Scramble& scramble, CUstream_st* stream) {
    if (scramble.scratch != nullptr) {
        fill_scratch<<<blocks_of(scramble.items), threads, 0, stream>>>(scramble);
        phy::gpu::check(cudaGetLastError());
    }
    for (std::size_t port = 0; port < scramble.outputs; ++port) {
        put_records<<<blocks_of(scramble.records(port)), threads, 0, stream>>>(scramble, port);
        phy::gpu::check(cudaGetLastError());
    }
}

}  // namespace phy_test
