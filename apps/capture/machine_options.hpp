#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/app.hpp"
#include "common/progress.hpp"
#include "common/size_errors.hpp"
#include "phy/files/options.hpp"

namespace phy::apps {

/// Where and how an app processes a capture.
struct MachineOptions {
    std::string backend = "auto";
    std::string device;  ///< see choose_places()
    std::optional<int> threads;
    std::optional<std::uint64_t> chunk;
    std::optional<std::uint64_t> streams;
    IssueOrder order = IssueOrder::sequential;
};

/// Adds --backend, --device, --threads, --chunk, --streams and --order.
void add_machine_options(MachineOptions& options, po::options_description& list);

/// Sets the places and the pipeline of a function of files, and makes it show progress and stop when
/// interrupted. For places see choose_places(); by default demodulation_threads().
void set_machine(FileOptions& files, const MachineOptions& options, Progress& progress);

/// Returns work(). Size errors name the option that causes them.
template <typename Work>
auto with_machine_errors(const MachineOptions& options, Work work) {
    return with_size_errors({.chunk = options.chunk, .streams = options.streams}, work);
}

}  // namespace phy::apps
