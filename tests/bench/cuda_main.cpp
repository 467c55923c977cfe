// phy_cuda_bench [--json FILE] [--filter SUBSTRING] [--device N] [--quick]

#include <charconv>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "bench/cuda_suite.hpp"

namespace {

struct Arguments {
    std::string json;
    int device = 0;
    phy::bench::Suite::Options options;
};

int number(const std::string& text) {
    int value = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stopped != end)
        throw phy::ArgumentError("--device " + text + ": expected a whole number");
    return value;
}

Arguments parse(int argc, char** argv) {
    Arguments arguments;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        const auto value = [&]() -> std::string {
            if (i + 1 == argc) throw phy::ArgumentError(option + ": expected a value");
            return argv[++i];
        };
        if (option == "--json")
            arguments.json = value();
        else if (option == "--filter")
            arguments.options.filter = value();
        else if (option == "--device")
            arguments.device = number(value());
        else if (option == "--quick")
            arguments.options.quick = true;
        else
            throw phy::ArgumentError("unknown option " + option +
                                     ": expected --json FILE, --filter SUBSTRING, --device N or --quick");
    }
    return arguments;
}

void run(const Arguments& arguments) {
    using namespace phy;
    const gpu::Device device(arguments.device);
    const gpu::CurrentDevice current(device);
    bench::Suite suite(device, arguments.options);
    bench::channel_benchmarks(suite);
    bench::demapper_benchmarks(suite);
    bench::equalizer_benchmarks(suite);
    bench::chain_benchmarks(suite);
    bench::slot_benchmarks(suite);
    bench::mapper_benchmarks(suite);
    bench::measure_benchmarks(suite);
    bench::fft_benchmarks(suite);
    bench::ofdm_benchmarks(suite);
    bench::compression_benchmarks(suite);
    bench::average_benchmarks(suite);
    bench::scrambling_benchmarks(suite);
    bench::coding_benchmarks(suite);
    bench::receiver_benchmarks(suite);
    if (arguments.json.empty()) return;
    std::ofstream file(arguments.json);
    if (!(file << suite.json() << std::flush)) throw FileError(arguments.json + ": cannot be written");
}

int fail(const std::exception& error, int status) {
    fmt::print(stderr, "phy_cuda_bench: {}\n", error.what());
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        run(parse(argc, argv));
        return 0;
    } catch (const phy::BackendError& error) {
        return fail(error, 3);
    } catch (const phy::ArgumentError& error) {
        return fail(error, 2);
    } catch (const std::exception& error) {
        return fail(error, 1);
    }
}
