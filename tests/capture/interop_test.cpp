#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "capture/capture_files.hpp"
#include "phy/capture/capture.hpp"
#include "phy/capture/write/slot_writer.hpp"
#include "phy/core/version.hpp"
#include "support/temporary_directory.hpp"

namespace {

constexpr unsigned seed = 40;

int shell(const std::string& command) {
    return std::system(command.c_str());
}

/// A Python that has h5py, or nothing.
std::string python_with_h5py() {
    for (const char* const python : {"python3", "/usr/bin/python3"}) {
        if (shell(std::string(python) + " -c 'import h5py' 2>/dev/null") == 0) return python;
    }
    return "";
}

std::string quoted(const std::string& word) {
    return "'" + word + "'";
}

template <typename Value>
std::vector<Value> read_binary(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
    std::vector<Value> values(bytes.size() / sizeof(Value));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

class CaptureInterop : public testing::Test {
protected:
    void SetUp() override {
        const char* const required = std::getenv("PHY_REQUIRE_H5PY");
        if (!python_.empty()) return;
        if (required != nullptr && std::string(required) == "1") FAIL() << "no python3 with h5py was found";
        GTEST_SKIP() << "no python3 with h5py was found";
    }

    [[nodiscard]] int script(const std::string& arguments) const {
        const char* const installed = std::getenv("PHY_INTEROP_SCRIPT");
        const std::string path = installed == nullptr ? PHY_INTEROP_SCRIPT : installed;
        return shell(python_ + " " + quoted(path) + " " + arguments);
    }

    phy_test::TemporaryDirectory directory_;
    const std::string python_ = python_with_h5py();
    std::mt19937 random_{seed};
};

void expect_capture(const std::filesystem::path& path, const std::vector<float>& expected, bool interleaved,
                    std::mt19937& random) {
    phy::CaptureReader reader(path, {.interleaved = interleaved});
    const phy::CaptureDescription& capture = reader.description();
    const std::uint64_t symbols = expected.size() / 2;
    ASSERT_EQ(capture.symbols, symbols);
    EXPECT_EQ(capture.modulation, phy::Modulation::qam64);
    EXPECT_EQ(capture.sample_rate, 1e6);
    EXPECT_EQ(capture.center_frequency, 3.5e9);
    EXPECT_EQ(capture.bits_per_symbol, 6U);

    const auto expect_range = [&](std::uint64_t first, std::uint64_t count) {
        const auto begin = expected.begin() + static_cast<std::ptrdiff_t>(2 * first);
        const std::vector<double> part(begin, begin + static_cast<std::ptrdiff_t>(2 * count));
        ASSERT_EQ(phy_test::read_components(reader, first, count), part) << first << ", " << count;
    };
    expect_range(0, symbols);
    for (int i = 0; i < 10; ++i) {
        const auto first = std::uniform_int_distribution<std::uint64_t>(0, symbols - 1)(random);
        expect_range(first, std::uniform_int_distribution<std::uint64_t>(1, symbols - first)(random));
    }

    std::vector<float> noise(5);
    reader.read_noise(1001, noise);
    EXPECT_EQ(noise, (std::vector<float>{1001, 1002, 1003, 1004, 1005}));
}

TEST_F(CaptureInterop, ReadsWhatH5pyWrites) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ASSERT_EQ(script("write " + quoted(directory_.path().string()) + " " + std::to_string(seed)), 0);
    std::ifstream manifest(directory_ / "manifest.txt");
    int captures = 0;
    for (std::string line; std::getline(manifest, line); ++captures) {
        std::istringstream words(line);
        std::string name;
        std::string option;
        words >> name >> option;
        SCOPED_TRACE(name);
        expect_capture(directory_ / (name + ".h5"), read_binary<float>(directory_ / (name + ".bin")),
                       option == "interleaved", random_);
    }
    EXPECT_GE(captures, 50);
}

struct SoftBits {
    phy::SoftBitFormat format;
    std::string attributes;
};

class SoftBitInterop : public CaptureInterop, public testing::WithParamInterface<SoftBits> {
protected:
    /// Writes soft bits of 256QAM to the file, and the same bytes to expected_.
    void write_random(const std::filesystem::path& path) {
        constexpr std::size_t symbols = 1234;
        std::vector<char> llr(symbols * 8 * size_of(GetParam().format));
        for (auto& byte : llr)
            byte = static_cast<char>(random_());
        std::ofstream(expected_, std::ios::binary)
            .write(llr.data(), static_cast<std::streamsize>(llr.size()));
        phy::SoftBitWriter writer(path,
                                  {.symbols = symbols,
                                   .format = GetParam().format,
                                   .modulation = phy::Modulation::qam256,
                                   .llr_config = {.method = phy::Method::log_map, .scale = 8.5F, .clip = 120},
                                   .noise_variance = 0.125F,
                                   .source = "capture.h5:/iq"});
        writer.append(std::as_bytes(std::span(llr)));
        writer.commit();
    }

    const std::filesystem::path expected_ = directory_ / "expected.bin";
};

INSTANTIATE_TEST_SUITE_P(All, SoftBitInterop,
                         testing::Values(SoftBits{phy::SoftBitFormat::int8,
                                                  "llr_scale=8.5 llr_clip=120 noise_variance=0.125"},
                                         SoftBits{phy::SoftBitFormat::float16, "noise_variance=0.125"},
                                         SoftBits{phy::SoftBitFormat::float32, "noise_variance=0.125"}),
                         [](const auto& tested) { return std::string(to_string(tested.param.format)); });

TEST_P(SoftBitInterop, H5pyReadsWhatTheWriterWrites) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::filesystem::path path = directory_ / "softbits.h5";
    write_random(path);
    EXPECT_EQ(script("check " + quoted(path.string()) + " " + quoted(expected_.string()) +
                     " 8 dtype=" + std::string(to_string(GetParam().format)) +
                     " modulation=256qam llr_sign=positive_is_zero method=logmap source=capture.h5:/iq "
                     "phy_version=" +
                     phy::version + " " + GetParam().attributes),
              0);
}

TEST_P(SoftBitInterop, NumpyLoadsWhatTheWriterWrites) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::filesystem::path path = directory_ / "softbits.npy";
    write_random(path);
    EXPECT_EQ(script("check_npy " + quoted(path.string()) + " " + quoted(expected_.string()) + " 8 " +
                     std::string(to_string(GetParam().format))),
              0);
}

TEST_F(CaptureInterop, ReadsWhatNumpySaves) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ASSERT_EQ(script("write_npy " + quoted(directory_.path().string()) + " " + std::to_string(seed)), 0);
    std::ifstream manifest(directory_ / "manifest.txt");
    int arrays = 0;
    for (std::string line; std::getline(manifest, line); ++arrays) {
        std::istringstream words(line);
        std::string name;
        std::string option;
        words >> name >> option;
        SCOPED_TRACE(name);
        const auto expected = read_binary<float>(directory_ / (name + ".bin"));
        phy::CaptureReader reader(directory_ / (name + ".npy"), {.interleaved = option == "interleaved"});
        ASSERT_EQ(reader.description().symbols, expected.size() / 2);
        EXPECT_EQ(phy_test::read_components(reader, 0, expected.size() / 2),
                  std::vector<double>(expected.begin(), expected.end()));
    }
    EXPECT_GE(arrays, 150);
}

TEST_F(CaptureInterop, ReadsGridsAndSamplesThatH5pyWrites) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ASSERT_EQ(script("write_slots " + quoted(directory_.path().string()) + " " + std::to_string(seed)), 0);
    for (const auto& [name, kind, antennas] : {std::tuple("grid", phy::CaptureKind::grid, 2U),
                                               {"samples", phy::CaptureKind::samples, 3U},
                                               {"samples_of_one", phy::CaptureKind::samples, 1U}}) {
        SCOPED_TRACE(name);
        phy::CaptureReader reader(directory_ / (std::string(name) + ".h5"));
        const phy::CaptureDescription& capture = reader.description();
        EXPECT_EQ(capture.kind, kind);
        EXPECT_EQ(capture.antennas, antennas);
        EXPECT_EQ(capture.link, "{\"name\": \"" + std::string(name) + "\"}");
        EXPECT_EQ(capture.sample_rate, 30.72e6);
        const auto expected = read_binary<float>(directory_ / (std::string(name) + ".bin"));
        EXPECT_EQ(phy_test::read_components(reader, 0, capture.symbols),
                  std::vector<double>(expected.begin(), expected.end()));
        ASSERT_EQ(capture.codewords, (phy::CodewordShape{2, 700}));
        std::vector<std::uint8_t> bits(1400);
        for (const std::size_t slot : {0U, 1U})
            reader.read_codeword(slot, std::span(bits).subspan(slot * 700, 700));
        EXPECT_EQ(bits, read_binary<std::uint8_t>(directory_ / (std::string(name) + ".bits")));
    }
}

TEST_F(CaptureInterop, H5pyReadsWhatTheSlotWriterWrites) {
    const std::filesystem::path path = directory_ / "received.h5";
    const auto count_up = [](auto& values, auto value_of) {
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = value_of(static_cast<float>(i));
    };
    std::vector<std::int8_t> llr(3 * 5 * 2 * 4);
    std::vector<phy::cf32> symbols(3 * 5 * 2);
    std::vector<float> noise(symbols.size());
    std::vector<phy::cf32> channel(3 * 4 * 2 * 12);
    count_up(llr, [](float i) { return static_cast<std::int8_t>(i); });
    count_up(symbols, [](float i) { return phy::cf32(i, -i); });
    count_up(noise, [](float i) { return i; });
    count_up(channel, [](float i) { return phy::cf32(i, -i); });
    std::vector<phy::SlotRow> rows;
    for (const std::uint64_t row : {0U, 100U, 200U}) {
        const double half = static_cast<double>(row) + 0.5;
        rows.push_back({.slot = row,
                        .first_sample = row + 1,
                        .snr_db = half + 2.0,
                        .noise_variance = half + 3.0,
                        .evm = half + 4.0,
                        .error_over_noise_db = half + 5.0,
                        .timing_offset = half + 6.0,
                        .frequency_offset = half + 7.0,
                        .coherence = half + 8.0,
                        .phase_error = half + 9.0,
                        .excess_noise_db = half + 10.0,
                        .erasures = row + 11});
    }

    phy::SlotWriter writer(path, {.slots = 3,
                                  .elements = 5,
                                  .layers = 2,
                                  .antennas = 4,
                                  .subcarriers = 12,
                                  .symbols = true,
                                  .channel = true,
                                  .modulation = phy::Modulation::qam16,
                                  .link = R"({"direction": "uplink"})",
                                  .source = "capture.h5:/samples"});
    writer.append(std::as_bytes(std::span(llr)), symbols, noise, channel);
    writer.append_slots(rows);
    writer.commit();
    EXPECT_EQ(script("check_slots " + quoted(path.string())), 0);
}

}  // namespace
