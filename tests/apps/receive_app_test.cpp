#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/receiver/link.hpp"
#include "support/app_test.hpp"
#include "support/fewer_cases.hpp"
#include "support/hdf5_file.hpp"
#include "support/test_files.hpp"

namespace phy::test {
namespace {

/// What capture_gen transmits, demod_app receives.
class ReceiveApp : public AppTest {
protected:
    std::string transmit(const std::string& name, const Link& link, const std::string& kind,
                         const Arguments& more = {}) const {
        std::ofstream(path("link.json")) << to_json(link);
        Arguments all = {"--from", kind, "--link", path("link.json"), "--quiet", "--force"};
        all.insert(all.end(), more.begin(), more.end());
        return generate(name, all);
    }

    static void expect_no_errors(const std::string& capture, const Arguments& more = {}) {
        Arguments all = {capture};
        all.insert(all.end(), more.begin(), more.end());
        const JsonValue report = demod_json(all);
        EXPECT_EQ(report["bit_errors"].number(), 0.0);
        EXPECT_NEAR(report["bit_error_rate_high"].number() * report["compared_bits"].number(), 2.996, 0.01);
        EXPECT_GT(report["soft_bits"].number(), 0.0);
        EXPECT_GT(report["coherence"].number(), 0.9);
    }
};

/// A carrier of 15 resource blocks, of which 12 are allocated in some slots.
Link link_of(int spacing, Modulation modulation, const DmrsConfig& dmrs) {
    Link link;
    link.carrier = {.subcarrier_spacing = spacing,
                    .sample_rate = 256.0 * spacing,
                    .center_frequency = 1.9e9,
                    .first_slot = 3};
    link.allocation.carrier_resource_blocks = 15;
    link.allocation.resource_blocks = {{1, 12}};
    link.allocation.dmrs = dmrs;
    link.scrambling = {.rnti = 4711, .id = 5};
    link.modulation = modulation;
    link.slots = {3, 4, 8};
    return link;
}

/// DM-RS of every type and length, for a number of layers.
std::vector<DmrsConfig> dmrs_of(std::size_t layers) {
    std::vector<DmrsConfig> all;
    for (const int type : {1, 2}) {
        for (const int length : {1, 2}) {
            DmrsConfig dmrs = {.type = type, .length = length};
            dmrs.ports.clear();
            for (std::size_t layer = 0; layer < layers; ++layer)
                dmrs.ports.push_back(static_cast<int>(layer));
            dmrs.symbols = length == 1 ? std::vector{2, 7, 11} : std::vector{2, 3, 10, 11};
            dmrs.scrambling_id = 77;
            all.push_back(dmrs);
        }
    }
    return all;
}

struct Case {
    std::string kind;
    std::string type;
    Link link;
};

/// All modulations x 1 to 4 layers x DM-RS settings x numerologies x sample types, each of the latter three
/// in turn.
std::vector<Case> all_cases() {
    const std::vector<int> spacings = {15000, 30000, 60000, 120000};
    const std::vector<std::string> types = {"cf32", "ci16", "cf16", "ci8"};
    std::vector<Case> all;
    std::size_t turn = 0;
    for (const Modulation modulation : all_modulations) {
        for (std::size_t layers = 1; layers <= 4; ++layers) {
            for (const std::string kind : {"samples", "grid"}) {
                const DmrsConfig dmrs = dmrs_of(layers)[turn / 4 % 4];
                Case one = {kind, types[turn / 2 % 4], link_of(spacings[turn / 8 % 4], modulation, dmrs)};
                // What 8 bits leave of 1024QAM is not without errors.
                if (modulation == Modulation::qam1024 && one.type == "ci8") one.type = "ci16";
                all.push_back(one);
                turn += 3;
            }
        }
    }
    return all;
}

/// Each slot has a fade of its own: errors come together, so the interval is wider than that of single bits.
TEST_F(ReceiveApp, IntervalsOfErrorRatesFollowTheSpreadOverSlots) {
    const Link link = link_of(15000, Modulation::qam64, dmrs_of(1)[0]);
    const JsonValue report = demod_json(
        {transmit("fades.h5", link, "grid", {"--slots", "26", "--snr-db", "12", "--channel", "flat"})});
    const double rate = report["bit_error_rate"].number();
    const double low = report["bit_error_rate_low"].number();
    const double high = report["bit_error_rate_high"].number();
    const double of_bits = std::sqrt(rate * (1.0 - rate) / report["compared_bits"].number());
    EXPECT_LT(low, rate);
    EXPECT_GT(high, rate);
    EXPECT_GT(high - low, 5.0 * 2.0 * 1.96 * of_bits);
}

TEST_F(ReceiveApp, EverySettingIsReceivedWithoutErrors) {
    for (const Case& one : phy_test::fewer_cases(all_cases())) {
        SCOPED_TRACE(one.kind + " of " + one.type + '\n' + to_json(one.link));
        // A sample late, and half of a thousandth of the subcarrier spacing too high.
        const double late = 1e9 / *one.link.carrier.sample_rate;
        const double high = 5e-4 * one.link.carrier.subcarrier_spacing;
        expect_no_errors(transmit("c.h5", one.link, one.kind,
                                  {"--slots", "26", "--snr-db", "48", "--type", one.type, "--timing-offset",
                                   std::to_string(late), "--frequency-offset", std::to_string(high)}));
    }
}

TEST_F(ReceiveApp, FadingAndOffsetsAreReported) {
    Link link = link_of(30000, Modulation::qam16, {});
    link.carrier.first_sample = 1000;
    const std::string capture =
        transmit("c.h5", link, "samples",
                 {"--slots", "40", "--antennas", "4", "--channel", "tdl:30", "--snr-db", "20",
                  "--timing-offset", "120", "--frequency-offset", "700"});
    const JsonValue report = demod_json({capture});
    EXPECT_EQ(report["slots"].number(), 6.0);
    EXPECT_NEAR(report["frequency_offset_hz"].number(), 700.0, 20.0);
    EXPECT_NEAR(report["timing_offset_s"].number(), 120e-9, 130e-9);
    EXPECT_NEAR(report["noise_variance"].number(), 0.01, 0.002);
    EXPECT_LT(report["bit_error_rate"].number(), 1e-3);
}

/// A link with coding.
Link coded_link() {
    Link link = link_of(30000, Modulation::qam16, {});
    link.coding = {.code_rate = 0.4};
    return link;
}

TEST_F(ReceiveApp, TransportBlocksAreDecodedAndWritten) {
    const std::string capture =
        transmit("c.h5", coded_link(), "samples", {"--slots", "26", "--snr-db", "25"});
    const JsonValue report = demod_json(
        {capture, "-o", path("out.h5"), "--write", "llr,tb", "--decode", "--decoder-iterations", "9"});
    EXPECT_GT(report["transport_blocks"].number(), 3.0);
    EXPECT_EQ(report["valid_transport_blocks"].number(), report["transport_blocks"].number());
    EXPECT_LE(report["iterations_per_code_block"].number(), 9.0);
    const std::vector<std::byte> sent = read_dataset(capture, "/transport_block");
    EXPECT_TRUE(read_dataset(path("out.h5"), "/transport_blocks") == sent);
    const auto blocks = static_cast<std::size_t>(report["transport_blocks"].number());
    EXPECT_EQ(sent.size(), blocks * static_cast<std::size_t>(report["transport_block_bits"].number()) / 8);
    EXPECT_EQ(read_dataset(path("out.h5"), "/crc"), std::vector(blocks, std::byte{1}));
    demod({capture, "-o", path("out.raw"), "--write", "tb"});
    EXPECT_EQ(std::filesystem::file_size(path("out.raw")), sent.size());
    const std::string text = demod({capture}).out;
    EXPECT_NE(text.find("transport blocks have a valid CRC"), std::string::npos) << text;
}

TEST_F(ReceiveApp, IterationsRecoverTransportBlocks) {
    Link link = coded_link();
    link.coding->code_rate = 0.6;
    link.allocation.dmrs.ports = {0, 1};
    const std::string capture =
        transmit("c.h5", link, "grid",
                 {"--slots", "400", "--antennas", "2", "--channel", "tdl:100", "--snr-db", "14"});
    const JsonValue plain = demod_json({capture});
    EXPECT_EQ(plain["iterations"].number(), 0.0);
    EXPECT_EQ(plain["valid_after_iterations"].number(), 0.0);
    const JsonValue report = demod_json({capture, "--iterations", "2"});
    EXPECT_EQ(report["iterations"].number(), 2.0);
    EXPECT_GT(report["valid_after_iterations"].number(), 0.0);
    EXPECT_EQ(report["valid_transport_blocks"].number(),
              plain["valid_transport_blocks"].number() + report["valid_after_iterations"].number());
    const std::string text = demod({capture, "--iterations", "2"}).out;
    EXPECT_NE(text.find(" of them after iterations"), std::string::npos) << text;
    expect_failure({demod_app, capture, "--iterations", "11"}, 2, {"--iterations 11", "from 0 to 10"});
    expect_failure({demod_app, capture, "--iterations", "1", "--no-decode"}, 2,
                   {"--iterations: not with --no-decode"});
    expect_failure({demod_app, capture, "--iterations", "1", "--joint-detection", "off"}, 2,
                   {"iterations: expected joint_detection too"});
    const std::string one_layer = transmit("o.h5", coded_link(), "grid", {"--slots", "5"});
    expect_failure({demod_app, one_layer, "--iterations", "1"}, 2,
                   {"joint_detection with 1 layer: expected 2"});
}

TEST_F(ReceiveApp, UciIsReportedAndWritten) {
    Link link = coded_link();
    link.coding->uci = LinkUci{.ack_bits = 3, .csi1_bits = 20};
    const std::string capture =
        transmit("c.h5", link, "grid", {"--slots", "26", "--snr-db", "25", "--uci", "101"});
    const std::vector<std::string> command = {capture, "-o", path("out.h5"), "--write", "uci"};
    const JsonValue report = demod_json(command);
    EXPECT_EQ(report["valid_transport_blocks"].number(), report["slots"].number());
    EXPECT_EQ(report["uci"]["ack"]["bits"].number(), 3.0);
    EXPECT_GT(report["uci"]["ack"]["min_margin_nats"].number(), 16.0);
    EXPECT_EQ(report["uci"]["csi1"]["bits"].number(), 20.0);
    const std::vector<std::byte> bits = read_dataset(path("out.h5"), "/uci_ack");
    EXPECT_EQ(bits.size(), 3 * static_cast<std::size_t>(report["slots"].number()));
    for (std::size_t bit = 0; bit < bits.size(); ++bit)
        EXPECT_EQ(bits[bit], std::byte{bit % 3 == 1 ? std::uint8_t{0} : std::uint8_t{1}});
    const std::string text = demod({capture}).out;
    EXPECT_NE(text.find("HARQ-ACK of 3 bits with a margin of"), std::string::npos) << text;
    EXPECT_NE(text.find("CSI part 1 of 20 bits not decoded (polar code); no CRC proves it"),
              std::string::npos)
        << text;
    expect_failure({demod_app, capture, "--write", "uci", "-o", path("x.npy")}, 2, {"uci expected"});
    expect_failure({demod_app, capture, "--write", "uci", "--no-decode", "-o", path("x.h5")}, 2,
                   {"--write uci: not with --no-decode"});
    const std::string plain = transmit("p.h5", coded_link(), "grid", {"--slots", "5"});
    expect_failure({demod_app, plain, "--write", "uci", "-o", path("x.h5")}, 2, {"coding.uci"});
}

TEST_F(ReceiveApp, WithoutDecodingThereAreNoTransportBlocks) {
    const std::string capture = transmit("c.h5", coded_link(), "grid", {"--slots", "5"});
    EXPECT_FALSE(demod_json({capture, "--no-decode"}).has("transport_blocks"));
    expect_failure({demod_app, capture, "--no-decode", "--decode"}, 2, {"--decode", "--no-decode"});
    expect_failure({demod_app, capture, "--no-decode", "--write", "tb", "-o", path("x.h5")}, 2,
                   {"--write tb", "--no-decode"});
    expect_failure({demod_app, capture, "--write", "llr,tb", "-o", path("x.npy")}, 2, {"tb alone"});
    Link plain = coded_link();
    plain.coding.reset();
    const std::string uncoded = transmit("u.h5", plain, "grid", {"--slots", "5", "--no-bits"});
    expect_failure({demod_app, uncoded, "--decode"}, 2, {"--decode", "coding.code_rate"});
    expect_failure({demod_app, uncoded, "--decoder-iterations", "5"}, 2, {"--decoder-iterations"});
    const std::string text = demod({uncoded}).out;
    EXPECT_NE(text.find("nothing proves the soft bits"), std::string::npos) << text;
}

TEST_F(ReceiveApp, OptionsSetTheReceiver) {
    const Link link = link_of(30000, Modulation::qam16, {});
    const Arguments sent = {"--slots", "26", "--antennas", "2", "--snr-db", "35"};
    for (const std::string kind : {"samples", "grid"}) {
        const std::string capture = transmit("c.h5", link, kind, sent);
        expect_no_errors(capture, {"--interference-rejection", "on", "--delay-spread", "100"});
        expect_no_errors(capture, {"--equalizer", "zero-forcing", "--time-interpolation", "average"});
        expect_no_errors(capture, {"--time-interpolation", "linear"});
        expect_no_errors(capture, {"--doppler-spread", "20"});
    }
    const std::string capture = path("c.h5");
    expect_failure({demod_app, capture, "--doppler-spread", "5", "--time-interpolation", "linear"}, 2,
                   {"--time-interpolation"});
    expect_failure({demod_app, capture, "--interference-rejection", "on", "--noise-variance", "0.1"}, 2,
                   {"--noise-variance"});
    const std::string one = transmit("one.h5", link, "grid", {"--slots", "26"});
    expect_no_errors(one, {"--interference-rejection", "on"});
    expect_failure({demod_app, one, "--joint-detection", "on"}, 2,
                   {"joint_detection with 1 layer: expected 2"});
    expect_failure({demod_app, one, "--joint-detection", "yes"}, 2,
                   {"--joint-detection yes", "'on' or 'off'"});
    const std::string symbols =
        generate("symbols.h5", {"--modulation", "qpsk", "--symbols", "10", "--quiet"});
    expect_failure({demod_app, symbols, "--interference-rejection", "off"}, 2, {"--interference-rejection"});
    expect_failure({demod_app, symbols, "--joint-detection", "off"}, 2, {"--joint-detection"});
    expect_failure({demod_app, symbols, "--phase-tracking", "off"}, 2, {"--phase-tracking"});
    expect_failure({demod_app, symbols, "--iterations", "0"}, 2, {"--iterations"});
}

/// With one DM-RS, a slot of a grid does not show its frequency offset.
TEST_F(ReceiveApp, PhasesAreTracked) {
    Link link = link_of(30000, Modulation::qam64, {});
    link.allocation.dmrs.symbols = {2};
    const std::string capture =
        transmit("drift.h5", link, "grid", {"--slots", "8", "--snr-db", "30", "--frequency-offset", "150"});
    const JsonValue off = demod_json({capture, "--phase-tracking", "off"});
    EXPECT_GT(off["bit_errors"].number(), 1000.0);
    EXPECT_FALSE(off["phase_tracking"].boolean());
    EXPECT_EQ(off["phase_error_deg"].number(), 0.0);
    const JsonValue on = demod_json({capture});
    EXPECT_EQ(on["bit_errors"].number(), 0.0);
    EXPECT_TRUE(on["phase_tracking"].boolean());
    // 360 degrees x 150 Hz x 35.7 us from one OFDM symbol to the next, rms over those from -2 to 11 of them.
    EXPECT_NEAR(on["phase_error_deg"].number(), 12.1, 0.3);
    EXPECT_NE(demod({capture}).out.find("\nphase error     12."), std::string::npos) << demod({capture}).out;
}

TEST_F(ReceiveApp, TwoLayersAreDetectedJointly) {
    Link link = link_of(30000, Modulation::qam16, {});
    link.allocation.dmrs.ports = {0, 1};
    const std::string capture =
        transmit("two.h5", link, "grid", {"--slots", "8", "--channel", "flat", "--snr-db", "20"});
    const auto errors = [&](Arguments more) {
        more.insert(more.begin(), capture);
        return demod_json(more)["bit_errors"].number();
    };
    const double linear = errors({"--joint-detection", "off"});
    EXPECT_GT(linear, 100.0);
    EXPECT_LT(errors({}), 0.8 * linear);
    EXPECT_EQ(errors({"--equalizer", "zero-forcing", "--joint-detection", "on"}), errors({}));
    EXPECT_EQ(errors({}), errors({"--joint-detection", "on"}));
    EXPECT_TRUE(demod_json({capture})["joint_detection"].boolean());
    EXPECT_FALSE(demod_json({capture, "--method", "logmap"})["joint_detection"].boolean());
    EXPECT_NE(demod({capture}).out.find(", joint detection on\n"), std::string::npos);
    EXPECT_NE(demod({capture, "--method", "logmap"}).out.find(", joint detection off\n"), std::string::npos);
    expect_failure({demod_app, capture, "--method", "logmap", "--joint-detection", "on"}, 2,
                   {"joint_detection with logmap: expected maxlog"});
}

TEST_F(ReceiveApp, TransformPrecodingIsUndone) {
    Link link = link_of(30000, Modulation::pi2_bpsk, {});
    link.allocation.dmrs.transform_precoding = true;
    for (const std::string kind : {"samples", "grid"})
        expect_no_errors(
            transmit("c.h5", link, kind,
                     {"--slots", "26", "--antennas", "2", "--channel", "tdl:50", "--snr-db", "25"}));
}

TEST_F(ReceiveApp, RangesOfDifferentLengthsAreReceived) {
    using Ranges = std::vector<ResourceBlocks>;
    for (const Ranges& ranges :
         {Ranges{{13, 1}, {0, 9}, {10, 2}}, {{4, 1}, {7, 2}}, {{0, 1}, {2, 1}, {4, 11}}}) {
        for (const std::string kind : {"samples", "grid"}) {
            for (const std::size_t layers : {1U, 2U}) {
                Link link = link_of(30000, Modulation::qam16, dmrs_of(layers).front());
                link.allocation.resource_blocks = ranges;
                SCOPED_TRACE(kind + '\n' + to_json(link));
                const std::string capture = transmit("c.h5", link, kind,
                                                     {"--slots", "26", "--antennas", "4", "--channel",
                                                      "tdl:100", "--snr-db", "35", "--timing-offset", "60"});
                const JsonValue report = demod_json({capture});
                EXPECT_LT(report["bit_error_rate"].number(), 1e-3);
                EXPECT_GT(report["coherence"].number(), 0.9);
            }
        }
    }
}

TEST_F(ReceiveApp, FindsTheFirstSlot) {
    Link link = link_of(30000, Modulation::qpsk, {});
    link.carrier.first_slot = 8;
    link.carrier.first_sample.reset();
    link.slots = {8, 9};
    const std::string capture =
        transmit("c.h5", link, "samples", {"--slots", "3", "--first-sample", "4321", "--snr-db", "20"});
    const JsonValue report = demod_json({capture});
    EXPECT_NEAR(report["first_sample"].number(), 4321.0, 2.0);
    EXPECT_EQ(report["bit_errors"].number(), 0.0);
}

TEST_F(ReceiveApp, AttributesAndFilesOfLinksAreTheSame) {
    Link link = link_of(15000, Modulation::qam64, {});
    link.carrier.k0 = -6;
    link.carrier.frequency_shift = 45e3;
    const std::string capture = transmit("c.h5", link, "samples", {"--slots", "4"});
    EXPECT_EQ(soft_bits(capture), soft_bits(capture, {"--link", path("link.json")}));
    // What the link lacks is in the attributes of the capture.
    link.carrier.sample_rate.reset();
    link.carrier.center_frequency.reset();
    const std::string lacking =
        transmit("l.h5", link, "samples",
                 {"--slots", "4", "--sample-rate", "3.84e6", "--center-frequency", "1900045000"});
    EXPECT_EQ(soft_bits(lacking), soft_bits(capture));
}

TEST_F(ReceiveApp, RawFilesAreSamplesIfTheirLinkHasASampleRate) {
    Link link = link_of(15000, Modulation::qam64, dmrs_of(1).front());
    for (const std::string kind : {"samples", "grid"}) {
        const std::string capture = transmit("c.h5", link, kind, {"--slots", "6", "--snr-db", "40"});
        CaptureReader reader(capture);
        const CaptureDescription& description = reader.description();
        std::vector<std::byte> bytes(description.symbols * size_of(description.format));
        reader.read(0, {description.format, bytes});
        for (const std::string name : {"recording.cf32", "grid.cf32"}) {
            std::ofstream(path(name), std::ios::binary)
                .write(reinterpret_cast<const char*>(bytes.data()),
                       static_cast<std::streamsize>(bytes.size()));
        }
        Arguments arguments = {"--raw", "cf32", "--link", path("link.json")};
        if (kind == "samples") {
            arguments.insert(arguments.begin(), path("recording.cf32"));
        } else {
            const std::string symbols = std::to_string(description.shape[description.shape.size() - 2]);
            arguments.insert(arguments.begin(), {path("grid.cf32"), "--shape", symbols + ",180"});
        }
        EXPECT_GT(demod_json(arguments)["coherence"].number(), 0.9) << kind;
        EXPECT_GT(measure_json(arguments)["snr_db"].number(), 30.0) << kind;
    }
    // Without a rate the file may be one of symbols.
    link.carrier.sample_rate.reset();
    std::ofstream(path("link.json")) << to_json(link);
    expect_failure({demod_app, path("recording.cf32"), "--raw", "cf32", "--link", path("link.json")}, 1,
                   {"noise_variance", "samples need carrier.sample_rate in the link"});
}

TEST_F(ReceiveApp, DiagnosesTheCenterFrequencyByTheAttribute) {
    Link link = link_of(30000, Modulation::qam64, {});
    link.carrier.frequency_shift = 60e3;
    const std::string capture =
        transmit("c.h5", link, "samples",
                 {"--slots", "26", "--antennas", "2", "--snr-db", "30", "--frequency-offset", "123"});
    for (const double wrong : {0.0, 1.8e9}) {
        link.carrier.center_frequency = wrong;
        std::ofstream(path("wrong.json")) << to_json(link);
        const Outcome outcome = demod({capture, "--link", path("wrong.json"), "--diagnose"});
        EXPECT_NE(outcome.err.find("the best is carrier.center_frequency 1900000000 (coherence"),
                  std::string::npos)
            << outcome.err;
    }
    EXPECT_EQ(demod({capture, "--diagnose"}).err.find("center_frequency"), std::string::npos);
    const std::string best = "the best is the link as it is (coherence";
    EXPECT_NE(demod_json({capture, "--diagnose"})["diagnosis"].string().find(best), std::string::npos);
    EXPECT_NE(demod({capture, "--diagnose"}).out.find(best), std::string::npos);
}

std::vector<float> floats_of(const std::vector<std::byte>& bytes) {
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
}

/// What demod_app wrote of a grid is itself a capture of symbols, with the link.
TEST_F(ReceiveApp, SymbolsAreDemodulatedWithTheLinkOfTheirFile) {
    Link link = link_of(30000, Modulation::qam64, dmrs_of(2).front());
    const std::string grid = transmit("c.h5", link, "grid", {"--slots", "26", "--snr-db", "30"});
    const std::string received = path("received.h5");
    demod({grid, "-o", received, "--write", "llr,symbols", "--llr", "float32"});
    const Arguments symbols = {"--dataset", "/symbols", "--noise-variance", "0.01", "--llr", "float32"};
    const auto with = [&](const Arguments& more) {
        Arguments all = symbols;
        all.insert(all.end(), more.begin(), more.end());
        return soft_bits(received, all);
    };
    const std::vector<std::byte> alone = with({});
    EXPECT_EQ(alone, with({"--link", path("link.json")}));
    EXPECT_NE(alone, with({"--descramble", "4711,5"})) << "as one codeword, and not one a slot";
    EXPECT_EQ(with({"--modulation", "qpsk"}).size(), alone.size() / 3);

    const std::vector<float> first = floats_of(read_dataset(received, "/llr"));
    const std::vector<float> again = floats_of(alone);
    ASSERT_EQ(first.size(), again.size());
    for (std::size_t i = 0; i < first.size(); ++i)
        ASSERT_EQ(first[i] < 0.0F, again[i] < 0.0F) << i;
}

TEST_F(ReceiveApp, MeasureAppMeasuresEqualisedSymbols) {
    const Link link = link_of(30000, Modulation::qam64, dmrs_of(2).front());
    for (const std::string kind : {"samples", "grid"}) {
        const std::string capture = transmit("c.h5", link, kind,
                                             {"--slots", "26", "--antennas", "4", "--channel", "tdl:50",
                                              "--snr-db", "28", "--frequency-offset", "50"});
        const JsonValue measured = measure_json({capture, "--by", "slot"});
        const JsonValue received =
            demod_json({capture, "-o", path("received.h5"), "--write", "symbols", "--force"});
        EXPECT_EQ(measured["symbols"].number(), received["symbols"].number());
        EXPECT_EQ(measured["modulation"].string(), "64qam");
        EXPECT_EQ(measured["not_finite"].number(), 0.0);
        EXPECT_EQ(measured["rows"]["symbols"].number(),
                  received["symbols"].number() / received["slots"].number());
        EXPECT_EQ(measured["rows"]["evm_rms"].array().size(), received["slots"].number());
        // The file of equalised symbols says the same.
        const JsonValue symbols = measure_json({path("received.h5"), "--dataset", "/symbols", "--gain", "1"});
        for (const std::string name : {"mean_power", "peak_power", "evm_rms", "noise_variance", "gain"})
            EXPECT_NEAR(measured[name].number(), symbols[name].number(), 1e-5 * symbols[name].number())
                << name;
        EXPECT_EQ(
            measure_json({capture, "--link", path("link.json"), "--backend", "scalar"})["evm_rms"].number(),
            measured["evm_rms"].number());
        expect_failure({measure_app, capture, "--by", "row"}, 2, {"rows by symbols", "expected slots"});
        expect_failure({measure_app, capture, "--gain", "2"}, 2, {"gain", "expected none"});
    }
    std::ofstream(path("bad.json")) << "{}";
    expect_failure({measure_app, path("c.h5"), "--link", path("bad.json")}, 1, {"bad.json", "direction"});
    generate("n.h5", {"--modulation", "qpsk", "--symbols", "336", "--quiet"});
    expect_failure({measure_app, path("n.h5"), "--dataset", "/iq", "--from", "samples"}, 1,
                   {"no attribute link", "--link FILE"});
}

TEST_F(ReceiveApp, SampleRecordingsHaveNoErrors) {
    for (const std::string name : {"pusch_samples.h5", "pdsch_grid.h5"}) {
        ASSERT_TRUE(std::filesystem::exists(data_file(name)));
        expect_no_errors(data_file(name));
    }
}

}  // namespace
}  // namespace phy::test
