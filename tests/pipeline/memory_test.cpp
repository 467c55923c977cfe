#include "phy/pipeline/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "phy/core/error.hpp"
#include "pipeline/checked_run.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::IssueOrder;
using phy::MemorySink;
using phy::MemorySource;
using phy::Pipeline;
using phy::PipelineReport;

const std::vector<phy::Port> one_in = {{"in", item_in}};
const std::vector<phy::Port> one_out = {{"out", item_out}};

StageShape several_ports() {
    return {.inputs = {{"channel", 10, 12}, {"samples", 8}},
            .outputs = {{"power", 6, 12}, {"bits", 3}},
            .granularity = 12};
}

class Memory : public OnPlaces {};

TEST_P(Memory, GoesToMemory) {
    for (const std::size_t items : {0U, 1U, 64U, 1037U}) {
        const TestStream stream(items);
        for (const std::size_t chunk : {0U, 1U, 60U, 64U, 5000U}) {
            for (const IssueOrder order : all_orders) {
                FakeStage stage;
                Pipeline pipeline(places(), stage, {.chunk = chunk, .order = order});
                Bytes output(items * item_out);
                MemorySource source(stage.inputs(), {stream.input()});
                MemorySink sink(stage.outputs(), {output});
                const PipelineReport report = pipeline.run(source, sink);
                EXPECT_EQ(report.items, items);
                EXPECT_EQ(stage.mistake(), "");
                ASSERT_EQ(output, stream.expected()) << items << " items, chunk " << chunk;
            }
        }
    }
}

TEST_P(Memory, OfSeveralPortsGoesToMemory) {
    for (const std::size_t items : {0U, 1U, 12U, 1037U}) {
        const TestStream stream(items, several_ports());
        for (const std::size_t chunk : {0U, 1U, 60U, 5000U}) {
            FakeStage stage(several_ports());
            Pipeline pipeline(places(), stage, {.chunk = chunk});
            Bytes power(stream.expected(0).size());
            Bytes bits(stream.expected(1).size());
            MemorySource source(stage.inputs(), {stream.input(0), stream.input(1)});
            EXPECT_EQ(source.items(), items);
            MemorySink sink(stage.outputs(), {power, bits});
            pipeline.run(source, sink);
            EXPECT_EQ(stage.mistake(), "");
            ASSERT_EQ(power, stream.expected(0)) << items << " items, chunk " << chunk;
            ASSERT_EQ(bits, stream.expected(1)) << items << " items, chunk " << chunk;
        }
    }
}

TEST_P(Memory, ThatIsTooSmallIsNotExceeded) {
    const TestStream stream(200);
    for (const std::size_t room : {0U, 1U, 63U, 64U, 199U}) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, {.chunk = 64});
        Bytes output(200 * item_out);
        MemorySource source(stage.inputs(), {stream.input()});
        MemorySink sink(stage.outputs(), {std::span<std::byte>(output).first(room * item_out)});
        EXPECT_THROW(pipeline.run(source, sink), phy::ArgumentError) << room;
        const auto beyond = std::span(output).subspan(room * item_out);
        EXPECT_TRUE(std::ranges::all_of(beyond, [](std::byte byte) { return byte == std::byte{}; }));
        EXPECT_EQ(mistake_of_run(pipeline, stage, stream), "");
    }
}

INSTANTIATE_TEST_SUITE_P(, Memory, testing::ValuesIn(place_sets()), name_of_set);

TEST(MemorySourceOf, FillsToo) {
    const TestStream stream(100, several_ports());
    MemorySource source(stream.inputs(), {stream.input(0), stream.input(1)});
    Bytes channel(4 * 10);
    Bytes samples(40 * 8);
    const std::array<std::span<std::byte>, 2> arrays = {channel, samples};
    EXPECT_EQ(source.fill({.index = 1, .first = 24, .items = 40}, arrays), 40U);
    EXPECT_TRUE(std::ranges::equal(channel, stream.input(0, 24, 40)));
    EXPECT_TRUE(std::ranges::equal(samples, stream.input(1, 24, 40)));
}

TEST(MemorySourceOf, WrongSizesIsRefused) {
    const Bytes bytes(240);
    const auto first = [&](std::size_t size) { return std::span<const std::byte>(bytes).first(size); };
    EXPECT_THROW(MemorySource(one_in, {first(20)}), phy::ArgumentError);
    EXPECT_THROW(MemorySource(one_in, {}), phy::ArgumentError);
    EXPECT_THROW(MemorySource(one_in, {first(3), first(3)}), phy::ArgumentError);
    EXPECT_THROW(MemorySource({}, {}), phy::ArgumentError);
    EXPECT_THROW(MemorySource({{"in", 0}}, {first(3)}), phy::ArgumentError);
    EXPECT_THROW(MemorySource({{"in", 3, 0}}, {first(3)}), phy::ArgumentError);
    const std::vector<phy::Port> ports = several_ports().inputs;
    EXPECT_EQ(MemorySource(ports, {first(20), first(13 * 8)}).items(), 13U);
    EXPECT_EQ(MemorySource(ports, {first(20), first(24 * 8)}).items(), 24U);
    EXPECT_THROW(MemorySource(ports, {first(20), first(25 * 8)}), phy::ArgumentError);
    EXPECT_THROW(MemorySource(ports, {first(20), first(12 * 8)}), phy::ArgumentError);
    EXPECT_THROW(MemorySource(ports, {first(20), first(13 * 8 + 1)}), phy::ArgumentError);
}

TEST(MemorySinkOf, WrongSizesIsRefused) {
    Bytes bytes(240);
    const auto first = [&](std::size_t size) { return std::span<std::byte>(bytes).first(size); };
    EXPECT_THROW(MemorySink(one_out, {first(34)}), phy::ArgumentError);
    EXPECT_THROW(MemorySink(one_out, {}), phy::ArgumentError);
    EXPECT_THROW(MemorySink(one_out, {first(5), first(5)}), phy::ArgumentError);
    EXPECT_THROW(MemorySink({{"out", 0}}, {first(5)}), phy::ArgumentError);
    EXPECT_NO_THROW(MemorySink({}, {}));
}

// Not all ports have room for it.
TEST(MemorySinkOf, SeveralPortsNamesTheOneThatIsTooSmall) {
    Bytes bytes(240);
    const auto first = [&](std::size_t size) { return std::span<std::byte>(bytes).first(size); };
    MemorySink sink(several_ports().outputs, {first(12), first(23 * 3)});
    std::array<std::span<std::byte>, 2> arrays;
    EXPECT_TRUE(sink.view({.first = 12, .items = 11}, arrays));
    EXPECT_EQ(arrays[0].data(), bytes.data() + 6);
    EXPECT_EQ(arrays[0].size(), 6U);
    EXPECT_EQ(arrays[1].data(), bytes.data() + 36);
    EXPECT_EQ(arrays[1].size(), 33U);
    try {
        static_cast<void>(sink.view({.first = 12, .items = 12}, arrays));
        ADD_FAILURE() << "there was room";
    } catch (const phy::ArgumentError& error) {
        EXPECT_NE(std::string(error.what()).find("'bits'"), std::string::npos) << error.what();
    }
}

}  // namespace
