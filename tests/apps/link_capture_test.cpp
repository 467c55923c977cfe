#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/core/error.hpp"
#include "phy/receiver/link.hpp"
#include "support/app_test.hpp"
#include "support/hdf5_file.hpp"

namespace phy::test {
namespace {

/// Captures of a link: a narrow carrier with 2 layers in some slots.
class LinkCapture : public AppTest {
protected:
    LinkCapture() {
        write_link(R"("sample_rate": 3840000, "center_frequency": 1900000000, "first_sample": 77)");
    }

    /// carrier: what of it the tests change.
    void write_link(const std::string& carrier) const {
        std::ofstream(path("link.json")) << R"({"direction": "uplink", // of a test
                "carrier": {"subcarrier_spacing": 15000, "resource_blocks": 15, "cell_id": 3,
                            "frequency_shift": 60000, "first_slot": 9, )"
                                         << carrier << R"(},
                "allocation": {"rnti": 17, "modulation": "16qam", "layers": 2, "resource_blocks": [2, 10],
                               "slots": [1, 9],
                               "dmrs": {"type": 1, "ports": [0, 1], "cdm_groups_without_data": 2,
                                        "symbols": [2]}}})";
    }

    [[nodiscard]] Arguments arguments(const std::string& name, const std::string& kind,
                                      const Arguments& more = {}) const {
        Arguments all = {"--from", kind, "--link", path("link.json"), "--slots", "5", "--quiet"};
        all.insert(all.end(), more.begin(), more.end());
        if (!name.empty()) all.insert(all.begin(), {capture_gen, path(name)});
        return all;
    }

    std::string capture(const std::string& name, const std::string& kind, const Arguments& more = {}) const {
        return generate(name, arguments("", kind, more));
    }

    void expect_refused(const std::string& kind, const Arguments& more, const std::vector<std::string>& words,
                        int status = 2) const {
        const Outcome outcome = run(arguments("x.h5", kind, more));
        EXPECT_EQ(outcome.status, status) << outcome.err;
        for (const std::string& word : words)
            EXPECT_NE(outcome.err.find(word), std::string::npos) << word << ": " << outcome.err;
        EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
        EXPECT_EQ(files(), std::set<std::string>{"link.json"});
    }
};

std::string contents(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// All samples, whatever their format, over the full scale.
std::vector<cf32> values_of(const std::string& file, bool interleaved = false) {
    CaptureReader reader(file, {.interleaved = interleaved});
    const CaptureDescription& description = reader.description();
    const double scale = description.full_scale.value_or(1.0);
    std::vector<cf32> values;
    const auto add = [&values, scale](auto re, auto im) {
        values.emplace_back(static_cast<float>(re / scale), static_cast<float>(im / scale));
    };
    with_constant(description.format, [&](auto format) {
        std::vector<SampleOf<format()>> stored(description.symbols);
        reader.read(0, stored);
        for (const auto sample : stored) {
            if constexpr (format() == SampleFormat::cf32) {
                add(static_cast<double>(sample.real()), static_cast<double>(sample.imag()));
            } else if constexpr (format() == SampleFormat::cf16) {
                add(static_cast<double>(float(sample.re)), static_cast<double>(float(sample.im)));
            } else {
                add(sample.re, sample.im);
            }
        }
    });
    return values;
}

TEST_F(LinkCapture, SaysWhatItHolds) {
    const Link link = read_link(path("link.json"));
    const CaptureReader samples(capture("s.h5", "samples", {"--antennas", "3"}));
    const CaptureDescription& of_samples = samples.description();
    EXPECT_EQ(of_samples.dataset, "/samples");
    EXPECT_EQ(of_samples.kind, CaptureKind::samples);
    // 5 ms and what is before the first slot.
    EXPECT_EQ(of_samples.shape, (std::vector<std::uint64_t>{3, 5 * 3840 + 77}));
    EXPECT_EQ(of_samples.antennas, 3U);
    EXPECT_EQ(of_samples.sample_rate, 3.84e6);
    EXPECT_EQ(of_samples.center_frequency, 1.90006e9);
    EXPECT_EQ(parse_link(of_samples.link.value()), link);
    // Slots 9, 11 of 10 ... 13; 16QAM on 2 layers of 10 blocks and 13 symbols.
    EXPECT_EQ(of_samples.codewords, (CodewordShape{2, 120 * 13 * 2 * 4}));

    const CaptureReader grid(capture("g.h5", "grid"));
    EXPECT_EQ(grid.description().dataset, "/grid");
    EXPECT_EQ(grid.description().kind, CaptureKind::grid);
    EXPECT_EQ(grid.description().shape, (std::vector<std::uint64_t>{2, 5 * 14, 180}));
    EXPECT_EQ(parse_link(grid.description().link.value()), link);
    EXPECT_EQ(grid.description().codewords, of_samples.codewords);
    EXPECT_FALSE(grid.description().sample_rate);
    EXPECT_FALSE(CaptureReader(capture("n.h5", "grid", {"--no-bits"})).description().codewords);
}

TEST_F(LinkCapture, CodewordsAreThoseOfTheSeed) {
    const auto codewords = [](const std::string& file) {
        CaptureReader reader(file);
        std::vector<std::uint8_t> bits(2 * reader.description().codewords->bits);
        for (std::uint64_t slot = 0; slot < 2; ++slot)
            reader.read_codeword(slot, std::span(bits).subspan(slot * bits.size() / 2, bits.size() / 2));
        return bits;
    };
    const std::vector<std::uint8_t> sent = codewords(capture("s.h5", "samples"));
    EXPECT_EQ(codewords(capture("g.h5", "grid", {"--channel", "flat", "--snr-db", "3"})), sent);
    EXPECT_NE(codewords(capture("o.h5", "grid", {"--seed", "2"})), sent);
    const auto ones = static_cast<double>(std::ranges::count(sent, 1));
    EXPECT_NEAR(ones / static_cast<double>(sent.size()), 0.5, 0.03);
}

TEST_F(LinkCapture, SameOptionsGiveTheSameBytes) {
    for (const std::string kind : {"samples", "grid"}) {
        const Arguments fading = {"--channel", "tdl:100", "--timing-offset", "250", "--type", "ci16"};
        const std::string first = contents(capture("a_" + kind, kind, fading));
        EXPECT_TRUE(first == contents(capture("b_" + kind, kind, fading))) << kind;
        for (const Arguments& change :
             {Arguments{"--seed", "2"}, {"--snr-db", "19"}, {"--frequency-offset", "1"}}) {
            Arguments changed = fading;
            changed.insert(changed.end(), change.begin(), change.end());
            changed.emplace_back("--force");
            EXPECT_FALSE(first == contents(capture("b_" + kind, kind, changed))) << kind << ' ' << change[0];
        }
        const Outcome scalar = run(arguments("c_" + kind, kind, fading), {"PHY_BACKEND=scalar"});
        EXPECT_EQ(scalar.status, 0) << scalar.err;
        EXPECT_TRUE(first == contents(path("c_" + kind))) << kind;
    }
}

TEST_F(LinkCapture, EveryTypeAndLayoutHoldsTheSameSamples) {
    for (const std::string kind : {"samples", "grid"}) {
        const std::vector<cf32> plain = values_of(capture("p.h5", kind, {"--force"}));
        float peak = 0.0F;
        for (const cf32 value : plain)
            peak = std::max({peak, std::abs(value.real()), std::abs(value.imag())});
        ASSERT_GT(peak, 0.0F);
        for (const std::string layout : {"compound", "trailing", "interleaved", "chunked", "gzip"}) {
            EXPECT_EQ(
                values_of(capture("l.h5", kind, {"--layout", layout, "--force"}), layout == "interleaved"),
                plain)
                << layout;
        }
        for (const auto& [type, steps] : {std::pair("cf16", 1024.0), {"ci16", 29000.0}, {"ci8", 113.0}}) {
            SCOPED_TRACE(type);
            const std::string file = capture("t.h5", kind, {"--type", type, "--force"});
            const std::vector<cf32> values = values_of(file);
            ASSERT_EQ(values.size(), plain.size());
            double most = 0.0;
            double worst = 0.0;
            for (std::size_t i = 0; i < values.size(); ++i) {
                most = std::max<double>({most, std::abs(values[i].real()), std::abs(values[i].imag())});
                worst = std::max<double>(worst, std::abs(values[i] - plain[i]));
            }
            EXPECT_NEAR(most / peak, 1.0, 0.6 / steps);
            EXPECT_LT(worst / peak, 1.0 / steps);
            const auto full_scale = read_number(file, "/" + kind, "full_scale");
            EXPECT_EQ(full_scale.has_value(), type != std::string("cf16"));
            // At 0.9 of the range, rounded down to three digits.
            const double range = type == std::string("ci8") ? 127.0 : 32767.0;
            if (full_scale) {
                EXPECT_LE(*full_scale * peak, 0.9 * range);
                EXPECT_GT(*full_scale * peak, 0.89 * range);
            }
        }
    }
}

TEST_F(LinkCapture, OptionsStandForWhatTheLinkLacks) {
    write_link(R"("first_sample": "auto")");
    const CaptureReader reader(capture(
        "s.h5", "samples",
        {"--sample-rate", "7.68e6", "--center-frequency", "2e9", "--first-sample", "1234", "--json"}));
    EXPECT_EQ(reader.description().shape, (std::vector<std::uint64_t>{2, 5 * 7680 + 1234}));
    EXPECT_EQ(reader.description().sample_rate, 7.68e6);
    EXPECT_EQ(reader.description().center_frequency, 2e9);
    const Link link = parse_link(reader.description().link.value());
    EXPECT_EQ(link, read_link(path("link.json")));
    EXPECT_FALSE(link.carrier.sample_rate || link.carrier.center_frequency || link.carrier.first_sample);
}

TEST_F(LinkCapture, Reports) {
    const Outcome outcome = run(arguments(
        "s.h5", "samples", {"--json", "--type", "ci8", "--channel", "tdl:30", "--timing-offset", "-10"}));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const JsonValue report = parse_json(outcome.out);
    EXPECT_EQ(report["from"].string(), "samples");
    EXPECT_EQ(report["shape"].array().at(1).number(), 5 * 3840 + 77);
    EXPECT_EQ(report["codewords"].number(), 2.0);
    EXPECT_EQ(report["bits_per_codeword"].number(), 12480.0);
    EXPECT_EQ(report["channel"].string(), "tdl-a:30");
    EXPECT_DOUBLE_EQ(report["noise_variance"].number(), 0.02);
    EXPECT_DOUBLE_EQ(report["timing_offset_s"].number(), -10e-9);
    EXPECT_EQ(report["full_scale"].number(), read_number(path("s.h5"), "/samples", "full_scale"));
    const Outcome text =
        run({capture_gen, path("g.h5"), "--from", "grid", "--link", path("link.json"), "--slots", "5"});
    EXPECT_TRUE(
        text.out.starts_with("70 OFDM symbols x 180 subcarriers of 2 antennas as cf32, compound: 5 slots"))
        << text.out;
}

TEST_F(LinkCapture, RefusesOptionsOfOtherKinds) {
    expect_refused("samples", {"--symbols", "5"}, {"--symbols", "symbols; the link says"});
    expect_refused("grid", {"--modulation", "qpsk"}, {"--modulation", "the link says"});
    expect_refused("grid", {"--per-symbol-noise"}, {"--per-symbol-noise"});
    expect_refused("grid", {"--scramble", "1,2"}, {"--scramble"});
    expect_refused("grid", {"--first-sample", "5"}, {"--first-sample", "--from samples"});
    expect_refused("grid", {"--sample-rate", "5e6"}, {"--sample-rate", "--from samples"});
    expect_refused("samples", {"--sample-rate", "5e6"}, {"--sample-rate", "carrier.sample_rate"});
    expect_refused("samples", {"--center-frequency", "0"},
                   {"--center-frequency", "carrier.center_frequency"});
    expect_refused("samples", {"--first-sample", "0"}, {"--first-sample", "carrier.first_sample"});
    const auto expect_symbols_refused = [this](const Arguments& more, const std::vector<std::string>& words) {
        Arguments all = {capture_gen, path("x.h5"), "--modulation", "qpsk", "--symbols", "10"};
        all.insert(all.end(), more.begin(), more.end());
        const Outcome outcome = run(all);
        EXPECT_EQ(outcome.status, 2);
        for (const std::string& word : words)
            EXPECT_NE(outcome.err.find(word), std::string::npos) << word << ": " << outcome.err;
    };
    expect_symbols_refused({"--link", path("link.json")}, {"--from is missing", "samples or grid"});
    expect_symbols_refused({"--from", "symbols", "--link", path("link.json")}, {"--link", "--from samples"});
    expect_symbols_refused({"--slots", "1"}, {"--slots", "--from samples"});
    expect_symbols_refused({"--channel", "flat"}, {"--channel"});
    expect_symbols_refused({"--first-sample", "1"}, {"--first-sample", "--from samples"});
    expect_symbols_refused({"--from", "noise"}, {"noise", "symbols", "grid", "samples"});
}

TEST_F(LinkCapture, RefusesWhatCannotBe) {
    expect_refused("grid", {"--antennas", "1"}, {"--antennas 1", "2 layers"});
    expect_refused("grid", {"--antennas", "0"}, {"--antennas 0", "1 to 16"});
    expect_refused("grid", {"--timing-offset", "nan"}, {"--timing-offset"});
    expect_refused("grid", {"--channel", "tdl"}, {"--channel tdl", "delay spread"});
    const Outcome missing = run({capture_gen, path("x.h5"), "--from", "grid", "--slots", "1"});
    EXPECT_EQ(missing.status, 2);
    EXPECT_NE(missing.err.find("--link is missing"), std::string::npos);
    const Outcome slots = run({capture_gen, path("x.h5"), "--from", "grid", "--link", path("link.json")});
    EXPECT_EQ(slots.status, 2);
    EXPECT_NE(slots.err.find("--slots is missing"), std::string::npos);
    const Outcome file =
        run({capture_gen, path("x.h5"), "--from", "grid", "--slots", "1", "--link", path("none.json")});
    EXPECT_EQ(file.status, 1);
    EXPECT_NE(file.err.find("none.json"), std::string::npos);

    write_link(R"("first_slot": 2)");
    expect_refused("grid", {}, {"link.json", "carrier.first_slot"}, 1);
    write_link(R"("cell": 2)");
    expect_refused("grid", {}, {"carrier.cell"}, 1);
    write_link(R"("first_sample": 0)");
    expect_refused("samples", {}, {"carrier.sample_rate", "--sample-rate"});
    expect_refused("samples", {"--sample-rate", "3e5", "--center-frequency", "1e9"},
                   {"carrier.sample_rate", "bandwidth"});
    expect_refused("samples", {"--sample-rate", "3.84e6"}, {"carrier.center_frequency"});
}

TEST_F(LinkCapture, SaysWhenNoSlotHasTheAllocation) {
    const std::string text = contents(path("link.json"));
    std::ofstream(path("link.json")) << std::string(text).replace(text.find("[1, 9]"), 6, "[1, 8]");
    const Outcome outcome =
        run({capture_gen, path("x.h5"), "--from", "grid", "--link", path("link.json"), "--slots", "2"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.err.find("--slots 2"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("allocation.slots"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace phy::test
