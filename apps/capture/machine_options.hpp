#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/app.hpp"
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

/// Calls work() and returns what it returns; an ArgumentError names the option that was given.
template <typename Work>
auto with_machine_errors(const MachineOptions& options, Work work) {
    try {
        return work();
    } catch (const ArgumentError& error) {
        if (options.chunk) throw ArgumentError(fmt::format("--chunk {}: {}", *options.chunk, error.what()));
        if (options.streams)
            throw ArgumentError(fmt::format("--streams {}: {}", *options.streams, error.what()));
        throw;
    }
}

}  // namespace phy::apps
