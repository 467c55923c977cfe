#include "phy/files/receive/transport_blocks.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "phy/core/constellation.hpp"
#include "phy/files/common.hpp"
#include "phy/files/receive/block_trial.hpp"
#include "phy/files/receive/warnings.hpp"
#include "phy/numerics/elementary.hpp"

namespace phy::detail {
namespace {

/// Above this rms share of the distance between points, wrong decisions hide noise.
constexpr double max_decided_error = 0.3;

/// What a link needs beyond the SNR at which a block decodes in a trial.
constexpr double margin_db = 4.0;

/// The same where another decoder is compared.
constexpr double compared_margin_db = 1.0;

/// Iterations in which a block without noise decodes, if it does.
constexpr int sure_iterations = 50;

/// N0 of equalised symbols, or somewhat more; none if the symbols may not be the link's.
std::optional<double> noise_of_symbols(const Reception& result) {
    const SlotReport& mean = result.mean;
    const double power = mean.evm * mean.evm;
    const double distance = 2.0 * axis_unit(result.link.modulation);
    if (mean.evm <= harmless_error * distance) return power;
    const double ratio = elementary::power_ratio(mean.error_over_noise_db);
    const double uncertainty = noise_uncertainty(result.link.allocation);
    if (uncertainty > 1.0 && !(mean.evm < max_decided_error * distance)) return std::nullopt;
    if (mean.clear_symbols == 0 || !(ratio < max_error_over_noise * uncertainty)) return std::nullopt;
    // Decisions that are wrong for noise that is more than measured hide some of it.
    return std::max(power, power / ratio * uncertainty);
}

/// True if symbols with this noise should decode.
bool should_decode(const Host& host, const TransportDecoderStage::Config& decode, const LlrConfig& llr,
                   const Reception& result, double margin) {
    const std::optional<double> noise = noise_of_symbols(result);
    return noise && block_decodes(host, decode, llr,
                                  std::max(*noise * elementary::power_ratio(margin), hardly_any_noise));
}

/// With the usual soft bits and iterations.
TransportDecoderStage::Config usual(TransportDecoderStage::Config decode) {
    decode.decoder = {.block = decode.decoder.block, .format = decode.decoder.format};
    return decode;
}

/// True if some noise-free block decodes.
bool can_decode(const Host& host, TransportDecoderStage::Config decode) {
    decode = usual(decode);
    decode.decoder.iterations = sure_iterations;
    return block_decodes(host, decode, {}, hardly_any_noise);
}

/// What UCI has to do with transport blocks that fail.
const char* uci_text(const Link& link) {
    if (link.direction == Direction::downlink) return "";
    return link.coding->uci ? ", or coding.uci is wrong"
                            : ", or the PUSCH carries UCI that coding.uci does not describe";
}

}  // namespace

std::optional<TransportDecoderStage::Config> decoding_of(const Reception& result,
                                                         const ReceiveOptions& options) {
    if (options.writes_payload && !options.decodes)
        throw ArgumentError("writes_payload: expected decodes too");
    if (options.writes_uci && !options.decodes) throw ArgumentError("writes_uci: expected decodes too");
    if (options.writes_payload && !result.link.coding)
        throw FileError(name_of(result.capture) +
                        ": its link has no coding, which transport blocks need: expected coding.code_rate, "
                        "coding.transport_block_size or allocation.mcs_index");
    if (options.writes_uci && !(result.link.coding && result.link.coding->uci))
        throw FileError(name_of(result.capture) + ": its link has no UCI to write: expected coding.uci");
    if (!options.decodes || !result.link.coding) return std::nullopt;
    std::optional<UciConfig> uci;
    if (result.link.coding->uci) uci = uci_config(result.link);
    return TransportDecoderStage::Config{.decoder = {.block = transport_block_config(result.link),
                                                     .format = options.format,
                                                     .scale = options.llr.scale,
                                                     .clip = options.llr.clip,
                                                     .iterations = options.decoder_iterations},
                                         .redundancy_version = result.link.coding->redundancy_version,
                                         .uci = uci};
}

void warn_of_transport_blocks(const Host& host, const TransportDecoderStage::Config& decode,
                              Reception& result) {
    if (result.transport_blocks.empty() || result.valid_transport_blocks > 0) return;
    const std::string failure = name_of(result.capture) + ": no transport block has a valid CRC";
    if (!can_decode(host, decode)) {
        const TransportBlockConfig& block = decode.decoder.block;
        result.warnings.push_back(
            failure + ", and none can have: without noise too, the " + std::to_string(block.coded_bits) +
            " coded bits of redundancy version " + std::to_string(decode.redundancy_version) +
            " do not determine a transport block of " + std::to_string(block.size) +
            " bits alone. Combine their soft bits with those of other transmissions of the block; if there "
            "are none, coding.redundancy_version or the code rate is wrong");
        return;
    }
    if (!should_decode(host, decode, result.llr, result, margin_db)) {
        const TransportDecoderStage::Config with_usual = usual(decode);
        if (!should_decode(host, decode, result.llr, result, compared_margin_db) &&
            should_decode(host, with_usual, {}, result, compared_margin_db))
            result.warnings.push_back(
                failure +
                ", though SNR and EVM are good enough with the usual soft bits and iterations: llr_scale, "
                "llr_clip or decoder_iterations lose too much");
        return;
    }
    result.warnings.push_back(
        failure +
        ", though SNR and EVM are good enough for its code rate: "
        "allocation.rnti, allocation.scrambling_id, coding (redundancy_version, code_rate, "
        "transport_block_size, overhead, limited_buffer), allocation.mcs_index, the order of "
        "allocation.dmrs.ports or allocation.resource_blocks may be wrong, or symbols, resource_blocks or "
        "reserved describe less than was transmitted" +
        uci_text(result.link));
}

}  // namespace phy::detail
