// Decoding of transport blocks of the longest code, BG1 with Z = 384. "Symbols" are bits of the transport
// block.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <vector>

#include <fmt/format.h>

#include "bench/paired.hpp"
#include "coding/coding_cases.hpp"

namespace phy::bench {
namespace {

constexpr std::size_t code_blocks_of_slot = 20;

TransportBlockConfig block_of(double code_rate) {
    TransportBlockConfig config = {.size = 8424 * code_blocks_of_slot - 24,
                                   .code_rate = code_rate,
                                   .modulation = Modulation::qam64,
                                   .layers = 1};
    config.coded_bits = static_cast<std::size_t>(static_cast<double>(config.size) / code_rate / 6) * 6;
    return config;
}

void add_decoder(double code_rate, bool early_end) {
    const auto name =
        fmt::format("decode/bg1_384/{}/{}", code_rate, early_end ? "until_right" : "6_iterations");
    const TransportBlockConfig block = block_of(code_rate);
    benchmark::RegisterBenchmark(
        name.c_str(),
        [=](benchmark::State& state) {
            std::mt19937 random(38212);
            std::vector<std::uint8_t> codeword(block.coded_bits);
            TransportEncoder(Host(), block)(phy_test::payload_of(block.size, 1), 0, codeword);
            const std::vector<std::int8_t> llr = phy_test::in_steps(
                phy_test::received(codeword, phy_test::n0_above_threshold(code_rate), random));
            std::vector<std::uint8_t> payload(block.size / 8);
            DecodedBlock result;
            TransportDecoder decode(
                Host(), {.block = block, .iterations = early_end ? 20 : 6, .early_end = early_end});
            run_paired(state, {block.size, llr.size(), payload.size()},
                       [&] { decode(llr, 0, payload, std::span(&result, 1)); });
            state.counters["iterations"] = static_cast<double>(result.iterations) / code_blocks_of_slot;
            state.counters["crc"] = result.crc;
        })
        ->UseManualTime()
        ->Iterations(51);
}

void add_encoder(double code_rate) {
    const TransportBlockConfig block = block_of(code_rate);
    benchmark::RegisterBenchmark(fmt::format("encode/bg1_384/{}", code_rate).c_str(),
                                 [=](benchmark::State& state) {
                                     const std::vector<std::uint8_t> payload =
                                         phy_test::payload_of(block.size, 1);
                                     std::vector<std::uint8_t> codeword(block.coded_bits);
                                     TransportEncoder encode(Host(), block);
                                     run_paired(state, {block.size, payload.size(), codeword.size()},
                                                [&] { encode(payload, 0, codeword); });
                                 })
        ->UseManualTime()
        ->Iterations(51);
}

const bool registered = [] {
    for (const double code_rate : {0.5, 0.75, 0.9}) {
        add_decoder(code_rate, false);
        add_decoder(code_rate, true);
        add_encoder(code_rate);
    }
    return true;
}();

}  // namespace
}  // namespace phy::bench
