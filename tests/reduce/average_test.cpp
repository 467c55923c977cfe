#include "phy/reduce/average_matvec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "phy/core/backend.hpp"
#include "phy/core/error.hpp"
#include "reduce/average_cases.hpp"
#include "support/fenced_pages.hpp"
#include "support/fewer_cases.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

std::vector<phy::Host> hosts() {
    std::vector<phy::Host> hosts;
    for (const phy::Backend& backend : phy::Backend::all()) {
        if (backend.kind() == phy::Backend::Kind::cuda || !backend.supported()) continue;
        for (const int threads : {1, 3})
            hosts.push_back(phy::detail::host_of_exactly(threads, backend));
    }
    return hosts;
}

std::string host_text(const phy::Host& host) {
    return host.backend().name() + ", " + std::to_string(host.threads()) + " threads";
}

/// The outputs, from memory of exactly the sizes that are asked for, whose bytes before were others.
template <class T>
std::vector<T> averaged(const phy::Host& host, const AverageCase<T>& of) {
    std::vector<T> out(of.shape.batches * of.shape.length, T(77));
    std::vector<std::byte> workspace(phy::average_matvec_workspace_bytes<T>(of.shape), std::byte{0xFF});
    phy::average_matvec<T>(host, of.in, of.shape, of.matrix, out, workspace);
    return out;
}

template <class T>
class AverageMatvec : public ::testing::Test {};
TYPED_TEST_SUITE(AverageMatvec, AveragedTypes);

TYPED_TEST(AverageMatvec, EveryBackendComputesInTheSpecifiedOrder) {
    const std::vector<phy::Host> all = hosts();
    for (const AverageShape& shape : fewer_cases(average_shapes())) {
        const AverageCase<TypeParam> of(shape);
        const auto expected = ordered_outputs(of);
        for (const phy::Host& host : all) {
            SCOPED_TRACE(host_text(host) + ", " + text_of(shape));
            const auto out = averaged(host, of);
            ASSERT_NO_FATAL_FAILURE(expect_same_bits<TypeParam>(out, expected));
        }
    }
}

/// A wider format, in which the means and sums of a test are as good as exact.
template <class R>
using Wide = std::conditional_t<std::is_same_v<R, float>, double, long double>;

template <class T>
auto widened(const T& x) {
    using W = Wide<typename NumberOf<T>::Component>;
    if constexpr (NumberOf<T>::components == 2)
        return std::complex<W>(x.real(), x.imag());
    else
        return static_cast<W>(x);
}

template <class T>
auto magnitude(const T& x) {
    using W = Wide<typename NumberOf<T>::Component>;
    if constexpr (NumberOf<T>::components == 2)
        return std::abs(W(x.real())) + std::abs(W(x.imag()));
    else
        return std::abs(W(x));
}

template <class W>
W largest_component(const W& x) {
    return std::abs(x);
}
template <class W>
W largest_component(const std::complex<W>& x) {
    return std::max(std::abs(x.real()), std::abs(x.imag()));
}

TYPED_TEST(AverageMatvec, ErrorsAreWithinTheBound) {
    using T = TypeParam;
    using R = typename NumberOf<T>::Component;
    using W = Wide<R>;
    static_assert(std::numeric_limits<W>::digits >= std::numeric_limits<R>::digits + 11);
    for (const AverageShape& shape : fewer_cases(average_shapes())) {
        SCOPED_TRACE(text_of(shape));
        const AverageCase<T> of(shape);
        const auto out = averaged(phy::Host(), of);
        const auto [batches, length, observations] = shape;
        const std::size_t blocks = (observations + 4095) / 4096;
        const double depth = 39 + std::ceil(std::log2(static_cast<double>(blocks)));
        const W unit = std::ldexp(W(1), -std::numeric_limits<R>::digits);
        const W factor = (W(depth) + 1 + W(NumberOf<T>::components * length)) * unit;
        for (std::size_t n = 0; n < batches; ++n) {
            std::vector<decltype(widened(T()))> means(length);
            std::vector<W> magnitudes(length);
            for (std::size_t k = 0; k < length; ++k) {
                for (std::size_t m = 0; m < observations; ++m) {
                    const T x = of.in[(n * length + k) * observations + m];
                    means[k] += widened(x) / W(observations);
                    magnitudes[k] += magnitude(x) / W(observations);
                }
            }
            for (std::size_t l = 0; l < length; ++l) {
                decltype(widened(T())) sum{};
                W bound = 0;
                for (std::size_t k = 0; k < length; ++k) {
                    const T m = of.matrix[l * length + k];
                    sum += widened(m) * means[k];
                    bound += magnitude(m) * magnitudes[k];
                }
                ASSERT_LE(largest_component(widened(out[n * length + l]) - sum), bound * factor * W(1.01))
                    << n << ", " << l;
            }
        }
    }
}

TYPED_TEST(AverageMatvec, AwkwardNumbers) {
    for (const AverageShape& shape :
         {AverageShape{33, 20, 9}, AverageShape{17, 9, 300}, AverageShape{3, 70, 1}}) {
        for (const unsigned one_in : {3U, 40U, 1000U}) {
            AverageCase<TypeParam> of(shape);
            of.in = awkward_numbers<TypeParam>(of.in.size(), average_seed, one_in * 5);
            of.matrix = awkward_numbers<TypeParam>(of.matrix.size(), average_seed + 9, one_in);
            const auto expected = ordered_outputs(of);
            for (const phy::Host& host : hosts()) {
                SCOPED_TRACE(host_text(host) + ", " + text_of(shape) + ", one in " + std::to_string(one_in));
                ASSERT_NO_FATAL_FAILURE(expect_same_bits<TypeParam>(averaged(host, of), expected));
            }
        }
    }
}

TYPED_TEST(AverageMatvec, AnySplitOfTheBatches) {
    const AverageShape shape{67, 37, 5};
    const AverageCase<TypeParam> of(shape);
    const phy::Host host;
    const auto expected = averaged(host, of);
    for (const std::size_t together : {1U, 5U, 16U, 33U}) {
        std::vector<TypeParam> out;
        for (std::size_t n = 0; n < shape.batches; n += together) {
            AverageCase<TypeParam> part({std::min<std::size_t>(together, shape.batches - n), 37, 5});
            part.matrix = of.matrix;
            std::copy_n(of.in.begin() + static_cast<std::ptrdiff_t>(n * 37 * 5), part.in.size(),
                        part.in.begin());
            const auto some = averaged(host, part);
            out.insert(out.end(), some.begin(), some.end());
        }
        ASSERT_NO_FATAL_FAILURE(expect_same_bits<TypeParam>(out, expected)) << together << " together";
    }
}

/// Places of an array between two fences that may not be touched.
template <class T>
std::span<T> place(const FencedPages& pages, std::size_t count, bool at_end) {
    std::byte* const at = at_end ? pages.before_fence(count * sizeof(T)) : pages.after_fence();
    return {reinterpret_cast<T*>(at), count};
}

TYPED_TEST(AverageMatvec, TouchesNothingBesideItsArrays) {
    using T = TypeParam;
    for (const AverageShape& shape : fewer_cases(average_shapes())) {
        const AverageCase<T> of(shape);
        const std::size_t outputs = shape.batches * shape.length;
        const std::size_t bytes = phy::average_matvec_workspace_bytes<T>(shape);
        const FencedPages in_pages(of.in.size() * sizeof(T));
        const FencedPages matrix_pages(of.matrix.size() * sizeof(T));
        const FencedPages out_pages(outputs * sizeof(T));
        const FencedPages workspace_pages(bytes);
        for (const bool at_end : {false, true}) {
            const auto in = place<T>(in_pages, of.in.size(), at_end);
            const auto matrix = place<T>(matrix_pages, of.matrix.size(), at_end);
            const auto out = place<T>(out_pages, outputs, at_end);
            std::copy(of.in.begin(), of.in.end(), in.begin());
            std::copy(of.matrix.begin(), of.matrix.end(), matrix.begin());
            const phy::Host host;
            phy::average_matvec<T>(host, in, shape, matrix, out,
                                   place<std::byte>(workspace_pages, bytes, at_end));
            ASSERT_NO_FATAL_FAILURE(expect_same_bits<T>(out, averaged(host, of))) << text_of(shape);
        }
    }
}

TYPED_TEST(AverageMatvec, NoBatches) {
    std::vector<TypeParam> matrix(9);
    EXPECT_EQ(phy::average_matvec_workspace_bytes<TypeParam>({0, 3, 5}), 0U);
    phy::average_matvec<TypeParam>(phy::Host(), {}, {0, 3, 5}, matrix, {}, {});
}

template <class T>
void expect_error(const AverageShape& shape, std::size_t in, std::size_t matrix, std::size_t out,
                  std::size_t workspace, const std::string& says) {
    const std::vector<T> of_in(in);
    const std::vector<T> of_matrix(matrix);
    std::vector<T> of_out(out, T(5));
    std::vector<std::byte> bytes(workspace);
    try {
        phy::average_matvec<T>(phy::Host(), of_in, shape, of_matrix, of_out, bytes);
        ADD_FAILURE() << "no error, expected one that says " << says;
    } catch (const phy::ArgumentError& error) {
        EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
    EXPECT_EQ(std::count(of_out.begin(), of_out.end(), T(5)), static_cast<std::ptrdiff_t>(out));
}

TYPED_TEST(AverageMatvec, WrongSizesThrow) {
    using T = TypeParam;
    const AverageShape shape{2, 3, 5};
    const std::size_t bytes = phy::average_matvec_workspace_bytes<T>(shape);
    expect_error<T>({2, 0, 5}, 0, 0, 0, bytes, "length (L) is 0: expected at least 1");
    expect_error<T>({2, 3, 0}, 0, 9, 6, bytes, "observations (M) is 0: expected at least 1");
    expect_error<T>({0, 0, 0}, 0, 0, 0, 0, "length (L) is 0");
    expect_error<T>(shape, 29, 9, 6, bytes, "in has 29 elements: expected 30");
    expect_error<T>(shape, 30, 8, 6, bytes, "matrix has 8 elements: expected 9");
    expect_error<T>(shape, 30, 9, 7, bytes, "out has 7 elements: expected 6");
    expect_error<T>(shape, 30, 9, 6, bytes - 1, "workspace has " + std::to_string(bytes - 1) + " bytes");
    expect_error<T>({0, 3, 5}, 1, 9, 0, 0, "in has 1 elements: expected 0");
    expect_error<T>({0, 3, 5}, 0, 9, 1, 0, "out has 1 elements: expected 0");
    expect_error<T>({0, 3, 5}, 0, 8, 0, 0, "matrix has 8 elements: expected 9");
    constexpr std::size_t huge = std::size_t{1} << 32;
    for (const AverageShape& large :
         {AverageShape{1, huge, 1}, AverageShape{huge, huge / 2, 1}, AverageShape{huge, 1, huge},
          AverageShape{SIZE_MAX, 1, 1}, AverageShape{1, SIZE_MAX, 1}, AverageShape{1, 1, SIZE_MAX},
          AverageShape{0, huge, 1}}) {
        EXPECT_THROW(static_cast<void>(phy::average_matvec_workspace_bytes<T>(large)), phy::ArgumentError);
        expect_error<T>(large, 0, 0, 0, 0, "expected fewer elements");
    }
}

}  // namespace
