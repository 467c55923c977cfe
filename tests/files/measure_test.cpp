#include "phy/files/measure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "capture/capture_files.hpp"
#include "demapper/signals.hpp"
#include "files/made_capture.hpp"
#include "phy/core/error.hpp"
#include "phy/core/version.hpp"
#include "phy/cuda/device.hpp"
#include "phy/mapper/mapper.hpp"
#include "phy/scrambling/scrambler.hpp"
#include "support/random_seed.hpp"
#include "support/temporary_directory.hpp"
#include "support/unnamed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::measure_file;
using phy::MeasureBy;
using phy::Measured;
using phy::MeasureOptions;
using phy::Modulation;
using phy::SampleFormat;
using phy::SymbolReference;
using phy::SymbolSums;

class Measure : public testing::Test {
protected:
    /// As the reader has them.
    [[nodiscard]] std::vector<std::byte> stored() const {
        phy::CaptureReader reader(capture_);
        const phy::CaptureDescription& description = reader.description();
        std::vector<std::byte> bytes(description.symbols * size_of(description.format));
        reader.read(0, {description.format, bytes});
        return bytes;
    }

    TemporaryDirectory directory_;
    const std::filesystem::path capture_ = directory_ / "c.h5";
};

bool same_numbers(const phy::SymbolMeasurement& a, const phy::SymbolMeasurement& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

MeasureOptions by(std::uint64_t row) {
    MeasureOptions options;
    options.by = MeasureBy::symbols;
    options.row = row;
    return options;
}

TEST_F(Measure, SaysWhatTheCaptureIsLike) {
    const MadeCapture made = {.symbols = 200'000, .amplitude = 0.25, .not_a_number = 11};
    SCOPED_TRACE(made.text());
    make_capture(capture_, made);
    const Measured done = measure_file(capture_);
    EXPECT_EQ(done.whole.symbols, 200'000U - 11U);
    EXPECT_EQ(done.whole.not_finite, 11U);
    EXPECT_NEAR(done.whole.gain, 0.25, 1e-4);
    EXPECT_EQ(done.gain, static_cast<float>(done.whole.gain));
    EXPECT_NEAR(done.whole.mean_power, 0.0625 * 1.001, 0.0625 * 0.01);
    EXPECT_NEAR(done.whole.snr_db, 30.0, 0.05);
    EXPECT_NEAR(done.whole.noise_variance, 1e-3, 1e-5);
    EXPECT_NEAR(done.whole.snr_db, -10.0 * std::log10(done.whole.noise_variance), 1e-3);
    EXPECT_NEAR(done.whole.evm_rms, std::sqrt(1e-3), 1e-3);
    EXPECT_EQ(done.row, std::nullopt);
    EXPECT_TRUE(done.rows.empty());
    EXPECT_EQ(done.pipeline.items, 200'000U);
    EXPECT_FALSE(done.cancelled);
    EXPECT_GT(done.seconds, 0.0);
}

TEST_F(Measure, WarnsOfAWrongGainAndOfSamples) {
    make_capture(capture_, {.symbols = 20'000, .amplitude = 0.25});
    MeasureOptions options;
    options.gain = 0.25F;
    EXPECT_TRUE(measure_file(capture_, options).warnings.empty());
    for (const float gain : {0.125F, 0.5F}) {
        options.gain = gain;
        const std::vector<std::string> warnings = measure_file(capture_, options).warnings;
        ASSERT_EQ(warnings.size(), 1U) << gain;
        EXPECT_NE(warnings[0].find("gain may be wrong"), std::string::npos) << warnings[0];
    }

    const auto seed = random_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::normal_distribution<float> component(0.0F, 0.1F);
    std::vector<phy::cf32> samples(20'000);
    for (phy::cf32& sample : samples)
        sample = {component(random), component(random)};
    phy::CaptureWriter writer(capture_,
                              {.symbols = samples.size(), .modulation = Modulation::qpsk, .overwrite = true});
    writer.append(samples);
    writer.commit();
    const std::vector<std::string> warnings = measure_file(capture_).warnings;
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_NE(warnings[0].find("samples in time"), std::string::npos) << warnings[0];
}

TEST_F(Measure, IsWhatTheMeterSays) {
    for (const SampleFormat format : phy::all_sample_formats) {
        const MadeCapture made = {.format = format, .symbols = 70'003, .amplitude = 1.5};
        SCOPED_TRACE(made.text());
        make_capture(capture_, made);
        const std::vector<std::byte> bytes = stored();
        for (const std::uint64_t row :
             {1ULL, 12ULL, 3276ULL, 4096ULL, 5120ULL, 65'536ULL, 70'002ULL, 70'003ULL, 1ULL << 62}) {
            MeasureOptions options = by(row);
            options.gain = 1.5F;
            const Measured done = measure_file(capture_, options);
            phy::SymbolMeter meter(phy::Host(), done.meter);
            std::vector<SymbolSums> rows((70'003 + *done.row - 1) / *done.row);
            meter({format, bytes}, static_cast<std::size_t>(*done.row), rows);
            EXPECT_TRUE(done.rows == rows) << row;
            EXPECT_TRUE(same_numbers(done.whole, done.measurement(meter({format, bytes})))) << row;
        }
    }
}

TEST_F(Measure, NothingDependsOnHowTheWorkIsCut) {
    std::vector<std::vector<phy::Place>> places;
    for (const phy::Backend& backend : host_backends()) {
        places.push_back({host_of(backend)});
        places.push_back({host_of(backend, 3)});
    }
    if constexpr (phy::built_with_cuda) {
        std::vector<phy::Place> devices;
        for (const phy::gpu::Device& device : phy::gpu::Device::all())
            devices.emplace_back(device);
        if (!devices.empty()) places.push_back({devices.front()});
        if (devices.size() > 1) places.push_back(devices);
    }
    for (const Modulation modulation : {Modulation::pi2_bpsk, Modulation::qam64}) {
        for (const SymbolReference reference : {SymbolReference::decisions, SymbolReference::sent}) {
            // A gain that decisions need is measured on 2^20 symbols of a longer capture.
            const bool is_long =
                modulation == Modulation::pi2_bpsk && reference == SymbolReference::decisions;
            const MadeCapture made = {.modulation = modulation,
                                      .format = SampleFormat::cf16,
                                      .symbols = is_long ? 1'200'001U : 150'001U,
                                      .amplitude = 3.0,
                                      .snr_db = 20.0,
                                      .not_a_number = 5};
            SCOPED_TRACE(made.text());
            make_capture(capture_, made);
            MeasureOptions options = by(3276);
            options.reference = reference;
            options.places = {scalar_host()};
            const Measured expected = measure_file(capture_, options);
            EXPECT_NEAR(expected.whole.noise_variance, 0.01, 1e-4);
            for (const std::vector<phy::Place>& set : places) {
                options.places = set;
                for (const std::size_t chunk : {0U, 1U, 50'000U, 2'000'000U}) {
                    options.pipeline = {.chunk = chunk, .buffer_sets = chunk == 1 ? std::size_t{2} : 0};
                    const Measured done = measure_file(capture_, options);
                    EXPECT_TRUE(same_numbers(done.whole, expected.whole)) << set.front().name() << chunk;
                    EXPECT_EQ(done.gain, expected.gain);
                    EXPECT_TRUE(done.rows == expected.rows) << set.front().name() << chunk;
                }
            }
        }
    }
}

TEST_F(Measure, SentPointsNeedNoGoodDecisions) {
    const MadeCapture made = {
        .modulation = Modulation::qam16, .symbols = 300'000, .amplitude = 2.0, .snr_db = 0.0, .seed = 31};
    SCOPED_TRACE(made.text());
    make_capture(capture_, made);
    MeasureOptions options;
    options.reference = SymbolReference::sent;
    const Measured done = measure_file(capture_, options);
    EXPECT_NEAR(done.whole.snr_db, 0.0, 0.05);
    EXPECT_NEAR(done.whole.gain, 2.0, 0.02);
    EXPECT_NEAR(done.whole.noise_variance, 1.0, 0.02);
}

/// What decisions say of such a capture is far from its amplitude.
TEST_F(Measure, SentPointsNeedNoGoodGain) {
    for (const bool zeros : {true, false}) {
        const MadeCapture made = {.symbols = 50'000, .amplitude = 0.1};
        SCOPED_TRACE(made.text() + (zeros ? ", half of it 0" : ", turned"));
        make_capture(capture_, made);
        phy::CaptureReader reader(capture_);
        std::vector<phy::cf32> symbols(made.symbols);
        std::vector<std::uint8_t> bits(made.symbols * 8);
        reader.read(0, symbols);
        reader.read_bits(0, bits);
        for (std::size_t n = 0; n < symbols.size(); ++n)
            symbols[n] *=
                zeros ? phy::cf32(n % 2 == 0 ? 0.0F : 1.0F) : phy::cf32(std::sqrt(0.5F), std::sqrt(0.5F));
        phy::CaptureWriter writer(
            capture_,
            {.symbols = made.symbols, .modulation = made.modulation, .bits = true, .overwrite = true});
        writer.append(symbols);
        writer.append_bits(bits);
        writer.commit();

        MeasureOptions options;
        options.reference = SymbolReference::sent;
        const Measured measured = measure_file(capture_, options);
        options.gain = 0.1F;
        const Measured given = measure_file(capture_, options);
        EXPECT_NEAR(measured.whole.evm_rms / given.whole.evm_rms, 1.0, 1e-3);
        EXPECT_NEAR(measured.whole.gain / given.whole.gain, 1.0, 1e-3);
        EXPECT_NEAR(measured.whole.phase_deg, zeros ? 0.0 : 45.0, 0.2);
    }
}

TEST_F(Measure, SentPointsNeedBits) {
    MeasureOptions options;
    options.reference = SymbolReference::sent;
    make_capture(capture_, {.bits = false});
    EXPECT_THROW(measure_file(capture_, options), phy::DescriptionError);
    make_capture(capture_, {});
    options.capture.modulation = Modulation::qpsk;
    EXPECT_THROW(measure_file(capture_, options), phy::DescriptionError);
}

TEST_F(Measure, WithoutAModulationThereArePowersAlone) {
    CaptureFile(capture_).iq("/iq", {3, 4, 3, -4});
    const Measured done = measure_file(capture_);
    EXPECT_EQ(done.whole.symbols, 2U);
    EXPECT_EQ(done.whole.mean_power, 25.0);
    EXPECT_EQ(done.whole.dc_i, 3.0);
    EXPECT_TRUE(std::isnan(done.whole.gain));
    EXPECT_TRUE(std::isnan(done.whole.evm_rms));
    EXPECT_TRUE(std::isnan(done.whole.noise_variance));
    MeasureOptions options;
    options.reference = SymbolReference::sent;
    EXPECT_THROW(measure_file(capture_, options), phy::DescriptionError);
}

TEST_F(Measure, RowsAreThoseOfTheDataset) {
    std::mt19937 random(32);
    const auto layout = packed_layout(phy::hdf5::IqLayout::Kind::trailing,
                                      {.kind = phy::hdf5::NumberKind::int16, .order = std::endian::native});
    CaptureFile(capture_).iq("/iq", layout, {3, 14, 24}, random_components(3 * 14 * 24, random),
                             CaptureFile::Storage());
    MeasureOptions options;
    options.by = MeasureBy::row;
    Measured done = measure_file(capture_, options);
    EXPECT_EQ(done.capture.shape, (std::vector<std::uint64_t>{3, 14, 24}));
    EXPECT_EQ(done.row, 24U);
    EXPECT_EQ(done.rows.size(), 42U);
    options.by = MeasureBy::slot;
    done = measure_file(capture_, options);
    EXPECT_EQ(done.row, 14U * 24U);
    ASSERT_EQ(done.rows.size(), 3U);
    for (const SymbolSums& sums : done.rows)
        EXPECT_EQ(sums.symbols, 14U * 24U);
}

TEST_F(Measure, ProgressGoesOverAllPasses) {
    make_capture(capture_, {.symbols = 100'000});
    for (const std::uint64_t row : {1024U, 1000U}) {
        const std::uint64_t all_passes = row == 1024 ? 100'000 : 200'000;
        std::uint64_t last = 0;
        MeasureOptions options = by(row);
        options.pipeline.chunk = 10'000;
        options.progress = [&](std::uint64_t done, std::uint64_t all) {
            EXPECT_EQ(all, all_passes);
            EXPECT_GT(done, last);
            last = done;
        };
        measure_file(capture_, options);
        EXPECT_EQ(last, all_passes);
    }
}

TEST_F(Measure, CanBeStopped) {
    make_capture(capture_, {.symbols = 400'000});
    std::stop_source stop;
    MeasureOptions options = by(10);
    options.stop = stop.get_token();
    options.pipeline.chunk = 1;
    options.progress = [&](std::uint64_t /*done*/, std::uint64_t /*all*/) { stop.request_stop(); };
    const Measured done = measure_file(capture_, options);
    EXPECT_TRUE(done.cancelled);
    EXPECT_TRUE(done.rows.empty());
}

TEST_F(Measure, AGridAndSamplesNeedALink) {
    const std::vector<phy::cf32> iq(24);
    for (const auto kind : {phy::CaptureKind::grid, phy::CaptureKind::samples}) {
        phy::CaptureWriter writer(capture_,
                                  {.symbols = iq.size(), .overwrite = true, .kind = kind, .shape = {2, 12}});
        writer.append(iq);
        writer.commit();
        try {
            measure_file(capture_);
            FAIL() << to_string(kind) << " was measured";
        } catch (const phy::DescriptionError& error) {
            EXPECT_EQ(error.lacks(), phy::DescriptionError::Lacks::link) << error.what();
        }
        MeasureOptions options;
        options.gain = 1.0F;
        EXPECT_THROW(measure_file(capture_, options), phy::ArgumentError);
        options = {};
        options.reference = phy::SymbolReference::sent;
        EXPECT_THROW(measure_file(capture_, options), phy::ArgumentError);
        EXPECT_THROW(measure_file(capture_, by(10)), phy::ArgumentError);
        options = {};
        options.by = phy::MeasureBy::row;
        EXPECT_THROW(measure_file(capture_, options), phy::ArgumentError);
    }
}

/// The link says modulation and scrambling, of codewords that neither chunks nor blocks know.
TEST_F(Measure, SymbolsAreOfTheLinkOfTheirCapture) {
    phy::Link link;
    link.allocation.carrier_resource_blocks = 2;
    link.allocation.resource_blocks = {{0, 2}};
    link.allocation.dmrs.symbols = {2};
    link.scrambling = {.rnti = 4711, .id = 77};
    link.modulation = phy::Modulation::qam16;
    constexpr std::size_t of_codeword = 13 * 24;
    constexpr std::size_t symbols = 5 * of_codeword + 100;
    std::mt19937 random(17);
    std::vector<std::uint8_t> bits(4 * symbols);
    for (std::uint8_t& bit : bits)
        bit = static_cast<std::uint8_t>(random() & 1U);
    std::vector<std::uint8_t> scrambled(bits.size());
    phy::Scrambler scramble{phy::Host()};
    for (std::size_t first = 0; first < bits.size(); first += 4 * of_codeword) {
        const std::size_t count = std::min(4 * of_codeword, bits.size() - first);
        scramble(link.scrambling.c_init(), std::span(bits).subspan(first, count),
                 std::span(scrambled).subspan(first, count), 0);
    }
    std::vector<phy::cf32> iq(symbols);
    phy::Mapper(phy::Host(), {.modulation = link.modulation})(scrambled, iq);
    const auto written = [&](const std::string& text) {
        phy::CaptureWriter writer(capture_, {.symbols = symbols,
                                             .modulation = phy::Modulation::qam16,
                                             .bits = true,
                                             .overwrite = true,
                                             .link = text});
        writer.append(iq);
        writer.append_bits(bits);
        writer.commit();
    };
    MeasureOptions options;
    options.reference = phy::SymbolReference::sent;
    written("");
    EXPECT_GT(measure_file(capture_, options).whole.evm_rms, 0.5);
    for (const std::size_t chunk : {0U, 77U, 1000U}) {
        options.pipeline.chunk = chunk;
        written("");
        options.link = link;
        EXPECT_LT(measure_file(capture_, options).whole.evm_rms, 1e-5);
        options.link.reset();
        written(to_json(link));
        EXPECT_LT(measure_file(capture_, options).whole.evm_rms, 1e-5);
    }
    options.scrambling = link.scrambling;
    EXPECT_GT(measure_file(capture_, options).whole.evm_rms, 0.5) << "as one codeword";
    for (const int power : {49, 60, 61, 63}) {
        options.codeword_symbols = std::uint64_t{1} << power;
        EXPECT_THROW(measure_file(capture_, options), phy::ArgumentError) << power;
    }
}

TEST_F(Measure, WrongOptionsThrow) {
    make_capture(capture_, {.symbols = 100});
    EXPECT_THROW(measure_file(capture_, by(0)), phy::ArgumentError);
    MeasureOptions options;
    options.gain = 0.0F;
    EXPECT_THROW(measure_file(capture_, options), phy::ArgumentError);
    phy_test::expect_unnamed("rows by", 4, 3, [&] {
        MeasureOptions unnamed;
        unnamed.by = static_cast<phy::MeasureBy>(4);
        measure_file(capture_, unnamed);
    });
    phy_test::expect_unnamed("reference", 2, 1, [&] {
        MeasureOptions unnamed;
        unnamed.reference = static_cast<phy::SymbolReference>(2);
        measure_file(capture_, unnamed);
    });
    EXPECT_THROW(measure_file(directory_ / "missing.h5"), phy::FileError);
    CaptureFile(directory_ / "empty.h5").iq("/iq", {});
    EXPECT_THROW(measure_file(directory_ / "empty.h5"), phy::FileError);
}

}  // namespace
