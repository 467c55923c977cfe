// demod_app_mpi writes what demod_app writes, whatever the number of ranks and ranges, and goes on where it
// was killed.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "apps/mpi_fixture.hpp"
#include "support/fewer_cases.hpp"
#include "support/hdf5_file.hpp"
#include "support/test_files.hpp"

namespace phy::test {
namespace {

class Mpi : public MpiTest {
protected:
    static Arguments command(int ranks, const Arguments& arguments) {
        return launch(ranks, DEMOD_APP_MPI, arguments);
    }

    static Outcome share(int ranks, const Arguments& arguments) {
        return run(command(ranks, arguments), environment());
    }

    static JsonValue share_json(int ranks, Arguments arguments) {
        arguments.emplace_back("--json");
        const Outcome outcome = share(ranks, arguments);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return parse_json(outcome.out);
    }

    void expect_whole() const {
        const Hdf5Names names = names_in(path("whole.h5"));
        EXPECT_EQ(names_in(path("joined.h5")).datasets, names.datasets);
        EXPECT_EQ(names_in(path("joined.h5")).attributes, names.attributes);
        for (const std::string& name : names.datasets)
            EXPECT_EQ(read_dataset(path("joined.h5"), name), read_dataset(path("whole.h5"), name)) << name;
        EXPECT_FALSE(std::filesystem::exists(path("joined.h5.parts")));
    }

    /// A recording of that many slots, and what demod_app writes for it.
    JsonValue receive_whole(int slots) {
        const std::string capture =
            generate("recording.h5", {"--from", "samples", "--link", data_file("pusch.json"), "--slots",
                                      std::to_string(slots), "--snr-db", "20", "--seed",
                                      std::to_string(random_() % 1000), "--force"});
        recording_ = {capture, "--write", "llr,symbols", "-o"};
        Arguments whole = recording_;
        whole.insert(whole.end(), {path("whole.h5"), "--force"});
        return demod_json(whole);
    }

    [[nodiscard]] Arguments recording(std::uint64_t range_size) const {
        Arguments all = recording_;
        all.insert(all.end(), {path("joined.h5"), "--force", "--range-size", std::to_string(range_size)});
        return all;
    }

    Arguments recording_;
};

TEST_F(Mpi, AnyRanksWriteWhatOneProcessWrites) {
    const JsonValue whole = receive_whole(40);
    for (const int ranks : {1, 2, 3, 8}) {
        const std::uint64_t size = 1 + random_() % 45;
        SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(size) + " slots");
        const JsonValue done = share_json(ranks, recording(size));
        const auto slots = static_cast<std::uint64_t>(whole["slots"].number());
        EXPECT_EQ(done["ranks"].number(), ranks);
        const std::uint64_t parts = (slots + size - 1) / size;
        EXPECT_EQ(done["parts"].number(), static_cast<double>(parts));
        EXPECT_EQ(done["parts_before"].number(), 0.0);
        for (const char* const key : {"soft_bits", "saturated", "bit_errors", "compared_bits"})
            EXPECT_EQ(done[key].number(), whole[key].number()) << key;
        expect_whole();
    }
}

TEST_F(Mpi, GainAndNoiseAreMeasuredOnce) {
    const std::string capture =
        generate("symbols.h5", {"--modulation", "64qam", "--symbols", "50000", "--snr-db", "15"});
    const Arguments measured = {capture, "--gain", "auto", "--noise-variance", "estimate", "-o"};
    Arguments whole = measured;
    whole.push_back(path("whole.h5"));
    demod(whole);
    Arguments joined = measured;
    joined.insert(joined.end(),
                  {path("joined.h5"), "--range-size", std::to_string(1000 + random_() % 60'000)});
    share_json(3, joined);
    expect_whole();
}

TEST_F(Mpi, KilledRunsGoOn) {
    receive_whole(500);
    const Arguments all = recording(1);
    const auto start = std::chrono::steady_clock::now();
    share_json(3, all);
    const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - start;
    std::filesystem::remove(path("joined.h5"));
    std::uniform_real_distribution<double> share_of_run(0.2, 1.0);
    for (int i = 0; i < phy_test::fewer_times(3); ++i) {
        start_and_kill(command(3, all), share_of_run(random_) * whole);
        if (std::filesystem::exists(path("joined.h5"))) {
            // Some parts may still be there.
            share_json(3, all);
            expect_whole();
            std::filesystem::remove(path("joined.h5"));
            continue;
        }
        if (random_() % 2 != 0) continue;
        share_json(3, all);
        expect_whole();
        std::filesystem::remove(path("joined.h5"));
    }
    start_and_kill_at_first_part(command(3, all), path("joined.h5.parts"));
    EXPECT_GT(share_json(2, all)["parts_before"].number(), 0.0);
    expect_whole();
}

TEST_F(Mpi, MistakesAreNamedOnce) {
    receive_whole(10);
    const auto with = [&](const Arguments& more) {
        Arguments all = recording(4);
        all.insert(all.end(), more.begin(), more.end());
        return all;
    };
    expect_error(share(3, {recording_.front()}), "--output is missing");
    expect_error(share(3, with({"--range", "0:4"})), "--range: not with demod_app_mpi");
    expect_error(share(3, with({"--rang", "0:4"})), "unrecognised option '--rang'");
    expect_error(share(3, {path("none.h5"), "-o", path("joined.h5")}), "none.h5");
    expect_error(share(2, with({"--descramble", "1,2"})), "--descramble");
    EXPECT_FALSE(std::filesystem::exists(path("joined.h5")));

    std::filesystem::remove_all(path("joined.h5.parts"));
    std::filesystem::create_directory(path("joined.h5.parts"));
    std::ofstream(path("joined.h5.parts/mine")) << "text";
    expect_error(share(2, with({})), "is not a parts folder");
    EXPECT_TRUE(std::filesystem::exists(path("joined.h5.parts/mine")));
    std::filesystem::remove_all(path("joined.h5.parts"));

    std::filesystem::remove_all(path("joined.h5.parts"));
    std::filesystem::create_directory(path("joined.h5.parts"));
    std::ofstream(path("joined.h5.parts/.phy-0123456789abcdef.part")) << "an";
    share_json(2, with({}));
    expect_whole();
    std::filesystem::remove(path("joined.h5"));

    // A folder without parts is taken over.
    std::filesystem::create_directory(path("joined.h5.parts"));
    std::ofstream(path("joined.h5.parts/command")) << "parts of another.h5";
    std::ofstream(path("joined.h5.parts/survey.json")) << "damaged";
    share_json(2, with({}));
    expect_whole();
}

TEST_F(Mpi, PartsOfWhatHasChangedAreNotJoined) {
    receive_whole(40);
    Arguments shards = recording(4);
    shards.emplace_back("--shards");
    EXPECT_EQ(share_json(2, shards)["parts_before"].number(), 0.0);
    EXPECT_TRUE(std::filesystem::exists(path("joined.h5.parts")));
    EXPECT_EQ(share_json(3, shards)["parts_before"].number(), share_json(1, shards)["parts"].number());
    Arguments others = shards;
    others.insert(others.end(), {"--equalizer", "zero-forcing"});
    expect_error(share(2, others), "which is another command");
    // The recording has changed.
    receive_whole(40);
    expect_error(share(2, shards), "capture or link has changed since");
    // What is not complete is made again.
    std::filesystem::remove_all(path("joined.h5.parts"));
    share_json(2, shards);
    std::ofstream(path("joined.h5.parts/000000000004.sums")) << "";
    const JsonValue done = share_json(2, recording(4));
    EXPECT_EQ(done["parts_before"].number(), done["parts"].number() - 1.0);
    expect_whole();
}

TEST_F(Mpi, AGridWithoutDmrsIsAnError) {
    const std::string grid =
        generate("grid.h5", {"--from", "grid", "--link", data_file("pusch.json"), "--slots", "40"});
    demod({grid, "-o", path("whole.h5")});
    share_json(2, {grid, "-o", path("joined.h5"), "--range-size", "3"});
    expect_whole();
    std::filesystem::remove(path("joined.h5"));
    std::string link = read_file(data_file("pusch.json"));
    const std::string key = "\"first_slot\": ";
    ASSERT_NE(link.find(key), std::string::npos) << link;
    link.replace(link.find(key), key.size() + 1, key + "2");
    std::ofstream(path("wrong.json")) << link;
    expect_error(share(2, {grid, "--link", path("wrong.json"), "-o", path("joined.h5"), "--range-size", "3"}),
                 "the DM-RS were found in none of 8 slots");
    EXPECT_FALSE(std::filesystem::exists(path("joined.h5")));
}

TEST_F(Mpi, AnUnreadableRangeIsNamedAndTheOthersAreMade) {
    constexpr std::uint64_t chunk = 1000;
    const std::uint64_t symbols = chunk * 8;
    const std::string capture = path("symbols.h5");
    Hdf5File(capture).checked("iq", {symbols, 2}, chunk, 0.7F).attribute("modulation", "QPSK");
    const Arguments all = {capture,
                           "--gain",
                           "1",
                           "--noise-variance",
                           "0.1",
                           "-o",
                           path("joined.h5"),
                           "--range-size",
                           std::to_string(chunk)};
    Arguments whole = {capture, "--gain", "1", "--noise-variance", "0.1", "-o", path("whole.h5")};
    demod(whole);
    const std::uint64_t damaged = random_() % 8 * chunk;
    const auto invert_a_byte = [&] {
        std::fstream file(capture, std::ios::in | std::ios::out | std::ios::binary);
        const auto place = static_cast<std::streamoff>(place_of_chunk(capture, "iq", damaged) + 100);
        file.seekg(place);
        const int byte = file.get();
        file.seekp(place);
        file.put(static_cast<char>(byte ^ 0xFF));
    };
    const auto time = std::filesystem::last_write_time(capture);
    invert_a_byte();
    std::filesystem::last_write_time(capture, time);
    Arguments quiet = all;
    quiet.emplace_back("--quiet");
    const Outcome outcome = share(3, quiet);
    expect_error(outcome, "range " + std::to_string(damaged) + ":1000: rank ");
    expect_error(outcome, "1 of 8 parts are missing");
    EXPECT_FALSE(std::filesystem::exists(path("joined.h5")));
    invert_a_byte();
    std::filesystem::last_write_time(capture, time);
    EXPECT_EQ(share_json(2, all)["parts_before"].number(), 7.0);
    expect_whole();
}

/// share_tasks() by a program of its own: task 3 fails, and so do all of rank 1.
TEST_F(Mpi, AFailedTaskIsNamedAndTheOthersAreDone) {
    const Outcome outcome = run({MPIEXEC, "-n", "3", MPI_TASKS, "40"}, environment());
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("3: rank "), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("task 3 fails"), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find("task 3 fails"), outcome.out.rfind("task 3 fails"));
    EXPECT_NE(outcome.out.find("done or failed: 40 of 40"), std::string::npos) << outcome.out;
}

TEST_F(Mpi, RanksThatAlwaysFailBeginNoMoreTasks) {
    const Outcome outcome = run({MPIEXEC, "-n", "1", MPI_TASKS, "20", "all"}, environment());
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("7: rank 0"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("8: none began it"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("19: none began it"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("others heard: first rank fails"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace phy::test
