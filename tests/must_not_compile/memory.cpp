// clang-format off
// What the compiler says names a line, and the macro of a mistake stands in it.
#include <list>
#include <span>
#include <vector>

#include "phy/phy.hpp"

/// Memory itself: views, spans, buffers and copies. Each part has a mistake and, beside it, the same line
/// without.

using namespace phy;  // NOLINT(google-build-using-namespace)
using gpu::copy_async;
using gpu::DeviceBuffer;
using gpu::DeviceSpan;
using gpu::fill_async;
using gpu::PinnedBuffer;

void copies(std::vector<float>& vector, PinnedBuffer<float>& pinned, DeviceBuffer<float>& device,
            DeviceBuffer<std::int32_t>& integers, const gpu::Stream& stream) {
    copy_async(device, vector, stream);
    copy_async(vector, device, stream);
    copy_async(pinned, device, stream);
    copy_async(device.first(3), std::span(vector).first(3), stream);
    copy_async(pinned.on_device(), device, stream);
#ifdef COPY_TO_CONST_DEVICE_BUFFER  // copy_async: both memories hold elements of one type
    copy_async(std::as_const(device), pinned, stream);
#else
    copy_async(device, std::as_const(pinned), stream);
#endif
#ifdef COPY_TO_CONST_PINNED_BUFFER  // copy_async: both memories hold elements of one type
    copy_async(std::as_const(pinned), device, stream);
#else
    copy_async(pinned, std::as_const(device), stream);
#endif
#ifdef COPY_TO_CONST_VECTOR  // copy_async: both memories hold elements of one type
    copy_async(std::as_const(vector), device, stream);
#else
    copy_async(device, std::as_const(vector), stream);
#endif
#ifdef COPY_OF_OTHER_ELEMENTS  // copy_async: both memories hold elements of one type
    copy_async(integers, device, stream);
#else
    copy_async(gpu::as_bytes(integers.span()), gpu::as_bytes(device.span()), stream);
#endif
#ifdef FILL_CONST_DEVICE_BUFFER  // fill_async: memory of a device that may be written to
    fill_async(std::as_const(device), 0, stream);
#else
    fill_async(device, 0, stream);
#endif
#ifdef FILL_VECTOR  // fill_async: memory of a device that may be written to
    fill_async(vector, 0, stream);
#else
    fill_async(device.span(), 0, stream);
#endif
#ifdef FILL_PINNED_BUFFER  // fill_async: memory of a device that may be written to
    fill_async(pinned, 0, stream);
#else
    fill_async(pinned.on_device(), 0, stream);
#endif
}

/// Its memory has the name of a DeviceBuffer's, and is the host's.
template <typename T>
struct HostArray {
    std::span<const T> span() const { return memory; }
    std::vector<T> memory;
};

/// As other libraries may wrap memory of a device.
template <typename T>
struct DeviceArray {
    DeviceSpan<const T> span() const { return memory.span(); }
    DeviceBuffer<T> memory;
};

void wrapped(const HostArray<cf32>& host, const DeviceArray<cf32>& device, const HostArray<float>& host_noise,
             const DeviceArray<float>& device_noise) {
#ifdef SYMBOLS_IN_AN_ARRAY_OF_THE_HOST  // no matching|no viable
    const gpu::SymbolView symbols(host);  // SYMBOLS_IN_AN_ARRAY_OF_THE_HOST
#else
    const gpu::SymbolView symbols(device);
    const SymbolView of_host(host.span());
#endif
#ifdef NOISE_IN_AN_ARRAY_OF_THE_HOST  // no matching|no viable
    const gpu::NoiseVariance noise(host_noise);  // NOISE_IN_AN_ARRAY_OF_THE_HOST
#else
    const gpu::NoiseVariance noise(device_noise);
    const NoiseVariance noise_of_host(host_noise.span());
#endif
}

void views(std::vector<cf32>& symbols, std::vector<std::int8_t>& soft_bits, DeviceBuffer<cf32>& device_symbols) {
#ifdef SYMBOLS_OF_FLOATS  // no matching|no viable
    const SymbolView floats(std::vector<float>(3));  // SYMBOLS_OF_FLOATS
#else
    const SymbolView floats(std::vector<cf32>(3));
#endif
#ifdef SYMBOLS_IN_A_LIST  // no matching|no viable
    const SymbolView list(std::list<cf32>(3));  // SYMBOLS_IN_A_LIST
#else
    const SymbolView list(std::vector<cf32>(3));
#endif
#ifdef SYMBOLS_OF_A_DEVICE  // no matching|no viable
    const SymbolView of_device(device_symbols);  // SYMBOLS_OF_A_DEVICE
#else
    const SymbolView of_device(symbols);
#endif
#ifdef SYMBOLS_OF_THE_HOST  // no matching|no viable
    const gpu::SymbolView of_host(symbols);  // SYMBOLS_OF_THE_HOST
#else
    const gpu::SymbolView of_host(device_symbols);
#endif
#ifdef VIEW_OF_THE_HOST_FOR_A_DEVICE  // no matching|no viable
    const gpu::SymbolView across(SymbolView{symbols});  // VIEW_OF_THE_HOST_FOR_A_DEVICE
#else
    const gpu::SymbolView across(gpu::SymbolSpan{device_symbols});
#endif
#ifdef VIEW_OF_A_DEVICE_FOR_THE_HOST  // no matching|no viable
    const SymbolView back(gpu::SymbolView{device_symbols});  // VIEW_OF_A_DEVICE_FOR_THE_HOST
#else
    const SymbolView back(SymbolSpan{symbols});
#endif
#ifdef SOFT_BITS_OF_UNSIGNED  // no matching|no viable
    const SoftBitView unsigned_soft_bits(std::vector<std::uint8_t>(3));  // SOFT_BITS_OF_UNSIGNED
#else
    const SoftBitView unsigned_soft_bits(std::vector<std::int8_t>(3));
#endif
#ifdef WRITING_THROUGH_A_VIEW  // no matching|no viable
    const SoftBitSpan written(SoftBitView{soft_bits});  // WRITING_THROUGH_A_VIEW
#else
    const SoftBitView written(SoftBitSpan{soft_bits});
#endif
}

void spans(std::vector<float>& vector, DeviceBuffer<float>& device) {
#ifdef STD_SPAN_OF_DEVICE_BUFFER  // no matching|no viable
    const std::span<float> of_buffer(device);  // STD_SPAN_OF_DEVICE_BUFFER
#else
    const std::span<float> of_buffer(vector);
#endif
#ifdef STD_SPAN_OF_DEVICE_SPAN  // no matching|no viable
    const std::span<float> of_span(device.span());  // STD_SPAN_OF_DEVICE_SPAN
#else
    const DeviceSpan<float> of_span(device.span());
#endif
#ifdef LOOP_OVER_DEVICE_BUFFER  // begin
    for (const float x : device)  // LOOP_OVER_DEVICE_BUFFER
        static_cast<void>(x);
#else
    for (const float x : vector)
        static_cast<void>(x);
#endif
#ifdef DEVICE_SPAN_OF_RAW_POINTER  // private
    const DeviceSpan<float> raw(device.data(), 3);  // DEVICE_SPAN_OF_RAW_POINTER
#else
    const DeviceSpan<float> raw = gpu::device_span(device.data(), 3);
#endif
#ifdef DEVICE_SPAN_OF_VECTOR  // conversion from|no viable conversion
    const DeviceSpan<float> of_vector = vector;  // DEVICE_SPAN_OF_VECTOR
#else
    const DeviceSpan<float> of_vector = device;
#endif
#ifdef WRITABLE_SPAN_OF_CONST_BUFFER  // conversion from|no viable conversion
    const DeviceSpan<float> writable = std::as_const(device);  // WRITABLE_SPAN_OF_CONST_BUFFER
#else
    const DeviceSpan<const float> writable = std::as_const(device);
#endif
#ifdef WRITABLE_SPAN_OF_CONST_SPAN  // conversion from|no viable conversion
    const DeviceSpan<float> unlocked = DeviceSpan<const float>();  // WRITABLE_SPAN_OF_CONST_SPAN
#else
    const DeviceSpan<const float> unlocked = DeviceSpan<float>();
#endif
}

void buffers(const gpu::Device& device, const Host& host) {
#ifdef DEVICE_BUFFER_ON_THE_HOST  // no matching|no viable
    const DeviceBuffer<float> buffer(host, 3);  // DEVICE_BUFFER_ON_THE_HOST
#else
    const DeviceBuffer<float> buffer(device, 3);
#endif
#ifdef COPIED_DEVICE_BUFFER  // deleted
    const DeviceBuffer<float> copied = buffer;  // COPIED_DEVICE_BUFFER
#else
    const DeviceSpan<const float> copied = buffer;
#endif
    static_cast<void>(host);
}
