#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/coding/crc.hpp"
#include "phy/coding/kernels.hpp"
#include "phy/coding/rate_matching.hpp"
#include "phy/coding/transport_decoder.hpp"

#include <cuda_runtime_api.h>

namespace phy::gpu::detail {

/// An edge in one word: the first bit of its column and its shift.
inline constexpr unsigned shift_bits = 9;
constexpr std::uint32_t packed_edge(std::uint32_t first_bit, std::uint32_t shift) {
    return first_bit << shift_bits | shift;
}

/// phy::detail::LdpcPlan on a device.
struct DeviceLdpcPlan {
    const std::uint32_t* edges = nullptr;    ///< see packed_edge()
    const std::uint32_t* degrees = nullptr;  ///< by layer
    std::uint32_t edge_count = 0;
    std::uint32_t layer_count = 0;
    std::uint32_t bits = 0;  ///< of all columns
};

/// Remainders of D^n for the places of bits in a code block.
struct DeviceCrc {
    const std::uint32_t* of_block = nullptr;  ///< CRC24B; of the transport block, if that is one code block
    const std::uint32_t* of_data = nullptr;   ///< CRC of the transport block, of the last code block
    const std::uint32_t* of_later_data = nullptr;  ///< by code block: D^n for the n bits behind it
    phy::detail::Crc polynomial = {};              ///< of the transport block
};

struct DecodeJob {
    DeviceLdpcPlan plan = {};
    DeviceCrc crc = {};
    phy::detail::RateMatching matching = {};
    std::uint32_t first_rank = 0;
    std::uint32_t size = 0;              ///< Z
    std::uint32_t code_blocks = 0;       ///< C
    std::uint32_t code_block_bits = 0;   ///< K'
    std::uint32_t information_bits = 0;  ///< K
    std::uint32_t data_bytes = 0;        ///< of a code block, without its CRC
    std::size_t coded_bits = 0;          ///< G
    std::size_t payload_bytes = 0;       ///< A / 8
    std::uint32_t iterations = 0;
    bool early_end = false;
    SoftBitFormat format = SoftBitFormat::int8;
    float units = 1.0F;  ///< per step of a soft bit
    const std::byte* llr = nullptr;
    std::int8_t* soft_buffers = nullptr;  ///< or null
    std::uint8_t* payload = nullptr;
    DecodedBlock* results = nullptr;
    std::int8_t* extrinsic = nullptr;  ///< one per soft bit, or null
    bool only_failed = false;
    std::size_t blocks = 0;
    std::int8_t* scratch = nullptr;     ///< messages, where shared memory has no room for them
    std::uint32_t resident_blocks = 0;  ///< of threads
};

/// Bytes of shared memory of a code block, with its messages or without.
std::size_t shared_bytes(const DeviceLdpcPlan& plan, std::uint32_t size, bool with_messages);

/// Loads the kernels' code.
void prepare_decode();

void launch(const DecodeJob& job, cudaStream_t stream);

/// Splits codewords with UCI. All sizes are in bytes, so that soft bits may begin anywhere.
struct DemultiplexJob {
    const std::int32_t* sources = nullptr;  ///< UciMap::sources() of all parts, one after another
    std::uint32_t element = 0;              ///< an element's soft bits
    std::uint32_t codeword = 0;
    std::uint32_t ends[4] = {};  ///< of the parts of a codeword, one after another
    const std::byte* llr = nullptr;
    std::byte* parts[4] = {};
    std::size_t codewords = 0;
};

void launch(const DemultiplexJob& job, cudaStream_t stream);

}  // namespace phy::gpu::detail
