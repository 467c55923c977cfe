#include "common/interrupt.hpp"

#include <atomic>
#include <csignal>
#include <cstring>

#include <unistd.h>

#include "phy/machine/atomic_file.hpp"

namespace phy::apps {
namespace {

/// Longer than a chunk of work takes.
constexpr unsigned seconds_to_stop = 3;

std::atomic<bool> stop_requested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait for a lock");
std::atomic<const char*> name_of_app = "";
static_assert(std::atomic<const char*>::is_always_lock_free);

[[noreturn]] void end_at_once() {
    remove_unfinished_outputs();
    _exit(exit_interrupted);
}

void write_to_stderr(const char* text) {
    // An error of write() cannot be reported any more.
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
}

extern "C" void request_stop(int /*signal*/) {
    if (stop_requested.exchange(true)) end_at_once();
    alarm(seconds_to_stop);
}

extern "C" void end_what_does_not_stop(int /*signal*/) {
    write_to_stderr(name_of_app);
    write_to_stderr(": interrupted\n");
    end_at_once();
}

void handle(int signal, void (*handler)(int)) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
}

void handle_unless_ignored(int signal) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) handle(signal, request_stop);
}

}  // namespace

void handle_signals(const char* app) {
    name_of_app = app;
    handle(SIGALRM, end_what_does_not_stop);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        handle_unless_ignored(signal);
    for (const int signal : {SIGXFSZ, SIGPIPE})
        std::signal(signal, SIG_IGN);
}

void throw_if_interrupted() {
    if (!stop_requested) return;
    alarm(seconds_to_stop);
    throw Interrupted();
}

void end_of_work() noexcept {
    alarm(0);
}

}  // namespace phy::apps
