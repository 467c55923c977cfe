#include "phy/pipeline/soft_demap_stage.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "demapper/pool.hpp"
#include "phy/core/error.hpp"
#include "pipeline/trial.hpp"

/// A pipeline of this stage gives what one call of phy::SoftDemapper on the scalar backend does.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Backend;
using phy::Chunk;
using phy::Modulation;
using phy::Pipeline;
using phy::SampleFormat;
using phy::SoftBitFormat;
using phy::SoftDemapStage;

static_assert(!std::is_copy_constructible_v<SoftDemapStage>);
static_assert(std::is_nothrow_move_constructible_v<SoftDemapStage>);

/// Fills chunks with symbols, and noise variances where each has its own.
class SymbolSource : public phy::Source {
public:
    SymbolSource(const SoftDemapStage& stage, const Input& input, bool ends_by_itself = false)
        : stage_(stage), input_(input), ends_by_itself_(ends_by_itself) {}

    [[nodiscard]] std::uint64_t items() const override { return ends_by_itself_ ? endless : input_.size(); }

    std::size_t fill(const Chunk& chunk, std::span<std::byte> memory) override {
        const std::size_t count = std::min<std::size_t>(chunk.items, input_.size() - chunk.first);
        const std::size_t size = size_of(input_.format());
        const phy::SymbolSpan samples = stage_.samples_of(memory, count);
        EXPECT_EQ(samples.format(), input_.format());
        EXPECT_EQ(samples.size(), count);
        std::copy_n(input_.bytes().data() + chunk.first * size, count * size, samples.data());
        const std::span<float> noise = stage_.noise_of(memory, count);
        std::copy_n(input_.noise().data() + chunk.first, noise.size(), noise.data());
        return count;
    }

private:
    const SoftDemapStage& stage_;
    const Input& input_;
    bool ends_by_itself_;
};

class SoftBitSink : public phy::Sink {
public:
    explicit SoftBitSink(const SoftDemapStage& stage) : stage_(stage) {}

    void take(const Chunk& chunk, std::span<const std::byte> output) override {
        EXPECT_EQ(output.size(), stage_.output_bytes(chunk.items));
        bytes.insert(bytes.end(), output.begin(), output.end());
    }

    Bytes bytes;

private:
    const SoftDemapStage& stage_;
};

SoftDemapStage::Config config_of(const phy::SoftDemapper::Config& demapper, const Input& input,
                                 SoftBitFormat output, const NoiseKind& noise) {
    SoftDemapStage::Config config{.modulation = demapper.modulation,
                                  .input = input.format(),
                                  .output = output,
                                  .method = demapper.method,
                                  .evaluator = demapper.evaluator,
                                  .llr_scale = demapper.llr_scale,
                                  .llr_clip = demapper.llr_clip,
                                  .full_scale = demapper.full_scale,
                                  .threads = demapper.threads,
                                  .counts = true};
    if (!noise.per_symbol) config.noise_variance = noise.scalar;
    return config;
}

/// What a pipeline makes of an input, and what was counted.
struct Demapped {
    Bytes soft_bits;
    phy::DemapCounters counters;
};

Demapped by_pipeline(const SoftDemapStage::Config& config, const Backend& backend, std::size_t chunk,
                     const Input& input, bool ends_by_itself = false) {
    SoftDemapStage stage(config);
    Pipeline pipeline({.backends = {backend}, .chunk = chunk, .lanes = 3}, stage);
    SymbolSource source(stage, input, ends_by_itself);
    SoftBitSink sink(stage);
    pipeline.run(source, sink);
    return {std::move(sink.bytes), stage.counters()};
}

Demapped by_one_call(phy::SoftDemapper::Config config, const Input& input, SoftBitFormat output,
                     const NoiseKind& noise) {
    config.backend = Backend::scalar();
    phy::SoftDemapper demap(config);
    Demapped result{demapped(demap, input, noise, output), {}};
    const std::span own = noise.per_symbol ? std::span(input.noise()) : std::span<const float>();
    result.counters = counted(input.format(), input.bytes(), own, output, result.soft_bits, config.llr_clip);
    return result;
}

constexpr NoiseKind noise_kinds[] = {{false, 0.02F}, {true, 0.0F}};

struct Formats {
    SampleFormat in;
    SoftBitFormat out;
};

constexpr Formats some_formats[] = {{SampleFormat::cf32, SoftBitFormat::int8},
                                    {SampleFormat::cf16, SoftBitFormat::float32},
                                    {SampleFormat::ci16, SoftBitFormat::float16},
                                    {SampleFormat::ci8, SoftBitFormat::int8}};

void expect_equal(const Demapped& actual, const Demapped& expected) {
    ASSERT_EQ(actual.soft_bits.size(), expected.soft_bits.size());
    ASSERT_TRUE(actual.soft_bits == expected.soft_bits) << "soft bits differ";
    EXPECT_EQ(actual.counters.erasures, expected.counters.erasures);
    EXPECT_EQ(actual.counters.saturated, expected.counters.saturated);
}

class SoftDemapStageOf : public testing::TestWithParam<Modulation> {
protected:
    /// On all backends, with chunks of these sizes.
    static void expect_one_call(const phy::SoftDemapper::Config& config, const Input& input,
                                SoftBitFormat output, const NoiseKind& noise,
                                std::span<const std::size_t> chunks) {
        const Demapped expected = by_one_call(config, input, output, noise);
        const SoftDemapStage::Config of_stage = config_of(config, input, output, noise);
        for (const Backend& backend : host_backends()) {
            for (const std::size_t chunk : chunks) {
                SCOPED_TRACE(backend.name() + ", chunk " + std::to_string(chunk) + ", " +
                             std::string(to_string(input.format())) + ", " + std::string(to_string(output)) +
                             ", " + name_of(noise));
                ASSERT_NO_FATAL_FAILURE(expect_equal(by_pipeline(of_stage, backend, chunk, input), expected));
            }
        }
    }
};

TEST_P(SoftDemapStageOf, EqualsOneCall) {
    const Pool pool = awkward_pool(GetParam(), 1001);
    for (const Formats& formats : some_formats) {
        const Input input(formats.in, pool);
        for (const NoiseKind& noise : noise_kinds)
            expect_one_call({.modulation = GetParam()}, input, formats.out, noise, {{7, 64, 999, 0}});
    }
}

TEST_P(SoftDemapStageOf, EqualsOneCallSymbolBySymbol) {
    const Input input(SampleFormat::cf32, awkward_pool(GetParam(), 101));
    for (const NoiseKind& noise : noise_kinds)
        expect_one_call({.modulation = GetParam()}, input, SoftBitFormat::int8, noise, {{1, 2, 3}});
}

TEST_P(SoftDemapStageOf, UsesItsWholeConfiguration) {
    const Input input(SampleFormat::ci16, awkward_pool(GetParam(), 1001));
    const phy::SoftDemapper::Config config{.modulation = GetParam(),
                                           .method = phy::Method::log_map,
                                           .evaluator = phy::Evaluator::arithmetic,
                                           .llr_scale = 2.5F,
                                           .llr_clip = 31,
                                           .full_scale = 20'000.0F,
                                           .threads = 2};
    phy::SoftDemapper::Config plain{.modulation = GetParam()};
    for (const NoiseKind& noise : noise_kinds) {
        expect_one_call(config, input, SoftBitFormat::int8, noise, {{99}});
        EXPECT_NE(by_one_call(config, input, SoftBitFormat::int8, noise).soft_bits,
                  by_one_call(plain, input, SoftBitFormat::int8, noise).soft_bits);
    }
}

// The last chunk is shorter than the memory it is in: its noise variances lie where those of so many do.
TEST_P(SoftDemapStageOf, ServesSourcesThatEndByThemselves) {
    for (const std::size_t symbols : {0U, 1U, 99U, 100U, 101U, 300U, 333U}) {
        const Pool pool = awkward_pool(GetParam(), symbols);
        for (const SampleFormat format : {SampleFormat::cf32, SampleFormat::ci8}) {
            const Input input(format, pool);
            for (const NoiseKind& noise : noise_kinds) {
                const Demapped expected =
                    by_one_call({.modulation = GetParam()}, input, SoftBitFormat::int8, noise);
                const Demapped actual =
                    by_pipeline(config_of({.modulation = GetParam()}, input, SoftBitFormat::int8, noise),
                                Backend::best(), 100, input, true);
                ASSERT_NO_FATAL_FAILURE(expect_equal(actual, expected)) << symbols << " symbols";
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, SoftDemapStageOf, testing::ValuesIn(phy::all_modulations),
                         [](const auto& modulation) { return test_name(modulation.param); });

TEST(SoftDemapStage, SaysWhatItIs) {
    const SoftDemapStage stage({.modulation = Modulation::qam64,
                                .input = SampleFormat::ci16,
                                .output = SoftBitFormat::float16,
                                .noise_variance = 0.5F});
    EXPECT_EQ(stage.name(), "demap");
    EXPECT_EQ(stage.config().modulation, Modulation::qam64);
    EXPECT_EQ(stage.config().input, SampleFormat::ci16);
    EXPECT_EQ(stage.config().output, SoftBitFormat::float16);
    EXPECT_EQ(stage.config().noise_variance, 0.5F);
    EXPECT_EQ(stage.counters(), phy::DemapCounters{});
}

TEST(SoftDemapStage, OneNoiseVarianceTakesNoRoom) {
    for (const SampleFormat format : phy::all_sample_formats) {
        const SoftDemapStage stage({.input = format, .noise_variance = 0.1F});
        Bytes memory(1000);
        for (const std::size_t symbols : {0U, 1U, 5U, 100U}) {
            EXPECT_EQ(stage.input_bytes(symbols), symbols * size_of(format));
            EXPECT_TRUE(stage.noise_of(memory, symbols).empty());
            EXPECT_EQ(stage.samples_of(memory, symbols).data(), memory.data());
        }
    }
}

TEST(SoftDemapStage, SamplesAndTheirNoiseLieApart) {
    for (const SampleFormat format : phy::all_sample_formats) {
        const SoftDemapStage stage({.input = format});
        for (std::size_t symbols = 1; symbols < 70; ++symbols) {
            std::vector<float> memory(stage.input_bytes(symbols) / sizeof(float) + 1);
            const std::span<std::byte> input =
                std::as_writable_bytes(std::span(memory)).first(stage.input_bytes(symbols));
            const phy::SymbolSpan samples = stage.samples_of(input, symbols);
            const std::span<std::byte> noise = std::as_writable_bytes(stage.noise_of(input, symbols));
            EXPECT_EQ(samples.size(), symbols);
            EXPECT_EQ(noise.size(), symbols * sizeof(float));
            EXPECT_GE(samples.data(), input.data());
            EXPECT_GE(noise.data(), samples.data() + symbols * size_of(format));
            EXPECT_LE(noise.data() + noise.size(), input.data() + input.size());
            EXPECT_EQ((noise.data() - input.data()) % alignof(float), 0);
        }
    }
}

TEST(SoftDemapStage, SoftBitsAreItsOutput) {
    for (const SoftBitFormat format : phy::all_soft_bit_formats) {
        for (const Modulation modulation : phy::all_modulations) {
            const SoftDemapStage stage({.modulation = modulation, .output = format});
            Bytes output(stage.output_bytes(13));
            const phy::SoftBitSpan soft_bits = stage.soft_bits_of(output);
            EXPECT_EQ(soft_bits.data(), output.data());
            EXPECT_EQ(soft_bits.format(), format);
            EXPECT_EQ(soft_bits.size(), 13 * bits_per_symbol(modulation));
            EXPECT_EQ(output.size(), soft_bits.size() * size_of(format));
        }
    }
}

TEST(SoftDemapStage, CountsOverAllRunsAndPipelines) {
    const Input input(SampleFormat::cf32, awkward_pool(Modulation::qam16, 500));
    const phy::SoftDemapper::Config config{.modulation = Modulation::qam16};
    const phy::DemapCounters once = by_one_call(config, input, SoftBitFormat::int8, noise_kinds[1]).counters;
    ASSERT_GT(once.erasures, 0U);
    ASSERT_GT(once.saturated, 0U);
    SoftDemapStage stage(config_of(config, input, SoftBitFormat::int8, noise_kinds[1]));
    std::uint64_t runs = 0;
    for (const Backend& backend : host_backends()) {
        Pipeline pipeline({.backends = {backend}, .chunk = 60}, stage);
        for (int repetition = 0; repetition < 2; ++repetition) {
            SymbolSource source(stage, input);
            SoftBitSink sink(stage);
            pipeline.run(source, sink);
            ++runs;
            EXPECT_EQ(stage.counters().erasures, runs * once.erasures);
            EXPECT_EQ(stage.counters().saturated, runs * once.saturated);
        }
    }
}

TEST(SoftDemapStage, CountsOnlyIfAsked) {
    const Input input(SampleFormat::cf32, awkward_pool(Modulation::qam16, 500));
    const phy::SoftDemapper::Config config{.modulation = Modulation::qam16};
    const Demapped expected = by_one_call(config, input, SoftBitFormat::int8, noise_kinds[1]);
    SoftDemapStage::Config of_stage = config_of(config, input, SoftBitFormat::int8, noise_kinds[1]);
    of_stage.counts = false;
    for (const Backend& backend : host_backends()) {
        const Demapped actual = by_pipeline(of_stage, backend, 60, input);
        EXPECT_TRUE(actual.soft_bits == expected.soft_bits);
        EXPECT_EQ(actual.counters, phy::DemapCounters{});
    }
}

// As a program does that shows how far it is.
TEST(SoftDemapStage, CountersCanBeReadDuringARun) {
    struct Watcher : SoftBitSink {
        explicit Watcher(const SoftDemapStage& watched) : SoftBitSink(watched), stage(watched) {}
        void take(const Chunk& chunk, std::span<const std::byte> output) override {
            SoftBitSink::take(chunk, output);
            const phy::DemapCounters now = stage.counters();
            EXPECT_GE(now.saturated, last.saturated);
            EXPECT_GE(now.erasures, last.erasures);
            last = now;
        }
        const SoftDemapStage& stage;
        phy::DemapCounters last;
    };
    const Input input(SampleFormat::cf32, awkward_pool(Modulation::qam16, 3000));
    SoftDemapStage stage(
        config_of({.modulation = Modulation::qam16}, input, SoftBitFormat::int8, noise_kinds[1]));
    Pipeline pipeline({.backends = {Backend::best()}, .chunk = 64}, stage);
    SymbolSource source(stage, input);
    Watcher sink(stage);
    pipeline.run(source, sink);
    EXPECT_GT(sink.last.saturated, 0U);
    EXPECT_EQ(sink.last, stage.counters());
}

TEST(SoftDemapStage, WorksOnlyWhereItIsPrepared) {
    SoftDemapStage stage({.noise_variance = 0.1F});
    const Bytes input(stage.input_bytes(4));
    Bytes output(stage.output_bytes(4));
    const Chunk chunk{.items = 4};
    EXPECT_THROW(stage.run(chunk, input, output, {Backend::scalar(), nullptr}), phy::ArgumentError);
    stage.prepare(Backend::scalar());
    EXPECT_NO_THROW(stage.run(chunk, input, output, {Backend::scalar(), nullptr}));
}

TEST(SoftDemapStage, KeepsWorkingWhenMoved) {
    const Input input(SampleFormat::cf32, awkward_pool(Modulation::qpsk, 100));
    const phy::SoftDemapper::Config config{.modulation = Modulation::qpsk};
    SoftDemapStage first(config_of(config, input, SoftBitFormat::int8, noise_kinds[0]));
    first.prepare(Backend::scalar());
    SoftDemapStage stage(std::move(first));
    Pipeline pipeline({.backends = {Backend::scalar()}, .chunk = 30}, stage);
    SymbolSource source(stage, input);
    SoftBitSink sink(stage);
    pipeline.run(source, sink);
    EXPECT_EQ(sink.bytes, by_one_call(config, input, SoftBitFormat::int8, noise_kinds[0]).soft_bits);
}

TEST(SoftDemapStage, RefusesValuesOutOfRange) {
    using Config = SoftDemapStage::Config;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    const auto expect_refused = [](const Config& config, const char* what) {
        EXPECT_THROW(SoftDemapStage{config}, phy::ArgumentError) << what;
    };
    expect_refused({.modulation = static_cast<Modulation>(7)}, "modulation");
    expect_refused({.method = static_cast<phy::Method>(2)}, "method");
    expect_refused({.evaluator = static_cast<phy::Evaluator>(3)}, "evaluator");
    expect_refused({.threads = -1}, "threads");
    expect_refused({.input = static_cast<SampleFormat>(4)}, "sample format");
    expect_refused({.output = static_cast<SoftBitFormat>(3)}, "soft-bit format");
    for (const float scale : {0.0F, -6.0F, 1.0F / 65.0F, 4097.0F, nan, infinity})
        expect_refused({.llr_scale = scale}, "llr_scale");
    for (const int clip : {0, -1, 128})
        expect_refused({.llr_clip = clip}, "llr_clip");
    for (const float full_scale : {-1.0F, nan, infinity})
        expect_refused({.full_scale = full_scale}, "full_scale");
    for (const float noise : {0.0F, -0.1F, nan, infinity})
        expect_refused({.noise_variance = noise}, "noise variance");
    EXPECT_NO_THROW(SoftDemapStage{Config{}});
}

}  // namespace
