#include <gtest/gtest.h>

#include "demapper/awkward_symbols.hpp"
#include "support/fenced_pages.hpp"

/// Neither vectors nor tails touch memory beside the spans of a call: beside them lie pages that may be
/// neither read nor written, so that a touch ends the test with a segmentation fault.
namespace {

using phy_test::Bytes;
using phy_test::FencedPages;

constexpr std::size_t longest = 130;

/// The three arrays of a call, each directly behind a fence or directly before one.
class FencedCall {
public:
    FencedCall(phy::SoftDemapper& demap, const phy_test::Input& input, phy::SoftBitFormat format)
        : demap_(demap), input_(input), format_(format), qm_(bits_per_symbol(demap.config().modulation)) {}

    /// The first `count` symbols of the input give the first bytes of what all of them give.
    void expect_part(const Bytes& whole, const phy_test::NoiseKind& noise, std::size_t count, bool at_end) {
        const std::span in = std::span(input_.bytes()).first(count * size_of(input_.format()));
        const std::span expected = std::span(whole).first(count * qm_ * size_of(format_));
        std::byte* symbols = copied(in_, in, at_end);
        std::byte* n0 = copied(noise_, std::as_bytes(std::span(input_.noise()).first(count)), at_end);
        std::byte* soft_bits = at_end ? out_.before_fence(expected.size()) : out_.after_fence();
        demap_({input_.format(), symbols, count},
               noise.of(std::span(reinterpret_cast<const float*>(n0), count)),
               {format_, soft_bits, count * qm_});
        ASSERT_TRUE(std::ranges::equal(expected, std::span(soft_bits, expected.size())))
            << to_string(input_.format()) << " to " << to_string(format_) << ", " << name_of(noise) << ", "
            << count << " symbols";
    }

private:
    static std::byte* copied(const FencedPages& pages, std::span<const std::byte> bytes, bool at_end) {
        std::byte* place = at_end ? pages.before_fence(bytes.size()) : pages.after_fence();
        std::ranges::copy(bytes, place);
        return place;
    }

    phy::SoftDemapper& demap_;
    const phy_test::Input& input_;
    phy::SoftBitFormat format_;
    std::size_t qm_;
    FencedPages in_{longest * sizeof(phy::cf32)};
    FencedPages noise_{longest * sizeof(float)};
    FencedPages out_{longest * 10 * sizeof(float)};
};

class Memory : public testing::TestWithParam<phy_test::Variant> {};

TEST_P(Memory, BesideTheSpansIsNotTouched) {
    const phy_test::SymbolsWithNoise symbols = phy_test::awkward_symbols(GetParam().modulation, longest);
    for (const phy::Backend& backend : phy_test::host_backends()) {
        SCOPED_TRACE(backend.name());
        phy::SoftDemapper demap = GetParam().on(backend);
        phy_test::for_all_formats(symbols, [&](const phy_test::Input& input, phy::SoftBitFormat format) {
            FencedCall call(demap, input, format);
            for (const phy_test::NoiseKind& noise : {phy_test::NoiseKind{false, 0.01F}, {true, 0.0F}}) {
                const Bytes whole = phy_test::demapped(demap, input, noise, format);
                for (std::size_t count = 1; count <= longest; ++count) {
                    ASSERT_NO_FATAL_FAILURE(call.expect_part(whole, noise, count, false));
                    ASSERT_NO_FATAL_FAILURE(call.expect_part(whole, noise, count, true));
                }
            }
        });
    }
}

INSTANTIATE_TEST_SUITE_P(, Memory, testing::ValuesIn(phy_test::all_variants()),
                         [](const auto& variant) { return name_of(variant.param); });

}  // namespace
