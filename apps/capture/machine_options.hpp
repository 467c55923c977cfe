#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/app.hpp"
#include "common/progress.hpp"
#include "common/size_errors.hpp"
#include "phy/files/options.hpp"

namespace phy::apps {

/// Where and how an app that goes over a capture runs.
struct MachineOptions {
    std::string backend = "auto";
    std::string device;  ///< see choose_places
    std::optional<int> threads;
    std::optional<std::uint64_t> chunk;
    std::optional<std::uint64_t> streams;
    IssueOrder order = IssueOrder::sequential;
};

/// Adds --backend, --device, --threads, --chunk, --streams and --order.
void add_machine_options(MachineOptions& options, po::options_description& list);

/// Sets where and how a function of a file runs, and has it show its progress and end when it is interrupted.
/// For places see choose_places(); by default demodulation_threads().
void set_machine(FileOptions& files, const MachineOptions& options, Progress& progress);

/// Calls work() and returns what it returns; errors of sizes name the option at fault.
template <typename Work>
auto with_machine_errors(const MachineOptions& options, Work work) {
    return with_size_errors({.chunk = options.chunk, .streams = options.streams}, work);
}

}  // namespace phy::apps
