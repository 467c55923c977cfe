#include "phy/simd/arrays.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "support/fenced_pages.hpp"
#include "support/half_reference.hpp"

/// Every backend against the definition of its kernels, at every length from no element to several vectors.
/// What is read ends before a forbidden page, and what is written too, but for the specified padding.
namespace {

using phy::Backend;
using phy::SampleFormat;
using phy::SoftBitFormat;
using phy::detail::array_kernels;
using phy::detail::ArrayKernels;
using phy::detail::padding;
using phy_test::FencedPages;

constexpr unsigned seed = 160516;
constexpr std::size_t longest = 200;
constexpr std::byte canary{0xA5};

std::vector<Backend> host_backends() {
    std::vector<Backend> backends = Backend::all();
    std::erase_if(backends, [](const Backend& backend) {
        return backend.kind() == Backend::Kind::cuda || !backend.supported();
    });
    return backends;
}

std::vector<std::byte> random_bytes(std::size_t count) {
    std::mt19937 random(seed);
    std::vector<std::byte> bytes(count);
    for (std::byte& byte : bytes)
        byte = static_cast<std::byte>(random() >> 24);
    return bytes;
}

template <typename T>
T element(const std::byte* bytes, std::size_t n) {
    T value;
    std::memcpy(&value, bytes + n * sizeof value, sizeof value);
    return value;
}

/// Component n as a number.
float component(SampleFormat format, const std::byte* in, std::size_t n) {
    switch (format) {
        case SampleFormat::cf32:
            return element<float>(in, n);
        case SampleFormat::cf16:
            return static_cast<float>(phy_test::value_of_half(element<std::uint16_t>(in, n)));
        case SampleFormat::ci16:
            return static_cast<float>(element<std::int16_t>(in, n));
        case SampleFormat::ci8:
            return static_cast<float>(element<std::int8_t>(in, n));
    }
    return 0.0F;
}

/// The same bits, or both no number.
bool are_the_same(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}

class Arrays : public testing::TestWithParam<Backend> {
protected:
    [[nodiscard]] static const ArrayKernels& kernels() { return array_kernels(GetParam()); }
};

TEST_P(Arrays, WidenEveryFormatAtEveryLength) {
    const FencedPages in_pages(longest * sizeof(float));
    const FencedPages out_pages((longest + padding) * sizeof(float));
    for (const SampleFormat format : phy::all_sample_formats) {
        const std::size_t size = size_of(format) / 2;
        const auto widen = kernels().widen[static_cast<std::size_t>(format)];
        const std::vector<std::byte> bytes = random_bytes(longest * size);
        for (std::size_t count = 0; count <= longest; ++count) {
            for (const float unit : {1.0F, 0x1p-15F, 0.3F}) {
                std::byte* const in = in_pages.before_fence(count * size);
                std::ranges::copy(std::span(bytes).first(count * size), in);
                std::byte* const out = out_pages.before_fence((count + padding) * sizeof(float));
                widen(in, reinterpret_cast<float*>(out), count, unit);
                for (std::size_t n = 0; n < count; ++n) {
                    ASSERT_TRUE(are_the_same(element<float>(out, n), component(format, in, n) * unit))
                        << to_string(format) << ", component " << n << " of " << count << ", unit " << unit
                        << ", seed " << seed;
                }
            }
        }
    }
}

TEST_P(Arrays, WidenEveryHalf) {
    std::vector<std::uint16_t> in(0x10000);
    for (std::size_t n = 0; n < in.size(); ++n)
        in[n] = static_cast<std::uint16_t>(n);
    std::vector<float> out(in.size() + padding);
    kernels().widen[static_cast<std::size_t>(SampleFormat::cf16)](in.data(), out.data(), in.size(), 1.0F);
    for (std::size_t n = 0; n < in.size(); ++n) {
        const auto expected = static_cast<float>(phy_test::value_of_half(static_cast<unsigned>(n)));
        ASSERT_TRUE(are_the_same(out[n], expected)) << std::hex << n;
    }
}

/// Numbers that binary16 holds, ties between them, those beside, and any others that it has room for.
std::vector<float> numbers_for_halves() {
    std::vector<float> numbers;
    for (unsigned bits = 0; bits + 1 < 0x7C00U; bits += 7) {
        const auto here = static_cast<float>(phy_test::value_of_half(bits));
        const auto next = static_cast<float>(phy_test::value_of_half(bits + 1));
        const float tie = 0.5F * (here + next);
        for (const float number : {here, tie, std::nextafter(tie, 0.0F), std::nextafter(tie, 1e9F)})
            numbers.insert(numbers.end(), {number, -number});
    }
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> any(-65504.0F, 65504.0F);
    for (int n = 0; n < 10'000; ++n)
        numbers.push_back(any(random));
    return numbers;
}

TEST_P(Arrays, NarrowToTheNearestHalf) {
    const auto narrow = kernels().narrow[static_cast<std::size_t>(SoftBitFormat::float16)];
    ASSERT_NE(narrow, nullptr);
    std::vector<float> in = numbers_for_halves();
    const std::size_t count = in.size();
    in.resize(count + padding);
    std::vector<std::uint16_t> out(count);
    narrow(in.data(), out.data(), count);
    for (std::size_t n = 0; n < count; ++n) {
        ASSERT_EQ(out[n], phy_test::nearest_half_bits(static_cast<long double>(in[n])))
            << in[n] << ", seed " << seed;
    }
}

TEST_P(Arrays, NarrowWritesWhatItSaysAndNoMore) {
    const auto narrow = kernels().narrow[static_cast<std::size_t>(SoftBitFormat::float16)];
    const FencedPages in_pages((longest + padding) * sizeof(float));
    const std::vector<float> numbers = numbers_for_halves();
    for (std::size_t count = 0; count <= longest; ++count) {
        std::byte* const in = in_pages.before_fence((count + padding) * sizeof(float));
        std::memcpy(in, numbers.data(), (count + padding) * sizeof(float));
        for (const std::size_t offset : {0U, 1U, 7U}) {
            std::vector<std::byte> memory(offset + 2 * count + 64, canary);
            std::vector<std::byte> expected = memory;
            for (std::size_t n = 0; n < count; ++n) {
                const auto bits = static_cast<std::uint16_t>(
                    phy_test::nearest_half_bits(static_cast<long double>(numbers[n])));
                std::memcpy(expected.data() + offset + 2 * n, &bits, 2);
            }
            narrow(reinterpret_cast<const float*>(in), memory.data() + offset, count);
            ASSERT_EQ(memory, expected) << count << " numbers at offset " << offset;
        }
    }
}

/// Bits of signs that matter end with the soft bits; flip may read the rest of its words.
TEST_P(Arrays, FlipWhereSignsAreOne) {
    const FencedPages pages(longest * sizeof(float));
    const FencedPages sign_pages(phy::detail::words_of_signs(longest) * sizeof(std::uint32_t));
    for (const SoftBitFormat format : phy::all_soft_bit_formats) {
        const std::size_t size = size_of(format);
        const auto flip = kernels().flip[static_cast<std::size_t>(format)];
        std::vector<std::byte> bytes = random_bytes(longest * size);
        bytes[0] = bytes[7 * size] = std::byte{0x80};
        for (std::size_t count = 0; count <= longest; ++count) {
            const std::size_t words = phy::detail::words_of_signs(count);
            const std::vector<std::byte> bits = random_bytes(words * sizeof(std::uint32_t));
            std::byte* const signs = sign_pages.before_fence(bits.size());
            std::ranges::copy(bits, signs);
            std::vector<std::byte> expected(bytes.begin(),
                                            bytes.begin() + static_cast<std::ptrdiff_t>(count * size));
            for (std::size_t n = 0; n < count; ++n) {
                if ((bits[n / 8] >> (n % 8) & std::byte{1}) == std::byte{0}) continue;
                std::byte& last = expected[n * size + size - 1];
                const auto opposite = static_cast<std::byte>(256 - std::to_integer<unsigned>(last));
                if (size > 1)
                    last ^= std::byte{0x80};
                else
                    last = last == std::byte{0x80} ? std::byte{0x7F} : opposite;
            }
            std::byte* const soft_bits = pages.before_fence(count * size);
            std::ranges::copy(std::span(bytes).first(count * size), soft_bits);
            flip(soft_bits, soft_bits, count, reinterpret_cast<const std::uint32_t*>(signs));
            ASSERT_TRUE(std::ranges::equal(std::span(soft_bits, count * size), expected))
                << to_string(format) << ", " << count << " soft bits, seed " << seed;
        }
    }
}

TEST_P(Arrays, OnlyHalvesAreNarrowedAndFloatsAreNotCounted) {
    const auto at = [](SoftBitFormat format) { return static_cast<std::size_t>(format); };
    EXPECT_EQ(kernels().narrow[at(SoftBitFormat::int8)], nullptr);
    EXPECT_EQ(kernels().narrow[at(SoftBitFormat::float32)], nullptr);
    EXPECT_EQ(kernels().count_magnitude[at(SoftBitFormat::float32)], nullptr);
    for (const SoftBitFormat format : phy::all_soft_bit_formats)
        EXPECT_EQ(phy::detail::is_narrowed(format), kernels().narrow[at(format)] != nullptr);
}

/// Soft bits of which about one in three has the magnitude.
template <typename Bits>
std::vector<Bits> with_magnitude(std::vector<Bits> values) {
    std::mt19937 random(seed);
    std::vector<Bits> soft_bits(longest);
    for (Bits& bits : soft_bits)
        bits = random() % 3 == 0 ? values[random() % 2] : static_cast<Bits>(random());
    return soft_bits;
}

template <typename Bits, typename Counts>
void expect_counts(ArrayKernels::CountMagnitude count_magnitude, unsigned magnitude,
                   const std::vector<Bits>& soft_bits, const Counts& counts) {
    const FencedPages pages(longest * sizeof(Bits));
    for (std::size_t count = 0; count <= longest; ++count) {
        const auto used = std::span(soft_bits).first(count);
        std::byte* const in = pages.before_fence(count * sizeof(Bits));
        std::ranges::copy(std::as_bytes(used), in);
        const auto expected = static_cast<std::uint64_t>(std::ranges::count_if(used, counts));
        ASSERT_EQ(count_magnitude(in, count, magnitude), expected)
            << "magnitude " << magnitude << ", " << count << " soft bits, seed " << seed;
    }
}

TEST_P(Arrays, CountMagnitudesAtEveryLength) {
    const auto& of_format = kernels().count_magnitude;
    for (const int clip : {1, 31, 127}) {
        const std::vector<std::int8_t> values = {static_cast<std::int8_t>(clip),
                                                 static_cast<std::int8_t>(-clip)};
        const auto counts = [&](std::int8_t bits) { return bits == values[0] || bits == values[1]; };
        ASSERT_NO_FATAL_FAILURE(expect_counts(of_format[static_cast<std::size_t>(SoftBitFormat::int8)],
                                              static_cast<unsigned>(clip), with_magnitude(values), counts));
    }
    const std::vector<std::uint16_t> largest = {0x7BFF, 0xFBFF};  // +-65504
    const auto counts = [&](std::uint16_t bits) { return bits == largest[0] || bits == largest[1]; };
    ASSERT_NO_FATAL_FAILURE(expect_counts(of_format[static_cast<std::size_t>(SoftBitFormat::float16)], 0x7BFF,
                                          with_magnitude(largest), counts));
}

TEST_P(Arrays, CountWhatIsNotFiniteAtEveryLength) {
    using Limits = std::numeric_limits<float>;
    const std::vector<float> not_finite = {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                                           -Limits::quiet_NaN(), Limits::signaling_NaN()};
    const std::vector<float> finite = {0.0F, -0.0F, Limits::max(), Limits::lowest(), Limits::denorm_min(),
                                       1.0F};
    std::mt19937 random(seed);
    const FencedPages pages(longest * sizeof(float));
    for (std::size_t count = 0; count <= longest; ++count) {
        std::vector<float> numbers(count);
        std::uint64_t expected = 0;
        for (float& number : numbers) {
            const bool bad = random() % 4 == 0;
            expected += bad ? 1 : 0;
            number = bad ? not_finite[random() % not_finite.size()] : finite[random() % finite.size()];
        }
        std::byte* const in = pages.before_fence(count * sizeof(float));
        std::ranges::copy(std::as_bytes(std::span(numbers)), in);
        ASSERT_EQ(kernels().count_not_finite(reinterpret_cast<const float*>(in), count), expected)
            << count << " numbers, seed " << seed;
    }
}

/// A fast path looks whether there is any.
TEST_P(Arrays, CountTheOnlyOneThatIsNotFinite) {
    for (std::size_t count = 1; count <= longest; ++count) {
        std::vector<float> numbers(count, std::numeric_limits<float>::lowest());
        for (std::size_t bad = 0; bad < count; ++bad) {
            numbers[bad] = bad % 2 == 0 ? std::numeric_limits<float>::infinity()
                                        : std::numeric_limits<float>::quiet_NaN();
            ASSERT_EQ(kernels().count_not_finite(numbers.data(), count), 1U) << bad << " of " << count;
            numbers[bad] = 1.0F;
        }
        ASSERT_EQ(kernels().count_not_finite(numbers.data(), count), 0U) << count;
    }
}

TEST_P(Arrays, StreamCopiesAnyBytesToAnyPlace) {
    const std::vector<std::byte> bytes = random_bytes(600);
    for (std::size_t count = 0; count <= 300; ++count) {
        for (const std::size_t offset : {0U, 1U, 17U, 63U}) {
            std::vector<std::byte> memory(offset + count + 64, canary);
            std::vector<std::byte> expected = memory;
            const auto from = std::span(bytes).subspan(count % 5, count);
            std::ranges::copy(from, expected.begin() + static_cast<std::ptrdiff_t>(offset));
            kernels().stream(from.data(), memory.data() + offset, count);
            kernels().finish_streams();
            ASSERT_EQ(memory, expected) << count << " bytes to offset " << offset << ", seed " << seed;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, Arrays, testing::ValuesIn(host_backends()), [](const auto& backend) {
    std::string name = backend.param.name();
    std::ranges::replace_if(
        name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
});

TEST(ArrayKernels, AreThereForWhatRunsHere) {
    for (const Backend& backend : Backend::all()) {
        if (backend.kind() != Backend::Kind::cuda && backend.supported()) {
            EXPECT_NO_THROW(array_kernels(backend));
        } else {
            EXPECT_THROW(array_kernels(backend), phy::BackendError) << backend.name();
        }
    }
}

}  // namespace
