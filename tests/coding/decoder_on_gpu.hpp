#pragma once

#include <cstddef>
#include <span>

#include "coding/decoder_outputs.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/stream.hpp"

namespace phy_test {

/// llr begins `shift` bytes from where it would be aligned.
inline DecoderOutputs decoded_on_gpu(const DecoderCase& decoded, std::size_t shift) {
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    const phy::gpu::TransportDecoder decode(device, decoded.decoder);
    // A decoder of less shared memory, which must not limit the other.
    const phy::gpu::TransportDecoder small(
        device, {.block = {.size = 24, .code_rate = 0.5, .coded_bits = 96, .layers = 1}});
    const std::span<const std::byte> bytes = decoded.llr().bytes();
    phy::gpu::DeviceBuffer<std::byte> llr(device, bytes.size() + shift);
    phy::gpu::copy_async(llr.subspan(shift, bytes.size()), bytes, stream);
    const phy::gpu::SoftBitView view(decoded.decoder.format, llr.subspan(shift, bytes.size()));
    return decode_thrice(
        decoded, decode.soft_buffer_size(),
        [&](int version, bool again, auto& payload, auto& results, auto& soft_buffers, auto& extrinsic) {
            phy::gpu::DeviceBuffer<std::uint8_t> payload_there(device, payload.size());
            phy::gpu::DeviceBuffer<phy::DecodedBlock> results_there(device, results.size());
            phy::gpu::DeviceBuffer<std::int8_t> buffers_there(device, soft_buffers.size());
            phy::gpu::DeviceBuffer<std::int8_t> extrinsic_there(device, extrinsic.size());
            phy::gpu::copy_async(payload_there, payload, stream);
            phy::gpu::copy_async(results_there, results, stream);
            phy::gpu::copy_async(buffers_there, soft_buffers, stream);
            phy::gpu::copy_async(extrinsic_there, extrinsic, stream);
            if (again)
                decode.decode_failed(view, version, payload_there, results_there, stream, extrinsic_there);
            else
                decode(view, version, payload_there, results_there, buffers_there, stream, extrinsic_there);
            phy::gpu::copy_async(extrinsic, extrinsic_there, stream);
            phy::gpu::copy_async(payload, payload_there, stream);
            phy::gpu::copy_async(results, results_there, stream);
            phy::gpu::copy_async(soft_buffers, buffers_there, stream);
            stream.synchronize();
        });
}

}  // namespace phy_test
