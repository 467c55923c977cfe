// clang-format off
// What the compiler says names a line, and the macro of a mistake stands in it.
#include <vector>

#include "phy/phy.hpp"

/// What the mappers take. Each part has a mistake and, beside it, the same line without.

using namespace phy;  // NOLINT(google-build-using-namespace)

struct Memory {
    std::vector<std::uint8_t> bits;
    std::vector<cf32> symbols;
    gpu::PinnedBuffer<std::uint8_t> pinned_bits;
    gpu::PinnedBuffer<cf32> pinned_symbols;
    gpu::DeviceBuffer<std::uint8_t> device_bits;
    gpu::DeviceBuffer<cf32> device_symbols;
    gpu::Stream stream;
};

void on_the_host(const Mapper& map, Memory& m) {
    map(m.pinned_bits, m.pinned_symbols);
#ifdef BITS_ON_DEVICE  // no match
    map(m.device_bits, m.symbols);  // BITS_ON_DEVICE
#else
    map(m.bits, m.symbols);
#endif
#ifdef SYMBOLS_ON_DEVICE  // no match
    map(m.bits, m.device_symbols);  // SYMBOLS_ON_DEVICE
#else
    map(m.bits, m.symbols);
#endif
#ifdef SYMBOLS_IN_CONST_VECTOR  // no match
    map(m.bits, std::as_const(m.symbols));  // SYMBOLS_IN_CONST_VECTOR
#else
    map(std::as_const(m.bits), m.symbols);
#endif
}

void on_a_device(const gpu::Mapper& map, Memory& m) {
    map(m.pinned_bits.on_device(), m.pinned_symbols.on_device(), m.stream);
#ifdef BITS_IN_VECTOR  // no match
    map(m.bits, m.device_symbols, m.stream);  // BITS_IN_VECTOR
#else
    map(m.device_bits, m.device_symbols, m.stream);
#endif
#ifdef BITS_IN_PINNED_BUFFER  // no match
    map(m.pinned_bits, m.device_symbols, m.stream);  // BITS_IN_PINNED_BUFFER
#else
    map(m.pinned_bits.on_device(), m.device_symbols, m.stream);
#endif
#ifdef SYMBOLS_IN_VECTOR  // no match
    map(m.device_bits, m.symbols, m.stream);  // SYMBOLS_IN_VECTOR
#else
    map(m.device_bits, m.device_symbols, m.stream);
#endif
#ifdef SYMBOLS_IN_PINNED_BUFFER  // no match
    map(m.device_bits, m.pinned_symbols, m.stream);  // SYMBOLS_IN_PINNED_BUFFER
#else
    map(m.device_bits, m.pinned_symbols.on_device(), m.stream);
#endif
#ifdef SYMBOLS_IN_CONST_BUFFER  // no match
    map(m.device_bits, std::as_const(m.device_symbols), m.stream);  // SYMBOLS_IN_CONST_BUFFER
#else
    map(std::as_const(m.device_bits), m.device_symbols, m.stream);
#endif
}
