// Sums of rows on a GPU against those of CUB, in turns: as JSON. With --tunings, every tuning that is worth a
// look. Usage: reduce_cuda_bench [--quick] [--tunings]

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/cub_sums.hpp"
#include "common/gpu_timing.hpp"
#include "common/repeat.hpp"
#include "common/signal.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/reduce/reduce_rows.hpp"

namespace {

using namespace phy;
using apps::Json;
using gpu::detail::RowTuning;

struct Options {
    bool quick = false;
    bool tunings = false;
};

struct Shape {
    std::size_t rows;
    std::size_t length;
};

std::vector<RowTuning> tunings_of(const gpu::Device& device, const Shape& shape, const Options& options) {
    const RowTuning best = gpu::detail::row_tuning(shape.rows, shape.length, device.multiprocessors());
    std::vector<RowTuning> all = {best};
    if (!options.tunings) return all;
    const unsigned levels = shape.length <= row_tree.block ? 1 : gpu::detail::max_row_level + 1;
    for (const bool wide : {true, false}) {
        for (const unsigned threads : {64U, 128U, 256U, 512U}) {
            for (unsigned level = 0; level < levels; ++level) {
                RowTuning tuning = best;
                tuning.threads = threads;
                tuning.level = level;
                tuning.wide = wide;
                all.push_back(tuning);
            }
        }
    }
    // The blocks that fit on the device at a time, which loop.
    for (const unsigned of_multiprocessor : {4U, 8U, 16U}) {
        RowTuning tuning = best;
        tuning.max_blocks = static_cast<std::uint64_t>(device.multiprocessors()) * of_multiprocessor;
        all.push_back(tuning);
    }
    return all;
}

template <class T>
void measure(const gpu::Device& device, const std::string& type, const Shape& shape, const Options& options,
             std::vector<Json>& results) {
    using Op = Sum<T>;
    const std::size_t elements = shape.rows * shape.length;
    gpu::DeviceBuffer<T> in(device, elements);
    gpu::DeviceBuffer<typename Op::Result> out(device, shape.rows);
    gpu::DeviceBuffer<std::byte> workspace(device, reduce_rows_workspace_bytes<Op>(shape.rows, shape.length));
    const apps::Signal signal(Modulation::qam256, SampleFormat::cf32, 30.0, apps::signal_stretch);
    apps::fill_repeating(device, as_bytes(in.span()), std::span<const std::byte>(signal.samples));
    apps::CubSum<T> cub(device, in.span(), shape.rows);
    for (const RowTuning& tuning : tunings_of(device, shape, options)) {
        const auto work = [&](cudaStream_t on) {
            gpu::detail::reduce_rows_tuned<Op>(device, in, shape.rows, out, workspace, on, {}, &tuning);
        };
        const apps::PairedTime time = apps::time_paired(
            device, [&](cudaStream_t on) { cub(on); }, work, options.quick ? 3 : 40);
        const double bytes = static_cast<double>(elements * sizeof(T));
        results.push_back(Json::object({{"name", fmt::format("sum/{}/{}x{}", type, shape.rows, shape.length)},
                                        {"threads", tuning.threads},
                                        {"level", tuning.level},
                                        {"wide", tuning.wide ? 1 : 0},
                                        {"max_blocks", tuning.max_blocks},
                                        {"seconds", time.seconds.median},
                                        {"lower_quartile_seconds", time.seconds.lower},
                                        {"upper_quartile_seconds", time.seconds.upper},
                                        {"cub_seconds", time.reference_seconds},
                                        {"GB/s", bytes / time.seconds.median * 1e-9},
                                        {"of_cub", time.share}}));
        fmt::print("{}{}", results.size() == 1 ? "\n" : ",\n", results.back().text());
        std::fflush(stdout);
    }
}

void run(const Options& options) {
    const gpu::Device device;
    const gpu::CurrentDevice current(device);
    const std::size_t all = std::size_t{1} << (options.quick ? 22 : 29);
    std::vector<Json> results;
    fmt::print("{{\"context\": {},\n\"benchmarks\": [",
               Json::object(apps::measurement_context(device)).text());
    for (const Shape& shape : {Shape{1, all}, Shape{all / 512, 512}, Shape{512, all / 512}}) {
        measure<std::int32_t>(device, "int32", shape, options, results);
        measure<float>(device, "float", shape, options, results);
    }
    fmt::print("\n]}}\n");
}

}  // namespace

int main(int argc, char** argv) {
    try {
        Options options;
        for (int i = 1; i < argc; ++i) {
            const std::string_view option = argv[i];
            if (option == "--quick") {
                options.quick = true;
            } else if (option == "--tunings") {
                options.tunings = true;
            } else {
                throw ArgumentError("unknown option " + std::string(option) +
                                    ": expected --quick or --tunings");
            }
        }
        run(options);
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "reduce_cuda_bench: {}\n", error.what());
        return 1;
    }
}
