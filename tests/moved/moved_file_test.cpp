#include <string>
#include <vector>

#include "moved/moved.hpp"
#include "moved/receiver_config.hpp"
#include "phy/capture/capture.hpp"
#include "phy/capture/write/slot_writer.hpp"
#include "phy/receiver/receiver.hpp"
#include "phy/receiver/slot_schedule.hpp"
#include "phy/receiver/stage.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

TEST(MovedFrom, Writers) {
    const TemporaryDirectory directory;
    expect_named_when_moved_from(
        "SoftBitWriter", [&] { return phy::SoftBitWriter(directory / "out.h5", {.symbols = 1}); },
        [](auto& writer) { writer.append({}); });
    expect_named_when_moved_from(
        "CaptureWriter",
        [&] {
            return phy::CaptureWriter(
                directory / "out.h5",
                {.symbols = 10, .noise_per_symbol = true, .bits = true, .kind = phy::CaptureKind::symbols});
        },
        [](auto& writer) { writer.append(std::vector<phy::cf32>()); },
        [](auto& writer) { writer.write(0, std::vector<phy::cf32>()); },
        [](auto& writer) { writer.append_noise({}); }, [](auto& writer) { writer.append_bits({}); });
    expect_named_when_moved_from(
        "SlotWriter", [&] { return phy::SlotWriter(directory / "out.h5", {.slots = 1, .elements = 1}); },
        [](auto& writer) { writer.append({}, {}, {}, {}); }, [](auto& writer) { writer.append_slots({}); });
    EXPECT_TRUE(directory.names().empty());
}

TEST(MovedFrom, CaptureReader) {
    const TemporaryDirectory directory;
    phy::CaptureWriter writer(directory / "in.h5", {.symbols = 10});
    writer.append(std::vector<phy::cf32>(10));
    writer.commit();
    expect_named_when_moved_from(
        "CaptureReader", [&] { return phy::CaptureReader(directory / "in.h5"); },
        [](auto& reader) { static_cast<void>(reader.description()); },
        [](auto& reader) {
            std::vector<phy::cf32> symbols(2);
            reader.read(1, symbols);
        });
}

TEST(MovedFrom, Receivers) {
    expect_named_when_moved_from(
        "Receiver", [] { return phy::Receiver(phy::Host(), receiver_config()); }, config_of, host_of,
        [](auto& receive) { static_cast<void>(receive.input_per_slot()); },
        [](auto& receive) { static_cast<void>(receive.schedule()); });
    expect_named_when_moved_from(
        "ReceiveStage", [] { return phy::ReceiveStage({.receiver = receiver_config()}); }, config_of,
        ports_of, [](auto& stage) { static_cast<void>(stage.on(phy::Host())); });
}

TEST(MovedFrom, SlotScheduleIsOneStill) {
    phy::Link link;
    link.slots = {3, 7};
    phy::SlotSchedule schedule(link);
    const phy::SlotSchedule moved = std::move(schedule);  // NOLINT(performance-move-const-arg)
    // NOLINTNEXTLINE(bugprone-use-after-move)
    EXPECT_EQ(schedule.slots(), moved.slots());
    EXPECT_EQ(schedule.slot(1), 7U);
}

}  // namespace
