#include <memory>
#include <vector>

#include "moved/configs.hpp"
#include "moved/moved.hpp"
#include "phy/core/owned.hpp"
#include "phy/phy.hpp"
#include "support/temporary_directory.hpp"

/// A public class that can only be moved says so of itself where it is used after that.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Host;

TEST(MovedFrom, AtomicFile) {
    const TemporaryDirectory directory;
    expect_named_when_moved_from(
        "AtomicFile", [&] { return phy::AtomicFile(directory / "out", {}); },
        [](phy::AtomicFile& file) { static_cast<void>(file.name()); },
        [](phy::AtomicFile& file) { static_cast<void>(file.path()); },
        [](phy::AtomicFile& file) { file.append(""); });
    EXPECT_TRUE(directory.names().empty());
}

TEST(MovedFrom, Demappers) {
    const std::vector<phy::cf32> symbols(3);
    std::vector<std::int8_t> llr(6);
    expect_named_when_moved_from(
        "SoftDemapper", [] { return phy::SoftDemapper(Host(), {}); }, config_of, host_of,
        [](auto& demap) { static_cast<void>(demap.evaluator_for(0.1F, phy::SoftBitFormat::int8)); },
        [&](auto& demap) { demap(symbols, 0.1F, llr); });
    expect_named_when_moved_from(
        "BatchDemapper", [] { return phy::BatchDemapper(Host(), {}); }, config_of, host_of,
        [](auto& demap) { demap({}); });
    expect_named_when_moved_from(
        "SoftDemapStage", [] { return phy::SoftDemapStage({.noise_variance = 0.1F}); }, config_of, ports_of,
        [](auto& stage) { static_cast<void>(stage.counters()); },
        [](auto& stage) { static_cast<void>(stage.on(Host())); });
}

TEST(MovedFrom, Pipelines) {
    phy::SoftDemapStage stage({.noise_variance = 0.1F});
    phy::MemorySource source({{.name = "symbols", .bytes = 8}}, {{}});
    phy::MemorySink sink({{.name = "llr", .bytes = 2}}, {{}});
    expect_named_when_moved_from(
        "Pipeline", [&] { return phy::Pipeline({Host()}, stage, {.chunk = 10}); },
        [](auto& pipeline) { static_cast<void>(pipeline.chunk()); },
        [](auto& pipeline) { static_cast<void>(pipeline.buffer_sets()); },
        [](auto& pipeline) { static_cast<void>(pipeline.places()); },
        [&](auto& pipeline) { pipeline.run(source, sink); });
}

TEST(MovedFrom, Channel) {
    expect_named_when_moved_from(
        "ChannelEstimator", [] { return phy::ChannelEstimator(Host(), estimator_config()); }, config_of,
        host_of, [](auto& estimate) { static_cast<void>(estimate.channel_size()); },
        [](auto& estimate) { static_cast<void>(estimate.time_weights()); },
        [](auto& estimate) { estimate(std::vector<phy::cf32>(), {}, {}, {}); });
    expect_named_when_moved_from(
        "Equalizer", [] { return phy::Equalizer(Host(), equalizer_config()); }, config_of, host_of,
        [](auto& equalize) { static_cast<void>(equalize.elements_per_slot()); },
        [](auto& equalize) { static_cast<void>(equalize.estimates()); });
    expect_named_when_moved_from(
        "JointDetector", [] { return phy::JointDetector(Host(), {}); }, config_of, host_of);
}

TEST(MovedFrom, GridMapperIsOneStill) {
    phy::GridMapper map(small_allocation());
    const phy::GridMapper moved = std::move(map);  // NOLINT(performance-move-const-arg)
    // NOLINTBEGIN(bugprone-use-after-move)
    EXPECT_EQ(map.symbols_per_slot(), moved.symbols_per_slot());
    const std::vector<phy::cf32> symbols(map.symbols_per_slot(), 1.0F);
    const std::vector<phy::cf32> pilots(map.pilots_per_slot(), 1.0F);
    std::vector<phy::cf32> grid(map.grid_size());
    std::vector<phy::cf32> of_moved(moved.grid_size());
    map(symbols, pilots, grid);
    // NOLINTEND(bugprone-use-after-move)
    moved(symbols, pilots, of_moved);
    EXPECT_EQ(grid, of_moved);
}

TEST(MovedFrom, Ofdm) {
    const auto timing_of = [](auto& ofdm) { static_cast<void>(ofdm.timing()); };
    expect_named_when_moved_from(
        "OfdmDemodulator", [] { return phy::OfdmDemodulator(Host(), {.ofdm = ofdm_config()}); }, config_of,
        host_of, timing_of);
    expect_named_when_moved_from(
        "OfdmModulator", [] { return phy::OfdmModulator(Host(), ofdm_config()); }, config_of, host_of,
        timing_of);
    std::vector<phy::cf32> symbols(12);
    expect_named_when_moved_from(
        "TransformPrecoder", [] { return phy::TransformPrecoder(Host(), {.subcarriers = 12}); }, config_of,
        host_of, [&](auto& precode) { precode(symbols, symbols); });
    expect_named_when_moved_from(
        "TransformDeprecoder", [] { return phy::TransformDeprecoder(Host(), {.subcarriers = 12}); },
        config_of, host_of);
}

TEST(MovedFrom, Meters) {
    expect_named_when_moved_from(
        "SymbolMeter", [] { return phy::SymbolMeter(Host(), {}); }, config_of, host_of,
        [](auto& measure) { static_cast<void>(measure(std::vector<phy::cf32>(3))); });
    expect_named_when_moved_from(
        "SoftBitMeter", [] { return phy::SoftBitMeter(Host(), {}); }, config_of, host_of,
        [](auto& measure) { static_cast<void>(measure(std::vector<float>(3))); });
}

/// Says when it ends.
struct Counted {
    explicit Counted(int& ended) : count(ended) {}
    ~Counted() { ++count; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

    int& count;
};

using OwnedCounted = phy::detail::Owned<Counted, "Counted">;

TEST(Owned, EndsOnceWhatItOwns) {
    int ended = 0;
    {
        OwnedCounted first(new Counted(ended));
        OwnedCounted second = std::move(first);
        EXPECT_EQ(ended, 0);
        first = OwnedCounted(std::make_unique<Counted>(ended));
        second = std::move(first);
        EXPECT_EQ(ended, 1);
        second.reset(new Counted(ended));
        EXPECT_EQ(ended, 2);
    }
    EXPECT_EQ(ended, 3);
}

TEST(Owned, LeadsToWhatItOwns) {
    int ended = 0;
    auto* const counted = new Counted(ended);
    const OwnedCounted owned(counted);
    EXPECT_EQ(owned.get(), counted);
    EXPECT_EQ(&*owned, counted);
    EXPECT_EQ(&owned->count, &ended);
    static_assert(!std::is_copy_constructible_v<OwnedCounted>);
}

TEST(Host, IsAHostStillWhenItWasMovedFrom) {
    Host host({.threads = 1, .backend = phy::Backend::scalar()});
    const Host moved = std::move(host);                 // NOLINT(performance-move-const-arg)
    EXPECT_EQ(host.backend(), phy::Backend::scalar());  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(&host.pool(), &moved.pool());
}

}  // namespace
