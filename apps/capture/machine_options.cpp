#include "capture/machine_options.hpp"

#include <limits>

#include "common/interrupt.hpp"
#include "common/places.hpp"

namespace phy::apps {

void add_machine_options(MachineOptions& options, po::options_description& list) {
    list.add_options()                                                      //
        ("backend", text(options.backend, "BACKEND"), backend_option_text)  //
        ("threads",
         number_within<int>(options.threads, "--threads", "N", {0, 1024, "a whole number from 0 to 1024"}),
         "CPU threads (0: all processors; default: all but two, at least 1)")  //
        ("chunk",
         number_within<std::uint64_t>(
             options.chunk, "--chunk", "N",
             {1, std::numeric_limits<std::uint64_t>::max(), "a whole number of symbols from 1 on"}),
         "items per chunk: symbols, or slots of samples and grids; default: chosen for the backend")  //
        ("device", parsed(options.device, parse_device, "N[,N...]|all"),
         "CUDA devices, which take chunks in turn: N means cuda[N]")  //
        ("streams",
         number_within<std::uint64_t>(options.streams, "--streams", "N",
                                      {1, 1024, "a whole number from 1 to 1024"}),
         "chunks in flight on each device; default: chosen for the backend")  //
        ("order", parsed(options.order, parse_issue_order, "ORDER"),
         "order of a device's work: sequential (default: chunk by chunk), parallel (step by step) or serial "
         "(nothing overlaps)");
}

void set_machine(FileOptions& files, const MachineOptions& options, Progress& progress) {
    files.places =
        choose_places(options.backend, options.device, options.threads.value_or(demodulation_threads()));
    files.pipeline.chunk = options.chunk.value_or(0);
    files.pipeline.buffer_sets = options.streams.value_or(0);
    files.pipeline.order = options.order;
    files.progress = [&progress](std::uint64_t done, std::uint64_t all) {
        throw_if_interrupted();
        progress.update(done, all);
    };
}

}  // namespace phy::apps
