// Soft bits on a GPU: symbols and soft bits are in device memory, and a stream orders the work.
//
// Called without arguments. Prints the name of the device, how many soft bits differ from those of the CPU,
// and the bit error rate. Exit status 1 if one differs or 2 % of the bits are wrong. Without a GPU, or if phy
// was built without CUDA, it prints what is missing and exits with status 77 (skipped). A C++ compiler
// compiles it, without CUDA's headers.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include <phy/phy.hpp>

constexpr int skipped = 77;
constexpr phy::DemapperConfig config = {.modulation = phy::Modulation::qam64};

/// What the device has to make, byte by byte.
std::vector<std::int8_t> demap_on_host(const std::vector<phy::cf32>& symbols, float n0) {
    std::vector<std::int8_t> llr(symbols.size() * bits_per_symbol(config.modulation));
    phy::SoftDemapper(phy::Host({.threads = 0}), config)(symbols, n0, llr);
    return llr;
}

/// A template, because a phy without CUDA has no phy::gpu to link: there nothing calls it.
template <class Device>
int compare(const Device& device) {
    constexpr std::size_t count = 1'000'000;
    constexpr float n0 = 0.01F;
    const phy::gpu::Stream stream(device);
    const phy::gpu::Mapper map(device, {.modulation = config.modulation});
    phy::gpu::SoftDemapper demap(device, config);
    demap.prepare(n0, phy::SoftBitFormat::int8);  // loads the kernel, so that the call below does not wait

    // Page-locked memory: copies from and to it do not block this thread.
    std::mt19937 random(1);
    phy::gpu::PinnedBuffer<std::uint8_t> bits(count * bits_per_symbol(config.modulation));
    for (auto& bit : bits)
        bit = random() % 2;
    phy::gpu::PinnedBuffer<phy::cf32> symbols(count);
    phy::gpu::PinnedBuffer<std::int8_t> llr(bits.size());
    phy::gpu::DeviceBuffer<std::uint8_t> device_bits(device, bits.size());
    phy::gpu::DeviceBuffer<phy::cf32> device_symbols(device, count);
    phy::gpu::DeviceBuffer<std::int8_t> device_llr(device, bits.size());

    // The transmitter, on the device too. The stream runs its work in order.
    phy::gpu::copy_async(device_bits, bits, stream);
    map(device_bits, device_symbols, stream);
    phy::gpu::copy_async(symbols, device_symbols, stream);
    stream.synchronize();

    // The channel, on the host.
    std::normal_distribution<float> noise(0.0F, 0.0707F);  // of I and of Q: the square root of N0 / 2
    for (auto& symbol : symbols) {
        const float re = noise(random), im = noise(random);
        symbol += phy::cf32(re, im);
    }

    // The receiver: three calls that return at once, and one that waits.
    phy::gpu::copy_async(device_symbols, symbols, stream);
    demap(device_symbols, n0, device_llr, stream);
    phy::gpu::copy_async(llr, device_llr, stream);
    stream.synchronize();

    const std::vector<std::int8_t> expected = demap_on_host({symbols.begin(), symbols.end()}, n0);
    std::size_t different = 0, errors = 0;
    for (std::size_t i = 0; i < llr.size(); ++i) {
        const std::int8_t soft_bit = llr.data()[i];
        different += soft_bit != expected[i] ? 1 : 0;
        errors += (soft_bit < 0) != (bits.data()[i] == 1) ? 1 : 0;
    }
    std::printf("%s: %zu soft bits, %zu differ from those of the CPU; bit error rate %.5f\n",
                device.name().c_str(), llr.size(), different,
                static_cast<double>(errors) / static_cast<double>(llr.size()));
    return different == 0 && errors < llr.size() / 50 ? EXIT_SUCCESS : EXIT_FAILURE;
}

template <bool has_cuda>
int run() {
    if constexpr (has_cuda) {
        const std::vector<phy::gpu::Device> devices = phy::gpu::Device::all();
        if (!devices.empty()) return compare(devices.front());
        std::printf("skipped: %s\n", phy::gpu::Device::why_not().c_str());
    } else {
        std::printf("skipped: this phy was built without CUDA\n");
    }
    return skipped;
}

int main() {
    return run<phy::built_with_cuda>();
}
