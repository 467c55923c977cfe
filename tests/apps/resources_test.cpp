#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "common/progress.hpp"
#include "support/app_test.hpp"

namespace phy::test {
namespace {

using namespace std::chrono_literals;

class Interrupt : public AppTest {
protected:
    /// Starts the command, waits until its unfinished output is there, sends the signals, and expects that
    /// the program ends as interrupted and leaves nothing behind.
    void expect_clean_stop(const Arguments& command, const std::vector<int>& signals) const {
        const auto before = files();
        Subprocess process(command);
        const auto deadline = std::chrono::steady_clock::now() + 30s;
        while (files() == before && std::chrono::steady_clock::now() < deadline)
            std::this_thread::sleep_for(5ms);
        EXPECT_NE(files(), before) << "no unfinished output was seen";
        for (const int signal : signals)
            process.signal(signal);
        const Outcome outcome = process.wait(60s);
        EXPECT_EQ(outcome.status, 130) << outcome.err;
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(files(), before);
        last_error_ = outcome.err;
    }

    /// Minutes of work in small steps.
    [[nodiscard]] Arguments long_generation() const {
        return {capture_gen,  path("long.h5"), "--modulation", "1024qam",  "--symbols",
                "2000000000", "--layout",      "gzip",         "--no-bits"};
    }

    mutable std::string last_error_;
};

TEST_F(Interrupt, DemodulationLeavesNothing) {
    const std::string capture =
        generate("c.h5", {"--modulation", "1024qam", "--symbols", "2000000", "--no-bits", "--quiet"});
    const auto stop = [&](const std::string& output, int signal) {
        expect_clean_stop(
            {demod_app, capture, "-o", path(output), "--backend", "scalar", "--threads", "1", "--method",
             "logmap", "--llr", "float32", "--evaluator", "arithmetic", "--chunk", "4096"},
            {signal});
        EXPECT_EQ(last_error_, "demod_app: interrupted\n");
    };
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        stop("out.h5", signal);
    stop("out.npy", SIGINT);
    stop("out.raw", SIGTERM);
}

TEST_F(Interrupt, GenerationLeavesNothing) {
    expect_clean_stop(long_generation(), {SIGINT});
    EXPECT_EQ(last_error_, "capture_gen: interrupted\n");
}

TEST_F(Interrupt, SecondSignalEndsAtOnce) {
    expect_clean_stop(long_generation(), {SIGINT, SIGTERM});
}

class Memory : public AppTest {};

/// Chunks grow with the number of threads, so the short capture fills the buffers of 16 threads: 4 buffer
/// sets of 2^20 symbols. A program without a capture shows what the code and a sanitizer take.
TEST_F(Memory, DoesNotGrowWithTheCapture) {
    constexpr long limit_kib = 8 * 1024;
    const auto peaks = [this](const std::string& symbols) {
        const Outcome generation = run({capture_gen, path("c.h5"), "--modulation", "256qam", "--symbols",
                                        symbols, "--layout", "chunked", "--no-bits", "--force", "--quiet"});
        EXPECT_EQ(generation.status, 0) << generation.err;
        const Outcome demodulation =
            demod({path("c.h5"), "-o", path("out.h5"), "--force", "--threads", "16"});
        return std::pair(generation.peak_memory_kib, demodulation.peak_memory_kib);
    };
    const auto [small_generation, small_demodulation] = peaks("4500000");
    const auto [large_generation, large_demodulation] = peaks("12000000");
    EXPECT_LT(large_generation - small_generation, limit_kib);
    EXPECT_LT(large_demodulation - small_demodulation, limit_kib);
    EXPECT_LT(large_demodulation - run({demod_app, "--help"}).peak_memory_kib, 64 * 1024);
}

/// A terminal whose output can be read.
class Terminal {
public:
    Terminal() : master_(posix_openpt(O_RDWR | O_NOCTTY)) {
        if (master_ < 0 || grantpt(master_) != 0 || unlockpt(master_) != 0)
            throw std::runtime_error("no pseudo-terminal");
        // Kept open, or what was written is lost when the last writer closes.
        slave_ = open(name().c_str(), O_RDWR | O_NOCTTY);
    }
    ~Terminal() {
        close(slave_);
        close(master_);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    [[nodiscard]] std::string name() const { return ptsname(master_); }

    /// What was written so far. A read returns what the kernel has passed on by then, so a mark ends the
    /// text.
    [[nodiscard]] std::string output() const {
        constexpr std::string_view end = "<end>";
        EXPECT_EQ(write(slave_, end.data(), end.size()), static_cast<ssize_t>(end.size()));
        std::string text;
        std::array<char, 4096> part;
        while (!text.ends_with(end)) {
            const ssize_t count = read(master_, part.data(), part.size());
            if (count <= 0) break;
            text.append(part.data(), static_cast<std::size_t>(count));
        }
        EXPECT_TRUE(text.ends_with(end));
        return text.substr(0, text.size() - std::min(text.size(), end.size()));
    }

private:
    int master_;
    int slave_ = -1;
};

class ProgressReport : public AppTest {
protected:
    /// What a long run shows on a terminal until it is interrupted.
    [[nodiscard]] std::string progress(const Arguments& options = {}) const {
        const Terminal terminal;
        Arguments command = {"/bin/sh",
                             "-c",
                             R"(exec "$0" "$@" 2> )" + terminal.name(),
                             capture_gen,
                             path("long.h5"),
                             "--modulation",
                             "1024qam",
                             "--symbols",
                             "2000000000",
                             "--layout",
                             "gzip",
                             "--no-bits"};
        command.insert(command.end(), options.begin(), options.end());
        Subprocess process(command);
        std::this_thread::sleep_for(1500ms);
        process.signal(SIGINT);
        EXPECT_EQ(process.wait().err, "");
        return terminal.output();
    }
};

TEST(Progress, IsALineAtMostEveryTenSecondsInALog) {
    apps::Progress::Clock::time_point now;
    testing::internal::CaptureStderr();
    {
        apps::Progress progress(100, false, apps::Progress::Unit::symbols, [&now] { return now; });
        for (int update = 0; update < 25; ++update) {
            now += 999ms;
            progress.advance(1);
        }
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "11 % of 100 symbols, 0.0 Msymbol/s, 89 s left\n"
              "22 % of 100 symbols, 0.0 Msymbol/s, 78 s left\n");
}

TEST_F(ProgressReport, IsABarOnATerminalAndLeavesACleanLine) {
    const std::string shown = progress();
    EXPECT_TRUE(shown.starts_with("\r\033[K[")) << shown;
    EXPECT_NE(shown.find("] 0 % of 2000000000 symbols"), std::string::npos) << shown;
    EXPECT_TRUE(shown.ends_with("\r\033[Kcapture_gen: interrupted\r\n")) << shown;
}

TEST_F(ProgressReport, QuietShowsNeither) {
    EXPECT_EQ(progress({"--quiet"}), "capture_gen: interrupted\r\n");
}

}  // namespace
}  // namespace phy::test
