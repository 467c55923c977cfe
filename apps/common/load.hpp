#pragma once

#include <filesystem>
#include <string>

#include "common/json.hpp"

/// What else on this machine changes the times of a benchmark.
namespace phy::apps {

/// The state of a machine before a benchmark starts.
struct MachineState {
    double load_average = 0.0;  ///< of the last minute
    int runnable = 1;           ///< threads that run or wait for a processor, the caller included
    int processors = 1;         ///< of the machine
    std::string governor = {};  ///< of the processors' frequency; empty: none is visible
};

/// root: the folder that stands for "/". A value that cannot be read keeps its default.
MachineState read_machine_state(const std::filesystem::path& root);

/// One line about what makes times longer or less certain; empty on a quiet machine. Other threads count if
/// there have been some for a minute and are now: a load average also holds work that has just ended, as an
/// earlier benchmark. They are accepted up to 10 % of the processors or half a processor, whichever is more.
std::string load_warning(const MachineState& state);

/// Logs load_warning() of this machine, if there is one, and returns it as a list for --json.
Json warn_of_load();

}  // namespace phy::apps
