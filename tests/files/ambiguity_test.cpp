// Links whose ports, or whose f0 and frequency, explain a recording alike.

#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "air_capture.hpp"
#include "phy/files/receive.hpp"
#include "support/random_seed.hpp"
#include "support/temporary_directory.hpp"

namespace {

using phy::Link;
using Config = phy::apps::Recording::Config;

constexpr double spacing = 30e3;

class Ambiguity : public testing::Test {
protected:
    std::string diagnosis_of(const Config& config, const Link& link) {
        phy_test::AirCapture(config).write(capture_, link);
        phy::ReceiveOptions options;
        options.diagnoses = true;
        try {
            return phy::receive_file(capture_, {}, options).diagnosis;
        } catch (const phy::FileError& error) {
            return error.what();
        }
    }

    /// With DM-RS at one time or two, and a beginning that is given or searched for.
    void for_each_case(const auto& check) {
        for (const bool is_once : {false, true}) {
            for (const bool is_searched : {false, true}) {
                Config config = phy_test::plain_recording();
                config.slots = 20;
                config.seed = random_();
                config.frequency_offset = 600.0 * (unit_(random_) - 0.5);
                if (is_once) config.link.allocation.dmrs.symbols = {2};
                Link said = config.link;
                if (is_searched) said.carrier.first_sample.reset();
                SCOPED_TRACE("seed " + std::to_string(config.seed) + (is_once ? ", one DM-RS" : "") +
                             (is_searched ? ", searched" : ""));
                check(config, said);
            }
        }
    }

    static void expect_text(const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    }

    phy_test::TemporaryDirectory folder_;
    const std::filesystem::path capture_ = folder_ / "capture.h5";
    std::mt19937 random_{phy_test::random_seed()};
    std::uniform_real_distribution<double> unit_{0.0, 1.0};
};

TEST_F(Ambiguity, PortsOfAnotherGroupAreFound) {
    for_each_case([&](Config config, Link said) {
        const int sent = random_() % 2 == 0 ? 0 : 2;
        config.link.allocation.dmrs.ports = {sent};
        said.allocation.dmrs.ports = {2 - sent};
        expect_text(diagnosis_of(config, said),
                    "the best is allocation.dmrs.ports [" + std::to_string(sent) + "] (coherence");
    });
}

/// The centre of the recorder was taken for that of the carrier.
TEST_F(Ambiguity, AWrongCenterIsFound) {
    for_each_case([&](Config config, Link said) {
        config.link.allocation.dmrs.ports = {2};
        config.frequency_offset -= spacing;
        said = config.link;
        *said.carrier.center_frequency += spacing;
        const std::string text = diagnosis_of(config, said);
        expect_text(text, "carrier.center_frequency 3");
        EXPECT_EQ(text.find("dmrs.ports ["), text.find("dmrs.ports [2]")) << text;
    });
}

/// If neighbours have a signal too, no subcarrier is empty.
TEST_F(Ambiguity, BothAreNamedIfNothingTellsThemApart) {
    for_each_case([&](Config config, Link said) {
        config.link.allocation.resource_blocks = {{.first = 0, .count = 26}};
        said.allocation.dmrs.ports = {2};
        const std::string text = diagnosis_of(config, said);
        expect_text(text, "allocation.dmrs.ports [0], or carrier.center_frequency 34999");
        expect_text(text,
                    "with a signal that is 1 subcarrier too low, which the recording does not tell apart");
    });
}

/// A clock that is 29 ppm fast at 3.5 GHz: 3.4 subcarriers.
TEST_F(Ambiguity, AFrequencyBeyondTheSearchedOnesIsNamed) {
    for (const bool is_searched : {false, true}) {
        Config config = phy_test::plain_recording();
        config.slots = 30;
        config.channel = {};
        config.seed = random_();
        config.clock.offset = 29e-6;
        config.first_sample = is_searched ? 5'000 : 0;
        config.link.carrier.first_sample = config.first_sample;
        Link said = config.link;
        if (is_searched) said.carrier.first_sample.reset();
        SCOPED_TRACE("seed " + std::to_string(config.seed));
        phy_test::AirCapture(config).write(capture_, said);
        std::string text;
        try {
            for (const std::string& warning : phy::receive_file(capture_, {}, {}).warnings)
                text += warning + "\n";
        } catch (const phy::FileError& error) {
            text = error.what();
        }
        EXPECT_TRUE(text.find("three subcarriers") != std::string::npos ||
                    text.find("frequency_shift may be wrong") != std::string::npos)
            << text;
        EXPECT_TRUE(!is_searched || text.find("first_sample may be wrong") == std::string::npos) << text;
    }
}

}  // namespace
