#pragma once

#include <exception>

namespace phy::apps {

/// The user asked the program to stop.
class Interrupted : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

/// Removes what must not be left behind; may be null.
using CleanUp = void (*)() noexcept;

/// From now on SIGINT, SIGTERM and SIGHUP ask for an orderly stop, which throw_if_interrupted() carries out;
/// a second one calls clean_up, which must be safe in a signal handler, and ends the process at once. Signals
/// that were ignored when the program started stay ignored, as nohup and shells expect. A file size limit and
/// a closed pipe become errors of the call that meets them in place of signals that kill.
void handle_signals(CleanUp clean_up);

/// Throws Interrupted if a stop was asked for. Thread-safe; called between chunks of work.
void throw_if_interrupted();

}  // namespace phy::apps
