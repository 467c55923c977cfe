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

    /// The arrays of a call.
    struct Call {
        SoftBitView llr;
        int redundancy_version;
        std::span<std::uint8_t> payload;
        std::span<DecodedBlock> results;
        std::span<std::int8_t> soft_buffers;
        std::span<std::int8_t> extrinsic;
    };

    void check(const Call& call) const;
    void decode_pending(const Call& call);
    void decode_block(detail::DecoderWorkspace& work, const Call& call, std::size_t block,
                      std::size_t code_block) const;
    void finish(std::span<const std::uint8_t> payload, DecodedBlock& result) const;

    Host host;
    Config config;
    detail::CodeBlockDecoder decode;
    detail::CrcEngine block_crc;
    std::vector<detail::DecoderWorkspace> workspaces;  ///< per thread
};

void TransportDecoder::Impl::check(const Call& call) const {
    detail::check_sizes(config, decode.blocks(), call.redundancy_version, call.llr.format(),
                        {.llr = call.llr.size(),
                         .payload = call.payload.size(),
                         .results = call.results.size(),
                         .soft_buffers = call.soft_buffers.size(),
                         .extrinsic = call.extrinsic.size()});
}

/// Leaves the sent CRC of the transport block in its result.
void TransportDecoder::Impl::decode_block(detail::DecoderWorkspace& work, const Call& call, std::size_t block,
                                          std::size_t code_block) const {
    const CodeBlocks& blocks = decode.blocks();
    const auto of_block = [&](auto array) {
        const std::size_t size = array.size() / call.results.size();
        return array.subspan(block * size, size);
    };
    const auto soft_buffer = of_block(call.soft_buffers);
    const std::size_t buffered = soft_buffer.size() / blocks.count;
    const detail::DecodedCodeBlock decoded =
        decode(work, of_block(call.llr), code_block, call.redundancy_version,
               soft_buffer.subspan(code_block * buffered, buffered), of_block(call.extrinsic));
    const std::span<std::uint8_t> payload = of_block(call.payload);
    DecodedBlock& result = call.results[block];
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

/// Blocks whose results are pending.
void TransportDecoder::Impl::decode_pending(const Call& call) {
    const auto is_pending = [&](std::size_t block) {
        const std::uint32_t failed =
            std::atomic_ref(call.results[block].failed_blocks).load(std::memory_order_relaxed);
        return (failed & detail::is_pending) != 0;
    };
    const std::size_t count = decode.blocks().count;
    host.pool().for_each(call.results.size() * count, [&](int part, std::size_t index) noexcept {
        if (is_pending(index / count))
            decode_block(workspaces[static_cast<std::size_t>(part)], call, index / count, index % count);
    });
    const std::size_t bytes = config.block.size / 8;
    host.pool().for_each(call.results.size(), [&](int /*part*/, std::size_t block) noexcept {
        if (is_pending(block)) finish(call.payload.subspan(block * bytes, bytes), call.results[block]);
    });
}

/// From the sent CRC to whether it holds.
void TransportDecoder::Impl::finish(std::span<const std::uint8_t> payload, DecodedBlock& result) const {
    // Soft bits that are all alike would give it.
    const bool is_zero = result.crc == 0 && std::ranges::all_of(payload, [](auto byte) { return byte == 0; });
    result.failed_blocks &= ~detail::is_pending;
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
                                  std::span<DecodedBlock> results, std::span<std::int8_t> soft_buffers,
                                  std::span<std::int8_t> extrinsic) {
    const Impl::Call call = {llr, redundancy_version, payload, results, soft_buffers, extrinsic};
    impl_->check(call);
    std::ranges::fill(results, DecodedBlock{.failed_blocks = detail::is_pending});
    impl_->decode_pending(call);
}

void TransportDecoder::decode_failed(SoftBitView llr, int redundancy_version, std::span<std::uint8_t> payload,
                                     std::span<DecodedBlock> results, std::span<std::int8_t> extrinsic) {
    const Impl::Call call = {llr, redundancy_version, payload, results, {}, extrinsic};
    impl_->check(call);
    for (DecodedBlock& result : results)
        if (result.crc == 0)
            result = {.failed_blocks = detail::is_pending,
                      .iterations = result.iterations,
                      .repeats = result.repeats + 1};
    impl_->decode_pending(call);
}

const Host& TransportDecoder::host() const {
    return impl_->host;
}

const TransportDecoder::Config& TransportDecoder::config() const {
    return impl_->config;
}

}  // namespace phy
