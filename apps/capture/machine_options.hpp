#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/app.hpp"
#include "common/size_errors.hpp"
#include "phy/pipeline/pipeline.hpp"

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

/// See choose_places(); by default a thread a processor, less one each for reading and writing.
std::vector<Place> places_of(const MachineOptions& options);

Pipeline::Config pipeline_of(const MachineOptions& options);

/// Calls work() and returns what it returns; errors of sizes name the option at fault.
template <typename Work>
auto with_machine_errors(const MachineOptions& options, Work work) {
    return with_size_errors({.chunk = options.chunk, .streams = options.streams}, work);
}

}  // namespace phy::apps
