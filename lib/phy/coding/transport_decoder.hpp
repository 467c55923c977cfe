#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "phy/coding/transport_block.hpp"
#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/machine/host.hpp"

/// Soft bits of codewords to transport blocks and their CRCs (TS 38.212 clauses 5.1 to 5.5, 6.2 and 7.2).
namespace phy {

struct PHY_EXPORT TransportDecoderConfig {
    TransportBlockConfig block = {};
    SoftBitFormat format = SoftBitFormat::int8;
    float scale = 6.0F;     ///< int8: steps per nat, as in LlrConfig
    int clip = 127;         ///< int8: max magnitude of a soft bit, as in LlrConfig
    int iterations = 20;    ///< at most, per code block; from 1 to 255
    bool early_end = true;  ///< ends at the first iteration that satisfies all parity checks

    friend bool operator==(const TransportDecoderConfig&, const TransportDecoderConfig&) = default;
};

/// The verdict on a transport block.
struct PHY_EXPORT DecodedBlock {
    std::uint32_t crc = 0;  ///< 1 if no code block failed and the CRC of the transport block holds
    /// Code blocks that fail a parity check of the LDPC code or their own CRC; with one code block, that of
    /// the transport block.
    std::uint32_t failed_blocks = 0;
    std::uint32_t iterations = 0;  ///< of all code blocks, decode_failed() included
    std::uint32_t repeats = 0;     ///< calls of decode_failed() that decoded it again

    friend bool operator==(const DecodedBlock&, const DecodedBlock&) = default;
};

/// Decodes transport blocks: rate recovery, LDPC decoding, CRCs.
///
/// The LDPC decoder works in layers, on LLRs of 8 bits in sixths of a nat. Its check nodes follow the
/// approximate-min* rule (Jones, Valles, Smith and Villasenor, MILCOM 2003). Soft bits that are not finite
/// count as 0, and none as more than 10 nats. If int8 soft bits end below 3 nats, they count as that much
/// larger: signs alone decode too. A code block with an information bit of which nothing is known fails,
/// whatever its CRC, and so does a transport block of zeros alone: its CRC holds for soft bits that are all
/// alike.
///
/// The extrinsic LLR of a bit is its LLR after the last iteration less its soft bit, in sixths of a nat, from
/// -127 to 127; in larger units if int8 soft bits count as larger than they are. JointDetector takes them as
/// priors, and decode_failed() its soft bits.
///
/// Every backend and number of threads gives the same bytes and the same number of iterations. The threads of
/// the host share the code blocks of a call. A decoder works for one caller at a time.
class PHY_EXPORT TransportDecoder {
public:
    using Config = TransportDecoderConfig;

    /// Throws ArgumentError as code_blocks() does, for a scale or clip outside of LlrConfig's range, and
    /// for iterations out of range.
    TransportDecoder(const Host& host, const Config& config);

    [[nodiscard]] const CodeBlocks& code_blocks() const;

    /// Bytes of a soft buffer: one per bit of the circular buffers of a transport block.
    [[nodiscard]] std::size_t soft_buffer_size() const;

    /// Decodes blocks that were sent with one redundancy version.
    ///
    /// llr: (blocks, G), descrambled. payload: (blocks, A / 8) bytes, the first bit of a byte most
    /// significant; blocks whose CRC fails are written too. results: one per block. soft_buffers: empty, or
    /// (blocks, soft_buffer_size()), which combine retransmissions: 0 before the first transmission of a
    /// block, then as this call leaves them. extrinsic: empty, or (blocks, G), written. Throws ArgumentError
    /// for sizes that do not fit, another format and another redundancy version than 0 to 3. Allocates
    /// nothing.
    void operator()(SoftBitView llr, int redundancy_version, std::span<std::uint8_t> payload,
                    std::span<DecodedBlock> results, std::span<std::int8_t> soft_buffers = {},
                    std::span<std::int8_t> extrinsic = {});

    /// Decodes blocks again with better soft bits of the same transmission, without those of others. results:
    /// read too, from earlier calls: a block whose crc is 1 is left out, and its payload, result and
    /// extrinsic LLRs stay as they are. Else as above.
    void decode_failed(SoftBitView llr, int redundancy_version, std::span<std::uint8_t> payload,
                       std::span<DecodedBlock> results, std::span<std::int8_t> extrinsic = {});

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "TransportDecoder"> impl_;
};

}  // namespace phy

namespace phy::gpu {

/// Decodes transport blocks in device memory, with the bytes and iterations of phy::TransportDecoder.
///
/// A call starts kernels on the caller's stream. It returns at once, does not allocate or wait, and can be
/// captured in a graph. A block of threads decodes a code block, so that calls with some hundred of them are
/// fastest. Many threads may use one decoder, but one stream at a time on devices whose shared memory is too
/// small for the messages of a code block (149 KB at most).
class PHY_EXPORT TransportDecoder {
public:
    using Config = TransportDecoderConfig;

    /// Throws as phy::TransportDecoder does, and CudaError if there is not enough memory.
    TransportDecoder(const Device& device, const Config& config);

    [[nodiscard]] const CodeBlocks& code_blocks() const;
    [[nodiscard]] std::size_t soft_buffer_size() const;

    /// As in phy::TransportDecoder. Spans must not overlap.
    void operator()(SoftBitView llr, int redundancy_version, DeviceSpan<std::uint8_t> payload,
                    DeviceSpan<DecodedBlock> results, DeviceSpan<std::int8_t> soft_buffers,
                    cudaStream_t stream, DeviceSpan<std::int8_t> extrinsic = {}) const;
    void decode_failed(SoftBitView llr, int redundancy_version, DeviceSpan<std::uint8_t> payload,
                       DeviceSpan<DecodedBlock> results, cudaStream_t stream,
                       DeviceSpan<std::int8_t> extrinsic = {}) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::TransportDecoder"> impl_;
};

}  // namespace phy::gpu
