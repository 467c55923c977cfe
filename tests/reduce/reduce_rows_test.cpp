#include "phy/reduce/reduce_rows.hpp"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "reduce/reduce_cases.hpp"
#include "reduce/reduce_on_host.hpp"
#include "reduce/reduce_reference.hpp"
#include "reduce/reduce_user_operators.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;
using phy::Backend;
using phy::Host;

template <class Op>
class ReduceRows : public ::testing::Test {};
TYPED_TEST_SUITE(ReduceRows, BuiltIn);

TYPED_TEST(ReduceRows, EveryShapeOnEveryBackend) {
    const std::uint64_t seed = random_seed();
    for (const Batch& batch : fewer_cases(batches())) {
        SCOPED_TRACE(testing::Message() << batch.rows << " rows of " << batch.length << ", seed " << seed);
        const auto in = random_elements<typename TypeParam::Element>(batch.rows * batch.length, seed);
        const auto expected = expected_of<TypeParam>(in, batch.rows);
        for (const Backend& backend : host_backends()) {
            SCOPED_TRACE(backend.name());
            const Host host({.backend = backend});
            expect_same_bytes(reduced<TypeParam>(host, in, batch.rows), expected);
        }
    }
}

TYPED_TEST(ReduceRows, AnyNumberOfThreads) {
    const std::uint64_t seed = random_seed();
    for (const Batch& batch : {Batch{301, 1031}, Batch{3, 100003}, Batch{1, 299993}}) {
        const auto in = random_elements<typename TypeParam::Element>(batch.rows * batch.length, seed);
        const auto expected = expected_of<TypeParam>(in, batch.rows);
        for (const int threads : {1, 2, 3, 7, 16}) {
            SCOPED_TRACE(testing::Message() << batch.rows << " rows of " << batch.length << ", seed " << seed
                                            << ", threads " << threads);
            const Host host = phy::detail::host_of_exactly(threads);
            expect_same_bytes(reduced<TypeParam>(host, in, batch.rows), expected);
        }
    }
}

TYPED_TEST(ReduceRows, AnyAlignmentAndNothingElseIsWritten) {
    using Element = typename TypeParam::Element;
    using Result = typename TypeParam::Result;
    const std::uint64_t seed = random_seed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    constexpr std::size_t rows = 3;
    constexpr std::size_t length = 4177;
    const Host host;
    for (std::size_t shift = 0; shift < 5; ++shift) {
        const auto all = random_elements<Element>(shift + rows * length, seed);
        const auto in = std::span(all).subspan(shift);
        std::vector<std::byte> out((rows + 2) * sizeof(Result), std::byte{0x77});
        const std::size_t bytes = phy::reduce_rows_workspace_bytes<TypeParam>(rows, length);
        std::vector<std::byte> workspace(bytes + 64, std::byte{0x77});
        auto* const first = reinterpret_cast<Result*>(out.data() + sizeof(Result));
        phy::reduce_rows<TypeParam>(host, in, rows, std::span(first, rows),
                                    std::span(workspace).subspan(1 + shift, bytes));
        expect_same_bytes(std::vector<Result>(first, first + rows), expected_of<TypeParam>(in, rows));
        const auto is_untouched = [](std::span<const std::byte> memory) {
            return std::all_of(memory.begin(), memory.end(),
                               [](std::byte b) { return b == std::byte{0x77}; });
        };
        EXPECT_TRUE(is_untouched(std::span(out).first(sizeof(Result))));
        EXPECT_TRUE(is_untouched(std::span(out).last(sizeof(Result))));
        EXPECT_TRUE(is_untouched(std::span(workspace).first(1 + shift)));
        EXPECT_TRUE(is_untouched(std::span(workspace).subspan(1 + shift + bytes)));
    }
}

TYPED_TEST(ReduceRows, AwkwardNumbers) {
    using Element = typename TypeParam::Element;
    if constexpr (std::is_floating_point_v<Element>) {
        const std::uint64_t seed = random_seed();
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        for (const Backend& backend : host_backends()) {
            const Host host({.backend = backend});
            for (const std::size_t length : {1, 5, 300, 4500, 20000}) {
                const auto in = awkward_elements<Element>(16, length, seed);
                expect_same_bytes(reduced<TypeParam>(host, in, 16), expected_of<TypeParam>(in, 16));
            }
            for (const std::size_t length : {1, 2, 131, 300}) {
                const auto in = nan_everywhere<Element>(length, seed);
                expect_same_bytes(reduced<TypeParam>(host, in, length), expected_of<TypeParam>(in, length));
            }
        }
    }
}

TYPED_TEST(ReduceRows, AwkwardNumbersOnAnyNumberOfThreads) {
    using Element = typename TypeParam::Element;
    const std::uint64_t seed = random_seed();
    for (const Batch& batch : {Batch{64, 1031}, Batch{8, 70001}}) {
        const auto in = awkward_elements_of_any<Element>(batch.rows, batch.length, seed);
        const auto expected = expected_of<TypeParam>(in, batch.rows);
        for (int threads = 1; threads <= 16; ++threads) {
            SCOPED_TRACE(testing::Message() << batch.rows << " rows of " << batch.length << ", seed " << seed
                                            << ", threads " << threads);
            const Host host = phy::detail::host_of_exactly(threads);
            expect_same_bytes(reduced<TypeParam>(host, in, batch.rows), expected);
        }
    }
}

TYPED_TEST(ReduceRows, ANanAtTheEdgesOfTurnsAndBlocks) {
    using Element = typename TypeParam::Element;
    if constexpr (std::is_floating_point_v<Element>) {
        const std::uint64_t seed = random_seed();
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        const std::vector<std::size_t> places = places_at_edges();
        const auto in = nan_at<Element>(places, length_of_blocks, seed);
        const auto expected = expected_of<TypeParam>(in, places.size());
        for (const Backend& backend : host_backends())
            expect_same_bytes(reduced<TypeParam>(Host({.backend = backend}), in, places.size()), expected);
    }
}

TYPED_TEST(ReduceRows, WrongSizesAreErrors) {
    using Element = typename TypeParam::Element;
    using Result = typename TypeParam::Result;
    const Host host;
    const std::vector<Element> in(20000);
    std::vector<Result> out(2);
    std::vector<std::byte> workspace(phy::reduce_rows_workspace_bytes<TypeParam>(2, 10000));
    const auto call = [&](std::size_t elements, std::size_t rows, std::size_t results, std::size_t bytes) {
        phy::reduce_rows<TypeParam>(host, std::span(in).first(elements), rows, std::span(out).first(results),
                                    std::span(workspace).first(bytes));
    };
    const auto error = [&](std::size_t elements, std::size_t rows, std::size_t results, std::size_t bytes) {
        try {
            call(elements, rows, results, bytes);
        } catch (const phy::ArgumentError& thrown) {
            return std::string(thrown.what());
        }
        return std::string("none");
    };
    const auto names = [](const std::string& text, const char* what) {
        EXPECT_NE(text.find(what), std::string::npos) << text;
    };
    const std::size_t bytes = workspace.size();
    EXPECT_NO_THROW(call(20000, 2, 2, bytes));
    names(error(19999, 2, 2, bytes), "in has 19999 elements");
    names(error(20000, 2, 1, bytes), "out has 1 elements");
    names(error(20000, 1, 2, bytes), "out has 2 elements");
    names(error(1, 0, 0, bytes), "in has 1 elements");
    names(error(20000, 2, 2, bytes - 1), "workspace has");
    names(error(20000, 2, 2, 0), "workspace has 0 bytes");
    EXPECT_EQ(phy::reduce_rows_workspace_bytes<TypeParam>(1000, 4096), 0U);
}

TEST(ReduceRowsSum, IntegersWrapAround) {
    const std::vector<std::int64_t> in(5, INT64_MAX);
    EXPECT_EQ(reduced<phy::Sum<std::int64_t>>(Host(), in, 1)[0], INT64_MAX - 4);
    const std::vector<std::int8_t> small(5, 100);
    EXPECT_EQ(reduced<phy::Sum<std::int8_t>>(Host(), small, 1)[0], 500);
    using InEightBits = phy::Sum<std::int8_t, std::int8_t>;
    EXPECT_EQ(reduced<InEightBits>(Host(), small, 1)[0], static_cast<std::int8_t>(500 - 512));
}

TEST(ReduceRowsSum, AnotherTotalIsTakenAsItIs) {
    const std::uint64_t seed = random_seed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const auto in = random_elements<std::int16_t>(3 * 5000, seed);
    using InFloat = phy::Sum<std::int16_t, float>;
    expect_same_bytes(reduced<InFloat>(Host(), in, 3), expected_of<InFloat>(in, 3));
}

TEST(ReduceRowsSum, ZerosKeepTheirSign) {
    const std::vector<float> in(10000, -0.0F);
    EXPECT_TRUE(std::signbit(reduced<phy::Sum<float>>(Host(), in, 1)[0]));
    EXPECT_FALSE(std::signbit(reduced<phy::Sum<float>>(Host(), {}, 1)[0]));
}

TEST(ReduceRowsArgMax, TheFirstOfEqualsWins) {
    for (const std::size_t length : {129, 4500, 70000}) {
        std::vector<std::int32_t> in(length, 7);
        EXPECT_EQ(reduced<phy::ArgMax<std::int32_t>>(Host(), in, 1)[0], 0U);
        in[length - 1] = in[length / 3] = in[length / 2] = 8;
        EXPECT_EQ(reduced<phy::ArgMax<std::int32_t>>(Host(), in, 1)[0], length / 3);
    }
}

TEST(ReduceRowsOfUsers, ManyShortRows) {
    const std::uint64_t seed = random_seed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const auto rows = static_cast<std::size_t>(fewer_times(1 << 20));
    const auto in = random_elements<float>(rows, seed);
    expect_same_bytes(reduced<phy::Maximum<float>>(Host({.threads = 0}), in, rows), in);
}

/// By the tree of the reference and the operator's own functions.
template <class Op>
std::vector<typename Op::Result> by_reference(std::span<const typename Op::Element> in, std::size_t rows,
                                              const Op& op) {
    using Node = typename Op::Node;
    std::vector<typename Op::Result> results;
    const std::size_t length = in.size() / rows;
    for (std::size_t row = 0; row < rows; ++row) {
        const auto of = [&](std::uint64_t i) { return op.of(in[row * length + i], i); };
        const auto join = [&](const Node& a, const Node& b) { return op.join(a, b); };
        results.push_back(op.finish(reference_root<Node>(length, op.identity(), of, join), length));
    }
    return results;
}

template <class Op>
void expect_reference(std::span<const typename Op::Element> in, std::size_t rows, const Op& op) {
    const auto expected = by_reference(in, rows, op);
    for (const int threads : {1, 2, 5}) {
        for (const Backend& backend : host_backends()) {
            const Host host = phy::detail::host_of_exactly(threads, backend);
            expect_same_bytes(reduced(host, in, rows, op), expected);
        }
    }
}

TEST(ReduceRowsOfUsers, OperatorsOfTheirOwn) {
    const std::uint64_t seed = random_seed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    for (const Batch& batch : {Batch{40, 100}, Batch{3, 4099}, Batch{2, 99991}}) {
        const std::size_t count = batch.rows * batch.length;
        const auto in = random_elements<float>(count, seed);
        expect_reference(in, batch.rows, Moments());
        expect_reference(in, batch.rows, Nearest{0.25F});
        const auto numbers = random_elements<std::int16_t>(3 * count, seed);
        std::vector<Point> points(count);
        std::memcpy(points.data(), numbers.data(), count * sizeof(Point));
        expect_reference(points, batch.rows, BoundingBox());
    }
}

TEST(ReduceRowsOfUsers, MomentsAreThoseOfTheNumbers) {
    std::vector<float> in(100000);
    for (std::size_t i = 0; i < in.size(); ++i)
        in[i] = 1000.0F + static_cast<float>(i % 2);
    const auto moments = reduced<Moments>(Host(), in, 1)[0];
    EXPECT_NEAR(moments.mean, 1000.5, 1e-9);
    EXPECT_NEAR(moments.variance, 0.25, 1e-9);
}

}  // namespace
