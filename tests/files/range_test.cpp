// Parts of a capture have the rows that a run over the whole writes for them, and can be joined to its file.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "air_capture.hpp"
#include "made_capture.hpp"
#include "phy/capture/hdf5/attribute.hpp"
#include "phy/capture/write/join.hpp"
#include "phy/capture/write/output.hpp"
#include "phy/core/error.hpp"
#include "phy/files/demodulate.hpp"
#include "phy/files/receive.hpp"
#include "support/fewer_cases.hpp"
#include "support/hdf5_file.hpp"
#include "support/random_seed.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_files.hpp"
#include "transport_blocks.hpp"

namespace {

using phy::ItemRange;
using phy::test::read_dataset;
using phy_test::AirCapture;

class Range : public testing::Test {
protected:
    bool either() { return random_() % 2 == 0; }

    /// Cuts items into parts at random, in random order.
    std::vector<ItemRange> parts_of(std::uint64_t items) {
        std::vector<ItemRange> parts;
        for (std::uint64_t first = 0; first < items;) {
            const std::uint64_t left = items - first;
            const std::uint64_t count = parts.size() == 4 ? left : 1 + random_() % left;
            // The last one may ask for more than there is.
            const bool asks = count == left && either();
            parts.push_back({.first = first, .count = asks ? UINT64_MAX - random_() : count});
            first += count;
        }
        std::ranges::shuffle(parts, random_);
        return parts;
    }

    /// The file of the next part.
    std::filesystem::path new_part() {
        parts_.push_back(folder_ / ("part" + std::to_string(parts_.size()) + ".h5"));
        return parts_.back();
    }

    /// Each dataset of the last part has these rows of the whole.
    void expect_rows(const ItemRange& range, std::uint64_t items) const {
        const phy::test::Hdf5Names names = phy::test::names_in(whole_);
        EXPECT_EQ(phy::test::names_in(parts_.back()).datasets, names.datasets);
        for (const std::string& name : names.datasets) {
            const std::vector<std::byte> all = read_dataset(whole_, name);
            const std::size_t row = all.size() / items;
            const std::span expected = std::span(all).subspan(range.first * row, range.count * row);
            EXPECT_TRUE(std::ranges::equal(read_dataset(parts_.back(), name), expected)) << name;
        }
    }

    /// Joins the parts, and forgets them.
    void expect_whole(std::uint64_t items) {
        const phy::JoinedParts done =
            phy::join_parts(parts_, joined_, {.overwrite = true, .shards = either()});
        EXPECT_EQ(done.rows, items);
        const phy::test::Hdf5Names names = phy::test::names_in(whole_);
        EXPECT_EQ(phy::test::names_in(joined_).datasets, names.datasets);
        EXPECT_EQ(phy::test::names_in(joined_).attributes, names.attributes);
        EXPECT_TRUE(has_equal_attributes("/"));
        for (const std::string& name : names.datasets) {
            EXPECT_EQ(read_dataset(joined_, name), read_dataset(whole_, name)) << name;
            EXPECT_EQ(phy::test::read_dimensions(joined_, name), phy::test::read_dimensions(whole_, name))
                << name;
            EXPECT_TRUE(has_equal_attributes(name)) << name;
        }
        parts_.clear();
    }

    /// True if the attributes of an object, whose names are those that phy writes, are equal.
    [[nodiscard]] bool has_equal_attributes(const std::string& object) const {
        const auto open = [](const std::filesystem::path& path) {
            return phy::hdf5::FileHandle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
        };
        const auto joined = open(joined_);
        const auto whole = open(whole_);
        const phy::hdf5::Handle<H5Oclose> own(H5Oopen(joined, object.c_str(), H5P_DEFAULT));
        const phy::hdf5::Handle<H5Oclose> expected(H5Oopen(whole, object.c_str(), H5P_DEFAULT));
        return std::ranges::all_of(phy::hdf5::soft_bit_attributes, [&](const char* name) {
            const auto a = read_attribute(phy::detail::open_regular_file(joined_), own, name, object);
            const auto b = read_attribute(phy::detail::open_regular_file(whole_), expected, name, object);
            return a.has_value() == b.has_value() && (!a || a->is_equal(*b));
        });
    }

    void write_parts(const std::vector<ItemRange>& ranges, phy::DemodulateOptions options) {
        for (const ItemRange& range : ranges) {
            options.range = range;
            demodulate_file(capture_, new_part(), options);
        }
    }

    /// What phy::join_parts() says of the parts, which it forgets.
    std::string error_of_join() {
        std::string text = "no error";
        try {
            phy::join_parts(parts_, folder_ / "none.h5");
        } catch (const phy::FileError& error) {
            text = error.what();
        }
        EXPECT_FALSE(std::filesystem::exists(folder_ / "none.h5")) << text;
        parts_.clear();
        return text;
    }

    /// receive: demodulate_file() or receive_file().
    template <typename Options, typename Receive>
    void expect_refusals(Options options, std::uint64_t items, Receive receive) const {
        for (const ItemRange& range : {ItemRange{0, 0}, ItemRange{items, 1}, ItemRange{UINT64_MAX, 1}}) {
            options.range = range;
            EXPECT_THROW(receive(capture_, folder_ / "none.h5", options), phy::ArgumentError)
                << range.first << ":" << range.count << " of " << items;
        }
        EXPECT_FALSE(std::filesystem::exists(folder_ / "none.h5"));
    }

    void expect_parts_of_slots(const phy::apps::Recording::Config& config);
    void expect_surveyed(phy::ReceiveOptions options, const phy::Reception& whole);

    phy_test::TemporaryDirectory folder_;
    std::filesystem::path capture_ = folder_ / "capture.h5";
    std::filesystem::path whole_ = folder_ / "whole.h5";
    std::filesystem::path joined_ = folder_ / "joined.h5";
    std::vector<std::filesystem::path> parts_;
    std::mt19937 random_{phy_test::random_seed()};
};

TEST_F(Range, OfSymbolsHasTheirRows) {
    for (int i = 0; i < phy_test::fewer_times(8); ++i) {
        const phy_test::MadeCapture made = {.modulation = phy::Modulation::qam64,
                                            .symbols = 3000 + random_() % 20'000,
                                            .snr_db = 18.0,
                                            .seed = static_cast<unsigned>(random_()),
                                            .per_symbol_noise = either()};
        phy_test::make_capture(capture_, made);
        phy::DemodulateOptions options = {};
        options.overwrite = true;
        options.pipeline.chunk = 200 + random_() % made.symbols;
        options.descramble = {.rnti = 17, .id = 4};
        options.codeword_symbols = 500 + random_() % made.symbols;
        options.hard = either();
        options.estimate_noise = either();
        if (either() || !made.per_symbol_noise)
            options.capture.noise_variance = static_cast<float>(made.noise_variance());
        if (either()) options.gain.reset();
        const phy::Demodulation whole = demodulate_file(capture_, whole_, options);
        std::uint64_t errors = 0;
        std::uint64_t compared = 0;
        for (const ItemRange& range : parts_of(made.symbols)) {
            SCOPED_TRACE(std::to_string(range.first) + ":" + std::to_string(range.count));
            options.range = range;
            const phy::Demodulation done = demodulate_file(capture_, new_part(), options);
            EXPECT_EQ(done.symbols, std::min(range.count, made.symbols - range.first));
            EXPECT_EQ(done.noise_variance, whole.noise_variance);
            errors += done.bit_errors.value_or(0);
            compared += done.compared_bits;
            expect_rows(done.range, made.symbols);
        }
        EXPECT_EQ(errors, whole.bit_errors);
        EXPECT_EQ(compared, whole.compared_bits);
        expect_whole(made.symbols);
        expect_refusals(options, made.symbols, phy::demodulate_file);
        if (HasFailure()) return;
    }
}

TEST_F(Range, OfSymbolsHasNoShape) {
    phy_test::make_capture(capture_, {.symbols = 100});
    phy::DemodulateOptions options = {};
    options.capture.noise_variance = 0.1F;
    options.keep_shape = true;
    options.range = {.first = 0, .count = 10};
    EXPECT_THROW(demodulate_file(capture_, folder_ / "none.h5", options), phy::ArgumentError);
}

void Range::expect_parts_of_slots(const phy::apps::Recording::Config& config) {
    AirCapture(config).write(capture_, config.link);
    phy::ReceiveOptions options = {};
    options.overwrite = true;
    options.writes_symbols = true;
    options.writes_channel = either();
    options.writes_payload = config.link.coding.has_value();
    options.writes_uci = config.link.coding && config.link.coding->uci;
    options.pipeline.chunk = random_() % 5;
    const phy::Reception whole = receive_file(capture_, whole_, options);
    EXPECT_EQ(whole.range, (ItemRange{0, whole.slots}));
    for (const ItemRange& range : parts_of(whole.slots)) {
        SCOPED_TRACE(std::to_string(range.first) + ":" + std::to_string(range.count));
        options.range = range;
        const phy::Reception done = receive_file(capture_, new_part(), options);
        EXPECT_EQ(done.slots, std::min(range.count, whole.slots - range.first));
        EXPECT_EQ(done.reports.front().slot, whole.reports[range.first].slot);
        EXPECT_TRUE(std::ranges::equal(done.slot_bit_errors,
                                       std::span(whole.slot_bit_errors).subspan(range.first, done.slots)));
        expect_rows(done.range, whole.slots);
    }
    expect_whole(whole.slots);
    expect_refusals(options, whole.slots, phy::receive_file);
    expect_surveyed(options, whole);
}

/// Parts by a survey have the same rows, and say the same of the whole.
void Range::expect_surveyed(phy::ReceiveOptions options, const phy::Reception& whole) {
    options.range.reset();
    const phy::CaptureSurvey survey = survey_file(capture_, options);
    EXPECT_EQ(survey.slots, whole.slots);
    options.survey = survey.text;
    EXPECT_EQ(survey_file(capture_, options).text, survey.text);
    const auto moved = folder_ / "moved.h5";
    std::filesystem::rename(capture_, moved);
    for (const ItemRange& range : parts_of(whole.slots)) {
        SCOPED_TRACE("surveyed " + std::to_string(range.first) + ":" + std::to_string(range.count));
        options.range = range;
        const phy::Reception done = receive_file(moved, new_part(), options);
        expect_rows(done.range, whole.slots);
        EXPECT_EQ(done.link, whole.link);
        EXPECT_EQ(done.impairments, whole.impairments);
        EXPECT_EQ(done.clock.corrected, whole.clock.corrected);
        EXPECT_EQ(done.clock.last, whole.clock.last);
        EXPECT_EQ(done.gaps.size(), whole.gaps.size());
        EXPECT_EQ(done.found.has_value(), whole.found.has_value());
        EXPECT_EQ(done.corrected.timing, whole.corrected.timing);
    }
    std::filesystem::rename(moved, capture_);
    parts_.clear();
}

TEST_F(Range, OfSlotsHasTheirRows) {
    for (int i = 0; i < phy_test::fewer_times(6); ++i) {
        SCOPED_TRACE(i);
        expect_parts_of_slots(phy_test::random_recording(random_, 25.0));
        expect_parts_of_slots(phy_test::uci_recording());
        expect_parts_of_slots(phy_test::two_layers(random_));
        if (HasFailure()) return;
    }
}

TEST_F(Range, OfSlotsAroundAGapHasTheirRows) {
    phy::apps::Recording::Config config = phy_test::coded_recording();
    config.slots = 60;
    config.seed = random_();
    config.gaps = {{.first = 150'000 + random_() % 50'000, .count = 300 + random_() % 9000}};
    config.clock.offset = 3e-6;
    expect_parts_of_slots(config);
}

TEST_F(Range, OfAGridBySurveyHasItsRows) {
    std::filesystem::copy_file(phy::test::data_file("pdsch_grid.h5"), capture_);
    const phy::ReceiveOptions options = {};
    expect_surveyed(options, receive_file(capture_, whole_, options));
}

TEST_F(Range, ASurveyOfAnotherOriginIsRefused) {
    phy::apps::Recording::Config config = phy_test::plain_recording();
    AirCapture(config).write(capture_, config.link);
    phy::ReceiveOptions options = {};
    const std::string survey = survey_file(capture_, options).text;
    const auto error_with = [&](const phy::ReceiveOptions& with) {
        try {
            receive_file(capture_, {}, with);
        } catch (const phy::ArgumentError& error) {
            return std::string(error.what());
        }
        return std::string("no error");
    };
    options.survey = survey;
    EXPECT_EQ(error_with(options), "no error");
    phy::ReceiveOptions others = options;
    others.equalization = phy::Equalization::zero_forcing;
    EXPECT_NE(error_with(others).find("made with other settings: equalization 0"), std::string::npos);
    others = options;
    others.link = config.link;
    others.link->allocation.dmrs.scrambling_id += 1;
    EXPECT_NE(error_with(others).find("made with another link"), std::string::npos);
    // Each changed or missing byte is noticed.
    for (int i = 0; i < phy_test::fewer_times(100); ++i) {
        std::string damaged = survey;
        const std::size_t at = random_() % damaged.size();
        if (either())
            damaged.resize(at);
        else
            damaged[at] = static_cast<char>(damaged[at] ^ static_cast<char>(1 + random_() % 127));
        others = options;
        others.survey = damaged.empty() ? "{" : damaged;
        EXPECT_EQ(error_with(others).substr(0, 8), "survey: ") << damaged;
    }
    config.seed = random_();
    AirCapture(config).write(capture_, config.link);
    EXPECT_NE(error_with(options).find("made with another capture"), std::string::npos);
}

TEST_F(Range, PartsThatDoNotFitAreNamed) {
    phy_test::make_capture(capture_, {.modulation = phy::Modulation::qam16, .symbols = 1000});
    phy::DemodulateOptions options = {};
    options.overwrite = true;
    options.capture.noise_variance = 0.1F;
    const auto expect_error = [&](const std::vector<std::string>& texts) {
        const std::string error = error_of_join();
        for (const std::string& text : texts)
            EXPECT_NE(error.find(text), std::string::npos) << error;
    };
    write_parts({{0, 300}, {500, 500}}, options);
    expect_error({"part0.h5 and ", "part1.h5: rows 300 to 499 are in no part"});
    write_parts({{200, 800}}, options);
    expect_error({"part0.h5", "rows 0 to 199 are in no part"});
    write_parts({{0, 300}, {300, 500}}, options);
    expect_error({"part1.h5", "rows 800 to 999 are in no part"});
    write_parts({{500, 500}, {0, 600}}, options);
    expect_error({"part0.h5", "rows 500 to 599", "part1.h5"});
    write_parts({{0, 1000}, {0, 1000}}, options);
    expect_error({"rows 0 to 999", "and so has"});

    write_parts({{0, 300}}, options);
    options.capture.noise_variance = 0.2F;
    options.range = {.first = 300, .count = 700};
    demodulate_file(capture_, new_part(), options);
    expect_error({"part1.h5", "attribute noise_variance", "part0.h5"});
    options.capture.noise_variance = 0.1F;
    write_parts({{0, 300}}, options);
    options.gain = 0.9F;
    options.range = {.first = 300, .count = 700};
    demodulate_file(capture_, new_part(), options);
    expect_error({"part1.h5", "attribute part_settings", "part0.h5"});
    options.gain = 1.0F;
    write_parts({{0, 300}}, options);
    options.format = phy::SoftBitFormat::float32;
    options.range = {.first = 300, .count = 700};
    demodulate_file(capture_, new_part(), options);
    expect_error({"part1.h5", "/llr", "part0.h5"});
    options.range.reset();
    demodulate_file(capture_, new_part(), options);
    expect_error({"part0.h5", "no attribute part_first"});
    parts_ = {capture_};
    expect_error({"capture.h5", "no attribute part_first"});
}

TEST_F(Range, PartsWithoutRowsAreNamed) {
    const std::string part = new_part().string();
    {
        const phy::hdf5::FileHandle file(H5Fcreate(part.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
        phy::hdf5::write_attribute(file, "part_first", std::uint64_t{0}, part);
        phy::hdf5::write_attribute(file, "part_of", std::uint64_t{3}, part);
        const phy::hdf5::Dimensions dimensions = {3, 0};
        const phy::hdf5::SpaceHandle space(H5Screate_simple(2, dimensions.data(), nullptr));
        const phy::hdf5::DatasetHandle llr(
            H5Dcreate2(file, "llr", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    EXPECT_NE(error_of_join().find("dataset /llr: has no rows"), std::string::npos);
}

TEST_F(Range, PartsAreNotOverwrittenAndStopsAreKept) {
    phy_test::make_capture(capture_, {.modulation = phy::Modulation::qam16, .symbols = 1000});
    phy::DemodulateOptions options = {};
    options.capture.noise_variance = 0.1F;
    write_parts({{0, 300}, {300, 700}}, options);
    EXPECT_THROW(phy::join_parts({}, joined_), phy::ArgumentError);
    EXPECT_THROW(phy::join_parts(parts_, parts_.back(), {.overwrite = true}), phy::ArgumentError);
    EXPECT_THROW(phy::join_parts(parts_, folder_ / "joined.npy"), phy::ArgumentError);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_TRUE(phy::join_parts(parts_, joined_, {.stop = stop.get_token()}).cancelled);
    EXPECT_FALSE(std::filesystem::exists(joined_));
    EXPECT_EQ(phy::join_parts(parts_, joined_).rows, 1000U);
    EXPECT_THROW(phy::join_parts(parts_, joined_), phy::FileError) << "it exists";
}

/// As several processes do it.
TEST_F(Range, RowsAreCopiedInStepsAndAllOfThem) {
    phy_test::make_capture(capture_, {.modulation = phy::Modulation::qam16, .symbols = 1000});
    phy::DemodulateOptions options = {};
    options.capture.noise_variance = 0.1F;
    demodulate_file(capture_, whole_, options);
    write_parts(parts_of(1000), options);
    const auto copy_all = [&](const phy::PartsJoin& join) {
        std::uint64_t copied = 0;
        for (const std::filesystem::path& part : parts_)
            copied += phy::copy_rows(part, join.file(), join.targets(), either());
        return copied;
    };
    phy::PartsJoin join(parts_, joined_);
    EXPECT_FALSE(std::filesystem::exists(joined_));
    const std::uint64_t copied = copy_all(join);
    EXPECT_EQ(copied, join.bytes());
    EXPECT_THROW(join.commit(copied - 1), phy::FileError) << "rows are missing";
    EXPECT_FALSE(std::filesystem::exists(joined_));
    EXPECT_EQ(join.commit(copied).rows, 1000U);
    EXPECT_EQ(read_dataset(joined_, "llr"), read_dataset(whole_, "llr"));

    const phy::PartsJoin shards(parts_, folder_ / "shards.h5", {.shards = true});
    EXPECT_EQ(copy_all(shards), 0U) << "nothing is copied";
    // Rows of another size, of another dataset, and of a file that is too short.
    std::vector<phy::RowsTarget> targets = phy::PartsJoin(parts_, folder_ / "other.h5").targets();
    const std::filesystem::path file = folder_ / "file";
    std::filesystem::copy_file(joined_, file);
    std::filesystem::resize_file(file, targets[0].offset);
    EXPECT_THROW(phy::copy_rows(parts_[0], file, targets), phy::FileError);
    ++targets[0].row_bytes;
    EXPECT_THROW(phy::copy_rows(parts_[0], joined_, targets), phy::FileError);
    targets[0].dataset = "none";
    EXPECT_THROW(phy::copy_rows(parts_[0], joined_, targets), phy::FileError);
    EXPECT_EQ(read_dataset(joined_, "llr"), read_dataset(whole_, "llr"));
}

/// A part without a signal is written, so that all parts can be joined.
TEST_F(Range, OfAPauseHasItsRows) {
    phy::apps::Recording::Config config = phy_test::plain_recording();
    config.channel = {};
    config.seed = random_();
    AirCapture capture(config);
    std::normal_distribution<float> noise(0.0F, 1e-3F);
    for (std::size_t i = 0; i < capture.data.size(); ++i)
        if (i % capture.length() > capture.length() / 2) capture.data[i] = {noise(random_), noise(random_)};
    capture.write(capture_, config.link);
    phy::ReceiveOptions options = {};
    const std::uint64_t slots = receive_file(capture_, whole_, options).slots;
    for (const ItemRange& range : {ItemRange{0, 3}, ItemRange{3, 3}, ItemRange{6, slots}}) {
        options.range = range;
        const phy::Reception done = receive_file(capture_, new_part(), options);
        const auto says_none = [](const std::string& warning) {
            return warning.find("in none of 2 slots of this part") != std::string::npos;
        };
        EXPECT_EQ(std::ranges::any_of(done.warnings, says_none), range.first == 6);
        const std::size_t expected = range.first == 6 ? 1 : done.warnings.size();
        EXPECT_EQ(done.warnings.size(), expected) << done.warnings.back();
    }
    expect_whole(slots);
    phy::Link other = config.link;
    other.allocation.dmrs.scrambling_id = 502;
    options.link = other;
    EXPECT_THROW(receive_file(capture_, folder_ / "none.h5", options), phy::FileError) << "no DM-RS anywhere";
}

TEST_F(Range, ThatBeginsLateIsDiagnosedWhereItsSlotsAre) {
    phy::apps::Recording::Config config = phy_test::plain_recording();
    config.slots = 300;
    config.clock.offset = 20e-6;
    config.seed = random_();
    AirCapture(config).write(capture_, config.link);
    phy::ReceiveOptions options = {};
    options.diagnoses = true;
    options.range = {.first = 280, .count = 5};
    const phy::Reception done = receive_file(capture_, {}, options);
    EXPECT_EQ(done.diagnosis.find("first_sample"), std::string::npos) << done.diagnosis;
    for (const std::string& warning : done.warnings)
        EXPECT_EQ(warning.find("first_sample"), std::string::npos) << warning;
}

}  // namespace
