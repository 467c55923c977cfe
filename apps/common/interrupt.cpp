#include "common/interrupt.hpp"

#include <atomic>
#include <csignal>

#include <unistd.h>

#include "common/exit_status.hpp"

namespace phy::apps {
namespace {

std::atomic<bool> stop_requested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait for a lock");
std::atomic<CleanUp> last_clean_up = nullptr;
static_assert(std::atomic<CleanUp>::is_always_lock_free);

extern "C" void request_stop(int /*signal*/) {
    if (stop_requested.exchange(true)) {
        if (const CleanUp clean_up = last_clean_up) clean_up();
        _exit(exit_interrupted);
    }
}

void handle_unless_ignored(int signal) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) return;
    action = {};
    action.sa_handler = request_stop;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
}

}  // namespace

void handle_signals(CleanUp clean_up) {
    last_clean_up = clean_up;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        handle_unless_ignored(signal);
    for (const int signal : {SIGXFSZ, SIGPIPE})
        std::signal(signal, SIG_IGN);
}

void throw_if_interrupted() {
    if (stop_requested) throw Interrupted();
}

}  // namespace phy::apps
