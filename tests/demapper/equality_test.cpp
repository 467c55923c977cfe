#include <gtest/gtest.h>

#include "demapper/recorded_calls.hpp"

/// Every backend gives the bytes of the scalar backend, and where a symbol stands in a call, in memory or in
/// a vector changes nothing. The expected bytes are always a part of one call of the scalar backend; it is
/// among the subjects itself, because its own parts must be equal too.
namespace {

using phy::SoftBitFormat;
using phy_test::Input;
using phy_test::NoiseKind;
using phy_test::RecordedCalls;
using phy_test::Window;

void expect_equality(phy::SoftDemapper& subject, const RecordedCalls& recorded) {
    phy_test::AlignedBytes memory(recorded.before());
    for (const phy::Allocation& call : recorded.calls(memory.bytes()))
        subject(call.symbols, call.noise, call.llr, call.first_symbol);
    ASSERT_EQ(recorded.difference(memory.bytes()), "")
        << subject.host().backend().name() << ", seed " << phy_test::awkward_seed;
}

class Equality : public testing::TestWithParam<phy_test::Variant> {
protected:
    Equality() : scalar_(GetParam().on(phy::Backend::scalar())) {
        for (const phy::Backend& backend : phy_test::host_backends()) {
            subjects_.push_back(GetParam().on(backend));
        }
    }

    /// All backends, formats and kinds of noise.
    void expect_equality_of(std::size_t symbol_count, float scalar_noise,
                            const std::vector<Window>& windows) {
        const phy_test::SymbolsWithNoise symbols =
            phy_test::awkward_symbols(GetParam().modulation, symbol_count);
        for (const bool per_symbol : {false, true}) {
            const NoiseKind noise{per_symbol, scalar_noise};
            phy_test::for_all_formats(symbols, [&](const Input& input, SoftBitFormat format) {
                const RecordedCalls recorded =
                    phy_test::recorded_calls(scalar_, input, noise, format, windows);
                for (phy::SoftDemapper& subject : subjects_) {
                    if (HasFatalFailure()) return;
                    expect_equality(subject, recorded);
                }
            });
        }
    }

    phy::SoftDemapper scalar_;
    std::vector<phy::SoftDemapper> subjects_;
};

TEST_P(Equality, AtEveryLength) {
    expect_equality_of(262, 0.003F, phy_test::windows_of_every_length());
}

TEST_P(Equality, AtEveryMisalignment) {
    expect_equality_of(80, 0.05F, phy_test::windows_of_every_misalignment());
}

TEST_P(Equality, AtEveryPlaceOfAValue) {
    expect_equality_of(262, 0.0005F, phy_test::windows_of_every_place());
}

TEST_P(Equality, InLongCalls) {
    constexpr std::size_t symbols = 5132;  // blocks and a part of one
    expect_equality_of(symbols, 0.01F, phy_test::long_windows(symbols));
}

TEST_P(Equality, AtEveryNoiseVariance) {
    const phy_test::SymbolsWithNoise symbols = phy_test::awkward_symbols(GetParam().modulation, 300);
    const Input input(phy::SampleFormat::cf32, symbols);
    const Window all{.first = 0, .count = 300};
    // A table takes its time to build, and the extreme variances have none.
    for (const float n0 : phy_test::all_noise(GetParam().evaluator == phy::Evaluator::table ? 9.0 : 1.5)) {
        for (const SoftBitFormat format : phy::all_soft_bit_formats) {
            const RecordedCalls recorded =
                phy_test::recorded_calls(scalar_, input, {false, n0}, format, {&all, 1});
            for (phy::SoftDemapper& subject : subjects_)
                ASSERT_NO_FATAL_FAILURE(expect_equality(subject, recorded));
        }
    }
}

TEST_P(Equality, AtOtherScalesAndClips) {
    const phy_test::SymbolsWithNoise symbols = phy_test::awkward_symbols(GetParam().modulation, 300);
    const Input input(phy::SampleFormat::cf32, symbols);
    const Window all{.first = 0, .count = 300};
    for (const float scale : {1.0F / 64.0F, 0.5F, 16.0F, 4096.0F}) {
        for (const int clip : {1, 31, 120}) {
            phy::DemapperConfig config = scalar_.config();
            config.llr.scale = scale;
            config.llr.clip = clip;
            phy::SoftDemapper scalar(phy_test::scalar_host(), config);
            for (const bool per_symbol : {false, true}) {
                const RecordedCalls recorded = phy_test::recorded_calls(scalar, input, {per_symbol, 0.02F},
                                                                        SoftBitFormat::int8, {&all, 1});
                for (const phy::Backend& backend : phy_test::host_backends()) {
                    phy::SoftDemapper subject(phy_test::host_of(backend), config);
                    ASSERT_NO_FATAL_FAILURE(expect_equality(subject, recorded))
                        << "scale " << scale << ", clip " << clip;
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, Equality, testing::ValuesIn(phy_test::all_variants()),
                         [](const auto& variant) { return name_of(variant.param); });

}  // namespace
