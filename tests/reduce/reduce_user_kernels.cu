#include "reduce/reduce_user_kernels.hpp"

#include "phy/reduce/reduce_rows_cuda.cuh"

namespace phy_test {

template <class Op>
void reduce_rows_of_user(const phy::gpu::Device& device, phy::gpu::DeviceSpan<const typename Op::Element> in,
                         std::size_t rows, phy::gpu::DeviceSpan<typename Op::Result> out,
                         phy::gpu::DeviceSpan<std::byte> workspace, cudaStream_t stream, const Op& op,
                         const phy::gpu::detail::RowTuning* tuning) {
    if (tuning == nullptr) {
        phy::gpu::reduce_rows(device, in, rows, out, workspace, stream, op);
    } else {
        phy::gpu::detail::reduce_rows_tuned(device, in, rows, out, workspace, stream, op, tuning);
    }
}

#define PHY_TEST_OPERATOR(Op)                                                                                \
    template void reduce_rows_of_user<Op>(                                                                   \
        const phy::gpu::Device&, phy::gpu::DeviceSpan<const typename Op::Element>, std::size_t,              \
        phy::gpu::DeviceSpan<typename Op::Result>, phy::gpu::DeviceSpan<std::byte>, cudaStream_t, const Op&, \
        const phy::gpu::detail::RowTuning*);

PHY_TEST_OPERATOR(Moments)
PHY_TEST_OPERATOR(Nearest)
PHY_TEST_OPERATOR(BoundingBox)
PHY_TEST_OPERATOR(LongSum)
PHY_TEST_OPERATOR(LongMean)
PHY_TEST_OPERATOR(NarrowComplexSum)
PHY_TEST_OPERATOR(FloatSumOfShorts)

}  // namespace phy_test
