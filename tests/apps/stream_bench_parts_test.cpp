#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/check_soft_bits.hpp"
#include "phy/core/error.hpp"
#include "stream_bench/grid.hpp"
#include "stream_bench/limit.hpp"

namespace phy::test {
namespace {

using apps::Grid;

constexpr double gigabyte = 1e9;

TEST(StreamBenchGrid, WithoutSymbolsTheDefaultOnesAreTaken) {
    Grid grid;
    EXPECT_EQ(apps::fit_symbols(grid, Modulation::qam256, 64 * gigabyte), "");
    EXPECT_EQ(grid.symbols,
              (std::vector<std::uint64_t>{16384, 65536, 262144, 1048576, 8388608, 33554432, 134217728}));
}

// 256QAM from cf32 to int8: 16 bytes a symbol.
TEST(StreamBenchGrid, DefaultSymbolsBeyondHalfOfTheMemoryAreLeftOut) {
    Grid grid;
    const std::string one = apps::fit_symbols(grid, Modulation::qam256, 2 * 16.0 * 134217728 - 1);
    EXPECT_EQ(grid.symbols.back(), 33554432U);
    EXPECT_EQ(one,
              "--symbols: 134217728 left out: would take 2.15 GB of memory, more than half of this "
              "machine's 4.29 GB");

    grid = {};
    EXPECT_EQ(apps::fit_symbols(grid, Modulation::qam256, 2 * 16.0 * 134217728), "");

    grid = {};
    const std::string two = apps::fit_symbols(grid, Modulation::qam256, gigabyte);
    EXPECT_EQ(grid.symbols.back(), 8388608U);
    EXPECT_EQ(
        two,
        "--symbols: 33554432, 134217728 left out: would take up to 2.15 GB of memory, more than half of "
        "this machine's 1 GB");
}

// One memory serves all: 8 bytes in for cf32 and 32 out for float32.
TEST(StreamBenchGrid, TheLargestFormatsOfBothSidesCount) {
    Grid grid;
    grid.formats = {{SampleFormat::cf32, SoftBitFormat::int8}, {SampleFormat::ci8, SoftBitFormat::float32}};
    apps::fit_symbols(grid, Modulation::qam256, 2 * 40.0 * 8388608);
    EXPECT_EQ(grid.symbols.back(), 8388608U);
    grid.symbols.clear();
    apps::fit_symbols(grid, Modulation::qam256, 2 * 40.0 * 8388608 - 1);
    EXPECT_EQ(grid.symbols.back(), 1048576U);
}

TEST(StreamBenchGrid, SymbolsThatWereAskedForAreKeptOrRefused) {
    Grid grid;
    grid.symbols = {1000000, 5};
    EXPECT_EQ(apps::fit_symbols(grid, Modulation::qpsk, gigabyte), "");
    EXPECT_EQ(grid.symbols, (std::vector<std::uint64_t>{1000000, 5}));
    EXPECT_THROW(apps::fit_symbols(grid, Modulation::qpsk, 10e6), ArgumentError);
}

std::string error_of(const std::function<void()>& parse) {
    try {
        parse();
    } catch (const ArgumentError& error) {
        return error.what();
    }
    return "";
}

TEST(StreamBenchGrid, ErrorsNameTheElementWhereThereAreSeveral) {
    EXPECT_EQ(error_of([] { apps::parse_streams("0"); }),
              "--streams 0: expected a whole number from 1 to 1024, or 'auto'");
    EXPECT_EQ(error_of([] { apps::parse_streams("auto,4,0"); }),
              "--streams auto,4,0: '0': expected a whole number from 1 to 1024, or 'auto'");
    EXPECT_EQ(error_of([] { apps::parse_symbols(""); }), "--symbols : expected a whole number from 1 on");
    EXPECT_EQ(error_of([] { apps::parse_symbols("7,"); }),
              "--symbols 7,: '': expected a whole number from 1 on");
}

/// A stage for the modulation and what it gives for some symbols.
class StreamBenchCheck : public ::testing::TestWithParam<std::size_t> {
protected:
    StreamBenchCheck() : symbols_(size()) {
        for (std::size_t i = 0; i < symbols_.size(); ++i)
            symbols_[i] = {0.01F * static_cast<float>(i % 181) - 0.9F, 0.01F * static_cast<float>(i % 97)};
        soft_bits_.resize(stage_.outputs().front().bytes_of(size()));
        SoftDemapper demap(Host({.backend = Backend::scalar()}), stage_.config().demapper);
        demap(symbols_, 0.5F, {SoftBitFormat::int8, soft_bits_});
    }

    [[nodiscard]] static std::size_t size() { return GetParam(); }

    void check() const { apps::check_soft_bits(stage_, std::as_bytes(std::span(symbols_)), soft_bits_); }

    /// Whether the check finds fault with one soft bit that is another.
    [[nodiscard]] bool finds(std::size_t soft_bit) {
        soft_bits_[soft_bit] ^= std::byte{1};
        bool found = false;
        try {
            check();
        } catch (const Error& error) {
            found = true;
            EXPECT_NE(std::string(error.what()).find("soft bit " + std::to_string(soft_bit) + " "),
                      std::string::npos)
                << error.what();
        }
        soft_bits_[soft_bit] ^= std::byte{1};
        return found;
    }

    const SoftDemapStage stage_{{.demapper = {.modulation = Modulation::pi2_bpsk},
                                 .input = SampleFormat::cf32,
                                 .output = SoftBitFormat::int8,
                                 .noise_variance = 0.5F}};
    std::vector<cf32> symbols_;
    std::vector<std::byte> soft_bits_;
};

INSTANTIATE_TEST_SUITE_P(, StreamBenchCheck, ::testing::Values(1, 2, 4095, 4096, 4097, 8192, 20001),
                         ::testing::PrintToStringParamName());

TEST_P(StreamBenchCheck, TakesWhatIsRight) {
    EXPECT_NO_THROW(check());
}

TEST_P(StreamBenchCheck, FindsWhatIsWrongAtBothEnds) {
    for (const std::size_t from_end : {std::size_t{0}, std::size_t{1}, apps::checked_symbols - 1}) {
        const std::size_t offset = std::min(from_end, size() - 1);
        EXPECT_TRUE(finds(offset)) << offset;
        EXPECT_TRUE(finds(size() - 1 - offset)) << size() - 1 - offset;
    }
}

TEST_P(StreamBenchCheck, FindsSoftBitsThatNobodyWrote) {
    apps::spoil_soft_bits(stage_, soft_bits_);
    EXPECT_THROW(check(), Error);
}

/// What a thread gets at least.
constexpr std::size_t mebibyte = std::size_t{1} << 20U;

class StreamBenchHostLimit : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(, StreamBenchHostLimit, ::testing::Values(1, 2, 3, 7),
                         ::testing::PrintToStringParamName());

std::vector<std::byte> pattern(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::byte>(1 + i % 251);
    return bytes;
}

TEST_P(StreamBenchHostLimit, CopiesAsMuchAsThereIs) {
    constexpr std::size_t most = 8 * mebibyte + 3;
    const auto limit = apps::make_host_limit(most, most, GetParam());
    ASSERT_EQ(limit->input().size(), most);
    ASSERT_EQ(limit->output().size(), most);
    const std::vector<std::byte> input = pattern(most);
    std::ranges::copy(input, limit->input().begin());
    for (const std::size_t size :
         {std::size_t{1}, std::size_t{4097}, 2 * mebibyte, 3 * mebibyte + 4095, most}) {
        SCOPED_TRACE(size);
        std::ranges::fill(limit->output(), std::byte{0});
        limit->move(size, size);
        EXPECT_TRUE(std::equal(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(size),
                               limit->output().begin()));
        const auto rest = limit->output().subspan(size);
        EXPECT_EQ(std::ranges::count(rest, std::byte{0}), std::ranges::ssize(rest));
    }
}

// Where the soft bits are larger than the symbols, it copies half of both together, and starts again at the
// beginning of the symbols; where they are smaller, all of them are written.
TEST_P(StreamBenchHostLimit, CopiesHalfOfWhatIsReadAndWritten) {
    constexpr std::size_t small = 8 * mebibyte;
    constexpr std::size_t large = 24 * mebibyte;
    const auto widening = apps::make_host_limit(small, large, GetParam());
    std::ranges::copy(pattern(small), widening->input().begin());
    std::ranges::fill(widening->output(), std::byte{0});
    widening->move(small, large);
    EXPECT_EQ(std::ranges::ssize(widening->output()) - std::ranges::count(widening->output(), std::byte{0}),
              static_cast<std::ptrdiff_t>((small + large) / 2));

    const auto narrowing = apps::make_host_limit(large, small, GetParam());
    std::ranges::copy(pattern(large), narrowing->input().begin());
    std::ranges::fill(narrowing->output(), std::byte{0});
    narrowing->move(large, small);
    EXPECT_EQ(std::ranges::count(narrowing->output(), std::byte{0}), 0);
}

TEST_P(StreamBenchHostLimit, SaysHowManyThreads) {
    const std::string text = apps::make_host_limit(1, 1, GetParam())->description();
    EXPECT_NE(text.find("memcpy"), std::string::npos) << text;
    EXPECT_NE(text.find(" " + std::to_string(GetParam()) + " thread"), std::string::npos) << text;
}

}  // namespace
}  // namespace phy::test
