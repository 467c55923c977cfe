#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>

#include <unistd.h>

#include "core/backend_variable.hpp"
#include "phy/core/error.hpp"
#include "pipeline/trial.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Backend;
using phy::IssueOrder;
using phy::Pipeline;

static_assert(!std::is_copy_constructible_v<Pipeline>);
static_assert(std::is_nothrow_move_constructible_v<Pipeline>);
static_assert(std::is_nothrow_move_assignable_v<Pipeline>);

/// Those of CPUs that run here.
std::vector<Backend> host_backends() {
    std::vector<Backend> backends = Backend::all();
    std::erase_if(backends, [](const Backend& backend) {
        return backend.kind() == Backend::Kind::cuda || !backend.supported();
    });
    return backends;
}

TEST(PipelineConfig, SaysWhatItBecame) {
    FakeStage stage;
    const Pipeline pipeline({.backends = {Backend::scalar()}, .chunk = 77, .lanes = 5}, stage);
    EXPECT_EQ(pipeline.chunk(), 77U);
    EXPECT_EQ(pipeline.lanes(), 5U);
    EXPECT_EQ(pipeline.backends(), std::vector{Backend::scalar()});
}

TEST(PipelineConfig, EveryCpuBackendWorks) {
    const Stream stream(100);
    for (const Backend& backend : host_backends()) {
        FakeStage stage;
        Pipeline pipeline({.backends = {backend}, .chunk = 30}, stage);
        EXPECT_EQ(stage.prepared, std::vector{backend});
        EXPECT_TRUE(stage.where.empty());
        Trial trial(stream, Feed::view, Drain::view);
        const phy::PipelineReport report = trial.run(pipeline, stage);
        EXPECT_EQ(trial.flaw(report), "");
        EXPECT_EQ(stage.where, std::vector(4, backend));
        EXPECT_EQ(stage.prepared.size(), 1U);
        EXPECT_EQ(report.lanes, std::vector<std::string>(pipeline.lanes(), backend.name()));
    }
}

TEST(PipelineConfig, DefaultsAreSensible) {
    for (const Backend& backend : host_backends()) {
        const BackendVariable forced(backend.name().c_str());
        FakeStage stage;
        const Pipeline pipeline({}, stage);
        EXPECT_EQ(pipeline.backends(), std::vector{backend});
        EXPECT_GT(pipeline.chunk(), 1000U);
        EXPECT_GE(pipeline.lanes(), 3U) << "the source, the stage and the sink are to have one each";
    }
}

TEST(PipelineConfig, ChunksAreNoLargerThanWhatCanCome) {
    for (const std::size_t items : {0U, 1U, 50U, 1000U, 1001U}) {
        const Stream stream(items);
        for (const std::size_t chunk : {0U, 1000U, 100'000U}) {
            for (const Feed feed : {Feed::fill, Feed::view, Feed::endless}) {
                FakeStage stage;
                Pipeline pipeline({.backends = {Backend::scalar()}, .chunk = chunk, .items = items}, stage);
                EXPECT_LE(pipeline.chunk(), std::max<std::size_t>(items, 1));
                EXPECT_EQ(flaw_of_run(pipeline, stage, stream, feed), "") << items << ", " << chunk;
            }
        }
    }
}

TEST(PipelineConfig, FewerItemsMayComeThanWereSaid) {
    FakeStage stage;
    Pipeline pipeline({.backends = {Backend::scalar()}, .chunk = 64, .items = 1000}, stage);
    EXPECT_EQ(pipeline.chunk(), 64U);
    for (const std::size_t items : {0U, 63U, 64U, 999U})
        EXPECT_EQ(flaw_of_run(pipeline, stage, Stream(items)), "") << items;
}

// Nothing is allocated before a run: so what is just allowed can be tested.
TEST(PipelineConfig, ChunksInFlightTakeHalfTheMemoryAtMost) {
    const auto memory =
        static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t items = memory / 2 / (item_in + item_out);
    FakeStage stage;
    const auto make = [&](std::size_t chunk, std::size_t lanes) {
        return Pipeline({.backends = {Backend::scalar()}, .chunk = chunk, .lanes = lanes}, stage);
    };
    for (const std::size_t lanes : {1U, 4U, 1000U}) {
        EXPECT_THROW(make(items / lanes + items / 1000, lanes), phy::ArgumentError) << lanes;
        EXPECT_THROW(make(SIZE_MAX, lanes), phy::ArgumentError) << lanes;
        EXPECT_THROW(make(SIZE_MAX / item_out + 1, lanes), phy::ArgumentError) << lanes;
    }
    EXPECT_TRUE(stage.prepared.empty());
    for (const std::size_t lanes : {1U, 4U, 1000U})
        EXPECT_EQ(make(items / lanes - items / 100'000, lanes).lanes(), lanes);
}

TEST(PipelineConfig, TooManyLanesAreRefused) {
    FakeStage stage;
    for (const std::size_t lanes : {std::size_t{1'000'000}, SIZE_MAX / 2 + 1, SIZE_MAX})
        EXPECT_THROW(Pipeline({.backends = {Backend::scalar()}, .chunk = 1, .lanes = lanes}, stage),
                     phy::ArgumentError)
            << lanes;
}

TEST(PipelineConfig, CpuBackendsWorkAlone) {
    FakeStage stage;
    for (const Backend& first : host_backends()) {
        for (const Backend& second : host_backends())
            EXPECT_THROW(Pipeline({.backends = {first, second}}, stage), phy::ArgumentError)
                << first.name() << ", " << second.name();
    }
    EXPECT_TRUE(stage.prepared.empty());
}

TEST(PipelineConfig, BackendsThatDoNotRunHereAreRefused) {
    FakeStage stage;
    int refused = 0;
    for (const Backend& backend : Backend::all()) {
        if (backend.supported()) continue;
        ++refused;
        try {
            const Pipeline pipeline({.backends = {backend}}, stage);
            ADD_FAILURE() << backend.name();
        } catch (const phy::BackendError& error) {
            EXPECT_NE(std::string(error.what()).find(backend.name()), std::string::npos) << error.what();
        }
    }
    EXPECT_TRUE(stage.prepared.empty());
    if (refused == 0) GTEST_SKIP() << "all backends run here";
}

TEST(PipelineConfig, AForcedBackendThatDoesNotExistIsRefused) {
    const BackendVariable forced("cpu[neon]");
    try {
        if (Backend::parse("cpu[neon]").supported()) GTEST_SKIP() << "NEON runs here";
    } catch (const phy::BackendError&) {
    }
    FakeStage stage;
    EXPECT_THROW(Pipeline({}, stage), phy::BackendError);
    EXPECT_NO_THROW(Pipeline({.backends = {Backend::scalar()}}, stage));
}

TEST(PipelineConfig, OrdersOutOfRangeAreRefused) {
    FakeStage stage;
    for (const int order : {3, 4, 255}) {
        EXPECT_THROW(
            Pipeline({.backends = {Backend::scalar()}, .order = static_cast<IssueOrder>(order)}, stage),
            phy::ArgumentError)
            << order;
    }
    EXPECT_TRUE(stage.prepared.empty());
}

TEST(IssueOrderNames, AreThoseOfTheCommandLine) {
    EXPECT_EQ(to_string(IssueOrder::sequential), "sequential");
    EXPECT_EQ(to_string(IssueOrder::parallel), "parallel");
    EXPECT_EQ(to_string(IssueOrder::serial), "serial");
    for (const IssueOrder order : all_orders)
        EXPECT_EQ(phy::parse_issue_order(to_string(order)), order);
    EXPECT_EQ(phy::parse_issue_order("Parallel"), IssueOrder::parallel);
}

TEST(IssueOrderNames, ThatAreUnknownAreRefused) {
    for (const std::string name : {"", "breadth", "serial ", "sequentia", "parallel1"}) {
        try {
            static_cast<void>(phy::parse_issue_order(name));
            ADD_FAILURE() << name;
        } catch (const phy::ArgumentError& error) {
            const std::string text = error.what();
            EXPECT_NE(text.find("'" + name + "'"), std::string::npos) << text;
            for (const char* listed : {"sequential", "parallel", "serial"})
                EXPECT_NE(text.find(listed), std::string::npos) << text;
        }
    }
}

}  // namespace
