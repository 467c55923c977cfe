#include "capture/machine_options.hpp"

#include <limits>

#include "common/choose_places.hpp"
#include "phy/files/demodulate.hpp"

namespace phy::apps {

void add_machine_options(MachineOptions& options, po::options_description& list) {
    list.add_options()                                                      //
        ("backend", text(options.backend, "BACKEND"), backend_option_text)  //
        ("threads",
         number_within<int>(options.threads, "--threads", "N", {0, 1024, "a whole number from 0 to 1024"}),
         "CPU threads (0: all processors; default: all but two, at least 1)")  //
        ("chunk",
         number_within<std::uint64_t>(
             options.chunk, "--chunk", "SYMBOLS",
             {1, std::numeric_limits<std::uint64_t>::max(), "a whole number of symbols from 1 on"}),
         "symbols, or slots of samples and grids, per chunk; default: chosen for the backend")  //
        ("device", parsed(options.device, parse_device, "N[,N...]|all"),
         "CUDA devices, which take chunks in turn: N means cuda[N]")  //
        ("streams",
         number_within<std::uint64_t>(options.streams, "--streams", "N",
                                      {1, 1024, "a whole number from 1 to 1024"}),
         "chunks in flight on each device; default: chosen for the backend")  //
        ("order", parsed(options.order, parse_issue_order, "ORDER"),
         "order of a device's work: sequential (default), parallel or serial");
}

std::vector<Place> places_of(const MachineOptions& options) {
    const int threads = options.threads.value_or(demodulation_threads());
    return choose_places(options.backend, options.device, threads);
}

Pipeline::Config pipeline_of(const MachineOptions& options) {
    Pipeline::Config config;
    config.chunk = options.chunk.value_or(0);
    config.lanes = options.streams.value_or(0);
    config.order = options.order;
    return config;
}

}  // namespace phy::apps
