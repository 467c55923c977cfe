// Reductions of very many and of very long rows on a CPU.

#include <gtest/gtest.h>

#include "reduce/reduce_large_cases.hpp"
#include "reduce/reduce_on_host.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;
using phy::Host;

template <class Op>
class LargeReductions : public ::testing::Test {};
TYPED_TEST_SUITE(LargeReductions, OperatorsOfLargeBatches);

TYPED_TEST(LargeReductions, ManyRowsOfOneElement) {
    const std::uint64_t seed = random_seed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const auto in = random_elements<typename TypeParam::Element>(many_rows, seed);
    const auto expected = expected_of_large<TypeParam>(in, many_rows);
    for (const phy::Backend& backend : host_backends()) {
        SCOPED_TRACE(backend.name());
        const Host host = phy::detail::host_of_exactly(3, backend);
        expect_same_bytes(reduced<TypeParam>(host, in, many_rows), expected);
    }
}

TYPED_TEST(LargeReductions, ALongRow) {
    const std::uint64_t seed = random_seed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const std::size_t length = (std::size_t{1} << (takes_fewer_cases() ? 20 : 24)) + 3;
    const auto in = long_row<TypeParam>(length, seed);
    const auto expected = expected_of_large<TypeParam>(in, 1);
    for (const phy::Backend& backend : host_backends()) {
        SCOPED_TRACE(backend.name());
        for (const int threads : {1, 3, 16}) {
            const Host host = phy::detail::host_of_exactly(threads, backend);
            expect_same_bytes(reduced<TypeParam>(host, in, 1), expected);
        }
    }
}

}  // namespace
