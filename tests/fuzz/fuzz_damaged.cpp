#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <numeric>
#include <vector>

#include "fuzz/capture_input.hpp"
#include "fuzz/scratch_file.hpp"

namespace {

using Bytes = std::vector<std::byte>;

/// What CaptureWriter makes of the configuration.
Bytes written(phy::CaptureWriter::Config config) {
    const phy_test::TemporaryDirectory directory;
    const auto path = directory / "capture.h5";
    config.symbols =
        std::accumulate(config.shape.begin(), config.shape.end(), std::uint64_t{1}, std::multiplies());
    phy::CaptureWriter writer(path, config);
    writer.append(
        {config.format, Bytes(config.symbols * phy::size_of(config.format)).data(), config.symbols});
    if (config.noise_per_symbol) writer.append_noise(std::vector<float>(config.symbols, 0.1F));
    if (config.bits)
        writer.append_bits(
            std::vector<std::uint8_t>(config.symbols * phy::bits_per_symbol(config.modulation)));
    if (config.codewords)
        writer.append_codewords(std::vector<std::uint8_t>(config.codewords->slots * config.codewords->bits));
    writer.commit();
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
    const auto* const first = reinterpret_cast<const std::byte*>(bytes.data());
    return {first, first + bytes.size()};
}

/// Small files that between them have all that CaptureWriter can write.
std::vector<Bytes> write_captures() {
    using enum phy::CaptureLayout;
    using enum phy::SampleFormat;
    return {
        written({.format = cf32, .layout = compound, .noise_variance = 0.1F, .bits = true, .shape = {40}}),
        written({.format = ci16,
                 .layout = trailing,
                 .full_scale = 8192.0,
                 .noise_per_symbol = true,
                 .shape = {4, 9}}),
        written({.format = cf16, .layout = interleaved, .shape = {40}}),
        written({.format = ci8, .layout = chunked, .noise_per_symbol = true, .bits = true, .shape = {40}}),
        written({.format = cf32, .layout = gzip, .noise_per_symbol = true, .bits = true, .shape = {4, 9}}),
        written({.format = cf16,
                 .layout = compound,
                 .kind = phy::CaptureKind::grid,
                 .shape = {2, 14, 12},
                 .link = "{}",
                 .codewords = phy::CodewordShape{.slots = 2, .bits = 30}}),
        written({.format = ci16,
                 .layout = gzip,
                 .kind = phy::CaptureKind::samples,
                 .shape = {2, 300},
                 .link = "{}",
                 .sample_rate = 30.72e6,
                 .center_frequency = 3.5e9})};
}

}  // namespace

/// The input is options, a byte that chooses a file that is whole, and damages.
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's own name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<Bytes> captures = write_captures();
    static const phy_fuzz::ScratchFile file("damaged.h5");

    phy_fuzz::Input input(data, size);
    const phy::CaptureOptions options = phy_fuzz::choose_options(input);
    Bytes bytes = input.choose(captures);
    while (!input.rest().empty()) {
        const auto at = input.take<std::uint16_t>();
        bytes[at % bytes.size()] = input.take<std::byte>();
    }
    const auto& path = file.write(bytes);
    phy_fuzz::answer([&] {
        phy::CaptureReader reader(path, options);
        phy_fuzz::read_some(reader);
    });
    return 0;
}
