#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "support/app_test.hpp"
#include "support/hdf5_file.hpp"

namespace phy::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Faulty : public AppTest {
protected:
    void write_text(const std::string& file, const std::string& text) const {
        std::ofstream(path(file)) << text;
    }

    [[nodiscard]] std::string text_of(const std::string& file) const {
        std::ifstream stream(path(file));
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    const std::string capture_ =
        generate("c.h5", {"--modulation", "qpsk", "--symbols", "200000", "--quiet", "--layout", "gzip"});
    const Arguments command_ = {demod_app, capture_, "-o", path("out.h5")};

    [[nodiscard]] Arguments command(const Arguments& more) const {
        Arguments all = command_;
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
};

class OutputNames : public Faulty {};

TEST_F(OutputNames, OfOneFileAreRefusedBeforeTheWork) {
    fs::create_symlink("out.h5", path("dangling"));
    fs::create_symlink("dangling", path("chain"));
    fs::create_symlink(path(""), path("folder"));
    for (const std::string name : {"dangling", "chain", "folder/out.h5", "out.h5"})
        expect_failure(command({"--trace", path(name), "--force"}), 2, {name, "overwrite the output"});
    fs::create_hard_link(capture_, path("hard.h5"));
    expect_failure(command({"--trace", path("hard.h5"), "--force"}), 2, {"overwrite the capture"});
    expect_failure({demod_app, capture_, "-o", path("hard.h5"), "--force"}, 2, {"overwrite the capture"});
    write_text("two.sigmf-data", "samples.");
    write_text("two.sigmf-meta", R"({"global": {"core:datatype": "ci8"}})");
    for (const std::string option : {"-o", "--trace"})
        expect_failure({demod_app, path("two.sigmf-meta"), option, path("two.sigmf-data"), "--force"}, 2,
                       {"overwrite the capture"});
    write_text("link.json", "{}");
    for (const std::string option : {"-o", "--trace"})
        expect_failure(
            {demod_app, capture_, option, path("link.json"), "--link", path("link.json"), "--force"}, 2,
            {"overwrite the link"});
    expect_failure({capture_gen, path("link.json"), "--from", "grid", "--link", path("link.json"), "--slots",
                    "1", "--force"},
                   2, {"overwrite the link"});
    EXPECT_EQ(text_of("link.json"), "{}");
}

TEST_F(OutputNames, ThatAreLinksStayLinks) {
    fs::create_symlink("second", path("first"));
    fs::create_symlink("real", path("second"));
    const auto expect_links = [this] {
        EXPECT_TRUE(fs::is_symlink(path("first")));
        EXPECT_TRUE(fs::is_symlink(path("second")));
        EXPECT_FALSE(fs::is_symlink(path("real")));
    };
    demod({capture_, "-o", path("first")});
    expect_links();
    EXPECT_EQ(read_dataset(path("real"), "/llr").size(), 400000U);
    expect_failure({demod_app, capture_, "-o", path("first")}, 1, {"first", "--force"});
    demod({capture_, "-o", path("first"), "--llr", "float32", "--force"});
    expect_links();
    EXPECT_EQ(read_dataset(path("real"), "/llr").size(), 1600000U);
    fs::remove(path("real"));
    demod({capture_, "--trace", path("first")});
    expect_links();
    EXPECT_TRUE(parse_json(text_of("real")).has("traceEvents"));
}

TEST_F(OutputNames, AreAsLongAsTheFileSystemPermits) {
    const std::string trace(250, 't');
    const std::string output(255, 'o');
    demod({capture_, "-o", path(output), "--trace", path(trace)});
    EXPECT_EQ(files(), (std::set<std::string>{"c.h5", output, trace}));
    expect_failure({demod_app, capture_, "-o", path(output + "o")}, 1, {"too long"});
}

// As in a container, where every run has the same process id.
TEST_F(OutputNames, OfAKilledRunDisturbNoLaterOne) {
    {
        Subprocess process(command({"--trace", path("t.json")}), with_faults("long_reads_hang"));
        await_unfinished_output();
        process.signal(SIGKILL);
        EXPECT_EQ(process.wait().status, 128 + SIGKILL);
    }
    const std::string script = R"(for name in t.json out.h5; do : > ".$name.$$.part"; done; exec "$@")";
    Arguments with_stale_names = {"/bin/sh", "-c", "cd '" + path("") + "'; " + script, "sh"};
    const Arguments again = command({"--trace", path("t.json")});
    with_stale_names.insert(with_stale_names.end(), again.begin(), again.end());
    EXPECT_EQ(run(with_stale_names).status, 0);
    EXPECT_TRUE(parse_json(text_of("t.json")).has("traceEvents"));
    EXPECT_EQ(read_dataset(path("out.h5"), "/llr").size(), 400000U);
}

TEST_F(OutputNames, ThatAppearMeanwhileAreNotReplaced) {
    const Arguments slow = {"--backend", "scalar", "--threads",   "1",          "--method", "logmap",
                            "--chunk",   "1000",   "--evaluator", "arithmetic", "--llr",    "float32"};
    for (const std::string option : {"-o", "--trace"}) {
        SCOPED_TRACE(option);
        Arguments all = {demod_app, capture_, option, path("taken")};
        all.insert(all.end(), slow.begin(), slow.end());
        Subprocess process(all);
        await_unfinished_output();
        process.signal(SIGSTOP);
        ASSERT_FALSE(fs::exists(path("taken"))) << "the run was too short";
        write_text("taken", "precious");
        process.signal(SIGCONT);
        const Outcome outcome = process.wait();
        EXPECT_EQ(outcome.status, 1) << outcome.err;
        EXPECT_NE(outcome.err.find("taken: exists and is not overwritten"), std::string::npos) << outcome.err;
        EXPECT_EQ(text_of("taken"), "precious");
        fs::remove(path("taken"));
        EXPECT_EQ(files(), std::set<std::string>{"c.h5"});
    }
}

class HangingLibrary : public Faulty {
protected:
    /// Sends the signals while HDF5 never returns from reading.
    void expect_end(const std::vector<int>& signals, const std::string& error) const {
        const auto before = files();
        Subprocess process(command({"--trace", path("t.json")}), with_faults("long_reads_hang"));
        await_unfinished_output();
        for (const int signal : signals) {
            // Two that wait to be delivered would be one.
            std::this_thread::sleep_for(200ms);
            process.signal(signal);
        }
        const Outcome outcome = process.wait(60s);
        EXPECT_EQ(outcome.status, 130);
        EXPECT_EQ(outcome.err, error);
        EXPECT_EQ(files(), before);
    }
};

TEST_F(HangingLibrary, DoesNotKeepAProgramFromEnding) {
    expect_end({SIGTERM}, "demod_app: interrupted\n");
}

TEST_F(HangingLibrary, LeavesNothingAtASecondSignal) {
    expect_end({SIGINT, SIGINT}, "");
}

class Durability : public Faulty {
protected:
    /// What gives files their names and makes them durable, when the command runs.
    [[nodiscard]] std::string calls(const Arguments& command) const {
        fs::remove(path("log"));
        const Outcome outcome = run(command, with_faults("", path("log")));
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return text_of("log");
    }

    static constexpr const char* once = "synchronize file\nrename\nsynchronize folder\n";
};

TEST_F(Durability, IsForEveryOutputOfDemodApp) {
    EXPECT_EQ(calls(command_), "rename\n");
    EXPECT_EQ(calls(command({"--durable", "--force"})), once);
    EXPECT_EQ(calls(command({"--durable", "--force", "--trace", path("t.json")})), std::string(once) + once);
}

TEST_F(Durability, IsForCapturesThatAreMade) {
    const Arguments symbols = {capture_gen, path("s.h5"), "--modulation", "qpsk", "--symbols", "10"};
    EXPECT_EQ(calls(symbols), "rename\n");
    Arguments durable = symbols;
    durable.insert(durable.end(), {"--durable", "--force"});
    EXPECT_EQ(calls(durable), once);
}

TEST_F(Durability, ThatCannotBeHadGivesNoFile) {
    expect_failure(command({"--durable"}), 1, {"out.h5", "cannot be made durable"}, with_faults("fsync"));
}

TEST_F(Faulty, AFileSystemThatDoesNotCountItsBlocksIsNotFull) {
    const Outcome outcome = run(command_, with_faults("blocks"));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_F(Faulty, ClosedStandardStreamsAreNoOutputFiles) {
    Arguments closed = {"/bin/sh", "-c", R"(exec "$@" <&- >&- 2>&-)", "sh"};
    closed.insert(closed.end(), command_.begin(), command_.end());
    Subprocess process(closed, with_faults("long_reads_hang"));
    await_unfinished_output();
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        EXPECT_EQ(
            fs::read_symlink("/proc/" + std::to_string(process.id()) + "/fd/" + std::to_string(descriptor)),
            "/dev/null")
            << descriptor;
}

TEST_F(Faulty, AWrongBackendVariableHasOneStatusEverywhere) {
    const std::string apps = fs::path(demod_app).parent_path();
    const std::vector<Arguments> commands = {
        {demod_app, capture_},
        {demod_app, capture_, "--backend", "scalar"},
        {measure_app, capture_},
        {capture_gen, path("x.h5"), "--modulation", "qpsk", "--symbols", "10"},
        {phy_info},
        {apps + "/link_sim", "--modulation", "qpsk", "--snr-db", "10", "--errors", "1"},
        {apps + "/stream_bench", "--symbols", "1000", "--rounds", "1"},
        {apps + "/slot_bench", "--symbols", "1000"}};
    for (const Arguments& command : commands) {
        SCOPED_TRACE(command.front());
        expect_failure(command, 2, {"PHY_BACKEND", "unknown backend 'abacus'"}, {"PHY_BACKEND=abacus"});
    }
    for (const Arguments& command : commands) {
        SCOPED_TRACE(command.front());
        // Those that are told where to run, or run everywhere alike, do not ask.
        if (command.front() == capture_gen || command.back() == "scalar") continue;
        expect_failure(command, 3, {"PHY_BACKEND", "cuda[9999]"}, {"PHY_BACKEND=cuda[9999]"});
    }
}

}  // namespace
}  // namespace phy::test
