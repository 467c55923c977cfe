#pragma once

namespace phy::apps {

/// Exit statuses of all apps.
enum ExitStatus {
    exit_done = 0,
    exit_failed = 1,       ///< failed while running
    exit_usage_error = 2,  ///< usage error
    exit_no_backend = 3,   ///< a requested backend or device is unavailable
    exit_interrupted = 130,
};

}  // namespace phy::apps
