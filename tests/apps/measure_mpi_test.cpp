// measure_app_mpi prints what measure_app prints, whatever the number of ranks and ranges, and goes on where
// it was killed.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <regex>
#include <string>

#include "apps/mpi_fixture.hpp"
#include "support/fewer_cases.hpp"
#include "support/test_files.hpp"

namespace phy::test {
namespace {

class MeasureMpi : public MpiTest {
protected:
    [[nodiscard]] Arguments command(int ranks, Arguments arguments) const {
        arguments.insert(arguments.end(), {"--parts", path("parts")});
        return launch(ranks, MEASURE_APP_MPI, arguments);
    }

    [[nodiscard]] Outcome share(int ranks, const Arguments& arguments) const {
        return run(command(ranks, arguments), environment());
    }

    [[nodiscard]] Outcome share_json(int ranks, Arguments arguments) const {
        arguments.emplace_back("--json");
        Outcome outcome = share(ranks, arguments);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return outcome;
    }

    /// Of JSON or text, without what depends on machines.
    static std::string figures_of(const std::string& report) {
        static const std::regex machine(
            R"re(, "(seconds|symbols_per_second|backend|device|ranks|parts|parts_before)": ("[^"]*"|[^,}]*))re"
            R"re(|(throughput|backend) .*\n)re");
        return std::regex_replace(report, machine, "");
    }

    /// What measure_app prints for these arguments.
    void measure_whole(Arguments arguments) {
        arguments.insert(arguments.begin(), measure_app);
        text_ = figures_of(run(arguments).out);
        arguments.emplace_back("--json");
        const Outcome outcome = run(arguments);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        json_ = figures_of(outcome.out);
    }

    void expect_whole(const Outcome& outcome) const {
        EXPECT_EQ(figures_of(outcome.out), json_);
        EXPECT_FALSE(std::filesystem::exists(path("parts")));
    }

    static Arguments with(Arguments arguments, const Arguments& more) {
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }

    static double number_of(const Outcome& outcome, const std::string& key) {
        return parse_json(outcome.out)[key].number();
    }

    [[nodiscard]] std::string symbols(int count, const Arguments& more = {}) {
        return generate("symbols.h5",
                        with({"--modulation", "64qam", "--symbols", std::to_string(count), "--snr-db", "25",
                              "--seed", std::to_string(random_() % 1000), "--force"},
                             more));
    }

    std::string json_;
    std::string text_;
};

TEST_F(MeasureMpi, AnyRanksPrintWhatOneProcessPrints) {
    const std::string capture = symbols(300'000, {"--scramble", "17,4", "--type", "ci16"});
    for (const int ranks : {1, 2, 3, 8}) {
        const Arguments choices[] = {{},
                                     {"--by", std::to_string(1 + random_() % 20'000)},
                                     {"--by", "2048"},
                                     {"--reference", "sent", "--descramble", "17,4", "--by", "slot"},
                                     {"--gain", "0.5"}};
        const Arguments arguments = with({capture}, choices[random_() % std::size(choices)]);
        measure_whole(arguments);
        const std::uint64_t size = 1 + random_() % 320'000;
        SCOPED_TRACE(arguments.back() + ", " + std::to_string(ranks) + " ranks, " + std::to_string(size));
        const Outcome done = share_json(ranks, with(arguments, {"--range-size", std::to_string(size)}));
        expect_whole(done);
        EXPECT_EQ(number_of(done, "ranks"), ranks);
        EXPECT_EQ(number_of(done, "parts_before"), 0.0);
        const std::uint64_t units = (size - 1) / 32'768 + 1;
        const std::uint64_t parts = (300'000 - 1) / (units * 32'768) + 1;
        EXPECT_EQ(number_of(done, "parts"), static_cast<double>(parts));
        EXPECT_EQ(figures_of(share(ranks, arguments).out), text_);
    }
}

TEST_F(MeasureMpi, SlotsAreThoseOfOneProcess) {
    const std::string recording =
        generate("recording.h5", {"--from", "samples", "--link", data_file("pusch.json"), "--slots", "40",
                                  "--snr-db", "20", "--seed", std::to_string(random_() % 1000)});
    for (const std::string& capture : {recording, data_file("pdsch_grid.h5")}) {
        measure_whole({capture, "--by", "slot"});
        expect_whole(
            share_json(3, {capture, "--by", "slot", "--range-size", std::to_string(1 + random_() % 5)}));
    }
}

TEST_F(MeasureMpi, KilledRunsGoOn) {
    const std::string capture =
        generate("grid.h5", {"--from", "grid", "--link", data_file("pusch.json"), "--slots", "300"});
    const Arguments all = {capture, "--by", "slot", "--range-size", "1", "--json"};
    measure_whole({capture, "--by", "slot"});
    const auto start = std::chrono::steady_clock::now();
    expect_whole(share(3, all));
    const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - start;
    std::uniform_real_distribution<double> share_of_run(0.3, 0.9);
    for (int i = 0; i < phy_test::fewer_times(2); ++i) {
        start_and_kill(command(3, all), share_of_run(random_) * whole);
        expect_whole(share(i % 2 == 0 ? 3 : 2, all));
    }
    start_and_kill_at_first_part(command(3, all), path("parts"));
    const Outcome done = share(2, all);
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_GT(number_of(done, "parts_before"), 0.0);
    expect_whole(done);
}

TEST_F(MeasureMpi, MistakesAreNamedOnce) {
    const std::string capture = symbols(100'000);
    expect_error(share(3, {capture, "--range", "0:4"}), "--range: not with measure_app_mpi");
    expect_error(share(3, {capture, "--rang", "0:4"}), "unrecognised option '--rang'");
    expect_error(share(2, {capture, "--survey", path("survey.json")}),
                 "--survey: not for a capture of symbols");
    expect_error(share(3, {path("none.h5")}), "none.h5");
    expect_error(share(2, {capture, "--by", "none"}), "--by none");
    EXPECT_FALSE(std::filesystem::exists(path("parts/000000000000.sums")));

    std::filesystem::remove_all(path("parts"));
    std::filesystem::create_directory(path("parts"));
    std::ofstream(path("parts/mine")) << "text";
    expect_error(share(2, {capture}), "is not a parts folder");
    EXPECT_TRUE(std::filesystem::exists(path("parts/mine")));
}

TEST_F(MeasureMpi, PartsOfAnotherCommandAreNotJoined) {
    const std::string capture =
        generate("grid.h5", {"--from", "grid", "--link", data_file("pusch.json"), "--slots", "40"});
    std::string link = read_file(data_file("pusch.json"));
    const std::string key = "\"first_slot\": ";
    ASSERT_NE(link.find(key), std::string::npos) << link;
    link.replace(link.find(key), key.size() + 1, key + "2");
    std::ofstream(path("wrong.json")) << link;
    expect_error(share(2, {capture, "--link", path("wrong.json"), "--range-size", "3"}),
                 "the DM-RS were found in none of 8 slots");
    EXPECT_TRUE(std::filesystem::exists(path("parts")));
    expect_error(share(2, {capture, "--range-size", "3"}), "which is another command");
    std::filesystem::remove_all(path("parts"));
    measure_whole({capture});
    expect_whole(share_json(2, {capture, "--range-size", "3"}));
}

}  // namespace
}  // namespace phy::test
