// From a capture file to a file of soft bits, and back into memory.
//
// Called with a folder, in which it writes capture.h5 and soft_bits.raw: file_to_file FOLDER. Prints what
// demodulate_file() reports, and exits with status 1 if the soft bits in the file disagree with the report.
// Needs phy::files, and so HDF5.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

#include <phy/files/demodulate.hpp>
#include <phy/phy.hpp>

constexpr phy::Modulation modulation = phy::Modulation::qam64;
constexpr std::size_t count = 100'000;

/// Writes noisy symbols as 16-bit integers, with their modulation, their N0 and the bits that were sent: all
/// that a reader needs to know. Returns the bits.
std::vector<std::uint8_t> write_capture(const std::filesystem::path& file) {
    constexpr float n0 = 0.008F, full_scale = 8192.0F;  // the integer that stands for 1.0
    std::mt19937 random(1);
    std::vector<std::uint8_t> bits(count * bits_per_symbol(modulation));
    for (auto& bit : bits)
        bit = random() % 2;
    std::vector<phy::cf32> symbols(count);
    phy::Mapper(phy::Host(), {.modulation = modulation})(bits, symbols);
    std::normal_distribution<float> noise(0.0F, std::sqrt(n0 / 2.0F));
    std::vector<phy::ci16> integers;
    for (const phy::cf32 symbol : symbols) {
        const float re = symbol.real() + noise(random), im = symbol.imag() + noise(random);
        integers.push_back({static_cast<std::int16_t>(std::lround(full_scale * re)),
                            static_cast<std::int16_t>(std::lround(full_scale * im))});
    }
    phy::CaptureWriter capture(file, {.symbols = count,
                                      .format = phy::SampleFormat::ci16,
                                      .modulation = modulation,
                                      .noise_variance = n0,
                                      .full_scale = full_scale,
                                      .bits = true,
                                      .overwrite = true});
    capture.append(integers);
    capture.append_bits(bits);
    capture.commit();  // the file appears now
    return bits;
}

/// A .raw file has nothing but the soft bits. A .npy file has a header before them, for numpy.load(); any
/// other name makes an HDF5 file with the dataset /llr.
std::vector<std::int8_t> read_soft_bits(const std::filesystem::path& file) {
    std::vector<std::int8_t> llr(std::filesystem::file_size(file));
    std::ifstream stream(file, std::ios::binary);
    stream.read(reinterpret_cast<char*>(llr.data()), static_cast<std::streamsize>(llr.size()));
    if (!stream) throw phy::FileError(file.string() + ": cannot be read");
    return llr;
}

int main(int argc, char** argv) try {
    if (argc != 2) {
        std::fprintf(stderr, "usage: file_to_file FOLDER\n");
        return 2;
    }
    const std::filesystem::path folder = argv[1];
    std::filesystem::create_directories(folder);
    const std::vector<std::uint8_t> bits = write_capture(folder / "capture.h5");

    phy::DemodulateOptions options;
    options.overwrite = true;
    const phy::Demodulation done =
        phy::demodulate_file(folder / "capture.h5", folder / "soft_bits.raw", options);
    std::printf("%ju symbols of %s, N0 %.4f, EVM %.2f %%, %ju of %ju bits are wrong\n",
                static_cast<std::uintmax_t>(done.symbols), to_string(done.demapper.modulation).data(),
                done.noise_variance.value_or(0.0F), 100.0 * done.check.evm,
                static_cast<std::uintmax_t>(done.bit_errors.value_or(0)),
                static_cast<std::uintmax_t>(done.compared_bits));
    for (const std::string& warning : done.warnings)
        std::printf("warning: %s\n", warning.c_str());

    const std::vector<std::int8_t> llr = read_soft_bits(folder / "soft_bits.raw");
    std::size_t errors = 0;
    for (std::size_t i = 0; i < bits.size() && i < llr.size(); ++i)
        errors += (llr[i] < 0) != (bits[i] == 1) ? 1 : 0;
    std::printf("soft_bits.raw has %zu soft bits, %zu of them are wrong\n", llr.size(), errors);
    const bool right = llr.size() == bits.size() && errors == done.bit_errors && errors < bits.size() / 50;
    return right && done.warnings.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& error) {
    std::fprintf(stderr, "file_to_file: %s\n", error.what());
    return EXIT_FAILURE;
}
