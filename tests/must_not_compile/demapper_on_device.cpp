// clang-format off
// What the compiler says names a line, and the macro of a mistake stands in it.
#include <array>
#include <vector>

#include "phy/phy.hpp"

/// What a demapper of a device takes. Each part has a mistake and, beside it, the same line without.

using phy::cf32;
using phy::DemapCounters;
using phy::Modulation;
using namespace phy::gpu;  // NOLINT(google-build-using-namespace)

struct Memory {
    std::vector<cf32> host_symbols;
    std::vector<float> host_noise;
    std::vector<std::int8_t> host_soft_bits;
    PinnedBuffer<cf32> pinned_symbols;
    PinnedBuffer<float> pinned_noise;
    PinnedBuffer<std::int8_t> pinned_soft_bits;
    PinnedBuffer<DemapCounters> pinned_counters;
    DeviceBuffer<cf32> symbols;
    DeviceBuffer<float> noise;
    DeviceBuffer<std::int8_t> soft_bits;
    DeviceBuffer<DemapCounters> counters;
    DemapCounters host_counters;
    Stream stream;
};

void all_memory_of_a_device(const SoftDemapper& demap, const Memory& in, Memory& out) {
    demap(in.symbols, in.noise, out.soft_bits, in.stream);
    demap(in.symbols.span(), in.noise.span(), out.soft_bits.span(), in.stream, 0, out.counters);
    demap(in.pinned_symbols.on_device(), in.pinned_noise.on_device(), out.pinned_soft_bits.on_device(),
          in.stream);
    demap(device_span(in.symbols.data(), 3), 0.1F, device_span(out.soft_bits.data(), 6), in.stream);
}

void symbols(const SoftDemapper& demap, Memory& m) {
#ifdef SYMBOLS_IN_VECTOR  // no match
    demap(m.host_symbols, m.noise, m.soft_bits, m.stream);  // SYMBOLS_IN_VECTOR
#else
    demap(m.symbols, m.noise, m.soft_bits, m.stream);
#endif
#ifdef SYMBOLS_IN_SPAN  // no match
    demap(std::span(m.host_symbols), m.noise, m.soft_bits, m.stream);  // SYMBOLS_IN_SPAN
#else
    demap(m.symbols.span(), m.noise, m.soft_bits, m.stream);
#endif
#ifdef SYMBOLS_IN_PINNED_BUFFER  // no match
    demap(m.pinned_symbols, m.noise, m.soft_bits, m.stream);  // SYMBOLS_IN_PINNED_BUFFER
#else
    demap(m.pinned_symbols.on_device(), m.noise, m.soft_bits, m.stream);
#endif
#ifdef SYMBOLS_IN_HOST_VIEW  // no match
    demap(phy::SymbolView(m.host_symbols), m.noise, m.soft_bits, m.stream);  // SYMBOLS_IN_HOST_VIEW
#else
    demap(SymbolView(m.symbols), m.noise, m.soft_bits, m.stream);
#endif
#ifdef SYMBOLS_AT_RAW_POINTER  // no match
    demap({phy::SampleFormat::cf32, m.symbols.data(), 3}, m.noise, m.soft_bits, m.stream);  // SYMBOLS_AT_RAW_POINTER
#else
    demap(device_span(m.symbols.data(), 3), m.noise, m.soft_bits, m.stream);
#endif
#ifdef SYMBOLS_OF_ANOTHER_TYPE  // no match
    demap(m.noise, m.noise, m.soft_bits, m.stream);  // SYMBOLS_OF_ANOTHER_TYPE
#else
    demap(m.symbols, m.noise, m.soft_bits, m.stream);
#endif
}

void noise(const SoftDemapper& demap, Memory& m) {
#ifdef NOISE_IN_VECTOR  // no match
    demap(m.symbols, m.host_noise, m.soft_bits, m.stream);  // NOISE_IN_VECTOR
#else
    demap(m.symbols, m.noise, m.soft_bits, m.stream);
#endif
#ifdef NOISE_IN_SPAN  // no match
    demap(m.symbols, std::span(m.host_noise), m.soft_bits, m.stream);  // NOISE_IN_SPAN
#else
    demap(m.symbols, m.noise.span(), m.soft_bits, m.stream);
#endif
#ifdef NOISE_IN_PINNED_BUFFER  // no match
    demap(m.symbols, m.pinned_noise, m.soft_bits, m.stream);  // NOISE_IN_PINNED_BUFFER
#else
    demap(m.symbols, m.pinned_noise.on_device(), m.soft_bits, m.stream);
#endif
#ifdef NOISE_OF_THE_HOST  // no match
    demap(m.symbols, phy::NoiseVariance(0.1F), m.soft_bits, m.stream);  // NOISE_OF_THE_HOST
#else
    demap(m.symbols, NoiseVariance(0.1F), m.soft_bits, m.stream);
#endif
#ifdef NOISE_AT_RAW_POINTER  // no match
    demap(m.symbols, m.noise.data(), m.soft_bits, m.stream);  // NOISE_AT_RAW_POINTER
#else
    demap(m.symbols, device_span(m.noise.data(), 3), m.soft_bits, m.stream);
#endif
}

void soft_bits(const SoftDemapper& demap, Memory& m) {
#ifdef SOFT_BITS_IN_VECTOR  // no match
    demap(m.symbols, m.noise, m.host_soft_bits, m.stream);  // SOFT_BITS_IN_VECTOR
#else
    demap(m.symbols, m.noise, m.soft_bits, m.stream);
#endif
#ifdef SOFT_BITS_IN_SPAN  // no match
    demap(m.symbols, m.noise, std::span(m.host_soft_bits), m.stream);  // SOFT_BITS_IN_SPAN
#else
    demap(m.symbols, m.noise, m.soft_bits.span(), m.stream);
#endif
#ifdef SOFT_BITS_IN_PINNED_BUFFER  // no match
    demap(m.symbols, m.noise, m.pinned_soft_bits, m.stream);  // SOFT_BITS_IN_PINNED_BUFFER
#else
    demap(m.symbols, m.noise, m.pinned_soft_bits.on_device(), m.stream);
#endif
#ifdef SOFT_BITS_AT_RAW_POINTER  // no match
    demap(m.symbols, m.noise, {phy::SoftBitFormat::int8, m.soft_bits.data(), 6}, m.stream);  // SOFT_BITS_AT_RAW_POINTER
#else
    demap(m.symbols, m.noise, device_span(m.soft_bits.data(), 6), m.stream);
#endif
#ifdef SOFT_BITS_IN_CONST_BUFFER  // no match
    demap(m.symbols, m.noise, std::as_const(m.soft_bits), m.stream);  // SOFT_BITS_IN_CONST_BUFFER
#else
    demap(std::as_const(m.symbols), std::as_const(m.noise), m.soft_bits, m.stream);
#endif
#ifdef SOFT_BITS_IN_CONST_PINNED_BUFFER  // no match
    demap(m.symbols, m.noise, std::as_const(m.pinned_soft_bits).on_device(), m.stream);  // SOFT_BITS_IN_CONST_PINNED_BUFFER
#else
    demap(std::as_const(m.pinned_symbols).on_device(), m.noise, m.pinned_soft_bits.on_device(), m.stream);
#endif
}

void counters_and_streams(const SoftDemapper& demap, Memory& m) {
#ifdef COUNTERS_OF_THE_HOST  // no match
    demap(m.symbols, m.noise, m.soft_bits, m.stream, 0, &m.host_counters);  // COUNTERS_OF_THE_HOST
#else
    demap(m.symbols, m.noise, m.soft_bits, m.stream, 0, device_span(m.counters.data(), 1));
#endif
#ifdef COUNTERS_IN_PINNED_BUFFER  // no match
    demap(m.symbols, m.noise, m.soft_bits, m.stream, 0, m.pinned_counters);  // COUNTERS_IN_PINNED_BUFFER
#else
    demap(m.symbols, m.noise, m.soft_bits, m.stream, 0, m.pinned_counters.on_device());
#endif
#ifdef COUNTERS_IN_CONST_BUFFER  // no match
    demap(m.symbols, m.noise, m.soft_bits, m.stream, 0, std::as_const(m.counters));  // COUNTERS_IN_CONST_BUFFER
#else
    demap(m.symbols, m.noise, m.soft_bits, m.stream, 0, m.counters);
#endif
#ifdef NO_STREAM  // no match
    demap(m.symbols, m.noise, m.soft_bits);  // NO_STREAM
#else
    demap(m.symbols, m.noise, m.soft_bits, m.stream);
#endif
}

void batch(const BatchDemapper& demap, Memory& m) {
#ifdef ALLOCATION_WITH_HOST_SYMBOLS  // could not convert|no viable conversion
    const Allocation symbols = {Modulation::qpsk, m.host_symbols, 0.1F, m.soft_bits};  // ALLOCATION_WITH_HOST_SYMBOLS
#else
    const Allocation symbols = {Modulation::qpsk, m.symbols, 0.1F, m.soft_bits};
#endif
#ifdef ALLOCATION_WITH_HOST_NOISE  // could not convert|no viable conversion
    const Allocation noise = {Modulation::qpsk, m.symbols, m.host_noise, m.soft_bits};  // ALLOCATION_WITH_HOST_NOISE
#else
    const Allocation noise = {Modulation::qpsk, m.symbols, m.noise, m.soft_bits};
#endif
#ifdef ALLOCATION_WITH_PINNED_SOFT_BITS  // could not convert|no viable conversion
    const Allocation soft_bits = {Modulation::qpsk, m.symbols, 0.1F, m.pinned_soft_bits};  // ALLOCATION_WITH_PINNED_SOFT_BITS
#else
    const Allocation soft_bits = {Modulation::qpsk, m.symbols, 0.1F, m.pinned_soft_bits.on_device()};
#endif
#ifdef BATCH_OF_HOST_ALLOCATIONS  // no match
    demap(std::array<phy::Allocation, 1>{{{Modulation::qpsk, {}, 0.1F, {}}}}, m.stream);  // BATCH_OF_HOST_ALLOCATIONS
#else
    demap(std::array<Allocation, 1>{{{Modulation::qpsk, {}, 0.1F, {}}}}, m.stream);
#endif
#ifdef BATCH_COUNTERS_OF_THE_HOST  // no match
    demap(std::span(&symbols, 1), m.stream, &m.host_counters);  // BATCH_COUNTERS_OF_THE_HOST
#else
    demap(std::span(&symbols, 1), m.stream, m.counters);
#endif
}
