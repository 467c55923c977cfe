#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>

#include "ofdm/ofdm_cases.hpp"
#include "phy/ofdm/host/fft_kernels.hpp"
#include "phy/ofdm/math/fft_plan.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::cf32;
using phy::detail::FftPlan;

/// The transform of any bin, which a carrier does not show.
std::vector<cf32> transformed(const phy::Backend& backend, const FftPlan& plan, std::span<const cf32> x) {
    const phy::detail::FftKernels& fft = phy::detail::fft_kernels(backend);
    phy::detail::FftWorkspace workspace(1, 4 * x.size(), 0);
    std::vector<cf32> y(x.size());
    fft.transform(plan.fft(), reinterpret_cast<const float*>(x.data()), workspace.work(0),
                  {.out = reinterpret_cast<float*>(y.data()), .count = y.size()});
    return y;
}

Points in_double(std::span<const cf32> x) {
    return {x.begin(), x.end()};
}

TEST(FftTest, EverySizeIsWithinTheBound) {
    for (const std::size_t size : fft_sizes()) {
        const FftPlan plan(size, phy::detail::FactorOrder::vectors);
        const std::vector<cf32> x = random_numbers(size);
        const Points truth = reference_dft(in_double(x));
        const std::vector<cf32> scalar = transformed(phy::Backend::scalar(), plan, x);
        SCOPED_TRACE(std::to_string(size) + " points, seed " + std::to_string(ofdm_seed));
        EXPECT_LT(relative_error(scalar, truth), transform_error(size));
        for (const phy::Backend& backend : host_backends())
            EXPECT_EQ(bits_of(transformed(backend, plan, x)), bits_of(scalar)) << backend.name();
    }
}

/// Elements from any bin on, as many as there may be, of numbers that are usual, large or not finite.
TEST(FftTest, ElementsAreTheirBinsAndNothingElseIsWritten) {
    std::mt19937 random(ofdm_seed);
    const auto up_to = [&](std::size_t last) {
        return std::uniform_int_distribution<std::size_t>(0, last)(random);
    };
    const std::vector<std::size_t>& sizes = fft_sizes();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (int repetition = 0; repetition < 100; ++repetition) {
        const std::size_t size = sizes[up_to(sizes.size() - 1)];
        const std::size_t count = up_to(size);
        const std::size_t zero = up_to(count);
        const FftPlan plan(size, phy::detail::FactorOrder::vectors);
        std::vector<cf32> x = random_numbers(size);
        if (repetition % 3 == 1) x[up_to(size - 1)] = {1e25F, 1.0F};
        if (repetition % 3 == 2) x[up_to(size - 1)] = {1.0F, up_to(1) == 0 ? infinity : std::nanf("")};
        SCOPED_TRACE(std::to_string(size) + " points, " + std::to_string(count) + " elements, bin 0 is " +
                     std::to_string(zero) + ", seed " + std::to_string(ofdm_seed));
        for (const phy::Backend& backend : host_backends()) {
            const std::vector<cf32> bins = transformed(backend, plan, x);
            phy::detail::FftWorkspace workspace(1, 4 * size, 0);
            constexpr cf32 untouched = {-1.0F, -2.0F};
            std::vector<cf32> y(count + 2, untouched);
            phy::detail::fft_kernels(backend).transform(
                plan.fft(), reinterpret_cast<const float*>(x.data()), workspace.work(0),
                {.out = reinterpret_cast<float*>(y.data() + 1), .count = count, .zero = zero});
            std::vector<cf32> expected(count + 2, untouched);
            for (std::size_t i = 0; i < count; ++i)
                expected[i + 1] = bins[(i + size - zero) % size];
            EXPECT_EQ(bits_of(y), bits_of(expected)) << backend.name();
        }
    }
}

/// The order of operations is part of the contract: a changed digest changes the contract.
TEST(FftTest, TheBytesStay) {
    const std::pair<std::size_t, std::uint64_t> digests[] = {{128, 12629964213382377866U},
                                                             {1920, 12940566839657857765U},
                                                             {4096, 7561486766393344919U},
                                                             {5760, 3902054610055941902U}};
    for (const auto& [size, expected] : digests) {
        std::vector<cf32> x(size);
        std::minstd_rand random(1);
        for (cf32& point : x)
            point = {static_cast<float>(random() % 65536) - 32768.0F,
                     static_cast<float>(random() % 65536) - 32768.0F};
        std::uint64_t digest = 0xCBF29CE484222325U;  // FNV-1a
        for (const std::uint32_t bits : bits_of(
                 transformed(phy::Backend::scalar(), FftPlan(size, phy::detail::FactorOrder::vectors), x)))
            digest = (digest ^ bits) * 0x100000001B3U;
        EXPECT_EQ(digest, expected) << size << " points";
    }
}

TEST(FftTest, TheReferenceIsTheSum) {
    const Points x = in_double(random_numbers(60));
    const Points y = reference_dft(x);
    for (std::size_t k = 0; k < x.size(); ++k) {
        std::complex<double> sum;
        for (std::size_t i = 0; i < x.size(); ++i)
            sum += x[i] * turns(-static_cast<double>(i * k) / 60.0);
        EXPECT_LT(std::abs(y[k] - sum), 1e-12) << k << ", seed " << ofdm_seed;
    }
}

TEST(FftTest, RadicesMultiplyToTheSize) {
    for (std::size_t size = 12; size <= 8192; size += 4) {
        if (!phy::detail::has_small_factors(size)) continue;
        const FftPlan plan(size, phy::detail::FactorOrder::pairs);
        std::size_t product = 1;
        for (std::uint32_t i = 0; i < plan.fft().passes; ++i) {
            EXPECT_EQ(plan.fft().pass[i].stride, product) << size;
            product *= plan.fft().pass[i].radix;
        }
        EXPECT_EQ(product, size);
    }
}

}  // namespace
