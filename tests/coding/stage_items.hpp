#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "coding/decoder_outputs.hpp"
#include "phy/coding/stage.hpp"
#include "phy/pipeline/memory.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "support/random_seed.hpp"

namespace phy_test {

inline DecoderOutputs decoded_by_stage(const DecoderCase& decoded, int version,
                                       const std::vector<phy::Place>& places,
                                       const phy::Pipeline::Config& how) {
    phy::TransportDecoderStage stage({.decoder = decoded.decoder, .redundancy_version = version});
    phy::Pipeline pipeline(places, stage, how);
    DecoderOutputs outputs;
    outputs.payload.resize(decoded.blocks * decoded.decoder.block.size / 8);
    outputs.results.resize(decoded.blocks);
    phy::MemorySource source(stage.inputs(), {decoded.llr().bytes()});
    phy::MemorySink sink(stage.outputs(), {std::as_writable_bytes(std::span(outputs.payload)),
                                           std::as_writable_bytes(std::span(outputs.results))});
    EXPECT_EQ(pipeline.run(source, sink).items, decoded.blocks);
    return outputs;
}

inline DecoderOutputs decoded_by_call(const DecoderCase& decoded, int version) {
    phy::TransportDecoder decode(phy::Host(), decoded.decoder);
    DecoderOutputs outputs;
    outputs.payload.resize(decoded.blocks * decoded.decoder.block.size / 8);
    outputs.results.resize(decoded.blocks);
    decode(decoded.llr(), version, outputs.payload, outputs.results);
    return outputs;
}

/// Codewords of soft bits of any value, with UCI.
struct UciCase {
    phy::UciConfig uci;
    phy::TransportDecoderStage::Config stage;
    std::size_t codewords = 3;
    std::vector<std::byte> llr;
};

inline UciCase random_uci_case(std::mt19937& random) {
    UciCase result;
    phy::UciConfig& uci = result.uci;
    uci = {.ack_bits = static_cast<std::size_t>(random_int(random, 0, 14)),
           .csi1_bits = static_cast<std::size_t>(random_int(random, 1, 20)),
           .csi2_bits = static_cast<std::size_t>(random_int(random, 0, 20)),
           .code_block_bits = 1000,
           .modulation = phy::all_modulations.at(random() % 6),
           .layers = random_int(random, 1, 4)};
    uci.symbols.resize(14, {.elements = static_cast<std::size_t>(12 * random_int(random, 3, 10))});
    uci.symbols[2] = {.elements = 0, .has_dmrs = true};
    const phy::UciMap map(uci);
    result.stage = {.decoder = {.block = {.size = 320,
                                          .code_rate = 0.3,
                                          .coded_bits = map.coded_bits(phy::UciPart::ul_sch),
                                          .modulation = uci.modulation,
                                          .layers = uci.layers},
                                .format = phy::all_soft_bit_formats.at(random() % 3),
                                .iterations = 3},
                    .uci = uci};
    result.llr.resize(result.codewords * map.coded_bits() * size_of(result.stage.decoder.format));
    for (std::byte& byte : result.llr)
        byte = static_cast<std::byte>(random());
    return result;
}

/// All outputs of a stage, one array after another.
inline std::vector<std::vector<std::byte>> outputs_of(const UciCase& sent,
                                                      const std::vector<phy::Place>& places,
                                                      const phy::Pipeline::Config& how) {
    phy::TransportDecoderStage stage(sent.stage);
    phy::Pipeline pipeline(places, stage, how);
    std::vector<std::vector<std::byte>> outputs;
    for (const phy::Port& port : stage.outputs())
        outputs.emplace_back(port.bytes_of(sent.codewords));
    phy::MemorySource source(stage.inputs(), {std::span(sent.llr)});
    phy::MemorySink sink(stage.outputs(), {outputs.begin(), outputs.end()});
    EXPECT_EQ(pipeline.run(source, sink).items, sent.codewords);
    return outputs;
}

/// As the stage's outputs, by UciMap and a decoder.
inline std::vector<std::vector<std::byte>> outputs_by_calls(const UciCase& sent) {
    const phy::UciMap map(sent.uci);
    const phy::SoftBitFormat format = sent.stage.decoder.format;
    std::vector<std::byte> parts[4];
    for (const phy::UciPart part : phy::all_uci_parts)
        parts[static_cast<std::size_t>(part)].resize(sent.codewords * map.coded_bits(part) * size_of(format));
    for (std::size_t codeword = 0; codeword < sent.codewords; ++codeword) {
        const auto row = [&](auto& all) {
            const std::size_t bytes = all.size() / sent.codewords;
            return std::span(all).subspan(codeword * bytes, bytes);
        };
        map.split({format, row(sent.llr)},
                  {phy::SoftBitSpan(format, row(parts[0])), phy::SoftBitSpan(format, row(parts[1])),
                   phy::SoftBitSpan(format, row(parts[2])), phy::SoftBitSpan(format, row(parts[3]))});
    }
    std::vector<std::uint8_t> payload(sent.codewords * sent.stage.decoder.block.size / 8);
    std::vector<phy::DecodedBlock> results(sent.codewords);
    phy::TransportDecoder(phy::Host(), sent.stage.decoder)(phy::SoftBitView(format, parts[0]), 0, payload,
                                                           results);
    std::vector<std::vector<std::byte>> outputs;
    const auto add = [&](auto bytes) {
        if (!bytes.empty()) outputs.emplace_back(bytes.begin(), bytes.end());
    };
    add(std::as_bytes(std::span(payload)));
    add(std::as_bytes(std::span(results)));
    for (const std::size_t part : {1, 2, 3})
        add(std::span(parts[part]));
    return outputs;
}

class TransportDecoderStageTest : public testing::Test {
protected:
    unsigned seed_ = random_seed();
    testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
    std::mt19937 random_{seed_};
};

}  // namespace phy_test
