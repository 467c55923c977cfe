// Parts of a capture that are measured separately are joined to the bytes of one measurement, and a range is
// measured as a capture of its own.

#include "phy/files/measure_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "air_capture.hpp"
#include "made_capture.hpp"
#include "phy/core/error.hpp"
#include "phy/files/demodulate.hpp"
#include "phy/files/receive.hpp"
#include "support/fewer_cases.hpp"
#include "support/hdf5_file.hpp"
#include "support/random_seed.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_files.hpp"

namespace {

using phy::ItemRange;
using phy::MeasureBy;
using phy::Measured;
using phy::MeasuredPart;
using phy::MeasureOptions;
using phy::MeasurePlan;
using phy::Modulation;
using phy::SymbolReference;
using phy_test::MadeCapture;

class MeasureParts : public testing::Test {
protected:
    bool either() { return random_() % 2 == 0; }

    template <typename List>
    auto one_of(const List& list) {
        return list[random_() % std::size(list)];
    }

    /// Divisions of items into parts of whole units, in any order.
    std::vector<ItemRange> parts_of(const MeasurePlan& plan) {
        std::vector<ItemRange> parts;
        for (std::uint64_t first = 0; first < plan.items;) {
            const std::uint64_t left = plan.items - first;
            const std::uint64_t count =
                std::min(left, plan.unit * (1 + random_() % ((left - 1) / plan.unit + 1)));
            // The last one may ask for more than there is.
            parts.push_back({first, count == left && either() ? UINT64_MAX - first : count});
            first += count;
        }
        std::ranges::shuffle(parts, random_);
        return parts;
    }

    Measured joined(MeasureOptions options) {
        const MeasurePlan plan = plan_measurement(capture_, options);
        std::vector<MeasuredPart> parts;
        for (const ItemRange& range : parts_of(plan)) {
            options.range = range;
            options.pipeline.chunk = random_() % 100'000;
            options.places = {
                phy::Host({.threads = 1 + static_cast<int>(random_() % 2),
                           .backend = either() ? phy::Backend::scalar() : phy::Backend::best()})};
            parts.push_back(measure_part(capture_, options, plan));
        }
        return join_measured(capture_, options, plan, std::move(parts));
    }

    static void expect_equal(const Measured& done, const Measured& whole) {
        EXPECT_EQ(std::memcmp(&done.whole, &whole.whole, sizeof whole.whole), 0);
        EXPECT_EQ(done.rows, whole.rows);
        EXPECT_EQ(done.row, whole.row);
        EXPECT_EQ(done.gain, whole.gain);
        EXPECT_EQ(done.no_gain, whole.no_gain);
        EXPECT_EQ(done.meter, whole.meter);
        EXPECT_EQ(done.symbols, whole.symbols);
        EXPECT_EQ(done.format, whole.format);
        EXPECT_EQ(done.transmitter, whole.transmitter);
        EXPECT_EQ(done.reference, whole.reference);
        EXPECT_EQ(done.capture.modulation, whole.capture.modulation);
    }

    MadeCapture random_capture() {
        MadeCapture made = {.modulation = one_of(phy::all_modulations),
                            .format = one_of(phy::all_sample_formats),
                            .symbols = 1 + random_() % 300'000,
                            .amplitude = either() ? 1.0 : 0.3,
                            .snr_db = static_cast<double>(random_() % 40),
                            .seed = static_cast<unsigned>(random_())};
        if (either())
            made.fault = [](std::complex<double> symbol, std::uint64_t) {
                return symbol * std::complex<double>(0.98, 0.2) + 0.01;
            };
        return made;
    }

    /// rows: by symbols, or none.
    MeasureOptions random_options(std::uint64_t symbols) {
        MeasureOptions options;
        const std::uint64_t rows[] = {1 + random_() % 5000,
                                      1024 * (1 + random_() % 50),
                                      1 + random_() % symbols,
                                      32'768,
                                      symbols,
                                      UINT64_MAX};
        options.by = one_of(std::vector{MeasureBy::whole, MeasureBy::row, MeasureBy::slot, MeasureBy::symbols,
                                        MeasureBy::symbols, MeasureBy::symbols});
        if (options.by == MeasureBy::symbols) options.row = one_of(rows);
        if (either()) options.gain = 0.7F;
        if (either()) {
            options.reference = SymbolReference::sent;
            if (either()) options.scrambling = {.rnti = 17, .id = 4};
            if (either()) options.codeword_symbols = 500 + random_() % symbols;
        }
        return options;
    }

    phy_test::TemporaryDirectory folder_;
    std::filesystem::path capture_ = folder_ / "capture.h5";
    std::mt19937 random_{phy_test::random_seed()};
};

TEST_F(MeasureParts, OfSymbolsMakeTheWhole) {
    std::uint64_t warnings = 0;
    for (int i = 0; i < phy_test::fewer_times(12); ++i) {
        const MadeCapture made = random_capture();
        const MeasureOptions options = random_options(made.symbols);
        SCOPED_TRACE(made.text() + ", " + std::to_string(made.symbols) + " symbols by " +
                     std::to_string(static_cast<int>(options.by)) + " " +
                     std::to_string(options.row.value_or(0)));
        make_capture(capture_, made);
        const Measured whole = measure_file(capture_, options);
        const Measured done = joined(options);
        expect_equal(done, whole);
        EXPECT_EQ(done.warnings, whole.warnings);
        warnings += whole.warnings.size();
        if (HasFailure()) return;
    }
    EXPECT_TRUE(warnings > 0 || phy_test::takes_fewer_cases());
}

/// Of symbols that are all 0, and of those without a modulation.
TEST_F(MeasureParts, WithoutAGainMakeTheWhole) {
    for (const bool has_modulation : {true, false}) {
        if (has_modulation) {
            const std::vector<phy::cf32> zeros(100'000);
            phy::CaptureWriter writer(capture_, {.symbols = zeros.size(), .modulation = Modulation::qpsk});
            writer.append(zeros);
            writer.commit();
        } else {
            phy::test::Hdf5File(capture_).reals("iq", {100'000, 2});
        }
        const Measured whole = phy::measure_file(capture_);
        EXPECT_EQ(whole.no_gain.empty(), !has_modulation);
        EXPECT_TRUE(std::isnan(whole.whole.evm_rms));
        const Measured done = joined({});
        expect_equal(done, whole);
        EXPECT_EQ(done.warnings, whole.warnings);
        std::filesystem::remove(capture_);
    }
}

TEST_F(MeasureParts, OfSlotsMakeTheWhole) {
    for (const bool is_grid : {true, false}) {
        if (is_grid) {
            std::filesystem::copy_file(phy::test::data_file("pdsch_grid.h5"), capture_);
        } else {
            phy::apps::Recording::Config config = phy_test::plain_recording();
            config.seed = random_();
            phy_test::AirCapture(config).write(capture_, config.link);
        }
        for (const MeasureBy by : {MeasureBy::whole, MeasureBy::slot}) {
            MeasureOptions options;
            options.by = by;
            const Measured whole = measure_file(capture_, options);
            const Measured done = joined(options);
            expect_equal(done, whole);
            EXPECT_EQ(done.capture.symbols, whole.capture.symbols);
            EXPECT_EQ(done.range, whole.range);
            for (const std::string& warning : whole.warnings)
                EXPECT_NE(std::ranges::find(done.warnings, warning), done.warnings.end()) << warning;
            options.survey = plan_measurement(capture_, options).survey;
            options.range = {.first = 1 + random_() % (whole.range.count - 1), .count = 1};
            const Measured part = measure_file(capture_, options);
            EXPECT_EQ(part.range, *options.range);
            EXPECT_EQ(part.symbols, whole.symbols / whole.range.count);
            EXPECT_TRUE(by == MeasureBy::whole ||
                        std::ranges::equal(part.rows, std::span(whole.rows).subspan(part.range.first, 1)));
        }
        std::filesystem::remove(capture_);
    }
}

/// What receive_file() says of a link that does not fit.
TEST_F(MeasureParts, WithoutDmrsAreAnError) {
    std::filesystem::copy_file(phy::test::data_file("pdsch_grid.h5"), capture_);
    MeasureOptions options;
    options.link = phy::parse_link(*phy::CaptureReader(capture_).description().link);
    options.link->allocation.dmrs.scrambling_id += 1;
    EXPECT_THROW(joined(options), phy::FileError);
}

/// The symbols of a range as a capture of their own.
class MeasureRange : public MeasureParts {
protected:
    void cut(const MadeCapture& made, const ItemRange& range) {
        phy::CaptureReader reader(capture_);
        const phy::CaptureDescription& capture = reader.description();
        std::vector<std::byte> symbols(range.count * size_of(capture.format));
        std::vector<std::uint8_t> bits(range.count * capture.bits_per_symbol);
        reader.read(range.first, {capture.format, symbols});
        reader.read_bits(range.first, bits);
        phy::CaptureWriter writer(cut_, {.symbols = range.count,
                                         .format = capture.format,
                                         .modulation = made.modulation,
                                         .full_scale = capture.full_scale,
                                         .bits = true,
                                         .overwrite = true});
        writer.append(phy::SymbolView(capture.format, symbols));
        writer.append_bits(bits);
        writer.commit();
    }

    /// Without the names of captures.
    static std::vector<std::string> texts_of(const Measured& measured) {
        std::vector<std::string> texts;
        for (const std::string& warning : measured.warnings)
            texts.push_back(warning.substr(warning.find(": /") + 1));
        return texts;
    }

    std::filesystem::path cut_ = folder_ / "cut.h5";
};

TEST_F(MeasureRange, IsThatOfACaptureOfItsOwn) {
    for (int i = 0; i < phy_test::fewer_times(10); ++i) {
        const MadeCapture made = random_capture();
        make_capture(capture_, made);
        // pi/2-BPSK rotates as in the whole capture.
        const std::uint64_t first = random_() % made.symbols / 2 * 2;
        const ItemRange range = {first, 1 + random_() % (made.symbols - first)};
        SCOPED_TRACE(made.text() + ", " + std::to_string(range.first) + ":" + std::to_string(range.count));
        cut(made, range);
        MeasureOptions options = random_options(made.symbols);
        options.scrambling.reset();
        if (!options.gain) options.gain = plan_measurement(capture_, options).gain;
        const Measured alone = measure_file(cut_, options);
        options.range = range;
        const Measured done = measure_file(capture_, options);
        EXPECT_EQ(done.range, range);
        expect_equal(done, alone);
        EXPECT_EQ(texts_of(done), texts_of(alone));
        if (HasFailure()) return;
    }
}

TEST_F(MeasureRange, HasTheGainAndTheScramblingOfTheWhole) {
    MadeCapture made = {.modulation = Modulation::qam16, .symbols = 20'000, .amplitude = 0.2, .snr_db = 30.0};
    made.fault = [](std::complex<double> symbol, std::uint64_t n) {
        return n < 15'000 ? symbol : 2.0 * symbol;
    };
    make_capture(capture_, made);
    MeasureOptions options;
    options.reference = SymbolReference::sent;
    const Measured whole = measure_file(capture_, options);
    options.range = {.first = 1001, .count = 3000};
    const Measured done = measure_file(capture_, options);
    EXPECT_EQ(done.meter.gain, whole.meter.gain);
    EXPECT_NEAR(done.gain, 0.2, 1e-3);
    EXPECT_LT(done.whole.evm_rms, 0.04);
    options.scrambling = {.rnti = 17, .id = 4};
    EXPECT_GT(measure_file(capture_, options).whole.evm_rms, 0.5);
}

TEST_F(MeasureRange, OfHalfTurnsMayBeginAtAnOddSymbol) {
    phy_test::make_capture(capture_, {.modulation = Modulation::pi2_bpsk, .symbols = 50'000, .snr_db = 20.0});
    for (const std::uint64_t first : {0U, 1U, 2049U, 49'999U}) {
        MeasureOptions options;
        options.range = {.first = first, .count = UINT64_MAX};
        for (const SymbolReference reference : {SymbolReference::decisions, SymbolReference::sent}) {
            options.reference = reference;
            const Measured done = measure_file(capture_, options);
            EXPECT_LT(done.whole.evm_rms, 0.5) << first;
            EXPECT_TRUE(done.warnings.empty()) << first << ": " << done.warnings.front();
        }
        phy::DemodulateOptions demodulate{{options}};
        demodulate.capture.noise_variance = 0.01F;
        const phy::Demodulation done = demodulate_file(capture_, {}, demodulate);
        EXPECT_EQ(done.check.mismatch, phy::SymbolMismatch::none) << first;
    }
}

TEST_F(MeasureParts, ThatDoNotFitAreNamed) {
    phy_test::make_capture(capture_, {.symbols = 100'000});
    MeasureOptions options;
    const auto error_of = [](const auto& work) {
        try {
            work();
        } catch (const phy::ArgumentError& error) {
            return std::string(error.what());
        }
        return std::string("no error");
    };
    const MeasurePlan plan = plan_measurement(capture_, options);
    EXPECT_EQ(plan.items, 100'000U);
    EXPECT_EQ(plan.unit, 32'768U);
    const auto part = [&](std::uint64_t first, std::uint64_t count) {
        options.range = {.first = first, .count = count};
        return measure_part(capture_, options, plan);
    };
    EXPECT_EQ(error_of([&] { part(40'000, 60'000); }),
              "part 40000:60000: expected a first item that is a multiple of 32768, such as 32768");
    EXPECT_EQ(error_of([&] { part(32'768, 1000); }),
              "part 32768:1000: expected a multiple of 32768 items, or all to the end: 67232");
    EXPECT_NE(error_of([&] { part(100'000, 1); }).find("has only 100000 symbols"), std::string::npos);
    EXPECT_NE(error_of([&] { part(0, 0); }).find("expected at least one"), std::string::npos);

    const MeasuredPart first = part(0, 65'536);
    const MeasuredPart last = part(65'536, 100'000);
    const auto join = [&](std::vector<MeasuredPart> parts) {
        return error_of([&] { static_cast<void>(join_measured(capture_, options, plan, std::move(parts))); });
    };
    EXPECT_EQ(join({last, first}), "no error");
    EXPECT_EQ(join({first}), "parts: items 65536 to 99999 are in no part");
    EXPECT_EQ(join({last}), "parts: items 0 to 65535 are in no part");
    EXPECT_EQ(join({first, last, last}), "parts: item 65536 is in two parts, or behind the end");
    EXPECT_EQ(join({}), "parts: items 0 to 99999 are in no part");
    MeasuredPart damaged = last;
    damaged.roots.pop_back();
    EXPECT_NE(join({first, damaged}).find("expected 100000"), std::string::npos);
    options.by = MeasureBy::symbols;
    options.row = 1000;
    EXPECT_NE(join({first, last}).find("part 0:65536: was measured by 256qam"), std::string::npos);
    options.row = 3 * 1024;
    EXPECT_NE(join({first, last}).find("plan of 100000 items in units of 32768: expected that"),
              std::string::npos);
    options.by = MeasureBy::whole;
    MeasurePlan other = plan;
    other.gain *= 1.01F;
    EXPECT_NE(error_of([&] {
                  static_cast<void>(join_measured(capture_, options, other, {first, last}));
              }).find(", gain "),
              std::string::npos);
    std::stop_source stop;
    stop.request_stop();
    options.stop = stop.get_token();
    EXPECT_EQ(join({part(0, 65'536), last}), "part 0:65536: was stopped");
    options.survey = "{}";
    EXPECT_NE(error_of([&] { measure_file(capture_, options); }).find("survey"), std::string::npos);
}

}  // namespace
