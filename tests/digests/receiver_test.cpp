#include <gtest/gtest.h>

#include "digests/recordings.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

TEST(Digests, OfReceiversAreThoseRecorded) {
    Section section("receive/");
    for (const RecordedLink& link : recorded_links) {
        for (const RecordedSlots& slots : record_slots(link)) {
            // Where this one is another the recording is, and not the receiver.
            section.add(slots.name + "input", slots.input, "the transmitter");
            for (const phy::Backend& backend : phy::Backend::all()) {
                if (backend.kind() == phy::Backend::Kind::cuda || !backend.supported()) continue;
                for (const int threads : {1, 2, 4}) {
                    phy::Receiver receiver(phy::detail::host_of_exactly(threads, backend), slots.config);
                    const Received received = receive(receiver, {slots.format, slots.input});
                    for (const phy::ReceivedSlot& slot : received.slots)
                        EXPECT_GT(slot.estimate.coherence, 0.9F) << slots.name;
                    add_received(section, slots.name, received,
                                 backend.name() + ", threads: " + std::to_string(threads));
                }
            }
        }
    }
    section.finish();
    PHY_EXPECT_NO_DIFFERENCES(section);
}

}  // namespace
