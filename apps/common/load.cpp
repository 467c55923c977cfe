#include "common/load.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

namespace phy::apps {

MachineState read_machine_state(const std::filesystem::path& root) {
    MachineState state;
    state.processors = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    // Such as "0.42 0.31 0.20 3/215 4711": averages over 1, 5 and 15 minutes, runnable threads / threads, a
    // PID.
    double five_minutes = 0.0;
    double fifteen_minutes = 0.0;
    std::ifstream load(root / "proc/loadavg");
    load >> state.load_average >> five_minutes >> fifteen_minutes >> state.runnable;
    std::ifstream(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") >> state.governor;
    return state;
}

std::string load_warning(const MachineState& state) {
    const double others = std::min(state.load_average, static_cast<double>(state.runnable - 1));
    std::string causes;
    if (others > std::max(0.5, 0.1 * state.processors))
        causes = fmt::format("other programs use processors (load average {:.2f} on {} processors)",
                             state.load_average, state.processors);
    if (!state.governor.empty() && state.governor != "performance")
        causes += fmt::format("{}the frequency of processors varies (governor {}, expected performance)",
                              causes.empty() ? "" : ", and ", state.governor);
    return causes.empty() ? "" : fmt::format("times may be too long: {}", causes);
}

Json warn_of_load() {
    const std::string warning = load_warning(read_machine_state("/"));
    if (warning.empty()) return Json::array({});
    spdlog::warn(warning);
    return Json::array({Json(warning)});
}

}  // namespace phy::apps
