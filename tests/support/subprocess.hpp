#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <sys/types.h>

namespace phy::test {

/// How a program ended and what it printed.
struct Outcome {
    int status = -1;  ///< exit status, or 128 + the signal that killed it
    std::string out;
    std::string err;
    long peak_memory_kib = 0;
};

/// A running program with an empty stdin, captured stdout and stderr, and default signal handling. The
/// destructor kills it if it still runs.
class Subprocess {
public:
    /// environment: NAME=value entries that override or extend the test's own.
    explicit Subprocess(const std::vector<std::string>& command,
                        const std::vector<std::string>& environment = {});
    ~Subprocess();
    Subprocess(const Subprocess&) = delete;
    Subprocess& operator=(const Subprocess&) = delete;

    void signal(int number) const;
    [[nodiscard]] pid_t id() const { return pid_; }

    /// Waits for the end; a program that takes longer than the limit is killed (status 137).
    Outcome wait(std::chrono::seconds limit = std::chrono::seconds(120));

private:
    pid_t pid_ = -1;
    int out_ = -1;
    int err_ = -1;
};

/// Runs a program to its end.
Outcome run(const std::vector<std::string>& command, const std::vector<std::string>& environment = {});

}  // namespace phy::test
