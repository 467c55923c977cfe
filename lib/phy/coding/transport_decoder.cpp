#include "phy/coding/transport_decoder.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "phy/coding/code_block_decoder.hpp"
#include "phy/coding/decoder_checks.hpp"
#include "phy/machine/thread_pool.hpp"

namespace phy {

struct PHY_HIDDEN TransportDecoder::Impl {
    Impl(const Host& on, const Config& given)
        : host(on),
          config(detail::checked(given)),
          decode(on.backend(), given),
          block_crc(detail::transport_block_crc(decode.blocks())),
          workspaces(static_cast<std::size_t>(on.pool().size()), decode.workspace()) {}

    void decode_block(detail::DecoderWorkspace& work, SoftBitView codeword, std::size_t code_block,
                      int redundancy_version, std::span<std::uint8_t> payload, DecodedBlock& result,
                      std::span<std::int8_t> soft_buffer) const;
    void finish(std::span<const std::uint8_t> payload, DecodedBlock& result) const;

    Host host;
    Config config;
    detail::CodeBlockDecoder decode;
    detail::CrcEngine block_crc;
    std::vector<detail::DecoderWorkspace> workspaces;  ///< per thread
};

/// Leaves the sent CRC of the transport block in result.crc.
void TransportDecoder::Impl::decode_block(detail::DecoderWorkspace& work, SoftBitView codeword,
                                          std::size_t code_block, int redundancy_version,
                                          std::span<std::uint8_t> payload, DecodedBlock& result,
                                          std::span<std::int8_t> soft_buffer) const {
    const CodeBlocks& blocks = decode.blocks();
    const detail::DecodedCodeBlock decoded =
        decode(work, codeword, code_block, redundancy_version, soft_buffer);
    const std::size_t bytes = (blocks.bits - static_cast<std::size_t>(blocks.code_block_crc)) / 8;
    const std::size_t first = code_block * bytes;
    const std::size_t end = std::min(first + bytes, payload.size());
    std::copy_n(work.packed.begin(), end - first, payload.begin() + static_cast<std::ptrdiff_t>(first));
    if (code_block + 1 == blocks.count) {
        for (std::size_t byte = end - first; byte < bytes; ++byte)
            result.crc = result.crc << 8U | work.packed[byte];
    }
    std::atomic_ref(result.iterations).fetch_add(decoded.iterations, std::memory_order_relaxed);
    if (!decoded.crc_holds) std::atomic_ref(result.failed_blocks).fetch_add(1, std::memory_order_relaxed);
}

/// From the sent CRC to whether it holds.
void TransportDecoder::Impl::finish(std::span<const std::uint8_t> payload, DecodedBlock& result) const {
    // Soft bits that are all alike would give it.
    const bool is_zero = result.crc == 0 && std::ranges::all_of(payload, [](auto byte) { return byte == 0; });
    const bool holds = !is_zero && block_crc(payload, 8 * payload.size()) == result.crc;
    if (is_zero) result.failed_blocks = static_cast<std::uint32_t>(decode.blocks().count);
    result.crc = holds && result.failed_blocks == 0 ? 1 : 0;
}

TransportDecoder::TransportDecoder(const Host& host, const Config& config)
    : impl_(std::make_unique<Impl>(host, config)) {}

const CodeBlocks& TransportDecoder::code_blocks() const {
    return impl_->decode.blocks();
}

std::size_t TransportDecoder::soft_buffer_size() const {
    return impl_->decode.blocks().count * impl_->decode.blocks().buffer_size;
}

void TransportDecoder::operator()(SoftBitView llr, int redundancy_version, std::span<std::uint8_t> payload,
                                  std::span<DecodedBlock> results, std::span<std::int8_t> soft_buffers) {
    detail::check_sizes(impl_->config, impl_->decode.blocks(), redundancy_version, llr.format(),
                        {.llr = llr.size(),
                         .payload = payload.size(),
                         .results = results.size(),
                         .soft_buffers = soft_buffers.size()});
    const std::size_t coded = impl_->config.block.coded_bits;
    const std::size_t bytes = impl_->config.block.size / 8;
    const std::size_t buffered = soft_buffers.empty() ? 0 : soft_buffer_size();
    std::ranges::fill(results, DecodedBlock{});
    const std::size_t count = impl_->decode.blocks().count;
    impl_->host.pool().for_each(results.size() * count, [&](int part, std::size_t index) noexcept {
        const std::size_t block = index / count;
        const std::size_t code_block = index % count;
        impl_->decode_block(
            impl_->workspaces[static_cast<std::size_t>(part)], llr.subspan(block * coded, coded), code_block,
            redundancy_version, payload.subspan(block * bytes, bytes), results[block],
            soft_buffers.subspan(block * buffered + code_block * buffered / count, buffered / count));
    });
    impl_->host.pool().for_each(results.size(), [&](int /*part*/, std::size_t block) noexcept {
        impl_->finish(payload.subspan(block * bytes, bytes), results[block]);
    });
}

const Host& TransportDecoder::host() const {
    return impl_->host;
}

const TransportDecoder::Config& TransportDecoder::config() const {
    return impl_->config;
}

}  // namespace phy
