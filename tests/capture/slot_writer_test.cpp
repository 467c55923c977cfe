#include "phy/capture/write/slot_writer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "capture/file_size_limit.hpp"
#include "capture/hdf5_reading.hpp"
#include "phy/capture/capture.hpp"
#include "phy/capture/hdf5/handle.hpp"
#include "phy/core/error.hpp"
#include "phy/core/version.hpp"
#include "support/temporary_directory.hpp"

namespace {

using Config = phy::SlotWriter::Config;
using phy_test::attribute_names;
using phy_test::dimensions_in;
using phy_test::number_in;
using phy_test::read_dataset;
using phy_test::text_in;
using Names = std::vector<std::string>;
using Dimensions = phy::hdf5::Dimensions;

constexpr unsigned seed = 1313;

/// All that one file holds.
struct Received {
    std::vector<std::byte> llr;
    std::vector<phy::cf32> symbols;
    std::vector<float> noise;
    std::vector<phy::cf32> channel;
    std::vector<phy::SlotRow> rows;
};

std::size_t soft_bits_of(const Config& config) {
    return config.elements * config.layers * bits_per_symbol(config.modulation);
}

std::vector<phy::cf32> random_values(std::size_t count, std::mt19937& random) {
    std::normal_distribution<float> normal;
    std::vector<phy::cf32> values(count);
    for (auto& value : values)
        value = {normal(random), normal(random)};
    return values;
}

Received random_slots(const Config& config, std::mt19937& random) {
    Received all;
    all.llr.resize(config.slots * soft_bits_of(config) * size_of(config.format));
    for (auto& byte : all.llr)
        byte = static_cast<std::byte>(random());
    all.symbols = random_values(config.slots * config.elements * config.layers, random);
    for (const phy::cf32& symbol : all.symbols)
        all.noise.push_back(std::norm(symbol));
    all.channel = random_values(config.slots * config.antennas * config.layers * config.subcarriers, random);
    for (std::uint64_t i = 0; i < config.slots; ++i) {
        const auto x = static_cast<double>(random());
        all.rows.push_back({.slot = i + 3,
                            .first_sample = (std::uint64_t{1} << 40) + i * 61'440,
                            .snr_db = x,
                            .noise_variance = x / 3.0,
                            .evm = x / 5.0,
                            .error_over_noise_db = x / 6.0,
                            .timing_offset = -x / 7.0,
                            .frequency_offset = x / 11.0,
                            .coherence = x / 13.0,
                            .erasures = random()});
    }
    return all;
}

/// Slots first ... first + count - 1 of an array.
template <typename Value>
std::span<const Value> slots_of(const std::vector<Value>& all, const Config& config, std::size_t first,
                                std::size_t count) {
    const std::size_t each = all.size() / config.slots;
    return std::span(all).subspan(first * each, count * each);
}

void append(phy::SlotWriter& writer, const Received& all, const Config& config, std::size_t first,
            std::size_t count) {
    const auto part = [&](const auto& array, bool wanted) {
        return slots_of(array, config, first, wanted ? count : 0);
    };
    writer.append(part(all.llr, config.llr), part(all.symbols, config.symbols),
                  part(all.noise, config.symbols), part(all.channel, config.channel));
}

class SlotWriterTest : public testing::Test {
protected:
    std::string text() const {
        std::ostringstream all;
        all << std::ifstream(path_).rdbuf();
        return all.str();
    }

    void write(const Config& config, const Received& all) const {
        phy::SlotWriter writer(path_, config);
        append(writer, all, config, 0, config.slots);
        writer.append_slots(all.rows);
        writer.commit();
    }

    /// The message of the error that opening a writer gives.
    template <typename Error>
    std::string rejection(const Config& config) const {
        try {
            const phy::SlotWriter writer(path_, config);
        } catch (const Error& error) {
            return error.what();
        }
        ADD_FAILURE() << "the writer was opened";
        return "";
    }

    phy_test::TemporaryDirectory directory_;
    const std::filesystem::path path_ = directory_ / "received.h5";
    std::mt19937 random_{seed};
    const Config config_ = {.slots = 5,
                            .elements = 33,
                            .layers = 2,
                            .antennas = 3,
                            .subcarriers = 24,
                            .symbols = true,
                            .channel = true,
                            .modulation = phy::Modulation::qam16,
                            .c_init = 0x7F00'1234,
                            .link = R"({"direction": "uplink"})",
                            .source = "capture.h5:/samples"};
};

class SlotWriterFormats : public SlotWriterTest, public testing::WithParamInterface<phy::SoftBitFormat> {};

INSTANTIATE_TEST_SUITE_P(All, SlotWriterFormats, testing::ValuesIn(phy::all_soft_bit_formats),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST_P(SlotWriterFormats, FileHoldsWhatWasAppended) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Config config = config_;
    config.format = GetParam();
    const Received all = random_slots(config, random_);
    phy::SlotWriter writer(path_, config);
    append(writer, all, config, 0, 1);
    append(writer, all, config, 1, 3);
    writer.append({}, {}, {}, {});
    writer.append_slots(std::span(all.rows).first(2));
    writer.append_slots(std::span(all.rows).subspan(2));
    append(writer, all, config, 4, 1);
    EXPECT_FALSE(std::filesystem::exists(path_));
    writer.commit();
    EXPECT_EQ(directory_.names(), Names{"received.h5"});

    const phy::hdf5::FileHandle file = phy_test::open_hdf5(path_);
    EXPECT_EQ(dimensions_in(file, "/llr"), (Dimensions{5, 33 * 2 * 4}));
    EXPECT_EQ(dimensions_in(file, "/slots"), Dimensions{5});
    EXPECT_EQ(dimensions_in(file, "/symbols"), (Dimensions{5, 33, 2}));
    EXPECT_EQ(dimensions_in(file, "/symbols_noise_variance"), (Dimensions{5, 33, 2}));
    EXPECT_EQ(dimensions_in(file, "/channel"), (Dimensions{5, 3, 2, 24}));
    EXPECT_EQ(read_dataset<std::byte>(file, "/llr"), all.llr);
    EXPECT_EQ(read_dataset<phy::cf32>(file, "/symbols"), all.symbols);
    EXPECT_EQ(read_dataset<float>(file, "/symbols_noise_variance"), all.noise);
    EXPECT_EQ(read_dataset<phy::cf32>(file, "/channel"), all.channel);
    EXPECT_EQ(read_dataset<phy::SlotRow>(file, "/slots"), all.rows);
}

TEST_F(SlotWriterTest, SaysHowTheSoftBitsWereMade) {
    Config config = config_;
    config.llr_config.scale = 8.5F;
    config.llr_config.clip = 100;
    config.sample_rate = 61.44e6;
    config.center_frequency = 3.5e9;
    write(config, random_slots(config, random_));

    const phy::hdf5::FileHandle file = phy_test::open_hdf5(path_);
    EXPECT_EQ(attribute_names(file, "/llr"),
              (Names{"center_frequency", "descrambled_c_init", "llr_clip", "llr_scale", "llr_sign", "method",
                     "modulation", "phy_version", "sample_rate", "source"}));
    EXPECT_EQ(text_in(file, "/llr", "modulation"), "16qam");
    EXPECT_EQ(text_in(file, "/llr", "llr_sign"), "positive_is_zero");
    EXPECT_EQ(text_in(file, "/llr", "method"), "maxlog");
    EXPECT_EQ(text_in(file, "/llr", "source"), "capture.h5:/samples");
    EXPECT_EQ(text_in(file, "/llr", "phy_version"), phy::version);
    EXPECT_EQ(number_in(file, "/llr", "llr_scale"), 8.5);
    EXPECT_EQ(number_in(file, "/llr", "llr_clip"), 100.0);
    EXPECT_EQ(number_in(file, "/llr", "descrambled_c_init"), double{0x7F00'1234});
    EXPECT_EQ(number_in(file, "/llr", "sample_rate"), 61.44e6);
    EXPECT_EQ(number_in(file, "/llr", "center_frequency"), 3.5e9);
    EXPECT_EQ(text_in(file, "/", "link"), config.link);
    EXPECT_EQ(text_in(file, "/", "source"), "capture.h5:/samples");
    EXPECT_EQ(text_in(file, "/", "phy_version"), phy::version);
    EXPECT_EQ(text_in(file, "/symbols", "modulation"), "16qam");
}

TEST_F(SlotWriterTest, SoftBitsOfFloatsHaveNoScale) {
    Config config = config_;
    config.format = phy::SoftBitFormat::float32;
    write(config, random_slots(config, random_));
    const phy::hdf5::FileHandle file = phy_test::open_hdf5(path_);
    EXPECT_EQ(attribute_names(file, "/llr"),
              (Names{"descrambled_c_init", "llr_sign", "method", "modulation", "phy_version", "source"}));
}

TEST_F(SlotWriterTest, TakesALongLink) {
    Config config = config_;
    config.link = std::string(200'000, ' ') + "{}";
    write(config, random_slots(config, random_));
    EXPECT_EQ(text_in(phy_test::open_hdf5(path_), "/", "link"), config.link);
}

TEST_F(SlotWriterTest, WritesOnlyWhatIsWanted) {
    for (int wanted = 0; wanted < 8; ++wanted) {
        Config config = config_;
        config.llr = wanted % 2 != 0;
        config.symbols = wanted / 2 % 2 != 0;
        config.channel = wanted / 4 != 0;
        config.overwrite = true;
        const Received all = random_slots(config, random_);
        write(config, all);
        const phy::hdf5::FileHandle file = phy_test::open_hdf5(path_);
        const auto has = [&](const char* path) { return H5Lexists(file, path, H5P_DEFAULT) > 0; };
        EXPECT_EQ(has("/llr"), config.llr);
        EXPECT_EQ(has("/symbols"), config.symbols);
        EXPECT_EQ(has("/symbols_noise_variance"), config.symbols);
        EXPECT_EQ(has("/channel"), config.channel);
        EXPECT_EQ(read_dataset<phy::SlotRow>(file, "/slots"), all.rows);
    }
}

TEST_F(SlotWriterTest, WritesTransportBlocks) {
    Config config = {.slots = 3, .elements = 33, .llr = false, .transport_block_bytes = 4};
    const std::vector<std::uint8_t> payload = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const std::vector<std::uint8_t> crc = {1, 0, 1};
    const auto write_to = [&](const std::filesystem::path& path) {
        phy::SlotWriter writer(path, config);
        writer.append_transport_blocks(std::span(payload).first(4), std::span(crc).first(1));
        EXPECT_THROW(writer.append_transport_blocks(std::span(payload).first(5), std::span(crc).first(1)),
                     phy::ArgumentError);
        writer.append_transport_blocks(std::span(payload).last(8), std::span(crc).last(2));
        writer.append_slots(std::vector<phy::SlotRow>(3));
        writer.commit();
        EXPECT_THROW(writer.commit(), phy::ArgumentError);
    };
    write_to(path_);
    const phy::hdf5::FileHandle file = phy_test::open_hdf5(path_);
    EXPECT_EQ(read_dataset<std::uint8_t>(file, "/transport_blocks"), payload);
    EXPECT_EQ(dimensions_in(file, "/transport_blocks"), (Dimensions{3, 4}));
    EXPECT_EQ(read_dataset<std::uint8_t>(file, "/crc"), crc);
    write_to(directory_ / "out.raw");
    EXPECT_EQ(std::filesystem::file_size(directory_ / "out.raw"), payload.size());
    config.llr = true;
    EXPECT_THROW(phy::SlotWriter(directory_ / "out.npy", config), phy::ArgumentError);
}

TEST_F(SlotWriterTest, WritesUci) {
    Config config = config_;
    config.llr = config.symbols = config.channel = false;
    config.uci = {{.name = "ack", .bits = 2, .coded_bits = 6}, {.name = "csi2", .coded_bits = 3}};
    const std::vector<std::byte> llr(30, std::byte{7});
    const std::vector<std::uint8_t> bits = {0, 1, 1, 1, 0, 0, 1, 0, 1, 1};
    const std::vector<float> margins = {1.0F, 2.0F, 3.0F, 4.0F, 5.0F};
    phy::SlotWriter writer(path_, config);
    writer.append_uci(0, llr, bits, margins);
    EXPECT_THROW(writer.append_uci(1, std::span(llr).first(15), bits, margins), phy::ArgumentError);
    EXPECT_THROW(writer.append_uci(2, llr, {}, {}), phy::ArgumentError);
    writer.append_slots(random_slots(config, random_).rows);
    EXPECT_THROW(writer.commit(), phy::ArgumentError);
    writer.append_uci(1, std::span(llr).first(15), {}, {});
    writer.commit();
    const phy::hdf5::FileHandle file = phy_test::open_hdf5(path_);
    EXPECT_EQ(dimensions_in(file, "/uci_ack_llr"), (Dimensions{5, 6}));
    EXPECT_EQ(dimensions_in(file, "/uci_ack"), (Dimensions{5, 2}));
    EXPECT_EQ(dimensions_in(file, "/uci_csi2_llr"), (Dimensions{5, 3}));
    EXPECT_EQ(number_in(file, "/uci_csi2_llr", "llr_scale"), 6.0);
    EXPECT_EQ(read_dataset<std::byte>(file, "/uci_ack_llr"), llr);
    EXPECT_EQ(read_dataset<std::uint8_t>(file, "/uci_ack"), bits);
    EXPECT_EQ(read_dataset<float>(file, "/uci_ack_margin"), margins);
    config.uci[0].coded_bits = 0;
    EXPECT_NE(rejection<phy::ArgumentError>(config).find("coded bits of UCI"), std::string::npos);
}

TEST_F(SlotWriterTest, SymbolsAreTheCaptureOfTheFile) {
    const Received all = random_slots(config_, random_);
    write(config_, all);
    phy::CaptureReader reader(path_);
    EXPECT_EQ(reader.description().dataset, "/symbols");
    EXPECT_EQ(reader.description().kind, phy::CaptureKind::symbols);
    EXPECT_EQ(reader.description().modulation, phy::Modulation::qam16);
    std::vector<phy::cf32> symbols(all.symbols.size());
    reader.read(0, symbols);
    EXPECT_EQ(symbols, all.symbols);
}

TEST_F(SlotWriterTest, KeepsNumbersThatAreNotFinite) {
    Config config = config_;
    config.slots = 1;
    Received all = random_slots(config, random_);
    all.rows[0].evm = std::numeric_limits<double>::quiet_NaN();
    all.rows[0].snr_db = -std::numeric_limits<double>::infinity();
    write(config, all);
    const auto rows = read_dataset<phy::SlotRow>(phy_test::open_hdf5(path_), "/slots");
    EXPECT_TRUE(std::isnan(rows[0].evm));
    EXPECT_EQ(rows[0].snr_db, all.rows[0].snr_db);
}

TEST_F(SlotWriterTest, SameContentMakesTheSameFile) {
    Config config = config_;
    config.overwrite = true;
    const Received all = random_slots(config, random_);
    write(config, all);
    const std::string first = text();
    phy::SlotWriter writer(path_, config);
    writer.append_slots(all.rows);
    for (std::size_t slot = 0; slot < config.slots; ++slot)
        append(writer, all, config, slot, 1);
    writer.commit();
    EXPECT_TRUE(text() == first);
}

TEST_F(SlotWriterTest, RefusesDimensionsOfZero) {
    const auto rejected = [&](auto change) {
        Config config = config_;
        change(config);
        return rejection<phy::ArgumentError>(config);
    };
    EXPECT_EQ(rejected([](Config& config) { config.slots = 0; }),
              "slot writer: 0 slots: expected at least 1");
    EXPECT_NE(rejected([](Config& config) { config.elements = 0; }).find("0 resource elements"),
              std::string::npos);
    EXPECT_NE(rejected([](Config& config) { config.layers = 0; }).find("0 layers"), std::string::npos);
    EXPECT_NE(rejected([](Config& config) { config.antennas = 0; }).find("0 antennas"), std::string::npos);
    EXPECT_NE(rejected([](Config& config) { config.subcarriers = 0; }).find("0 subcarriers"),
              std::string::npos);
    EXPECT_EQ(directory_.names(), Names());
}

TEST_F(SlotWriterTest, RefusesWhatDoesNotFitAndHasWrittenNothingOfIt) {
    const Received all = random_slots(config_, random_);
    phy::SlotWriter writer(path_, config_);
    const std::span llr(all.llr);
    EXPECT_THROW(writer.append(llr.first(1), {}, {}, {}), phy::ArgumentError) << "part of a slot";
    EXPECT_THROW(writer.append(slots_of(all.llr, config_, 0, 1), std::span(all.symbols).first(1), {}, {}),
                 phy::ArgumentError)
        << "part of a slot's symbols";
    append(writer, all, config_, 0, 4);
    EXPECT_THROW(append(writer, all, config_, 0, 2), phy::ArgumentError) << "more slots than are left";
    append(writer, all, config_, 4, 1);
    EXPECT_THROW(writer.commit(), phy::ArgumentError) << "/slots is empty";
    writer.append_slots(all.rows);
    EXPECT_THROW(writer.append_slots(std::span(all.rows).first(1)), phy::ArgumentError);
    writer.commit();
    EXPECT_EQ(read_dataset<std::byte>(phy_test::open_hdf5(path_), "/llr"), all.llr);
    EXPECT_THROW(writer.append(llr.first(0), {}, {}, {}), phy::ArgumentError) << "after commit";
    EXPECT_THROW(writer.commit(), phy::ArgumentError) << "twice";
}

TEST_F(SlotWriterTest, RefusesWhatItIsNotConfiguredFor) {
    Config config = config_;
    config.symbols = config.channel = false;
    const Received all = random_slots(config_, random_);
    phy::SlotWriter writer(path_, config);
    EXPECT_THROW(writer.append({}, slots_of(all.symbols, config_, 0, 1), {}, {}), phy::ArgumentError);
    EXPECT_THROW(writer.append({}, {}, slots_of(all.noise, config_, 0, 1), {}), phy::ArgumentError);
    EXPECT_THROW(writer.append({}, {}, {}, slots_of(all.channel, config_, 0, 1)), phy::ArgumentError);
    config.llr = false;
    phy::SlotWriter without(directory_ / "other.h5", config);
    EXPECT_THROW(without.append(slots_of(all.llr, config_, 0, 1), {}, {}, {}), phy::ArgumentError);
}

TEST_F(SlotWriterTest, ArraysHoldSoftBitsAlone) {
    Config config = config_;
    config.symbols = config.channel = false;
    const Received all = random_slots(config, random_);
    for (const char* const name : {"received.npy", "received.raw"}) {
        const std::filesystem::path path = directory_ / name;
        EXPECT_THROW(phy::SlotWriter(path, config_), phy::ArgumentError) << "symbols and channel";
        Config without = config;
        without.llr = false;
        EXPECT_THROW(phy::SlotWriter(path, without), phy::ArgumentError) << "no soft bits";

        phy::SlotWriter writer(path, config);
        append(writer, all, config, 0, 4);
        EXPECT_THROW(writer.commit(), phy::ArgumentError) << "before the last slot";
        append(writer, all, config, 4, 1);
        writer.append_slots(all.rows);
        writer.commit();
        EXPECT_THROW(writer.commit(), phy::ArgumentError) << "twice";
        EXPECT_THROW(writer.append({}, {}, {}, {}), phy::ArgumentError) << "after commit";
        std::ifstream file(path, std::ios::binary);
        const std::string bytes(std::istreambuf_iterator<char>(file), {});
        ASSERT_GE(bytes.size(), all.llr.size());
        EXPECT_EQ(std::memcmp(bytes.data() + bytes.size() - all.llr.size(), all.llr.data(), all.llr.size()),
                  0);
    }
    EXPECT_EQ(directory_.names().size(), 2U);
}

TEST_F(SlotWriterTest, NothingIsLeftWithoutCommit) {
    {
        const Received all = random_slots(config_, random_);
        phy::SlotWriter first(path_, config_);
        append(first, all, config_, 0, 5);
        phy::SlotWriter second(std::move(first));
        second.append_slots(all.rows);
    }
    EXPECT_EQ(directory_.names(), Names());
}

TEST_F(SlotWriterTest, OverwritesOnlyWhenTold) {
    std::ofstream(path_) << "precious";
    EXPECT_NE(rejection<phy::FileError>(config_).find("exists"), std::string::npos);
    EXPECT_EQ(text(), "precious");
    Config config = config_;
    config.overwrite = true;
    write(config, random_slots(config, random_));
    EXPECT_NE(text(), "precious");
}

TEST_F(SlotWriterTest, RefusesWhatTheDiskHasNoRoomFor) {
    for (const std::uint64_t slots : {std::uint64_t{1} << 44, ~std::uint64_t{0}}) {
        Config config = config_;
        config.slots = slots;
        EXPECT_NE(rejection<phy::FileError>(config).find("free"), std::string::npos);
    }
    EXPECT_EQ(directory_.names(), Names());
}

TEST_F(SlotWriterTest, WritesThatFailAreErrors) {
    Config config = config_;
    config.elements = 10'000;
    {
        const Received all = random_slots(config, random_);
        phy::SlotWriter writer(path_, config);
        const phy_test::FileSizeLimit limit(100'000);
        try {
            append(writer, all, config, 0, config.slots);
            FAIL() << "more was written than the limit permits";
        } catch (const phy::FileError& error) {
            EXPECT_NE(std::string(error.what()).find(path_.string() + ": cannot be written"),
                      std::string::npos)
                << error.what();
        }
    }
    EXPECT_EQ(directory_.names(), Names());
}

}  // namespace
