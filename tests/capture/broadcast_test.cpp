#include "phy/capture/broadcast.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "capture/capture_files.hpp"
#include "phy/capture/capture.hpp"
#include "phy/core/error.hpp"
#include "support/temporary_directory.hpp"

/// N0 of fewer values than symbols.
namespace phy_test {
namespace {

using phy::detail::Broadcast;
using phy::detail::Dimensions;

std::uint64_t product(const Dimensions& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

/// By the definition: of every index of the larger array that of the smaller one.
std::vector<std::uint64_t> repeated(const Dimensions& from, const Dimensions& to) {
    std::vector<std::uint64_t> elements;
    for (std::uint64_t n = 0; n < product(to); ++n) {
        std::uint64_t rest = n;
        std::uint64_t element = 0;
        std::uint64_t stride = 1;
        for (std::size_t back = 1; back <= to.size(); ++back) {
            const std::uint64_t index = rest % to[to.size() - back];
            rest /= to[to.size() - back];
            if (back > from.size()) continue;
            const std::uint64_t size = from[from.size() - back];
            element += (size == 1 ? 0 : index) * stride;
            stride *= size;
        }
        elements.push_back(element);
    }
    return elements;
}

std::vector<std::uint64_t> elements_of(const Broadcast& broadcast, std::uint64_t first, std::uint64_t count) {
    std::vector<std::uint64_t> elements;
    broadcast.visit(first, count, [&](std::uint64_t now, std::uint64_t element, bool repeats) {
        for (std::uint64_t n = 0; n < now; ++n)
            elements.push_back(repeats ? element : element + n);
    });
    return elements;
}

TEST(BroadcastOfShapes, RepeatsAsNumPyDoes) {
    const std::vector<std::pair<Dimensions, Dimensions>> cases = {{{1}, {7}},
                                                                  {{}, {3, 4}},
                                                                  {{4}, {3, 4}},
                                                                  {{3, 1}, {3, 4}},
                                                                  {{1, 4}, {3, 4}},
                                                                  {{3, 1, 1}, {3, 4, 5}},
                                                                  {{4, 1}, {3, 4, 5}},
                                                                  {{3, 1, 5}, {3, 4, 5}},
                                                                  {{1, 4, 1}, {3, 4, 5}},
                                                                  {{5}, {3, 4, 5}},
                                                                  {{2, 1, 3, 1}, {2, 1, 3, 4}},
                                                                  {{1, 1}, {6}},
                                                                  {{12}, {3, 4}},
                                                                  {{3, 4}, {3, 4}},
                                                                  {{3, 4, 1}, {3, 4}},
                                                                  {{12, 1}, {12}},
                                                                  {{2, 1, 2, 1, 2}, {2, 3, 2, 3, 2}}};
    for (const auto& [from, to] : cases) {
        const std::optional<Broadcast> broadcast = Broadcast::of(from, to);
        const bool one_by_one = product(from) == product(to);
        std::vector<std::uint64_t> expected(product(to));
        std::iota(expected.begin(), expected.end(), std::uint64_t{0});
        if (!one_by_one)
            expected = product(from) == 1 ? std::vector<std::uint64_t>(product(to)) : repeated(from, to);
        SCOPED_TRACE(testing::PrintToString(from) + " to " + testing::PrintToString(to));
        ASSERT_TRUE(broadcast.has_value());
        for (std::uint64_t first = 0; first < expected.size(); ++first) {
            for (std::uint64_t count = 0; first + count <= expected.size(); ++count) {
                ASSERT_EQ(elements_of(*broadcast, first, count),
                          std::vector(expected.begin() + static_cast<std::ptrdiff_t>(first),
                                      expected.begin() + static_cast<std::ptrdiff_t>(first + count)));
            }
        }
    }
}

TEST(BroadcastOfShapes, RefusesWhatDoesNotFitOrFitsTwice) {
    const std::vector<std::pair<Dimensions, Dimensions>> cases = {
        {{3}, {3, 4}},     // one a row without its second dimension
        {{4}, {4, 4}},     // a row or a column
        {{4, 3}, {3, 4}},  // turned
        {{2}, {7}},          {{0}, {7}},          {{4, 5}, {4, 5, 5, 4}},
        {{2, 1}, {2, 2, 3}}, {{3, 4, 2}, {3, 4}}, {{4, 4}, {4, 4, 4}}};
    for (const auto& [from, to] : cases)
        EXPECT_FALSE(Broadcast::of(from, to).has_value())
            << testing::PrintToString(from) << " to " << testing::PrintToString(to);
}

class NoiseOfShape : public testing::Test {
protected:
    /// A capture of 3 slots of 4 rows of 50 symbols, and N0 0, 1, 2 ... of that shape.
    phy::CaptureReader reader(const Dimensions& shape) const {
        std::vector<float> noise(product(shape));
        std::iota(noise.begin(), noise.end(), 0.25F);
        const std::vector<float> iq(3 * 4 * 50 * 2);
        const phy::hdf5::Dimensions dimensions(shape.begin(), shape.end());
        std::filesystem::remove(path_);
        CaptureFile(path_)
            .dataset("/iq", H5T_NATIVE_FLOAT, {3, 4, 50, 2}, iq.data())
            .number("/iq", "noise_variance", 0.125)
            .dataset("/noise_variance", H5T_NATIVE_FLOAT, dimensions, noise.data());
        return phy::CaptureReader(path_);
    }

    TemporaryDirectory directory_;
    const std::filesystem::path path_ = directory_ / "c.h5";
};

TEST_F(NoiseOfShape, IsReadForEachSymbol) {
    for (const Dimensions& shape :
         {Dimensions{3, 1, 1}, {3, 4, 1}, {50}, {1, 1, 50}, {4, 50}, {4, 1}, {600}, {3, 4, 50}, {3, 1, 50}}) {
        SCOPED_TRACE(testing::PrintToString(shape));
        phy::CaptureReader capture = reader(shape);
        ASSERT_TRUE(capture.description().has_noise_per_symbol);
        EXPECT_EQ(capture.description().noise_dataset, "/noise_variance");
        const std::vector<std::uint64_t> expected =
            repeated(shape.size() == 1 && shape[0] == 600 ? Dimensions{3, 4, 50} : shape, {3, 4, 50});
        for (const auto& [first, count] : {std::pair(0U, 600U), {599U, 1U}, {17U, 401U}, {200U, 0U}}) {
            std::vector<float> noise(count);
            capture.read_noise(first, noise);
            for (std::size_t n = 0; n < count; ++n)
                ASSERT_EQ(noise[n], 0.25F + static_cast<float>(expected[first + n])) << n;
        }
    }
}

TEST_F(NoiseOfShape, OfOneValueIsThatOfAllSymbols) {
    for (const Dimensions& shape : {Dimensions{1}, {1, 1, 1}}) {
        const phy::CaptureReader capture = reader(shape);
        EXPECT_FALSE(capture.description().has_noise_per_symbol);
        EXPECT_EQ(capture.description().noise_variance, 0.25F);
    }
}

TEST_F(NoiseOfShape, ThatDoesNotFitIsRefusedWithBothShapes) {
    try {
        static_cast<void>(reader({3}));
        FAIL() << "it was read";
    } catch (const phy::FileError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("/noise_variance: is float32 [3]"), std::string::npos) << text;
        EXPECT_NE(text.find("600 symbols of [3, 4, 50]"), std::string::npos) << text;
    }
}

TEST_F(NoiseOfShape, OfMoreValuesThanAreKeptIsTheSame) {
    constexpr std::uint64_t rows = 100'000;
    std::vector<float> noise(rows);
    std::iota(noise.begin(), noise.end(), 1.0F);
    const std::vector<float> iq(rows * 3 * 2);
    CaptureFile(path_)
        .dataset("/iq", H5T_NATIVE_FLOAT, {rows, 3, 2}, iq.data())
        .dataset("/noise_variance", H5T_NATIVE_FLOAT, {rows, 1}, noise.data());
    phy::CaptureReader capture(path_);
    std::mt19937_64 random(7);
    for (int turn = 0; turn < 100; ++turn) {
        const std::uint64_t first = random() % (3 * rows);
        std::vector<float> some(std::min<std::uint64_t>(random() % 100'000, 3 * rows - first));
        capture.read_noise(first, some);
        for (std::size_t n = 0; n < some.size(); ++n)
            ASSERT_EQ(some[n], noise[(first + n) / 3]);
    }
}

}  // namespace
}  // namespace phy_test
