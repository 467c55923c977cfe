#include "phy/coding/code_block_decoder.hpp"

#include <algorithm>
#include <cstring>

#include "phy/coding/decoder_checks.hpp"
#include "phy/simd/targets.hpp"

#define PHY_KERNELS "phy/coding/kernels-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy::detail {
namespace {

const DecoderKernels& decoder_kernels(const Backend& backend) {
    return PHY_KERNELS_FOR(backend, DecoderKernels);
}

/// Filler bits by column.
std::vector<FillerBits> fillers_of(const CodeBlocks& blocks) {
    std::vector<FillerBits> fillers;
    const auto size = static_cast<std::size_t>(blocks.lifting_size);
    for (std::size_t column = blocks.bits / size; column * size < blocks.information_bits; ++column)
        fillers.push_back(
            {.column = static_cast<std::uint32_t>(column),
             .first = static_cast<std::uint32_t>(std::max(blocks.bits, column * size) - column * size)});
    return fillers;
}

/// The signs of values, as bits.
void pack_signs(std::span<const std::int8_t> values, std::span<std::uint8_t> packed) {
    for (std::size_t i = 0; i < packed.size(); ++i) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, values.data() + 8 * i, 8);
        // The product moves the first bit to the highest one.
        packed[i] = static_cast<std::uint8_t>((eight >> 7U & 0x0101010101010101) * 0x8040201008040201 >> 56U);
    }
}

}  // namespace

CodeBlockDecoder::CodeBlockDecoder(const Backend& backend, const TransportDecoderConfig& config)
    : blocks_(code_blocks(config.block)),
      matching_(rate_matching(config.block, blocks_)),
      recover_(matching_, units_of(config), decoder_kernels(backend).deinterleave),
      plans_(make_plans(blocks_, matching_)),
      fillers_(fillers_of(blocks_)),
      crc_(blocks_.code_block_crc != 0 ? crc24b : transport_block_crc(blocks_)),
      iterations_(static_cast<std::uint32_t>(config.iterations)),
      early_end_(config.early_end),
      kernels_(decoder_kernels(backend)) {}

DecoderWorkspace CodeBlockDecoder::workspace() const {
    const LdpcPlan& largest = plans_.back();
    const auto columns = static_cast<std::size_t>(largest.columns);
    DecoderWorkspace work;
    work.buffer.resize(columns * size());
    work.selected.resize(columns * size());
    work.of_posteriors.resize(columns * column_stride(size()) / max_vector_bytes);
    work.of_messages.resize(largest.edges.size() * message_stride(size()) / max_vector_bytes);
    work.values.resize(columns * size());
    work.packed.resize(blocks_.bits / 8);
    return work;
}

/// LLRs from the buffer to columns.
void CodeBlockDecoder::load(DecoderWorkspace& work, const LdpcPlan& plan) const {
    std::int8_t* const fill = work.buffer.data();
    std::memset(fill + matching_.filler_begin, known_zero, matching_.filler_end - matching_.filler_begin);
    for (std::size_t column = 0; column < static_cast<std::size_t>(plan.columns); ++column) {
        std::int8_t* const to = work.posteriors() + column * column_stride(size());
        if (column < punctured_columns) {
            std::memset(to, 0, size());
            continue;
        }
        const std::int8_t* const from = fill + (column - punctured_columns) * size();
        const std::size_t frame = plan.frames[column];
        std::memcpy(to, from + frame, size() - frame);
        std::memcpy(to + size() - frame, from, frame);
    }
    std::memset(work.messages(), 0, plan.edges.size() * message_stride(size()));
}

/// Whether no information bit is as likely 0 as 1.
bool CodeBlockDecoder::is_decided(const DecoderWorkspace& work, const LdpcPlan& plan) const {
    for (int column = 0; column < plan.information_columns; ++column) {
        const std::int8_t* const bits =
            work.posteriors() + static_cast<std::size_t>(column) * column_stride(size());
        if (std::memchr(bits, 0, size()) != nullptr) return false;
    }
    return true;
}

CodeBlockDecoder::End CodeBlockDecoder::decode(DecoderWorkspace& work, const LdpcPlan& plan) const {
    for (std::uint32_t done = 1;; ++done) {
        kernels_.iterate(plan, fillers_, work.posteriors(), work.messages());
        const bool is_last = done == iterations_;
        if (!early_end_ && !is_last) continue;
        const bool is_codeword = kernels_.satisfies(plan, work.posteriors()) && is_decided(work, plan);
        if (is_codeword || is_last) return {.iterations = done, .is_codeword = is_codeword};
    }
}

/// Posteriors of columns with the first `bits` bits.
void CodeBlockDecoder::unload(DecoderWorkspace& work, const LdpcPlan& plan, std::size_t bits) const {
    for (std::size_t column = 0; column * size() < bits; ++column) {
        const std::int8_t* const from = work.posteriors() + column * column_stride(size());
        std::int8_t* const to = work.values.data() + column * size();
        const std::size_t frame = plan.frames[column];
        std::memcpy(to + frame, from, size() - frame);
        std::memcpy(to, from + size() - frame, frame);
    }
}

DecodedCodeBlock CodeBlockDecoder::operator()(DecoderWorkspace& work, SoftBitView codeword,
                                              std::size_t code_block, int redundancy_version,
                                              std::span<std::int8_t> soft_buffer,
                                              std::span<std::int8_t> extrinsic) const {
    const std::size_t symbols = matching_.symbols_of(code_block);
    const std::size_t before = matching_.bits_before(code_block);
    const std::size_t sent = symbols * matching_.bits_per_symbol;
    recover_(codeword.subspan(before, sent), symbols, redundancy_version, work.buffer, work.selected.data());
    for (std::size_t i = 0; i < soft_buffer.size(); ++i)
        work.buffer[i] = soft_buffer[i] = combined(work.buffer[i], soft_buffer[i]);
    const LdpcPlan& plan =
        soft_buffer.empty() ? plans_[static_cast<std::size_t>(redundancy_version)] : plans_.back();
    load(work, plan);
    const End end = decode(work, plan);
    unload(work, plan, extrinsic.empty() ? blocks_.bits : static_cast<std::size_t>(plan.columns) * size());
    pack_signs(std::span(work.values).first(blocks_.bits), work.packed);
    if (!extrinsic.empty())
        recover_.write_extrinsic(codeword.subspan(before, sent), redundancy_version,
                                 std::span(work.values).subspan(punctured_columns * size()),
                                 extrinsic.subspan(before, sent));
    return {.iterations = end.iterations,
            .crc_holds = end.is_codeword && crc_(work.packed, blocks_.bits) == 0};
}

}  // namespace phy::detail
