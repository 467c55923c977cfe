#include "support/unnamed.hpp"

#include <functional>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/capture/write/slot_writer.hpp"
#include "support/temporary_directory.hpp"

/// Enumerators that were cast from numbers which name none are refused before anything is written.
namespace {

using phy_test::expect_unnamed;
using Names = std::vector<std::string>;

/// An enumerator of a config: its kind, the number of the last one, and how it is set.
template <typename Config>
struct Choice {
    const char* what;
    int last;
    std::function<void(Config&, int)> set;
};

template <typename Config>
std::vector<Choice<Config>> choices_of_soft_bits() {
    return {
        {"soft-bit format", 2,
         [](Config& config, int n) { config.format = static_cast<phy::SoftBitFormat>(n); }},
        {"modulation", 6, [](Config& config, int n) { config.modulation = static_cast<phy::Modulation>(n); }},
        {"method", 1, [](Config& config, int n) { config.llr_config.method = static_cast<phy::Method>(n); }},
        {"evaluator", 2,
         [](Config& config, int n) { config.llr_config.evaluator = static_cast<phy::Evaluator>(n); }}};
}

class UnnamedEnumerators : public testing::Test {
protected:
    /// Each choice by itself is refused.
    template <typename Writer, typename Config>
    void expect_all_refused(const Config& config, const std::vector<Choice<Config>>& choices) const {
        for (const auto& choice : choices) {
            for (const int number : {choice.last + 1, 100, 255}) {
                Config wrong = config;
                choice.set(wrong, number);
                expect_unnamed(choice.what, number, choice.last, [&] { Writer(path_, wrong); });
            }
        }
        EXPECT_EQ(directory_.names(), Names());
    }

    phy_test::TemporaryDirectory directory_;
    const std::filesystem::path path_ = directory_ / "file.h5";
};

TEST_F(UnnamedEnumerators, OfASoftBitWriter) {
    expect_all_refused<phy::SoftBitWriter>(phy::SoftBitWriter::Config{.symbols = 1},
                                           choices_of_soft_bits<phy::SoftBitWriter::Config>());
}

TEST_F(UnnamedEnumerators, OfASlotWriter) {
    expect_all_refused<phy::SlotWriter>(phy::SlotWriter::Config{.slots = 1, .elements = 1},
                                        choices_of_soft_bits<phy::SlotWriter::Config>());
}

TEST_F(UnnamedEnumerators, OfACaptureWriter) {
    using Config = phy::CaptureWriter::Config;
    expect_all_refused<phy::CaptureWriter>(
        Config{.symbols = 1},
        {{"sample format", 3,
          [](Config& config, int n) { config.format = static_cast<phy::SampleFormat>(n); }},
         {"capture layout", 4,
          [](Config& config, int n) { config.layout = static_cast<phy::CaptureLayout>(n); }},
         {"modulation", 6,
          [](Config& config, int n) { config.modulation = static_cast<phy::Modulation>(n); }},
         {"kind of capture", 2,
          [](Config& config, int n) { config.kind = static_cast<phy::CaptureKind>(n); }}});
    phy::CaptureWriter writer(path_, {.symbols = 1});
    const phy::SymbolView symbols(static_cast<phy::SampleFormat>(4), nullptr, 0);
    expect_unnamed("sample format", 4, 3, [&] { writer.append(symbols); });
    expect_unnamed("sample format", 4, 3, [&] { writer.write(0, symbols); });
}

TEST_F(UnnamedEnumerators, OfACaptureReader) {
    phy::CaptureWriter writer(path_, {.symbols = 1});
    writer.append(std::vector<phy::cf32>(1));
    writer.commit();
    expect_unnamed("kind of capture", 3, 2,
                   [&] { phy::CaptureReader(path_, {.kind = static_cast<phy::CaptureKind>(3)}); });
    expect_unnamed("modulation", 7, 6,
                   [&] { phy::CaptureReader(path_, {.modulation = static_cast<phy::Modulation>(7)}); });
    phy::CaptureReader reader(path_);
    expect_unnamed("sample format", -1, 3,
                   [&] { reader.read(0, phy::SymbolSpan(static_cast<phy::SampleFormat>(-1), nullptr, 0)); });
}

}  // namespace
