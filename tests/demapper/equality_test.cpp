#include <gtest/gtest.h>

#include <cstring>
#include <ostream>
#include <sstream>

#include "demapper/pool.hpp"

/// Every backend gives the bytes of the scalar backend, and where a symbol stands in a call, in memory or in
/// a vector changes nothing. The expected bytes are always a part of one call of the scalar backend; it is
/// among the subjects itself, because its own parts must be equal too.
namespace {

using phy::SoftBitFormat;
using phy_test::Bytes;
using phy_test::Input;
using phy_test::NoiseKind;

/// Memory at a chosen distance from a 64-byte boundary, between bytes that nobody may change.
class Guarded {
public:
    explicit Guarded(std::size_t capacity) : memory_(capacity + 4 * line) {}

    std::byte* place(std::size_t offset, std::size_t size) {
        const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
        first_ = line + (line - address % line) + offset;
        size_ = size;
        std::fill_n(memory_.begin() + static_cast<std::ptrdiff_t>(first_ - line), size + 2 * line, canary);
        return memory_.data() + first_;
    }

    [[nodiscard]] bool holds(std::span<const std::byte> expected) const {
        const std::span before(memory_.data() + first_ - line, line);
        const std::span after(memory_.data() + first_ + size_, line);
        const auto is_canary = [](std::byte byte) { return byte == canary; };
        return std::ranges::all_of(before, is_canary) && std::ranges::all_of(after, is_canary) &&
               expected.size() == size_ &&
               (size_ == 0 || std::memcmp(memory_.data() + first_, expected.data(), size_) == 0);
    }

private:
    static constexpr std::size_t line = 64;
    static constexpr std::byte canary{0xA5};

    Bytes memory_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

/// A part of an input, and how far from a boundary its bytes and those of its soft bits lie.
struct Window {
    std::size_t first;
    std::size_t count;
    std::size_t in_offset = 0;
    std::size_t out_offset = 0;
};

std::ostream& operator<<(std::ostream& stream, const Window& window) {
    return stream << window.count << " symbols from " << window.first << ", input at " << window.in_offset
                  << ", output at " << window.out_offset;
}

/// Demaps windows of one input and compares them with the scalar backend's one call.
class WindowCheck {
public:
    WindowCheck(phy::SoftDemapper& scalar, const Input& input, const NoiseKind& noise, SoftBitFormat format)
        : input_(input),
          noise_(noise),
          format_(format),
          qm_(bits_per_symbol(scalar.config().modulation)),
          expected_(phy_test::demapped(scalar, input, noise, format)),
          in_(input.bytes().size()),
          out_(expected_.size()) {}

    void operator()(phy::SoftDemapper& subject, const Window& window) {
        const std::size_t sample = size_of(input_.format());
        const std::span input =
            std::span(input_.bytes()).subspan(window.first * sample, window.count * sample);
        std::byte* in = in_.place(window.in_offset, input.size());
        std::copy(input.begin(), input.end(), in);

        const std::size_t symbol_bytes = qm_ * size_of(format_);
        const std::span expected =
            std::span(expected_).subspan(window.first * symbol_bytes, window.count * symbol_bytes);
        std::byte* out = out_.place(window.out_offset, expected.size());

        const std::span noise = std::span(input_.noise()).subspan(window.first, window.count);
        subject(phy::SymbolView(input_.format(), in, window.count), noise_.of(noise),
                phy::SoftBitSpan(format_, out, window.count * qm_), window.first);
        ASSERT_TRUE(out_.holds(expected)) << describe(subject, window, expected, out);
        ASSERT_TRUE(in_.holds(input)) << "input changed: " << window;
    }

private:
    [[nodiscard]] std::string describe(const phy::SoftDemapper& subject, const Window& window,
                                       std::span<const std::byte> expected, const std::byte* out) const {
        std::ostringstream text;
        text << subject.backend().name() << ", " << to_string(input_.format()) << " to " << to_string(format_)
             << ", " << name_of(noise_) << ", pool seed " << phy_test::pool_seed << ": " << window;
        const Bytes actual(out, out + expected.size());
        const auto differs = std::ranges::mismatch(actual, expected).in1 - actual.begin();
        const auto bit = static_cast<std::size_t>(differs) / size_of(format_);
        if (bit >= window.count * qm_) {
            text << "; bytes beside the output changed";
            return text.str();
        }
        const Bytes wanted(expected.begin(), expected.end());
        const std::size_t symbol = bit / qm_;
        const auto part = [&](std::size_t n) {
            return phy_test::component(input_.format(), input_.bytes(), 2 * (window.first + symbol) + n,
                                       static_cast<double>(default_full_scale(input_.format())));
        };
        text.precision(9);
        text << "; bit " << bit % qm_ << " of symbol " << symbol << " is "
             << phy_test::soft_bit(format_, actual, bit) << " and not "
             << phy_test::soft_bit(format_, wanted, bit) << ", y = " << part(0) << ", " << part(1)
             << ", its own N0 " << input_.noise()[window.first + symbol];
        return text.str();
    }

    const Input& input_;
    NoiseKind noise_;
    SoftBitFormat format_;
    std::size_t qm_;
    Bytes expected_;
    Guarded in_;
    Guarded out_;
};

class Equality : public testing::TestWithParam<phy_test::Variant> {
protected:
    Equality() : scalar_(GetParam().on(phy::Backend::scalar())) {
        for (const phy::Backend& backend : phy_test::host_backends()) {
            subjects_.push_back(GetParam().on(backend));
        }
    }

    /// Calls check(WindowCheck, subject) for all backends, formats and kinds of noise.
    template <typename Check>
    void for_all_subjects(std::size_t pool_size, float scalar_noise, Check check) {
        const phy_test::Pool pool = phy_test::awkward_pool(GetParam().modulation, pool_size);
        for (const bool per_symbol : {false, true}) {
            const NoiseKind noise{per_symbol, scalar_noise};
            phy_test::for_all_formats(pool, [&](const Input& input, SoftBitFormat format) {
                WindowCheck window_check(scalar_, input, noise, format);
                for (phy::SoftDemapper& subject : subjects_) {
                    if (HasFatalFailure()) return;
                    check(window_check, subject);
                }
            });
        }
    }

private:
    phy::SoftDemapper scalar_;
    std::vector<phy::SoftDemapper> subjects_;
};

TEST_P(Equality, AtEveryLength) {
    for_all_subjects(262, 0.003F, [](WindowCheck& check, phy::SoftDemapper& subject) {
        for (std::size_t count = 0; count <= 130 && !HasFatalFailure(); ++count) {
            check(subject, {.first = count, .count = count, .in_offset = count % 64});
        }
    });
}

TEST_P(Equality, AtEveryMisalignment) {
    for_all_subjects(80, 0.05F, [](WindowCheck& check, phy::SoftDemapper& subject) {
        for (std::size_t offset = 0; offset < 64 && !HasFatalFailure(); ++offset) {
            check(subject, {.first = 0, .count = 79, .in_offset = offset, .out_offset = 0});
            check(subject, {.first = 1, .count = 79, .in_offset = 0, .out_offset = offset});
            check(subject, {.first = 0, .count = 37, .in_offset = offset, .out_offset = 63 - offset});
        }
    });
}

// Each symbol of the pool's middle stands at every place of a call from the first to the last.
TEST_P(Equality, AtEveryPlaceOfAValue) {
    for_all_subjects(262, 0.0005F, [](WindowCheck& check, phy::SoftDemapper& subject) {
        for (std::size_t first = 0; first <= 130 && !HasFatalFailure(); ++first) {
            check(subject, {.first = first, .count = 131, .out_offset = first % 64});
        }
    });
}

TEST_P(Equality, AtGreatLength) {
    for_all_subjects(20'012, 0.01F, [](WindowCheck& check, phy::SoftDemapper& subject) {
        check(subject, {.first = 3, .count = 1000, .in_offset = 2, .out_offset = 1});
        check(subject, {.first = 5, .count = 4099});
        check(subject, {.first = 1, .count = 20'011, .in_offset = 1, .out_offset = 3});
    });
}

TEST_P(Equality, AtEveryNoiseVariance) {
    std::vector<float> variances = phy_test::extreme_noise();
    // A table takes its time to build, and the extreme variances have none.
    const double step = GetParam().evaluator == phy::Evaluator::table ? 9.0 : 1.5;
    for (double snr = 0.0; snr <= 45.0; snr += step)
        variances.push_back(phy_test::noise_of_snr(snr));
    const phy_test::Pool pool = phy_test::awkward_pool(GetParam().modulation, 300);
    const Input input(phy::SampleFormat::cf32, pool);
    phy::SoftDemapper scalar = GetParam().on(phy::Backend::scalar());
    for (const phy::Backend& backend : phy_test::host_backends()) {
        phy::SoftDemapper subject = GetParam().on(backend);
        for (const float variance : variances) {
            for (const SoftBitFormat format : phy::all_soft_bit_formats) {
                WindowCheck check(scalar, input, {.per_symbol = false, .scalar = variance}, format);
                ASSERT_NO_FATAL_FAILURE(check(subject, {.first = 0, .count = 300}));
            }
        }
    }
}

TEST_P(Equality, AtOtherScalesAndClips) {
    const phy_test::Pool pool = phy_test::awkward_pool(GetParam().modulation, 300);
    const Input input(phy::SampleFormat::cf32, pool);
    for (const float scale : {1.0F / 64.0F, 0.5F, 16.0F, 4096.0F}) {
        for (const int clip : {1, 31, 120}) {
            phy::SoftDemapper::Config config = GetParam().on(phy::Backend::scalar()).config();
            config.llr_scale = scale;
            config.llr_clip = clip;
            phy::SoftDemapper scalar(config);
            for (const bool per_symbol : {false, true}) {
                WindowCheck check(scalar, input, {per_symbol, 0.02F}, SoftBitFormat::int8);
                for (const phy::Backend& backend : phy_test::host_backends()) {
                    config.backend = backend;
                    phy::SoftDemapper subject(config);
                    ASSERT_NO_FATAL_FAILURE(check(subject, {.first = 0, .count = 300}))
                        << "scale " << scale << ", clip " << clip;
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, Equality, testing::ValuesIn(phy_test::all_variants()),
                         [](const auto& variant) { return name_of(variant.param); });

}  // namespace
