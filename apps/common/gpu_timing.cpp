#include "common/gpu_timing.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "common/machine.hpp"
#include "phy/core/version.hpp"

namespace phy::apps {
namespace {

std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

int megahertz(const gpu::Device& device, cudaDeviceAttr clock) {
    int kilohertz = 0;
    gpu::check(cudaDeviceGetAttribute(&kilohertz, clock, device.ordinal()));
    return kilohertz / 1000;
}

std::string driver() {
    std::ifstream file("/proc/driver/nvidia/version");
    std::string line;
    return std::getline(file, line) ? line : "unknown";
}

// Ignores the first run: the device may wake up and load code.
double best_seconds(const gpu::Stream& stream, const gpu::Event& before, const gpu::Event& after,
                    const Launch& work) {
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 4; ++i) {
        before.record(stream);
        work(stream);
        after.record(stream);
        stream.synchronize();
        if (i > 0) best = std::min(best, double{after.milliseconds_since(before)});
    }
    return best * 1e-3;
}

}  // namespace

Launch as_graph(const gpu::Device& device, const Launch& work) {
    return [graph = std::make_shared<gpu::Graph>(device, work)](cudaStream_t on) { (*graph)(on); };
}

PairedTime time_paired(const gpu::Device& device, const Launch& reference, const Launch& work, int rounds) {
    const gpu::CurrentDevice current(device);
    const gpu::Stream stream(device);
    std::vector<gpu::Event> events;
    for (int i = 0; i < 2 * rounds + 1; ++i)
        events.emplace_back(device);

    reference(stream);
    work(stream);
    auto event = events.begin();
    event->record(stream);
    for (int i = 0; i < rounds; ++i) {
        reference(stream);
        (++event)->record(stream);
        work(stream);
        (++event)->record(stream);
    }
    stream.synchronize();

    std::vector<double> reference_times;
    std::vector<double> times;
    std::vector<double> ratios;
    for (std::size_t i = 0; i + 2 < events.size(); i += 2) {
        reference_times.push_back(events[i + 1].milliseconds_since(events[i]) * 1e-3);
        times.push_back(events[i + 2].milliseconds_since(events[i + 1]) * 1e-3);
        ratios.push_back(reference_times.back() / times.back());
    }
    return {median(reference_times), quartiles(times), median(ratios)};
}

Launch fastest_copy(const gpu::Device& device, std::span<const Move> moves, bool graph) {
    const gpu::CurrentDevice current(device);
    const gpu::Stream stream(device);
    const gpu::Event before(device);
    const gpu::Event after(device);
    Launch fastest;
    double least = std::numeric_limits<double>::infinity();
    for (const CopyKernel& kernel : copy_kernels(moves.front())) {
        Launch copy = [kernel, all = std::vector<Move>(moves.begin(), moves.end())](cudaStream_t on) {
            for (const Move& move : all)
                kernel(move, on);
        };
        if (graph) copy = as_graph(device, copy);
        const double seconds = best_seconds(stream, before, after, copy);
        if (seconds >= least) continue;
        least = seconds;
        fastest = std::move(copy);
    }
    return fastest;
}

std::vector<Json::Member> measurement_context(const gpu::Device& device) {
    int cuda_driver = 0;
    int cuda_runtime = 0;
    gpu::check(cudaDriverGetVersion(&cuda_driver));
    gpu::check(cudaRuntimeGetVersion(&cuda_runtime));
    return {{"date", date()},
            {"phy_version", version},
            {"gpu", device.name()},
            {"multiprocessors", device.multiprocessors()},
            {"clock_mhz", megahertz(device, cudaDevAttrClockRate)},
            {"memory_clock_mhz", megahertz(device, cudaDevAttrMemoryClockRate)},
            {"driver", driver()},
            {"cuda_of_driver", version_text(cuda_driver)},
            {"cuda_runtime", version_text(cuda_runtime)}};
}

}  // namespace phy::apps
