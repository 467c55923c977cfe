#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "phy/capture/capture.hpp"
#include "support/app_test.hpp"
#include "support/subprocess.hpp"
#include "support/test_files.hpp"

namespace phy::test {
namespace {

std::string receive_slots() {
    return path_of("PHY_RECEIVE_SLOTS", RECEIVE_SLOTS);
}

class ReceiveSlots : public AppTest {
protected:
    /// Samples of an antenna each, as a radio's program writes them; their names.
    [[nodiscard]] std::vector<std::string> raw_files(CaptureReader& capture) const {
        const CaptureDescription& description = capture.description();
        std::vector<ci16> samples(description.symbols / description.antennas);
        std::vector<std::string> names;
        for (std::uint64_t antenna = 0; antenna < description.antennas; ++antenna) {
            capture.read(antenna * samples.size(), samples);
            names.push_back(path("antenna" + std::to_string(antenna)));
            std::ofstream(names.back(), std::ios::binary)
                .write(reinterpret_cast<const char*>(samples.data()),
                       static_cast<std::streamsize>(samples.size() * sizeof(ci16)));
        }
        return names;
    }

    /// Makes a recording of that many codewords and receives it without bit errors. The example's report.
    [[nodiscard]] std::string receive(std::uint64_t codewords, const Arguments& recording) const;
};

constexpr const char* link = R"({
  "direction": "uplink",
  "carrier": {"subcarrier_spacing": 60000, "resource_blocks": 12, "cell_id": 9, "sample_rate": 15360000,
              "center_frequency": 3500000000, "first_slot": 38},
  "allocation": {"rnti": 1, "modulation": "16qam", "layers": 1, "resource_blocks": [0, 12], "slots": [39, 1, 2],
                 "dmrs": {"type": 1, "ports": [0], "cdm_groups_without_data": 2, "symbols": [2, 11]}}
})";

std::string ReceiveSlots::receive(std::uint64_t codewords, const Arguments& recording) const {
    std::ofstream(path("link.json")) << link;
    Arguments options = {"--from", "samples", "--link", path("link.json"), "--antennas",
                         "2",      "--type",  "ci16",   "--snr-db",        "40"};
    options.insert(options.end(), recording.begin(), recording.end());
    CaptureReader capture(generate("capture.h5", options));
    Arguments command = {receive_slots(), path("link.json"), path("softbits")};
    for (const std::string& name : raw_files(capture))
        command.push_back(name);
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.status, 0) << outcome.err;

    std::ifstream written(path("softbits"), std::ios::binary);
    const std::vector<char> llr{std::istreambuf_iterator<char>(written), {}};
    const CodewordShape shape = capture.description().codewords.value();
    EXPECT_EQ(shape.slots, codewords);
    EXPECT_EQ(llr.size(), shape.slots * shape.bits);
    std::vector<std::uint8_t> bits(shape.bits);
    for (std::uint64_t slot = 0; slot < llr.size() / shape.bits; ++slot) {
        capture.read_codeword(slot, bits);
        std::size_t errors = 0;
        for (std::size_t i = 0; i < bits.size(); ++i)
            errors += (static_cast<signed char>(llr[slot * shape.bits + i]) < 0) == (bits[i] == 1) ? 0 : 1;
        EXPECT_EQ(errors, 0U) << slot;
    }
    return outcome.out;
}

TEST_F(ReceiveSlots, FilesOfAntennasGiveTheCodewords) {
    const std::string report = receive(3, {"--slots", "8"});
    EXPECT_NE(report.find("slot 39: coherence"), std::string::npos) << report;
    EXPECT_NE(report.find("slot 42: coherence"), std::string::npos) << report;
}

TEST_F(ReceiveSlots, OffsetsAreFollowed) {
    const std::string report =
        receive(15, {"--slots", "170", "--clock-offset", "20", "--timing-offset", "-300"});
    EXPECT_NE(report.find("frequency -70"), std::string::npos) << report;
    EXPECT_NE(report.find("clock 20."), std::string::npos) << report;
}

TEST_F(ReceiveSlots, ErrorsAreOneLine) {
    EXPECT_EQ(run({receive_slots()}).status, 2);
    std::ofstream(path("link.json")) << link;
    const Outcome outcome = run({receive_slots(), path("link.json"), path("softbits"), path("none")});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_NE(outcome.err.find("none: cannot be read"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace phy::test
