#include "phy/demapper/stage.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <type_traits>
#include <utility>

#include "demapper/awkward_symbols.hpp"
#include "phy/core/error.hpp"
#include "phy/core/version.hpp"
#include "phy/cuda/device.hpp"
#include "phy/pipeline/memory.hpp"
#include "scrambling/scrambling_cases.hpp"

/// A pipeline of this stage gives what one call of phy::SoftDemapper on the scalar backend does.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Chunk;
using phy::DemapperConfig;
using phy::MemorySink;
using phy::MemorySource;
using phy::Modulation;
using phy::Pipeline;
using phy::Place;
using phy::Port;
using phy::SampleFormat;
using phy::SoftBitFormat;
using phy::SoftDemapStage;

static_assert(!std::is_copy_constructible_v<SoftDemapStage>);
static_assert(std::is_nothrow_move_constructible_v<SoftDemapStage>);

/// Every backend of the CPU, and a GPU where there is one.
std::vector<Place> all_places() {
    std::vector<Place> places;
    for (const phy::Backend& backend : host_backends())
        places.emplace_back(host_of(backend));
    if constexpr (phy::built_with_cuda) {
        const std::vector<phy::gpu::Device> devices = phy::gpu::Device::all();
        if (!devices.empty()) places.emplace_back(devices.front());
    }
    return places;
}

/// The arrays of an input, in the order of the stage's ports.
std::vector<std::span<const std::byte>> arrays_of(const Input& input, bool per_symbol) {
    std::vector<std::span<const std::byte>> arrays = {input.bytes()};
    if (per_symbol) arrays.push_back(std::as_bytes(std::span(input.noise())));
    return arrays;
}

/// Does not know how many symbols there are before it has delivered them all.
class SourceThatEndsByItself : public phy::Source {
public:
    SourceThatEndsByItself(const Input& input, bool per_symbol)
        : input_(input), arrays_(arrays_of(input, per_symbol)) {}

    [[nodiscard]] std::uint64_t items() const override { return endless; }

    std::size_t fill(const Chunk& chunk, std::span<const std::span<std::byte>> arrays) override {
        EXPECT_EQ(arrays.size(), arrays_.size());
        const std::size_t count = std::min<std::size_t>(chunk.items, input_.size() - chunk.first);
        for (std::size_t n = 0; n < arrays.size(); ++n) {
            const std::size_t size = n == 0 ? size_of(input_.format()) : sizeof(float);
            EXPECT_EQ(arrays[n].size(), chunk.items * size);
            std::ranges::copy(arrays_[n].subspan(chunk.first * size, count * size), arrays[n].begin());
        }
        return count;
    }

private:
    const Input& input_;
    std::vector<std::span<const std::byte>> arrays_;
};

/// Keeps all soft bits.
class KeepingSink : public phy::Sink {
public:
    void take(const Chunk& /*chunk*/, std::span<const std::span<const std::byte>> arrays) override {
        ASSERT_EQ(arrays.size(), 1U);
        bytes.insert(bytes.end(), arrays[0].begin(), arrays[0].end());
    }

    Bytes bytes;
};

SoftDemapStage::Config config_of(const DemapperConfig& demapper, const Input& input, SoftBitFormat output,
                                 const NoiseKind& noise) {
    SoftDemapStage::Config config{
        .demapper = demapper, .input = input.format(), .output = output, .counts = true};
    if (!noise.per_symbol) config.noise_variance = noise.scalar;
    return config;
}

/// What becomes of an input, and what was counted.
struct Demapped {
    Bytes soft_bits;
    phy::DemapCounters counters;
};

Demapped by_pipeline(const SoftDemapStage::Config& config, const Place& place, std::size_t chunk,
                     const Input& input) {
    SoftDemapStage stage(config);
    Pipeline pipeline({place}, stage, {.chunk = chunk, .buffer_sets = 3});
    MemorySource source(stage.inputs(), arrays_of(input, !config.noise_variance));
    Bytes soft_bits(input.size() * stage.outputs().front().bytes);
    MemorySink sink(stage.outputs(), {soft_bits});
    EXPECT_EQ(pipeline.run(source, sink).items, input.size());
    return {std::move(soft_bits), stage.counters()};
}

Demapped by_one_call(const DemapperConfig& config, const Input& input, SoftBitFormat output,
                     const NoiseKind& noise, std::uint64_t first_symbol = 0) {
    phy::SoftDemapper demap(scalar_host(), config);
    Demapped result{demapped(demap, input, noise, output, nullptr, first_symbol), {}};
    const std::span own = noise.per_symbol ? std::span(input.noise()) : std::span<const float>();
    result.counters = counted(input.format(), input.bytes(), own, output, result.soft_bits, config.llr.clip);
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
    /// On all places, with chunks of these sizes.
    static void expect_one_call(const DemapperConfig& config, const Input& input, SoftBitFormat output,
                                const NoiseKind& noise, std::span<const std::size_t> chunks) {
        const Demapped expected = by_one_call(config, input, output, noise);
        const SoftDemapStage::Config of_stage = config_of(config, input, output, noise);
        for (const Place& place : all_places()) {
            for (const std::size_t chunk : chunks) {
                SCOPED_TRACE(place.name() + ", chunk " + std::to_string(chunk) + ", " +
                             std::string(to_string(input.format())) + ", " + std::string(to_string(output)) +
                             ", " + name_of(noise));
                ASSERT_NO_FATAL_FAILURE(expect_equal(by_pipeline(of_stage, place, chunk, input), expected));
            }
        }
    }
};

TEST_P(SoftDemapStageOf, EqualsOneCall) {
    const SymbolsWithNoise symbols = awkward_symbols(GetParam(), 1001);
    for (const Formats& formats : some_formats) {
        const Input input(formats.in, symbols);
        for (const NoiseKind& noise : noise_kinds)
            expect_one_call({.modulation = GetParam()}, input, formats.out, noise, {{7, 64, 999, 0}});
    }
}

TEST_P(SoftDemapStageOf, EqualsOneCallSymbolBySymbol) {
    const Input input(SampleFormat::cf32, awkward_symbols(GetParam(), 101));
    for (const NoiseKind& noise : noise_kinds)
        expect_one_call({.modulation = GetParam()}, input, SoftBitFormat::int8, noise, {{1, 2, 3}});
}

TEST_P(SoftDemapStageOf, UsesItsWholeConfiguration) {
    const Input input(SampleFormat::ci16, awkward_symbols(GetParam(), 1001));
    const DemapperConfig config{.modulation = GetParam(),
                                .llr = {.method = phy::Method::log_map,
                                        .evaluator = phy::Evaluator::arithmetic,
                                        .scale = 2.5F,
                                        .clip = 31},
                                .full_scale = 20'000.0F,
                                .gain = 1.5F};
    for (const NoiseKind& noise : noise_kinds) {
        expect_one_call(config, input, SoftBitFormat::int8, noise, {{99}});
        EXPECT_NE(by_one_call(config, input, SoftBitFormat::int8, noise).soft_bits,
                  by_one_call({.modulation = GetParam()}, input, SoftBitFormat::int8, noise).soft_bits);
    }
}

TEST_P(SoftDemapStageOf, EqualsOneCallByTable) {
    const Input input(SampleFormat::cf32, awkward_symbols(GetParam(), 1001));
    const DemapperConfig config{.modulation = GetParam(), .llr = {.evaluator = phy::Evaluator::table}};
    expect_one_call(config, input, SoftBitFormat::int8, noise_kinds[0], {{99}});
}

// The source lends its arrays, so that the stage gets them as they lie.
TEST_P(SoftDemapStageOf, TakesArraysThatBeginAnywhere) {
    const Input input(SampleFormat::cf32, awkward_symbols(GetParam(), 1001));
    const DemapperConfig config{.modulation = GetParam()};
    const NoiseKind noise{true, 0.0F};
    const Demapped expected = by_one_call(config, input, SoftBitFormat::float32, noise);
    for (const Place& place : all_places()) {
        for (std::size_t offset = 1; offset < sizeof(float); ++offset) {
            SoftDemapStage stage(config_of(config, input, SoftBitFormat::float32, noise));
            Pipeline pipeline({place}, stage, {.chunk = 300});
            std::vector<Bytes> shifted;
            std::vector<std::span<const std::byte>> arrays;
            for (const std::span<const std::byte> array : arrays_of(input, true)) {
                Bytes& bytes = shifted.emplace_back(offset);
                bytes.insert(bytes.end(), array.begin(), array.end());
                arrays.push_back(std::span<const std::byte>(bytes).subspan(offset));
            }
            Bytes soft_bits(offset + expected.soft_bits.size());
            MemorySource source(stage.inputs(), arrays);
            MemorySink sink(stage.outputs(), {std::span(soft_bits).subspan(offset)});
            pipeline.run(source, sink);
            soft_bits.erase(soft_bits.begin(), soft_bits.begin() + static_cast<std::ptrdiff_t>(offset));
            ASSERT_NO_FATAL_FAILURE(expect_equal({soft_bits, stage.counters()}, expected))
                << place.name() << ", offset " << offset;
        }
    }
}

TEST_P(SoftDemapStageOf, ServesSourcesThatEndByThemselves) {
    for (const std::size_t symbols : {0U, 1U, 99U, 100U, 101U, 300U, 333U}) {
        for (const SampleFormat format : {SampleFormat::cf32, SampleFormat::ci8}) {
            const Input input(format, awkward_symbols(GetParam(), symbols));
            for (const NoiseKind& noise : noise_kinds) {
                const DemapperConfig config{.modulation = GetParam()};
                const Demapped expected = by_one_call(config, input, SoftBitFormat::int8, noise);
                SoftDemapStage stage(config_of(config, input, SoftBitFormat::int8, noise));
                Pipeline pipeline({phy::Host()}, stage, {.chunk = 100, .buffer_sets = 3});
                SourceThatEndsByItself source(input, noise.per_symbol);
                KeepingSink sink;
                pipeline.run(source, sink);
                ASSERT_NO_FATAL_FAILURE(expect_equal({sink.bytes, stage.counters()}, expected))
                    << symbols << " symbols";
            }
        }
    }
}

TEST_P(SoftDemapStageOf, DescramblesCodewords) {
    constexpr std::size_t symbols = 1001;
    constexpr std::uint32_t c_init = 99'999'999;
    const std::size_t qm = bits_per_symbol(GetParam());
    const std::vector<std::uint8_t> c = gold_reference(c_init, (symbols + 17) * qm);
    for (const Formats& formats : some_formats) {
        const Input input(formats.in, awkward_symbols(GetParam(), symbols));
        for (const auto& [codeword, first] : {std::pair(0, 0), std::pair(0, 17), std::pair(78, 13)}) {
            Demapped expected = by_one_call({.modulation = GetParam()}, input, formats.out, noise_kinds[1],
                                            static_cast<std::uint64_t>(first));
            std::vector<std::uint8_t> signs;
            for (std::size_t n = 0; n < symbols; ++n) {
                const std::size_t index = n + static_cast<std::size_t>(first);
                const std::size_t in = codeword == 0 ? index : index % static_cast<std::size_t>(codeword);
                for (std::size_t k = 0; k < qm; ++k)
                    signs.push_back(c[in * qm + k]);
            }
            expected.soft_bits = expected_descrambled(formats.out, std::move(expected.soft_bits), signs);
            SoftDemapStage::Config config =
                config_of({.modulation = GetParam()}, input, formats.out, noise_kinds[1]);
            config.descramble = {.c_init = c_init, .first_symbol = static_cast<std::uint64_t>(first)};
            if (codeword != 0) config.descramble->codeword_symbols = static_cast<std::uint64_t>(codeword);
            for (const Place& place : all_places()) {
                for (const std::size_t chunk : {std::size_t{1}, std::size_t{50}, std::size_t{999}}) {
                    ASSERT_NO_FATAL_FAILURE(expect_equal(by_pipeline(config, place, chunk, input), expected))
                        << place.name() << ", chunk " << chunk << ", codewords of " << codeword << " from "
                        << first << ", " << to_string(formats.out);
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, SoftDemapStageOf, testing::ValuesIn(phy::all_modulations),
                         [](const auto& modulation) { return test_name(modulation.param); });

TEST(SoftDemapStage, SaysWhatItIs) {
    const SoftDemapStage::Config config{.demapper = {.modulation = Modulation::qam64, .llr = {.clip = 31}},
                                        .input = SampleFormat::ci16,
                                        .output = SoftBitFormat::float16,
                                        .noise_variance = 0.5F};
    const SoftDemapStage stage(config);
    EXPECT_EQ(stage.name(), "demap");
    EXPECT_EQ(stage.config().demapper, config.demapper);
    EXPECT_EQ(stage.config().input, SampleFormat::ci16);
    EXPECT_EQ(stage.config().output, SoftBitFormat::float16);
    EXPECT_EQ(stage.config().noise_variance, 0.5F);
    EXPECT_FALSE(stage.config().counts);
    EXPECT_EQ(stage.counters(), phy::DemapCounters{});
    EXPECT_EQ(stage.granularity(), 1U);
    EXPECT_EQ(stage.scratch_bytes(1000), 0U);
}

TEST(SoftDemapStage, HasPortsForWhatASymbolHas) {
    const std::size_t sample_bytes[] = {8, 4, 4, 2};
    const std::size_t soft_bit_bytes[] = {1, 2, 4};
    const std::size_t qm[] = {1, 1, 2, 4, 6, 8, 10};
    for (std::size_t in = 0; in < std::size(sample_bytes); ++in) {
        const SampleFormat format = phy::all_sample_formats[in];
        const Port symbols{"symbols", sample_bytes[in]};
        EXPECT_EQ(SoftDemapStage({.input = format, .noise_variance = 0.1F}).inputs(), std::vector{symbols});
        EXPECT_EQ(SoftDemapStage({.input = format}).inputs(),
                  (std::vector<Port>{symbols, {"noise_variance", 4}}));
    }
    for (std::size_t out = 0; out < std::size(soft_bit_bytes); ++out) {
        for (std::size_t m = 0; m < std::size(qm); ++m) {
            const SoftDemapStage stage({.demapper = {.modulation = phy::all_modulations[m]},
                                        .output = phy::all_soft_bit_formats[out]});
            EXPECT_EQ(stage.outputs(), (std::vector<Port>{{"llr", qm[m] * soft_bit_bytes[out]}}));
        }
    }
}

/// A run of a pipeline whose bytes nobody looks at.
void run_once(Pipeline& pipeline, const SoftDemapStage& stage, const Input& input) {
    MemorySource source(stage.inputs(), arrays_of(input, !stage.config().noise_variance));
    KeepingSink sink;
    pipeline.run(source, sink);
}

TEST(SoftDemapStage, CountsOverAllRunsAndPipelines) {
    const Input input(SampleFormat::cf32, awkward_symbols(Modulation::qam16, 500));
    const DemapperConfig config{.modulation = Modulation::qam16};
    const phy::DemapCounters once = by_one_call(config, input, SoftBitFormat::int8, noise_kinds[1]).counters;
    ASSERT_GT(once.erasures, 0U);
    ASSERT_GT(once.saturated, 0U);
    SoftDemapStage stage(config_of(config, input, SoftBitFormat::int8, noise_kinds[1]));
    std::uint64_t runs = 0;
    for (const Place& place : all_places()) {
        Pipeline pipeline({place}, stage, {.chunk = 60});
        for (int repetition = 0; repetition < 2; ++repetition) {
            run_once(pipeline, stage, input);
            ++runs;
            EXPECT_EQ(stage.counters().erasures, runs * once.erasures);
            EXPECT_EQ(stage.counters().saturated, runs * once.saturated);
        }
    }
}

TEST(SoftDemapStage, CountsOnlyIfAsked) {
    const Input input(SampleFormat::cf32, awkward_symbols(Modulation::qam16, 500));
    const DemapperConfig config{.modulation = Modulation::qam16};
    const Demapped expected = by_one_call(config, input, SoftBitFormat::int8, noise_kinds[1]);
    SoftDemapStage::Config of_stage = config_of(config, input, SoftBitFormat::int8, noise_kinds[1]);
    of_stage.counts = false;
    for (const Place& place : all_places()) {
        const Demapped actual = by_pipeline(of_stage, place, 60, input);
        EXPECT_TRUE(actual.soft_bits == expected.soft_bits);
        EXPECT_EQ(actual.counters, phy::DemapCounters{});
    }
}

// As a program does that shows how far it is. A run that has not come to its end counts for nothing.
TEST(SoftDemapStage, CountersCanBeReadDuringARun) {
    struct Watcher : KeepingSink {
        explicit Watcher(const SoftDemapStage& watched) : stage(watched) {}
        void take(const Chunk& chunk, std::span<const std::span<const std::byte>> arrays) override {
            KeepingSink::take(chunk, arrays);
            EXPECT_EQ(stage.counters(), phy::DemapCounters{});
        }
        const SoftDemapStage& stage;
    };
    const Input input(SampleFormat::cf32, awkward_symbols(Modulation::qam16, 3000));
    SoftDemapStage stage(
        config_of({.modulation = Modulation::qam16}, input, SoftBitFormat::int8, noise_kinds[1]));
    Pipeline pipeline({phy::Host()}, stage, {.chunk = 64});
    MemorySource source(stage.inputs(), arrays_of(input, true));
    Watcher sink(stage);
    pipeline.run(source, sink);
    EXPECT_GT(stage.counters().saturated, 0U);
}

TEST(SoftDemapStage, CountsNothingOfARunThatWasStopped) {
    struct Stopper : KeepingSink {
        void take(const Chunk& chunk, std::span<const std::span<const std::byte>> arrays) override {
            KeepingSink::take(chunk, arrays);
            stop.request_stop();
        }
        std::stop_source stop;
    };
    const Input input(SampleFormat::cf32, awkward_symbols(Modulation::qam16, 3000));
    const DemapperConfig config{.modulation = Modulation::qam16};
    SoftDemapStage stage(config_of(config, input, SoftBitFormat::int8, noise_kinds[1]));
    for (const Place& place : all_places()) {
        Pipeline pipeline({place}, stage, {.chunk = 10});
        const phy::DemapCounters before = stage.counters();
        MemorySource source(stage.inputs(), arrays_of(input, true));
        Stopper sink;
        ASSERT_TRUE(pipeline.run(source, sink, sink.stop.get_token()).cancelled);
        EXPECT_EQ(stage.counters(), before) << place.name();
        run_once(pipeline, stage, input);
        const phy::DemapCounters once =
            by_one_call(config, input, SoftBitFormat::int8, noise_kinds[1]).counters;
        EXPECT_EQ(stage.counters().erasures, before.erasures + once.erasures) << place.name();
        EXPECT_EQ(stage.counters().saturated, before.saturated + once.saturated) << place.name();
    }
}

TEST(SoftDemapStage, KeepsWorkingWhenMoved) {
    const Input input(SampleFormat::cf32, awkward_symbols(Modulation::qpsk, 100));
    const DemapperConfig config{.modulation = Modulation::qpsk};
    for (const Place& place : all_places()) {
        SoftDemapStage first(config_of(config, input, SoftBitFormat::int8, noise_kinds[0]));
        const std::unique_ptr<phy::StageRunner> made_before = first.on(place);
        SoftDemapStage stage(std::move(first));
        Pipeline pipeline({place}, stage, {.chunk = 30});
        MemorySource source(stage.inputs(), arrays_of(input, false));
        KeepingSink sink;
        pipeline.run(source, sink);
        EXPECT_EQ(sink.bytes, by_one_call(config, input, SoftBitFormat::int8, noise_kinds[0]).soft_bits);
    }
}

TEST(SoftDemapStage, RefusesValuesOutOfRange) {
    using Config = SoftDemapStage::Config;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    const auto expect_refused = [](const Config& config, const char* what) {
        EXPECT_THROW(SoftDemapStage{config}, phy::ArgumentError) << what;
    };
    expect_refused({.demapper = {.modulation = static_cast<Modulation>(7)}}, "modulation");
    expect_refused({.demapper = {.llr = {.method = static_cast<phy::Method>(2)}}}, "method");
    expect_refused({.demapper = {.llr = {.evaluator = static_cast<phy::Evaluator>(3)}}}, "evaluator");
    expect_refused({.input = static_cast<SampleFormat>(4)}, "sample format");
    expect_refused({.output = static_cast<SoftBitFormat>(3)}, "soft-bit format");
    for (const float scale : {0.0F, -6.0F, 1.0F / 65.0F, 4097.0F, nan, infinity})
        expect_refused({.demapper = {.llr = {.scale = scale}}}, "llr.scale");
    for (const int clip : {0, -1, 128})
        expect_refused({.demapper = {.llr = {.clip = clip}}}, "llr.clip");
    expect_refused({.demapper = {.full_scale = 0x1p126F, .gain = 2.0F}}, "full_scale");
    for (const float noise : {0.0F, -0.1F, nan, infinity})
        expect_refused({.noise_variance = noise}, "noise variance");
    for (const float gain : {0.0F, -1.0F, nan, infinity})
        expect_refused({.demapper = {.gain = gain}}, "gain");
    expect_refused({.descramble = {{.c_init = 0x80000000}}}, "c_init");
    expect_refused({.descramble = {{.codeword_symbols = 0}}}, "codeword_symbols");
    expect_refused(
        {.demapper = {.modulation = Modulation::pi2_bpsk}, .descramble = {{.codeword_symbols = 77}}},
        "codeword_symbols");
    EXPECT_NO_THROW(SoftDemapStage{Config{}});
}

}  // namespace
