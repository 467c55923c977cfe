#include "phy/coding/transport_encoder.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "phy/coding/base_graph.hpp"
#include "phy/coding/crc.hpp"
#include "phy/coding/ldpc_encode.hpp"
#include "phy/coding/rate_matching.hpp"
#include "phy/core/check.hpp"
#include "phy/machine/thread_pool.hpp"

namespace phy {
namespace {

/// Writes the parity bits behind the bytes that they are of.
void append_crc(const detail::CrcEngine& engine, std::span<std::uint8_t> packed) {
    const auto bytes = static_cast<std::size_t>(engine.crc().length) / 8;
    const std::size_t before = packed.size() - bytes;
    const std::uint32_t parity = engine(packed, 8 * before);
    for (std::size_t i = 0; i < bytes; ++i)
        packed[before + i] = static_cast<std::uint8_t>(parity >> 8 * (bytes - 1 - i));
}

}  // namespace

struct PHY_HIDDEN TransportEncoder::Impl {
    Impl(const Host& on, const Config& given)
        : host(on),
          config(given),
          blocks(phy::code_blocks(given)),
          matching(detail::rate_matching(given, blocks)),
          columns(static_cast<std::size_t>(detail::facts_of(blocks.graph).columns())),
          block_crc(blocks.transport_block_crc == detail::crc16.length ? detail::crc16 : detail::crc24a),
          code_block_crc(detail::crc24b),
          bytes(config.size / 8 + static_cast<std::size_t>(blocks.transport_block_crc) / 8),
          packed(blocks.bits / 8 * static_cast<std::size_t>(on.pool().size())),
          bits(columns * size() * static_cast<std::size_t>(on.pool().size())),
          scratch(bits.size()) {}

    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(blocks.lifting_size); }
    /// Fewer bytes than those of all columns.
    [[nodiscard]] std::size_t of_scratch() const {
        return static_cast<std::size_t>(detail::facts_of(blocks.graph).rows + 1) * size();
    }
    void encode(std::size_t part, std::size_t block, int redundancy_version,
                std::span<std::uint8_t> codeword);
    void match_rate(std::span<const std::uint8_t> buffer, std::size_t block, int redundancy_version,
                    std::span<std::uint8_t> codeword) const;

    Host host;
    Config config;
    CodeBlocks blocks;
    detail::RateMatching matching;
    std::size_t columns;
    detail::CrcEngine block_crc;
    detail::CrcEngine code_block_crc;
    std::vector<std::uint8_t> bytes;    ///< the transport block with its CRC
    std::vector<std::uint8_t> packed;   ///< per thread: a code block
    std::vector<std::uint8_t> bits;     ///< per thread: its columns
    std::vector<std::uint8_t> scratch;  ///< per thread: that of ldpc_encode()
};

void TransportEncoder::Impl::encode(std::size_t part, std::size_t block, int redundancy_version,
                                    std::span<std::uint8_t> codeword) {
    const std::span own = std::span(packed).subspan(part * blocks.bits / 8, blocks.bits / 8);
    const std::size_t data = own.size() - static_cast<std::size_t>(blocks.code_block_crc) / 8;
    std::ranges::copy(std::span(bytes).subspan(block * data, data), own.begin());
    if (blocks.code_block_crc != 0) append_crc(code_block_crc, own);

    const auto used = static_cast<std::size_t>(detail::sent_columns(matching, blocks, redundancy_version));
    const std::span all = std::span(bits).subspan(part * columns * size(), columns * size());
    for (std::size_t i = 0; i < blocks.bits; ++i)
        all[i] = own[i / 8] >> (7 - i % 8) & 1U;
    std::fill(all.begin() + static_cast<std::ptrdiff_t>(blocks.bits),
              all.begin() + static_cast<std::ptrdiff_t>(blocks.information_bits), std::uint8_t{0});
    detail::ldpc_encode(blocks.graph, blocks.lifting_size, all.first(used * size()),
                        std::span(scratch).subspan(part * columns * size(), of_scratch()));
    match_rate(all.subspan(detail::punctured_columns * size()), block, redundancy_version, codeword);
}

void TransportEncoder::Impl::match_rate(std::span<const std::uint8_t> buffer, std::size_t block,
                                        int redundancy_version, std::span<std::uint8_t> codeword) const {
    const std::size_t symbols = matching.symbols_of(block);
    const std::size_t per_symbol = matching.bits_per_symbol;
    std::uint8_t* const out = codeword.data() + matching.bits_before(block);
    std::uint32_t rank = matching.first_ranks[static_cast<std::size_t>(redundancy_version)];
    for (std::size_t bit = 0; bit < per_symbol; ++bit) {
        for (std::size_t symbol = 0; symbol < symbols; ++symbol) {
            out[symbol * per_symbol + bit] = buffer[matching.place_of(rank)];
            if (++rank == matching.usable()) rank = 0;
        }
    }
}

TransportEncoder::TransportEncoder(const Host& host, const Config& config)
    : impl_(std::make_unique<Impl>(host, config)) {}

const CodeBlocks& TransportEncoder::code_blocks() const {
    return impl_->blocks;
}

void TransportEncoder::operator()(std::span<const std::uint8_t> payload, int redundancy_version,
                                  std::span<std::uint8_t> codeword) {
    detail::check_redundancy_version(redundancy_version);
    detail::check_size("payload", payload.size(), impl_->config.size / 8);
    detail::check_size("codeword", codeword.size(), impl_->config.coded_bits);
    std::ranges::copy(payload, impl_->bytes.begin());
    append_crc(impl_->block_crc, impl_->bytes);
    impl_->host.pool().for_each(impl_->blocks.count, [&](int part, std::size_t block) noexcept {
        impl_->encode(static_cast<std::size_t>(part), block, redundancy_version, codeword);
    });
}

const Host& TransportEncoder::host() const {
    return impl_->host;
}

const TransportEncoder::Config& TransportEncoder::config() const {
    return impl_->config;
}

}  // namespace phy
