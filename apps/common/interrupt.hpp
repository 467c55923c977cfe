#pragma once

#include <exception>

namespace phy::apps {

/// The user asked the program to stop.
class Interrupted : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

/// From now on SIGINT, SIGTERM and SIGHUP ask for an orderly stop, which throw_if_interrupted() carries out.
/// A second one ends the program at once, and so do a few seconds without a stop, such as inside a library
/// that hangs; unfinished outputs are removed. Signals that were ignored when the program started stay
/// ignored, as nohup and shells expect. A file size limit and a closed pipe become errors of the call that
/// meets them in place of signals that kill. app is its name, for as long as it runs.
void handle_signals(const char* app);

/// Throws Interrupted if a stop was asked for. Thread-safe; called between chunks of work.
void throw_if_interrupted();

/// From now on nothing waits for a stop that was asked for.
void end_of_work() noexcept;

}  // namespace phy::apps
