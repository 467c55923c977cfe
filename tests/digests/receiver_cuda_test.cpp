#include <gtest/gtest.h>

#include "digests/recordings.hpp"
#include "receiver/receiver_on_gpu.hpp"
#include "support/gpu.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

TEST(CudaReceiverDigests, OfReceiversAreThoseRecorded) {
    PHY_NEEDS_GPU();
    if (writes_digests()) GTEST_SKIP() << "written by the tests of the processor";
    Section section("receive/");
    for (const RecordedLink& link : recorded_links) {
        for (const RecordedSlots& slots : record_slots(link)) {
            for (const std::size_t slots_a_call : {1U, 2U, 3U})
                add_received(
                    section, slots.name,
                    received_on_gpu(slots.config, {slots.format, slots.input}, 0, {.slots = slots_a_call}),
                    "a GPU, slots a call: " + std::to_string(slots_a_call));
        }
    }
    EXPECT_EQ(section.differences(), "");
}

}  // namespace
