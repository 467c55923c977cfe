#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "phy/coding/crc.hpp"
#include "phy/coding/kernels.hpp"
#include "phy/coding/ldpc_plan.hpp"
#include "phy/coding/rate_recovery.hpp"
#include "phy/coding/transport_decoder.hpp"
#include "phy/core/backend.hpp"
#include "phy/core/view.hpp"

namespace phy::detail {

/// Aligned, because vectors are stored there.
struct alignas(max_vector_bytes) VectorBytes {
    std::int8_t bytes[max_vector_bytes];
};

/// What one thread works on: a code block.
struct DecoderWorkspace {
    std::vector<std::int8_t> buffer;         ///< bits of all columns but the punctured ones
    std::vector<std::int8_t> selected;       ///< scratch of RateRecovery
    std::vector<VectorBytes> of_posteriors;  ///< see kernels.hpp
    std::vector<VectorBytes> of_messages;
    std::vector<std::int8_t> values;   ///< posteriors in order
    std::vector<std::uint8_t> packed;  ///< their signs: K' bits

    std::int8_t* posteriors() { return of_posteriors.front().bytes; }
    [[nodiscard]] const std::int8_t* posteriors() const { return of_posteriors.front().bytes; }
    std::int8_t* messages() { return of_messages.front().bytes; }
};

struct DecodedCodeBlock {
    std::uint32_t iterations;
    /// The parity checks of the LDPC code and its own CRC; that of the transport block, if that is one code
    /// block.
    bool crc_holds;
};

/// Soft bits of a code block to its bits. Immutable: threads share it, each with a workspace.
class CodeBlockDecoder {
public:
    CodeBlockDecoder(const Backend& backend, const TransportDecoderConfig& config);

    [[nodiscard]] const CodeBlocks& blocks() const { return blocks_; }
    [[nodiscard]] const RateMatching& matching() const { return matching_; }
    [[nodiscard]] DecoderWorkspace workspace() const;

    /// Leaves the bits in DecoderWorkspace::packed. soft_buffer: empty, or that of the code block. extrinsic:
    /// empty, or that of the codeword.
    DecodedCodeBlock operator()(DecoderWorkspace& work, SoftBitView codeword, std::size_t code_block,
                                int redundancy_version, std::span<std::int8_t> soft_buffer,
                                std::span<std::int8_t> extrinsic) const;

private:
    struct End {
        std::uint32_t iterations;
        bool is_codeword;  ///< all parity checks hold, and all information bits are known
    };

    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(blocks_.lifting_size); }
    void load(DecoderWorkspace& work, const LdpcPlan& plan) const;
    [[nodiscard]] bool is_decided(const DecoderWorkspace& work, const LdpcPlan& plan) const;
    End decode(DecoderWorkspace& work, const LdpcPlan& plan) const;
    void unload(DecoderWorkspace& work, const LdpcPlan& plan, std::size_t bits) const;

    CodeBlocks blocks_;
    RateMatching matching_;
    RateRecovery recover_;
    std::vector<LdpcPlan> plans_;
    std::vector<FillerBits> fillers_;
    CrcEngine crc_;
    std::uint32_t iterations_;
    bool early_end_;
    const DecoderKernels& kernels_;
};

}  // namespace phy::detail
