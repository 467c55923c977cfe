#pragma once

#include <exception>

namespace phy::apps {

/// Exit statuses of all apps.
enum ExitStatus {
    exit_done = 0,
    exit_failed = 1,       ///< failed while running
    exit_usage_error = 2,  ///< usage error
    exit_no_backend = 3,   ///< a requested backend or device is unavailable
    exit_interrupted = 130,
};

/// The user asked the program to stop.
class Interrupted : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

/// From now on SIGINT, SIGTERM and SIGHUP request an orderly stop by throw_if_interrupted(). A second signal
/// ends the program at once. So does a request that has no effect for a few seconds, for example because a
/// library hangs. Unfinished outputs are removed. Signals that were ignored at the start of the program stay
/// ignored, as nohup and shells expect. A file size limit or a closed pipe makes the call fail instead of
/// killing the program. app: the program's name; must stay valid while it runs.
void handle_signals(const char* app);

/// Throws Interrupted if a stop was requested. Thread-safe. Call it between chunks of work.
void throw_if_interrupted();

/// From now on a requested stop is no longer waited for.
void end_of_work() noexcept;

}  // namespace phy::apps
