// link_sim_mpi gives the numbers of link_sim, whatever the number of ranks and threads, and goes on where it
// was killed.

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "apps/link_sim_program.hpp"
#include "apps/mpi_fixture.hpp"
#include "support/fewer_cases.hpp"

namespace phy::test {
namespace {

class LinkSimMpi : public MpiTest {
protected:
    [[nodiscard]] Arguments command(int ranks, Arguments arguments) const {
        arguments.insert(arguments.end(), {"--parts", path("parts")});
        return launch(ranks, LINK_SIM_MPI, arguments);
    }

    /// The rows of points, byte by byte.
    [[nodiscard]] std::string rows_of_one(Arguments arguments) const {
        arguments.insert(arguments.end(), {"--csv", path("one.csv"), "--force"});
        simulate(arguments);
        return read_file(path("one.csv"));
    }

    /// The same by ranks, with the report.
    JsonValue expect_rows(int ranks, Arguments arguments, const std::string& rows) const {
        arguments.insert(arguments.end(), {"--csv", path("ranks.csv"), "--force", "--json"});
        const Outcome outcome = run(command(ranks, arguments), environment());
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(read_file(path("ranks.csv")), rows);
        EXPECT_FALSE(std::filesystem::exists(path("parts")));
        return parse_json(outcome.out);
    }

    std::string seed() { return std::to_string(random_() % 1'000'000); }
};

TEST_F(LinkSimMpi, AnyRanksGiveTheNumbersOfOneProcess) {
    const std::vector<Arguments> simulations = {
        {"--modulation", "qpsk,64qam", "--snr-db", "0:5:15", "--max-bits", "200k", "--seed", seed()},
        {"--modulation",      "16qam",     "--code-rate",  "0.4,0.6", "--snr-db",       "6:2:8",
         "--channel",         "tdl-b:200", "--known",      "channel", "--known",        "none",
         "--resource-blocks", "12",        "--max-blocks", "150",     "--block-errors", "40",
         "--min-slots",       "30",        "--seed",       seed()}};
    for (const Arguments& simulation : simulations) {
        const std::string rows = rows_of_one(simulation);
        for (const int ranks : {1, 2, 3, 8}) {
            const int threads = 1 + static_cast<int>(random_() % 3);
            SCOPED_TRACE(std::to_string(ranks) + " ranks of " + std::to_string(threads) + " threads");
            Arguments all = simulation;
            all.insert(all.end(), {"--threads", std::to_string(threads)});
            const JsonValue report = expect_rows(ranks, all, rows);
            EXPECT_EQ(report["context"]["ranks"].number(), ranks);
            EXPECT_EQ(report["context"]["threads"].number(), ranks * threads);
        }
    }
}

TEST_F(LinkSimMpi, KilledRunsGoOn) {
    const Arguments simulation = {"--modulation", "64qam",      "--snr-db", "5:1:18", "--errors",
                                  "100M",         "--max-bits", "1M",       "--seed", seed()};
    const std::string rows = rows_of_one(simulation);
    const auto start = std::chrono::steady_clock::now();
    expect_rows(3, simulation, rows);
    const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - start;
    std::uniform_real_distribution<double> share_of_run(0.3, 1.0);
    for (int i = 0; i < phy_test::fewer_times(3); ++i) {
        start_and_kill(command(3, simulation), share_of_run(random_) * whole);
        if (random_() % 2 != 0) expect_rows(2, simulation, rows);
    }
    start_and_kill_at_first_part(command(3, simulation), path("parts"));
    EXPECT_GT(expect_rows(3, simulation, rows)["context"]["slots_before"].number(), 0.0);
}

TEST_F(LinkSimMpi, WhatIsDoneIsNotDoneAgain) {
    const Arguments simulation = {"--snr-db", "5", "--modulation", "64qam", "--max-bits", "100k"};
    start_and_kill_at_first_part(
        command(1, {"--snr-db", "5", "--modulation", "64qam", "--errors", "1G", "--max-bits", "1G"}),
        path("parts"));
    expect_error(run(command(1, simulation), environment()), "which is another command");
    // Damaged sums are none.
    std::ofstream(path("parts/000000000000.sums"), std::ios::app) << "x";
    expect_rows(2, simulation, rows_of_one(simulation));
}

TEST_F(LinkSimMpi, AFolderIsForOneRunAtATime) {
    const Arguments endless = {"--snr-db", "5",  "--modulation", "64qam",
                               "--errors", "1G", "--max-bits",   "1G"};
    start_and_kill_at_first_part(command(1, endless), path("parts"), [&] {
        expect_error(run(command(1, endless), environment()), "another run uses this folder");
    });
    // Sums of another simulation, as if a file system without locks had let it write here.
    const std::string sums = path("parts/000000000000.sums");
    std::filesystem::copy_file(sums, path("others"));
    std::filesystem::remove_all(path("parts"));
    const Arguments simulation = {"--snr-db",   "5",   "--modulation", "64qam",
                                  "--max-bits", "20M", "--errors",     "1G"};
    const std::string rows = rows_of_one(simulation);
    start_and_kill_at_first_part(command(1, simulation), path("parts"));
    std::filesystem::copy_file(path("others"), sums, std::filesystem::copy_options::overwrite_existing);
    EXPECT_EQ(expect_rows(2, simulation, rows)["context"]["slots_before"].number(), 0.0);
}

TEST_F(LinkSimMpi, OtherFilesOfAFolderStay) {
    const Arguments simulation = {"--snr-db", "5", "--modulation", "qpsk", "--max-bits", "1000"};
    std::filesystem::create_directory(path("parts"));
    Arguments inside = simulation;
    inside.insert(inside.end(), {"--csv", path("parts/rows.csv")});
    EXPECT_EQ(run(command(2, inside), environment()).status, 0);
    EXPECT_EQ(read_file(path("parts/rows.csv")), rows_of_one(simulation));
    EXPECT_EQ(parts_in(path("parts")), 0U);
    std::ofstream(path("parts/command")) << "text of somebody";
    expect_error(run(command(2, simulation), environment()), "is not a parts folder");
    EXPECT_TRUE(std::filesystem::exists(path("parts/rows.csv")));
}

TEST_F(LinkSimMpi, MistakesAreNamedOnce) {
    const auto fail = [&](const Arguments& arguments, const std::string& text) {
        expect_error(run(command(3, arguments), environment()), text);
    };
    fail({"--snr-db", "x"}, "--snr-db x");
    fail({"--snr", "3"}, "unrecognised option '--snr'");
    fail({"--snr-db", "3", "--antennas", "2", "--layers", "4"}, "expected at least one for each of 4 layers");
    fail({"--snr-db", "3", "--csv", path("none/rows.csv")}, "cannot be created");
    EXPECT_FALSE(std::filesystem::exists(path("parts")));
}

}  // namespace
}  // namespace phy::test
