#include "support/subprocess.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace phy::test {
namespace {

void require(bool condition, const std::string& what) {
    if (!condition) throw std::runtime_error(what + ": " + std::strerror(errno));
}

struct Pipe {
    int reader = -1;
    int writer = -1;

    Pipe() {
        std::array<int, 2> ends{};
        require(pipe2(ends.data(), O_CLOEXEC) == 0, "pipe");
        reader = ends[0];
        writer = ends[1];
    }
};

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    result.reserve(strings.size() + 1);
    for (std::string& string : strings)
        result.push_back(string.data());
    result.push_back(nullptr);
    return result;
}

std::vector<std::string> merged_environment(const std::vector<std::string>& replacements) {
    std::vector<std::string> result = replacements;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string variable = *entry;
        const std::string name = variable.substr(0, variable.find('=') + 1);
        bool replaced = false;
        for (const std::string& replacement : replacements)
            replaced |= replacement.starts_with(name);
        if (!replaced) result.push_back(variable);
    }
    return result;
}

/// Appends the pipe's content; false at its end.
bool drain(int descriptor, std::string& text) {
    std::array<char, 4096> buffer{};
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0;
}

}  // namespace

Subprocess::Subprocess(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
    const Pipe out;
    const Pipe err;
    out_ = out.reader;
    err_ = err.reader;

    posix_spawn_file_actions_t actions{};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out.writer, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err.writer, STDERR_FILENO);

    // A child would inherit ignored signals from whatever runs the tests.
    posix_spawnattr_t attributes{};
    posix_spawnattr_init(&attributes);
    sigset_t defaults{};
    sigemptyset(&defaults);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ})
        sigaddset(&defaults, number);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);

    std::vector<std::string> arguments = command;
    std::vector<std::string> variables = merged_environment(environment);
    errno = posix_spawnp(&pid_, command.front().c_str(), &actions, &attributes, pointers(arguments).data(),
                         pointers(variables).data());
    const int error = errno;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(out.writer);
    close(err.writer);
    errno = error;
    require(error == 0, command.front());
}

Subprocess::~Subprocess() {
    close(out_);
    close(err_);
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
}

void Subprocess::signal(int number) const {
    kill(pid_, number);
}

Outcome Subprocess::wait(std::chrono::seconds limit) {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + limit;
    Outcome outcome;
    std::vector<std::pair<pollfd, std::string*>> open = {{{out_, POLLIN, 0}, &outcome.out},
                                                         {{err_, POLLIN, 0}, &outcome.err}};
    while (!open.empty()) {
        if (Clock::now() > deadline) {
            kill(pid_, SIGKILL);
            break;
        }
        std::vector<pollfd> descriptors;
        for (const auto& entry : open)
            descriptors.push_back(entry.first);
        poll(descriptors.data(), descriptors.size(), 100);
        for (std::size_t i = descriptors.size(); i-- > 0;) {
            if (descriptors[i].revents != 0 && !drain(descriptors[i].fd, *open[i].second))
                open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
    int status = 0;
    rusage usage{};
    wait4(std::exchange(pid_, -1), &status, 0, &usage);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome.peak_memory_kib = usage.ru_maxrss;
    return outcome;
}

Outcome run(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
    return Subprocess(command, environment).wait();
}

}  // namespace phy::test
