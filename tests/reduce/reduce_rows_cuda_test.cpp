#include "phy/reduce/reduce_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "reduce/reduce_cases.hpp"
#include "reduce/reduce_on_device.hpp"
#include "reduce/reduce_reference.hpp"
#include "support/gpu.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;

template <class Op>
class ReduceRowsCuda : public ::testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};
TYPED_TEST_SUITE(ReduceRowsCuda, BuiltIn);

TYPED_TEST(ReduceRowsCuda, EveryShapeAndTuning) {
    const std::uint64_t seed = random_seed();
    for (const Batch& batch : fewer_cases(batches())) {
        SCOPED_TRACE(testing::Message() << batch.rows << " rows of " << batch.length << ", seed " << seed);
        const auto in = random_elements<typename TypeParam::Element>(batch.rows * batch.length, seed);
        const auto expected = expected_of<TypeParam>(in, batch.rows);
        BatchOnDevice<TypeParam> on_device(in, batch.rows);
        expect_same_bytes(on_device.results(), expected);
        for (const RowTuning& tuning : row_tunings) {
            SCOPED_TRACE(testing::Message() << "threads " << tuning.threads);
            expect_same_bytes(on_device.results({}, &tuning), expected);
        }
    }
}

TYPED_TEST(ReduceRowsCuda, AnyAlignment) {
    const std::uint64_t seed = random_seed();
    for (const std::size_t length : {500, 4177, 8192, 70001}) {
        for (std::size_t shift = 1; shift < 5; ++shift) {
            SCOPED_TRACE(testing::Message()
                         << "length " << length << ", shift " << shift << ", seed " << seed);
            const auto in = random_elements<typename TypeParam::Element>(3 * length, seed);
            BatchOnDevice<TypeParam> on_device(in, 3, shift);
            expect_same_bytes(on_device.results(), expected_of<TypeParam>(in, 3));
        }
    }
}

TYPED_TEST(ReduceRowsCuda, AwkwardNumbers) {
    using Element = typename TypeParam::Element;
    if constexpr (std::is_floating_point_v<Element>) {
        const std::uint64_t seed = random_seed();
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        const auto expect_all = [](const std::vector<Element>& in, std::size_t rows) {
            const auto expected = expected_of<TypeParam>(in, rows);
            BatchOnDevice<TypeParam> on_device(in, rows);
            expect_same_bytes(on_device.results(), expected);
            for (const RowTuning& tuning : row_tunings)
                expect_same_bytes(on_device.results({}, &tuning), expected);
        };
        for (const std::size_t length : {1, 5, 300, 4500, 20000})
            expect_all(awkward_elements<Element>(16, length, seed), 16);
        for (const std::size_t length : {1, 2, 131, 300})
            expect_all(nan_everywhere<Element>(length, seed), length);
        const std::vector<std::size_t> places = places_at_edges();
        expect_all(nan_at<Element>(places, length_of_blocks, seed), places.size());
    }
}

TYPED_TEST(ReduceRowsCuda, AwkwardNumbersOfAnyTypeAndTuning) {
    const std::uint64_t seed = random_seed();
    for (const Batch& batch : {Batch{64, 1031}, Batch{8, 70001}}) {
        const auto in = awkward_elements_of_any<typename TypeParam::Element>(batch.rows, batch.length, seed);
        const auto expected = expected_of<TypeParam>(in, batch.rows);
        BatchOnDevice<TypeParam> on_device(in, batch.rows);
        SCOPED_TRACE(testing::Message() << batch.rows << " rows of " << batch.length << ", seed " << seed);
        expect_same_bytes(on_device.results(), expected);
        for (const RowTuning& tuning : row_tunings) {
            SCOPED_TRACE(testing::Message() << "threads " << tuning.threads);
            expect_same_bytes(on_device.results({}, &tuning), expected);
        }
    }
}

class ReduceRowsOnDevice : public ::testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};

TEST_F(ReduceRowsOnDevice, RunsInAGraph) {
    const std::uint64_t seed = random_seed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    using Op = phy::Sum<float>;
    const std::size_t rows = 3;
    const auto first = random_elements<float>(rows * 100003, seed);
    const auto second = random_elements<float>(rows * 100003, seed + 1);
    BatchOnDevice<Op> on_device(first, rows);
    on_device.clear();
    {
        // A graph's work runs once when it is made.
        const phy::gpu::Stream stream(on_device.device());
        phy::gpu::copy_async(on_device.in(), first, stream);
        stream.synchronize();
    }
    const phy::gpu::Graph graph(on_device.device(), [&](cudaStream_t stream) { on_device.start(stream); });
    const phy::gpu::Stream stream(on_device.device());
    for (const auto& in : {second, first}) {
        phy::gpu::copy_async(on_device.in(), in, stream);
        graph(stream);
        stream.synchronize();
        expect_same_bytes(on_device.read(), expected_of<Op>(in, rows));
    }
}

TEST_F(ReduceRowsOnDevice, TakesNoMemory) {
    const auto in = random_elements<double>(2 * 100003, 1);
    BatchOnDevice<phy::Maximum<double>> on_device(in, 2);
    static_cast<void>(on_device.results());
    EXPECT_TRUE(keeps_free_memory(on_device.device(), [&] { static_cast<void>(on_device.results()); }));
}

TEST_F(ReduceRowsOnDevice, ManyShortRows) {
    const std::uint64_t seed = random_seed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const auto rows = static_cast<std::size_t>(fewer_times(1 << 20));
    const auto in = random_elements<float>(2 * rows, seed);
    const std::vector<float> half(in.data(), in.data() + rows);
    BatchOnDevice<phy::Maximum<float>> ones(half, rows);
    expect_same_bytes(ones.results(), half);
    BatchOnDevice<phy::Sum<float>> twos(in, rows);
    std::vector<float> expected(rows);
    for (std::size_t row = 0; row < rows; ++row)
        expected[row] = in[2 * row] + in[2 * row + 1];
    expect_same_bytes(twos.results(), expected);
}

/// Its roots are joined in up to four rounds.
TEST_F(ReduceRowsOnDevice, ALongRowGivesTheBytesOfTheHost) {
    const std::uint64_t seed = random_seed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const std::size_t length = (std::size_t{1} << (takes_fewer_cases() ? 22 : 28)) - 1;
    const auto some = random_elements<float>(1000003, seed);
    std::vector<float> in(length);
    for (std::size_t i = 0; i < length; ++i)
        in[i] = some[i % some.size()];
    const phy::Host host({.threads = 0});
    std::vector<std::byte> workspace(phy::reduce_rows_workspace_bytes<phy::Sum<float>>(1, length));
    std::vector<float> expected(1);
    phy::reduce_rows<phy::Sum<float>>(host, in, 1, expected, workspace);
    BatchOnDevice<phy::Sum<float>> on_device(in, 1);
    expect_same_bytes(on_device.results(), expected);
    for (const RowTuning& tuning : row_tunings)
        expect_same_bytes(on_device.results({}, &tuning), expected);
}

TEST_F(ReduceRowsOnDevice, MoreElementsThan32BitsCount) {
    if (takes_fewer_cases()) GTEST_SKIP() << "fewer cases";
    const phy::gpu::Device device;
    const std::size_t length = (std::size_t{1} << 32) + 5;
    if (device.free_memory() < 2 * length) GTEST_SKIP() << "too little memory";
    const phy::gpu::Stream stream(device);
    phy::gpu::DeviceBuffer<std::uint8_t> in(device, length);
    phy::gpu::fill_async(in, 1, stream);
    phy::gpu::fill_async(in.span().subspan(length - 2, 1), 2, stream);
    phy::gpu::DeviceBuffer<std::uint64_t> out(device, 2);
    using Sum = phy::Sum<std::uint8_t>;
    using ArgMax = phy::ArgMax<std::uint8_t>;
    phy::gpu::DeviceBuffer<std::byte> workspace(device, phy::reduce_rows_workspace_bytes<ArgMax>(1, length));
    phy::gpu::reduce_rows<Sum>(device, in, 1, out.span().first(1), workspace, stream);
    phy::gpu::reduce_rows<ArgMax>(device, in, 1, out.span().subspan(1, 1), workspace, stream);
    stream.synchronize();
    const auto results = to_host<std::uint64_t>(out.span());
    EXPECT_EQ(results[0], length + 1);
    EXPECT_EQ(results[1], length - 2);
}

TEST_F(ReduceRowsOnDevice, WrongSizesAreErrors) {
    using Op = phy::Sum<float>;
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    phy::gpu::DeviceBuffer<float> in(device, 20000);
    phy::gpu::DeviceBuffer<float> out(device, 2);
    phy::gpu::DeviceBuffer<std::byte> workspace(device, phy::reduce_rows_workspace_bytes<Op>(2, 10000));
    const auto error = [&](std::size_t elements, std::size_t rows, std::size_t results, std::size_t bytes) {
        try {
            phy::gpu::reduce_rows<Op>(device, in.span().first(elements), rows, out.span().first(results),
                                      workspace.span().first(bytes), stream);
        } catch (const phy::ArgumentError& thrown) {
            return std::string(thrown.what());
        }
        return std::string("none");
    };
    const std::size_t bytes = workspace.size();
    EXPECT_EQ(error(20000, 2, 2, bytes), "none");
    EXPECT_NE(error(19999, 2, 2, bytes).find("in has 19999 elements"), std::string::npos);
    EXPECT_NE(error(20000, 2, 1, bytes).find("out has 1 elements"), std::string::npos);
    EXPECT_NE(error(1, 0, 0, bytes).find("in has 1 elements"), std::string::npos);
    EXPECT_NE(error(20000, 2, 2, bytes - 1).find("workspace has"), std::string::npos);
    stream.synchronize();
}

template <class Op>
class ReduceRowsOfUsersCuda : public ::testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};
using UserOperators =
    ::testing::Types<Moments, Nearest, BoundingBox, LongSum, LongMean, NarrowComplexSum, FloatSumOfShorts>;
TYPED_TEST_SUITE(ReduceRowsOfUsersCuda, UserOperators);

template <class T>
std::vector<T> elements_of_users(std::size_t count, std::uint64_t seed) {
    if constexpr (std::is_same_v<T, Point>) {
        const auto numbers = random_elements<std::int16_t>(3 * count, seed);
        std::vector<Point> points(count);
        for (std::size_t i = 0; i < count; ++i)
            points[i] = {numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]};
        return points;
    } else {
        return random_elements<T>(count, seed);
    }
}

/// The host's results are tested by themselves.
TYPED_TEST(ReduceRowsOfUsersCuda, GivesTheBytesOfTheHost) {
    const std::uint64_t seed = random_seed();
    const phy::Host host;
    for (const Batch& batch : fewer_cases(batches())) {
        SCOPED_TRACE(testing::Message() << batch.rows << " rows of " << batch.length << ", seed " << seed);
        const auto in = elements_of_users<typename TypeParam::Element>(batch.rows * batch.length, seed);
        std::vector<typename TypeParam::Result> expected(batch.rows);
        std::vector<std::byte> workspace(
            phy::reduce_rows_workspace_bytes<TypeParam>(batch.rows, batch.length));
        phy::reduce_rows<TypeParam>(host, in, batch.rows, expected, workspace);
        BatchOnDevice<TypeParam> on_device(in, batch.rows);
        expect_same_bytes(on_device.results(), expected);
        for (const RowTuning& tuning : row_tunings)
            expect_same_bytes(on_device.results({}, &tuning), expected);
    }
}

}  // namespace
