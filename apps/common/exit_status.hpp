#pragma once

namespace phy::apps {

/// How every app ends.
enum ExitStatus {
    exit_done = 0,
    exit_failed = 1,       ///< failed while running
    exit_wrong_usage = 2,  ///< the command line is at fault
    exit_no_backend = 3,   ///< a backend or device that was asked for is not there
    exit_interrupted = 130,
};

}  // namespace phy::apps
