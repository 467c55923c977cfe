// Reductions of very many and of very long rows on a GPU.

#include <gtest/gtest.h>

#include "reduce/reduce_large_cases.hpp"
#include "reduce/reduce_on_device.hpp"
#include "support/gpu.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;

template <class Op>
class LargeReductionsCuda : public ::testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};
TYPED_TEST_SUITE(LargeReductionsCuda, OperatorsOfLargeBatches);

TYPED_TEST(LargeReductionsCuda, ManyRowsOfOneElement) {
    const std::uint64_t seed = random_seed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const auto in = random_elements<typename TypeParam::Element>(many_rows, seed);
    const auto expected = expected_of_large<TypeParam>(in, many_rows);
    BatchOnDevice<TypeParam> on_device(in, many_rows);
    expect_same_bytes(on_device.results(), expected);
    for (const RowTuning& tuning : row_tunings) {
        SCOPED_TRACE(testing::Message() << "threads " << tuning.threads);
        expect_same_bytes(on_device.results({}, &tuning), expected);
    }
}

TYPED_TEST(LargeReductionsCuda, ALongRow) {
    const std::uint64_t seed = random_seed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const std::size_t length = std::size_t{1} << (takes_fewer_cases() ? 20 : 28);
    if (phy::gpu::Device().free_memory() < 2 * length * sizeof(typename TypeParam::Element))
        GTEST_SKIP() << "too little memory";
    const auto in = long_row<TypeParam>(length, seed);
    const auto expected = expected_of_large<TypeParam>(in, 1);
    BatchOnDevice<TypeParam> on_device(in, 1);
    expect_same_bytes(on_device.results(), expected);
    for (const RowTuning& tuning : row_tunings) {
        SCOPED_TRACE(testing::Message() << "threads " << tuning.threads);
        expect_same_bytes(on_device.results({}, &tuning), expected);
    }
}

}  // namespace
