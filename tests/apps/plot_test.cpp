#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "phy/capture/write/slot_writer.hpp"
#include "plot_program.hpp"

namespace phy::test {
namespace {

class Plot : public PlotTest {
protected:
    Plot() : PlotTest("h5py, matplotlib", "PHY_PLOT_SCRIPT", PHY_PLOT_SCRIPT) {}

    [[nodiscard]] Outcome plot(Arguments arguments) const {
        arguments.insert(arguments.begin(), {"--measure-app", measure_app});
        return run_script(arguments);
    }

    void expect_image(const Arguments& arguments) const {
        std::filesystem::remove(path("c.png"));
        Arguments all = {path("c.h5"), "-o", path("c.png")};
        all.insert(all.end(), arguments.begin(), arguments.end());
        const Outcome outcome = plot(all);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        expect_png("c.png");
    }
};

TEST_F(Plot, DrawsACaptureAndItsSoftBits) {
    const std::string capture =
        generate("c.h5", {"--modulation", "64qam", "--symbols", "20000", "--type", "ci16", "--quiet"});
    demod({capture, "-o", path("s.h5"), "--quiet"});
    expect_image({"--soft-bits", path("s.h5")});
    const Outcome report = run({measure_app, capture, "--by", "100", "--json"});
    std::ofstream(path("m.json")) << report.out;
    expect_image({"--measure", path("m.json")});
    expect_image({"--", "--reference", "sent"});
}

TEST_F(Plot, ReadsAsMeasureAppDoes) {
    for (const Arguments& made :
         {Arguments{"--type", "cf16"}, {"--type", "ci16", "--layout", "interleaved"}}) {
        Arguments all = {"--modulation", "qpsk", "--symbols", "2000", "--quiet", "--force"};
        all.insert(all.end(), made.begin(), made.end());
        generate("c.h5", all);
        if (made.size() == 2) {
            expect_image({});
        } else {
            expect_image({"--interleaved"});
            expect_image({"--", "--interleaved"});
        }
    }
}

/// Whatever the capture says, because measure_app may have been told another.
TEST_F(Plot, TakesTheFullScaleOfTheReport) {
    generate("c.h5", {"--modulation", "qpsk", "--symbols", "2000", "--type", "ci16", "--quiet"});
    const auto image = [&](const std::string& full_scale) {
        std::ofstream(path("m.json"))
            << R"({"symbols": 2000, "modulation": "qpsk", "gain": 1.0, "full_scale": )" + full_scale + "}";
        expect_image({"--measure", path("m.json")});
        std::ifstream stream(path("c.png"), std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(stream), {});
    };
    EXPECT_TRUE(image("8192") == image("null"));
    EXPECT_FALSE(image("8192") == image("32768"));
    const JsonValue report = measure_json({path("c.h5"), "--full-scale", "32768"});
    EXPECT_EQ(report["full_scale"].number(), 32768.0);
}

/// A file as demod_app --write llr,symbols,channel makes it: of 2 slots, 2 antennas and 1 layer.
void write_received(const std::string& file, Modulation modulation = Modulation::qam64) {
    constexpr std::size_t slots = 2;
    constexpr std::size_t elements = 600;
    constexpr std::size_t subcarriers = 132;
    SlotWriter writer(file, {.slots = slots,
                             .elements = elements,
                             .antennas = 2,
                             .subcarriers = subcarriers,
                             .symbols = true,
                             .channel = true,
                             .modulation = modulation});
    std::vector<std::byte> llr(slots * elements * bits_per_symbol(modulation));
    for (std::size_t i = 0; i < llr.size(); ++i)
        llr[i] = static_cast<std::byte>(i * 37 % 251);
    std::vector<cf32> symbols(slots * elements);
    for (std::size_t i = 0; i < symbols.size(); ++i)
        symbols[i] = {static_cast<float>(i % 8) / 4.0F - 0.9F, static_cast<float>(i / 8 % 8) / 4.0F - 0.9F};
    // Outside of the allocation an estimate is 0.
    std::vector<cf32> channel(slots * 2 * subcarriers, {0.5F, 1.0F});
    std::fill_n(channel.begin(), 12, cf32());
    writer.append(llr, symbols, std::vector<float>(symbols.size(), 0.1F), channel);
    writer.append_slots(std::vector<SlotRow>{{.slot = 8, .snr_db = 20.0, .evm = 0.1},
                                             {.slot = 9, .snr_db = 21.0, .evm = NAN}});
    writer.commit();
}

/// The link of narrow captures.
constexpr const char* narrow_link = R"({"direction": "uplink",
    "carrier": {"subcarrier_spacing": 30000, "resource_blocks": 11, "cell_id": 1, /* "k0": 3, */ "k0": 6,
                "sample_rate": 7680000, "center_frequency": 0, "first_sample": 40}, // "comments"
    "allocation": {"rnti": 1, "modulation": "64qam", "layers": 1, "resource_blocks": [0, 11],
                   "dmrs": {"type": 1, "ports": [0], "cdm_groups_without_data": 2, "symbols": [2]}}})";

TEST_F(Plot, DrawsSamplesAndGrids) {
    std::ofstream(path("link.json")) << narrow_link;
    write_received(path("received.h5"));
    for (const std::string kind : {"samples", "grid"}) {
        for (const Arguments& made : {Arguments{"--type", "ci16", "--antennas", "2"},
                                      {"--type", "cf16", "--layout", "trailing"},
                                      {"--layout", "interleaved", "--antennas", "3"}}) {
            Arguments all = {"--from",  kind, "--link",  path("link.json"),
                             "--slots", "3",  "--quiet", "--force"};
            all.insert(all.end(), made.begin(), made.end());
            generate("c.h5", all);
            const Arguments reading = made[1] == "interleaved" ? Arguments{"--interleaved"} : Arguments{};
            if (made.back() == "2") expect_image(reading);
            Arguments more = {"--soft-bits", path("received.h5"), "--link", path("link.json"),
                              "--dataset",   "/" + kind,          "--from", kind};
            more.insert(more.end(), reading.begin(), reading.end());
            expect_image(more);
        }
    }
}

/// As wide a one as soft bits have, in the narrow pictures of recordings and in those of symbols.
TEST_F(Plot, LegendsAreWithinTheirPictures) {
    std::ofstream(path("link.json")) << narrow_link;
    write_received(path("received.h5"), Modulation::qam1024);
    const std::string recording = generate("r.h5", {"--from", "samples", "--link", path("link.json"),
                                                    "--slots", "2", "--antennas", "3", "--quiet"});
    const std::string symbols = generate("s.h5", {"--modulation", "1024qam", "--symbols", "999", "--quiet"});
    demod({symbols, "-o", path("soft.h5"), "--quiet"});
    const std::string script = R"(
import sys
import plot_capture
from capture_file import find_iq, open_file
options = plot_capture.parse_options(sys.argv[2:])
with open_file(options.capture) as file:
    dataset = find_iq(file, None, False, None)
    draw = plot_capture.plot_symbols if sys.argv[1] == "symbols" else \
        lambda options, dataset: plot_capture.plot_recording(options, dataset, "samples")
    figure = draw(options, dataset)
figure.canvas.draw()
legends = 0
for axes in figure.axes:
    if axes.get_legend() is not None:
        box, area = axes.get_legend().get_window_extent(), axes.get_window_extent()
        assert area.x0 <= box.x0 and box.x1 <= area.x1, (axes.get_title(loc="left"), box, area)
        legends += 1
assert legends >= 3, legends
)";
    for (const Arguments& drawn :
         {Arguments{"samples", recording, "--soft-bits", path("received.h5")},
          {"symbols", symbols, "--soft-bits", path("soft.h5"), "--measure-app", measure_app}}) {
        Arguments all = {"-c", script};
        all.insert(all.end(), drawn.begin(), drawn.end());
        all.insert(all.end(), {"-o", path("c.png")});
        const Outcome outcome = run_python(all);
        EXPECT_EQ(outcome.status, 0) << drawn[0] << outcome.err;
    }
}

/// The grid of samples is that which capture_gen has sent: noise alone stands where nothing is sent.
TEST_F(Plot, TakesSamplesApartAsTheLinkSays) {
    std::ofstream(path("link.json")) << narrow_link;
    generate("c.h5",
             {"--from", "samples", "--link", path("link.json"), "--slots", "3", "--snr-db", "60", "--quiet"});
    const std::string script = R"(
import sys
import h5py, numpy
from capture_file import attribute_of, read_antennas
from recording_axes import grid_of, read_link
with h5py.File(sys.argv[1], "r") as file:
    link = read_link(attribute_of(file["samples"], "link"), "")
    values = read_antennas(file["samples"], False, "samples", 1 << 20)
grid = grid_of(values, link, 7680000)
power = abs(grid) ** 2
assert grid.shape == (1, 42, 132), grid.shape
# DM-RS of CDM group 0 alone, 3 dB above data.
assert abs(power[0, 2::14, 0::2] / 2 - 1).max() < 0.05
assert power[0, 2::14, 1::2].max() < 1e-3
assert abs(power[0, 3:14].mean() - 1) < 0.1
)";
    const Outcome outcome = run_python({"-c", script, path("c.h5")});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_F(Plot, SaysWhatIsWrongWithRecordings) {
    std::ofstream(path("link.json")) << narrow_link;
    std::ofstream(path("bad.json")) << "{ link }";
    std::ofstream(path("empty.json")) << "{}";
    generate("c.h5", {"--from", "samples", "--link", path("link.json"), "--slots", "1", "--quiet"});
    for (const auto& [wrong, words] :
         {std::pair(Arguments{"--link", path("none.json")}, "none.json: No such file"),
          {{"--link", path("bad.json")}, "bad.json: expected a link in JSON"},
          {{"--link", path("empty.json")}, "expected a link as docs/link.md"},
          {{"--soft-bits", path("none.h5")}, "none.h5: No such file"},
          {{"--from", "grid"}, "no dataset /grid"},
          {{"--from", "grid", "--dataset", "/codeword"}, "/codeword: expected a compound"}}) {
        Arguments all = {path("c.h5"), "-o", path("c.png")};
        all.insert(all.end(), wrong.begin(), wrong.end());
        const Outcome failed = plot(all);
        EXPECT_EQ(failed.status, 1);
        EXPECT_TRUE(failed.err.starts_with("plot_capture.py: ")) << failed.err;
        EXPECT_NE(failed.err.find(words), std::string::npos) << failed.err;
    }
    EXPECT_FALSE(std::filesystem::exists(path("c.png")));
}

TEST_F(Plot, SaysWhatIsWrong) {
    const Outcome outcome = plot({path("missing.h5"), "-o", path("c.png")});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.err, "plot_capture.py: " + path("missing.h5") + ": No such file or directory\n");
    std::ofstream(path("c.npy")) << "\x93NUMPY";
    EXPECT_NE(plot({path("c.npy"), "-o", path("c.png")}).err.find("c.npy: is not an HDF5 file: expected one"),
              std::string::npos);
    generate("c.h5", {"--modulation", "qpsk", "--symbols", "100", "--quiet"});
    for (const Arguments& wrong : {Arguments{"--dataset", "/none"},
                                   {"--measure", path("none.json")},
                                   {"--soft-bits", path("c.h5")},
                                   {"--", "--by", "nothing"}}) {
        Arguments all = {path("c.h5"), "-o", path("c.png")};
        all.insert(all.end(), wrong.begin(), wrong.end());
        const Outcome failed = plot(all);
        EXPECT_EQ(failed.status, 1);
        EXPECT_TRUE(failed.err.starts_with("plot_capture.py: ")) << failed.err;
    }
    EXPECT_FALSE(std::filesystem::exists(path("c.png")));
}

}  // namespace
}  // namespace phy::test
