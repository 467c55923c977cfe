#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/app_test.hpp"
#include "support/random_seed.hpp"

namespace phy::test {

/// Children of a process, and theirs.
inline std::vector<pid_t> descendants_of(pid_t parent) {
    std::vector<pid_t> found;
    std::ifstream in("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
    for (pid_t child = 0; in >> child;) {
        found.push_back(child);
        std::ranges::copy(descendants_of(child), std::back_inserter(found));
    }
    return found;
}

/// Tests of programs under the launcher of this build's MPI.
class MpiTest : public AppTest {
protected:
    static Arguments launch(int ranks, const std::string& program, const Arguments& arguments) {
        Arguments all = {MPIEXEC, "-n", std::to_string(ranks), program};
        all.insert(all.end(), arguments.begin(), arguments.end());
        return all;
    }

    /// As many ranks as wanted, also as root.
    static Arguments environment() {
        return {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_hwloc_base_binding_policy=none"};
    }

    /// The text is on stderr once, whatever the launcher adds.
    static void expect_error(const Outcome& outcome, const std::string& text) {
        EXPECT_NE(outcome.status, 0);
        const std::size_t first = outcome.err.find(text);
        ASSERT_NE(first, std::string::npos) << outcome.err;
        EXPECT_EQ(outcome.err.find(text, first + 1), std::string::npos) << outcome.err;
    }

    static std::string read_file(const std::string& file) {
        std::ifstream in(file);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    /// Kills a rank, all ranks or the launcher after that time, and waits until all have ended.
    void start_and_kill(const Arguments& command, std::chrono::duration<double> after) {
        const auto start = std::chrono::steady_clock::now();
        const auto is_time = [&] { return std::chrono::steady_clock::now() - start >= after; };
        start_and_kill(command, is_time,
                       [this](auto& launcher, auto& ranks) { kill_somebody(launcher, ranks); });
    }

    /// Kills all ranks as soon as a part is complete: without their launcher they would go on for a while.
    /// Before that, calls meanwhile().
    void start_and_kill_at_first_part(
        const Arguments& command, const std::string& parts, const std::function<void()>& meanwhile = [] {}) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
        bool has_part = false;
        const auto is_time = [&] {
            has_part = parts_in(parts) > 0;
            if (has_part) meanwhile();
            return has_part || std::chrono::steady_clock::now() > deadline;
        };
        start_and_kill(command, is_time, [](auto& launcher, auto& ranks) {
            kill_all(ranks);
            if (ranks.empty()) launcher.signal(SIGKILL);
        });
        ASSERT_TRUE(has_part);
    }

    /// Number of complete parts.
    static std::size_t parts_in(const std::string& folder) {
        std::error_code none;
        std::size_t parts = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder, none))
            parts += entry.path().extension() == ".sums" ? 1 : 0;
        return parts;
    }

    std::mt19937 random_{phy_test::random_seed()};

private:
    using Processes = std::vector<pid_t>;

    static void start_and_kill(const Arguments& command, const std::function<bool()>& is_time,
                               const std::function<void(const Subprocess&, const Processes&)>& kill_them) {
        Processes ranks;
        {
            Subprocess launcher(command, environment());
            while (!is_time())
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            ranks = descendants_of(launcher.id());
            kill_them(launcher, ranks);
            launcher.wait();
        }
        // Where nobody reaps orphans, a rank stays as a zombie.
        for (const pid_t rank : ranks)
            for (int i = 0; i < 500 && kill(rank, 0) == 0; ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }

    static void kill_all(const Processes& ranks) {
        for (const pid_t rank : ranks)
            kill(rank, SIGKILL);
    }

    void kill_somebody(const Subprocess& launcher, const Processes& ranks) {
        const auto choice = random_() % 3;
        if (choice == 0 || ranks.empty()) return launcher.signal(SIGKILL);
        if (choice == 1) return (void)kill(ranks[random_() % ranks.size()], SIGKILL);
        kill_all(ranks);
    }
};

}  // namespace phy::test
