#include "coding/losses.hpp"

#include <algorithm>

namespace phy_test {

DecoderLosses::DecoderLosses(phy::BaseGraph graph, double rate) {
    // With their CRC: 22 * 384 and 10 * 384 bits.
    config_.size = graph == phy::BaseGraph::bg1 ? 8424 : 3824;
    config_.modulation = phy::Modulation::bpsk;
    config_.code_rate = graph == phy::BaseGraph::bg1 ? std::max(rate, 0.26) : std::min(rate, 0.67);
    const double bits = graph == phy::BaseGraph::bg1 ? 8448.0 : 3840.0;
    config_.coded_bits = static_cast<std::size_t>(std::lround(bits / rate));
    blocks_ = phy::code_blocks(config_);
}

DecoderLosses::Failures DecoderLosses::run(double snr_db, int blocks, std::uint64_t seed,
                                           bool with_sum_product) const {
    const phy::Host host;
    std::mt19937 random(static_cast<unsigned>(seed));
    phy::TransportEncoder encode(host, config_);
    phy::TransportDecoder decode(host, {.block = config_});
    const auto size = static_cast<std::size_t>(blocks_.lifting_size);
    const std::size_t sent = std::min(config_.coded_bits, blocks_.buffer_size);
    const auto columns = static_cast<int>(2 + (sent + size - 1) / size);
    const int core = phy::detail::facts_of(blocks_.graph).information_columns + phy::detail::core_rows;
    SumProduct reference(blocks_.graph, blocks_.lifting_size, std::max(columns, core));
    const double n0 = std::pow(10.0, -snr_db / 10.0);
    Failures failures;
    std::vector<std::uint8_t> codeword(config_.coded_bits);
    std::vector<std::uint8_t> decoded(config_.size / 8);
    for (; failures.blocks < blocks; ++failures.blocks) {
        const std::vector<std::uint8_t> payload =
            payload_of(config_.size, static_cast<std::uint32_t>(random()));
        encode(payload, 0, codeword);
        const std::vector<float> llr = received(codeword, n0, random);
        phy::DecodedBlock result;
        decode(in_steps(llr), 0, decoded, std::span(&result, 1));
        failures.iterations += result.iterations;
        failures.decoder += result.crc != 0 ? 0 : 1;
        failures.wrong_verdicts += result.crc != 0 && decoded != payload ? 1 : 0;
        if (!with_sum_product) continue;
        std::vector<float> of_columns(size * static_cast<std::size_t>(std::max(columns, core)));
        std::copy_n(llr.begin(), sent, of_columns.begin() + static_cast<std::ptrdiff_t>(2 * size));
        const std::vector<std::uint8_t> bits = reference.decode(of_columns, 50);
        bool is_right = true;
        for (std::size_t bit = 0; bit < config_.size; ++bit)
            is_right = is_right && bits[bit] == (payload[bit / 8] >> (7 - bit % 8) & 1);
        failures.sum_product += is_right ? 0 : 1;
    }
    return failures;
}

}  // namespace phy_test
