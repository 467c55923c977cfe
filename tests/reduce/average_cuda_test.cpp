#include "phy/reduce/average_matvec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "phy/core/error.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/reduce/average/launch.hpp"
#include "reduce/average_cases.hpp"
#include "support/gpu.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::gpu::copy_async;
using phy::gpu::DeviceBuffer;
using phy::gpu::DeviceSpan;
using phy::gpu::detail::TileSize;

/// A case in the memory of a device: arrays with so many components before them, so that an odd number makes
/// them aligned for no more than components, and an output and a workspace with others around them.
template <class T>
class AverageOnDevice {
public:
    using R = typename NumberOf<T>::Component;

    explicit AverageOnDevice(const AverageCase<T>& of, std::size_t shift = 0)
        : shape_(of.shape),
          shift_(shift),
          stream_(device_),
          in_(device_, shift + of.in.size() * components),
          matrix_(device_, shift + of.matrix.size() * components),
          out_(device_, 2 * guard + shift + of.shape.batches * of.shape.length * components),
          bytes_(phy::average_matvec_workspace_bytes<T>(of.shape)),
          workspace_(device_, 2 * guard + bytes_) {
        set_in(of.in);
        copy_async(matrix_.span().subspan(shift, of.matrix.size() * components), components_of(of.matrix),
                   stream_);
        stream_.synchronize();
    }

    void set_in(const std::vector<T>& in) {
        copy_async(in_.span().subspan(shift_, in.size() * components), components_of(in), stream_);
        stream_.synchronize();
    }

    void start(cudaStream_t stream, std::optional<TileSize> tiles = {}) {
        const auto in = numbers_in<const T>(in_.data(), shape_.length * shape_.batches * shape_.observations);
        const auto matrix = numbers_in<const T>(matrix_.data(), shape_.length * shape_.length);
        const auto out = numbers_in<T>(out_.data() + guard, outputs());
        const auto workspace = workspace_.span().subspan(guard, bytes_);
        if (!tiles)
            phy::gpu::average_matvec<T>(device_, in, shape_, matrix, out, workspace, stream);
        else
            phy::gpu::detail::average_matvec_tuned<T>(device_, in, shape_, matrix, out, workspace, stream,
                                                      tiles);
    }

    /// Also looks at what must not be written.
    std::vector<T> results(std::optional<TileSize> tiles = {}) {
        clear();
        start(stream_, tiles);
        stream_.synchronize();
        return read();
    }

    void clear() {
        phy::gpu::fill_async(out_, untouched, stream_);
        phy::gpu::fill_async(workspace_, untouched, stream_);
        stream_.synchronize();
    }

    std::vector<T> read() {
        std::vector<R> out(out_.size());
        std::vector<std::byte> workspace(workspace_.size());
        copy_async(out, out_, stream_);
        copy_async(workspace, workspace_, stream_);
        stream_.synchronize();
        const auto bytes = std::as_bytes(std::span(out));
        expect_untouched(bytes.first((guard + shift_) * sizeof(R)));
        expect_untouched(bytes.last(guard * sizeof(R)));
        expect_untouched(std::span(workspace).first(guard));
        expect_untouched(std::span(workspace).last(guard));
        std::vector<T> results(outputs());
        std::memcpy(static_cast<void*>(results.data()), out.data() + guard + shift_,
                    results.size() * sizeof(T));
        return results;
    }

    [[nodiscard]] const phy::gpu::Device& device() const { return device_; }

private:
    static constexpr std::size_t components = NumberOf<T>::components;
    static constexpr std::size_t guard = 8;  ///< before and behind an array
    static constexpr int untouched = 0x5A;

    [[nodiscard]] std::size_t outputs() const { return shape_.batches * shape_.length; }

    static std::span<const R> components_of(const std::vector<T>& numbers) {
        return {reinterpret_cast<const R*>(numbers.data()), numbers.size() * components};
    }

    template <class U>
    DeviceSpan<U> numbers_in(R* memory, std::size_t count) const {
        return phy::gpu::device_span(reinterpret_cast<U*>(memory + shift_), count);
    }

    static void expect_untouched(std::span<const std::byte> memory) {
        EXPECT_TRUE(std::all_of(memory.begin(), memory.end(),
                                [](std::byte byte) { return byte == std::byte{untouched}; }));
    }

    phy::gpu::Device device_;
    AverageShape shape_;
    std::size_t shift_;
    phy::gpu::Stream stream_;
    DeviceBuffer<R> in_;
    DeviceBuffer<R> matrix_;
    DeviceBuffer<R> out_;
    std::size_t bytes_;
    DeviceBuffer<std::byte> workspace_;
};

constexpr TileSize tile_sizes[] = {TileSize::small, TileSize::large};

template <class T>
class AverageMatvecCuda : public ::testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};
TYPED_TEST_SUITE(AverageMatvecCuda, AveragedTypes);

template <class T>
void expect_bits_on_device(const AverageCase<T>& of, std::size_t shift = 0) {
    const auto expected = ordered_outputs(of);
    AverageOnDevice<T> on_device(of, shift);
    ASSERT_NO_FATAL_FAILURE(expect_same_bits<T>(on_device.results(), expected));
    for (const TileSize tiles : tile_sizes) {
        SCOPED_TRACE(tiles == TileSize::large ? "large tiles" : "small tiles");
        ASSERT_NO_FATAL_FAILURE(expect_same_bits<T>(on_device.results(tiles), expected));
    }
}

TYPED_TEST(AverageMatvecCuda, EveryShapeAndTileSizeHasTheSpecifiedBits) {
    std::vector<AverageShape> shapes = average_shapes();
    shapes.insert(shapes.end(), {{130, 192, 16}, {9, 64, 640}, {67, 68, 512}, {70, 128, 4096}});
    for (const AverageShape& shape : fewer_cases(shapes)) {
        SCOPED_TRACE(text_of(shape));
        ASSERT_NO_FATAL_FAILURE(expect_bits_on_device(AverageCase<TypeParam>(shape)));
    }
}

TYPED_TEST(AverageMatvecCuda, AnyAlignment) {
    for (const AverageShape& shape :
         {AverageShape{33, 64, 8}, AverageShape{7, 68, 515}, AverageShape{5, 32, 512}}) {
        for (const std::size_t shift : {1U, 2U, 3U, 4U}) {
            SCOPED_TRACE(text_of(shape) + ", shift " + std::to_string(shift));
            ASSERT_NO_FATAL_FAILURE(expect_bits_on_device(AverageCase<TypeParam>(shape), shift));
        }
    }
}

TYPED_TEST(AverageMatvecCuda, AwkwardNumbers) {
    for (const AverageShape& shape :
         {AverageShape{33, 20, 9}, AverageShape{17, 9, 300}, AverageShape{3, 70, 1}}) {
        for (const unsigned one_in : {3U, 40U, 1000U}) {
            SCOPED_TRACE(text_of(shape) + ", one in " + std::to_string(one_in));
            AverageCase<TypeParam> of(shape);
            of.in = awkward_numbers<TypeParam>(of.in.size(), average_seed, one_in * 5);
            of.matrix = awkward_numbers<TypeParam>(of.matrix.size(), average_seed + 9, one_in);
            ASSERT_NO_FATAL_FAILURE(expect_bits_on_device(of));
        }
    }
}

/// Many tiles, and as many observations as in the article's size.
TYPED_TEST(AverageMatvecCuda, ALongCallHasTheBitsOfTheHost) {
    using T = TypeParam;
    const AverageShape shape =
        takes_fewer_cases() ? AverageShape{70, 128, 520} : AverageShape{1024, 256, 512};
    SCOPED_TRACE(text_of(shape));
    AverageCase<T> of({.batches = 1, .length = shape.length, .observations = 1});
    of.shape = shape;
    const auto some = average_numbers<T>(100'003, average_seed);
    of.in.resize(shape.batches * shape.length * shape.observations);
    for (std::size_t i = 0; i < of.in.size(); ++i)
        of.in[i] = some[i % some.size()];
    std::vector<T> expected(shape.batches * shape.length);
    std::vector<std::byte> workspace(phy::average_matvec_workspace_bytes<T>(shape));
    phy::average_matvec<T>(phy::Host({.threads = 0}), of.in, shape, of.matrix, expected, workspace);
    AverageOnDevice<T> on_device(of);
    expect_same_bits<T>(on_device.results(), expected);
    for (const TileSize tiles : tile_sizes)
        expect_same_bits<T>(on_device.results(tiles), expected);
}

TYPED_TEST(AverageMatvecCuda, RunsInAGraph) {
    AverageCase<TypeParam> first({130, 64, 40});
    AverageCase<TypeParam> second = first;
    second.in = average_numbers<TypeParam>(first.in.size(), average_seed + 5);
    for (const TileSize tiles : tile_sizes) {
        AverageOnDevice<TypeParam> on_device(first);
        const phy::gpu::Graph graph(on_device.device(),
                                    [&](cudaStream_t stream) { on_device.start(stream, tiles); });
        const phy::gpu::Stream stream(on_device.device());
        for (const auto* of : {&second, &first}) {
            on_device.set_in(of->in);
            on_device.clear();
            graph(stream);
            stream.synchronize();
            ASSERT_NO_FATAL_FAILURE(expect_same_bits<TypeParam>(on_device.read(), ordered_outputs(*of)));
        }
    }
}

class AverageMatvecOnDevice : public ::testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};

TEST_F(AverageMatvecOnDevice, TakesNoMemory) {
    AverageOnDevice<double> on_device(AverageCase<double>({200, 64, 64}));
    static_cast<void>(on_device.results());
    EXPECT_TRUE(keeps_free_memory(on_device.device(), [&] { static_cast<void>(on_device.results()); }));
}

TEST_F(AverageMatvecOnDevice, WrongSizesThrow) {
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    const AverageShape shape{2, 3, 5};
    DeviceBuffer<double> memory(device, 64);
    DeviceBuffer<std::byte> bytes(device, phy::average_matvec_workspace_bytes<double>(shape));
    const auto call = [&](const AverageShape& of, std::size_t in, std::size_t matrix, std::size_t out,
                          std::size_t workspace) {
        const DeviceSpan<const double> numbers = memory.span();
        phy::gpu::average_matvec<double>(device, numbers.first(in), of, numbers.first(matrix),
                                         memory.first(out), bytes.first(workspace), stream);
    };
    EXPECT_THROW(call({2, 0, 5}, 0, 0, 0, bytes.size()), phy::ArgumentError);
    EXPECT_THROW(call({2, 3, 0}, 0, 9, 6, bytes.size()), phy::ArgumentError);
    EXPECT_THROW(call(shape, 29, 9, 6, bytes.size()), phy::ArgumentError);
    EXPECT_THROW(call(shape, 30, 10, 6, bytes.size()), phy::ArgumentError);
    EXPECT_THROW(call(shape, 30, 9, 5, bytes.size()), phy::ArgumentError);
    EXPECT_THROW(call(shape, 30, 9, 6, bytes.size() - 1), phy::ArgumentError);
    call({0, 3, 5}, 0, 9, 0, 0);
    stream.synchronize();
}

}  // namespace
