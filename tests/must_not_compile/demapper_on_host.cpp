// clang-format off
// What the compiler says names a line, and the macro of a mistake stands in it.
#include <array>
#include <vector>

#include "phy/phy.hpp"

/// What a demapper of the host takes. Each part has a mistake and, beside it, the same line without.

using namespace phy;  // NOLINT(google-build-using-namespace)

struct Memory {
    std::vector<cf32> symbols;
    std::vector<float> noise;
    std::vector<std::int8_t> soft_bits;
    gpu::PinnedBuffer<cf32> pinned_symbols;
    gpu::PinnedBuffer<float> pinned_noise;
    gpu::PinnedBuffer<std::int8_t> pinned_soft_bits;
    gpu::DeviceBuffer<cf32> device_symbols;
    gpu::DeviceBuffer<float> device_noise;
    gpu::DeviceBuffer<std::int8_t> device_soft_bits;
    gpu::DeviceBuffer<DemapCounters> device_counters;
    DemapCounters counters;
    gpu::Stream stream;
};

void all_memory_of_the_host(SoftDemapper& demap, const Memory& in, Memory& out) {
    demap(in.symbols, in.noise, out.soft_bits);
    demap(std::span(in.symbols), std::span(in.noise), std::span(out.soft_bits));
    demap(in.pinned_symbols, in.pinned_noise, out.pinned_soft_bits);
    demap(std::vector<cf32>(3), std::vector<float>(3), out.soft_bits);
}

void places(const Host& host, const gpu::Device& device) {
#ifdef DEMAPPER_OF_THE_HOST_ON_A_DEVICE  // no matching
    const SoftDemapper demap(device, {});  // DEMAPPER_OF_THE_HOST_ON_A_DEVICE
#else
    const SoftDemapper demap(host, {});
#endif
#ifdef DEMAPPER_OF_A_DEVICE_ON_THE_HOST  // no matching
    const gpu::SoftDemapper demap_on(host, {});  // DEMAPPER_OF_A_DEVICE_ON_THE_HOST
#else
    const gpu::SoftDemapper demap_on(device, {});
#endif
}

void soft(SoftDemapper& demap, Memory& m) {
#ifdef SYMBOLS_ON_DEVICE  // no match
    demap(m.device_symbols, m.noise, m.soft_bits);  // SYMBOLS_ON_DEVICE
#else
    demap(m.symbols, m.noise, m.soft_bits);
#endif
#ifdef SYMBOLS_IN_DEVICE_SPAN  // no match
    demap(m.device_symbols.span(), m.noise, m.soft_bits);  // SYMBOLS_IN_DEVICE_SPAN
#else
    demap(std::span(m.symbols), m.noise, m.soft_bits);
#endif
#ifdef SYMBOLS_IN_DEVICE_VIEW  // no match
    demap(gpu::SymbolView(m.device_symbols), m.noise, m.soft_bits);  // SYMBOLS_IN_DEVICE_VIEW
#else
    demap(SymbolView(m.symbols), m.noise, m.soft_bits);
#endif
#ifdef NOISE_ON_DEVICE  // no match
    demap(m.symbols, m.device_noise, m.soft_bits);  // NOISE_ON_DEVICE
#else
    demap(m.symbols, m.noise, m.soft_bits);
#endif
#ifdef NOISE_OF_ANOTHER_TYPE  // no match
    demap(m.symbols, std::vector<double>(3), m.soft_bits);  // NOISE_OF_ANOTHER_TYPE
#else
    demap(m.symbols, std::vector<float>(3), m.soft_bits);
#endif
#ifdef SOFT_BITS_ON_DEVICE  // no match
    demap(m.symbols, m.noise, m.device_soft_bits);  // SOFT_BITS_ON_DEVICE
#else
    demap(m.symbols, m.noise, m.soft_bits);
#endif
#ifdef SOFT_BITS_IN_CONST_VECTOR  // no match
    demap(m.symbols, m.noise, std::as_const(m.soft_bits));  // SOFT_BITS_IN_CONST_VECTOR
#else
    demap(std::as_const(m.symbols), std::as_const(m.noise), m.soft_bits);
#endif
#ifdef SOFT_BITS_IN_CONST_PINNED_BUFFER  // no match
    demap(m.symbols, m.noise, std::as_const(m.pinned_soft_bits));  // SOFT_BITS_IN_CONST_PINNED_BUFFER
#else
    demap(std::as_const(m.pinned_symbols), m.noise, m.pinned_soft_bits);
#endif
#ifdef SOFT_BITS_IN_A_TEMPORARY  // no match
    demap(m.symbols, m.noise, std::vector<std::int8_t>(6));  // SOFT_BITS_IN_A_TEMPORARY
#else
    demap(std::vector<cf32>(3), m.noise, m.soft_bits);
#endif
}

void counters_and_streams(SoftDemapper& demap, Memory& m) {
#ifdef COUNTERS_ON_DEVICE  // no match
    demap(m.symbols, 0.1F, m.soft_bits, 0, m.device_counters);  // COUNTERS_ON_DEVICE
#else
    demap(m.symbols, 0.1F, m.soft_bits, 0, &m.counters);
#endif
#ifdef COUNTERS_IN_DEVICE_SPAN  // no match
    demap(m.symbols, 0.1F, m.soft_bits, 0, m.device_counters.span());  // COUNTERS_IN_DEVICE_SPAN
#else
    demap(m.symbols, 0.1F, m.soft_bits, 0, nullptr);
#endif
#ifdef STREAM_ON_THE_HOST  // no match
    demap(m.symbols, 0.1F, m.soft_bits, m.stream);  // STREAM_ON_THE_HOST
#else
    demap(m.symbols, 0.1F, m.soft_bits);
#endif
}

void batch(BatchDemapper& demap, Memory& m) {
#ifdef ALLOCATION_WITH_DEVICE_SYMBOLS  // could not convert|no viable conversion
    const Allocation symbols = {Modulation::qpsk, m.device_symbols, 0.1F, m.soft_bits};  // ALLOCATION_WITH_DEVICE_SYMBOLS
#else
    const Allocation symbols = {Modulation::qpsk, m.symbols, 0.1F, m.soft_bits};
#endif
#ifdef ALLOCATION_WITH_DEVICE_NOISE  // could not convert|no viable conversion
    const Allocation noise = {Modulation::qpsk, m.symbols, m.device_noise, m.soft_bits};  // ALLOCATION_WITH_DEVICE_NOISE
#else
    const Allocation noise = {Modulation::qpsk, m.symbols, m.noise, m.soft_bits};
#endif
#ifdef ALLOCATION_WITH_DEVICE_SOFT_BITS  // could not convert|no viable conversion
    const Allocation soft_bits = {Modulation::qpsk, m.symbols, 0.1F, m.device_soft_bits};  // ALLOCATION_WITH_DEVICE_SOFT_BITS
#else
    const Allocation soft_bits = {Modulation::qpsk, m.symbols, 0.1F, m.soft_bits};
#endif
#ifdef BATCH_OF_DEVICE_ALLOCATIONS  // no match
    demap(std::array<gpu::Allocation, 1>{{{Modulation::qpsk, {}, 0.1F, {}}}});  // BATCH_OF_DEVICE_ALLOCATIONS
#else
    demap(std::array<Allocation, 1>{{{Modulation::qpsk, {}, 0.1F, {}}}});
#endif
#ifdef BATCH_COUNTERS_ON_DEVICE  // no match
    demap(std::span(&symbols, 1), m.device_counters);  // BATCH_COUNTERS_ON_DEVICE
#else
    demap(std::span(&symbols, 1), &m.counters);
#endif
}
