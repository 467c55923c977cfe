// Decoding of transport blocks on a GPU: slots of 273 resource blocks, 256QAM, 4 layers. "Symbols" are bits
// of the transport blocks.

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "bench/cuda_suite.hpp"
#include "coding/coding_cases.hpp"
#include "common/repeat.hpp"

namespace phy::bench {
namespace {

constexpr std::size_t coded_bits = 273 * 12 * 12 * 8 * 4;

/// Of code blocks of 8424 bits without their CRC.
TransportBlockConfig slot_of(double code_rate) {
    const auto blocks = static_cast<std::size_t>(coded_bits * code_rate / 8424);
    return {.size = 8424 * blocks - 24,
            .code_rate = code_rate,
            .coded_bits = coded_bits,
            .modulation = Modulation::qam256,
            .layers = 4};
}

void measure_decoder(Suite& suite, double code_rate, bool early_end, std::size_t slots) {
    const auto name = fmt::format("decode/bg1_384/{}/{}/{}_slots", code_rate,
                                  early_end ? "until_right" : "6_iterations", slots);
    if (!suite.wants(name)) return;
    const gpu::Device& device = suite.device();
    const TransportBlockConfig block = slot_of(code_rate);
    std::mt19937 random(38212);
    std::vector<std::uint8_t> codeword(block.coded_bits);
    TransportEncoder(Host(), block)(phy_test::payload_of(block.size, 1), 0, codeword);
    const std::vector<std::int8_t> llr =
        phy_test::in_steps(phy_test::received(codeword, phy_test::n0_above_threshold(code_rate), random));
    gpu::DeviceBuffer<std::int8_t> in(device, slots * llr.size());
    gpu::DeviceBuffer<std::uint8_t> out(device, in.size());  // more than the payload: that of a copy
    apps::fill_repeating(device, in.span(), std::span(llr));
    gpu::DeviceBuffer<DecodedBlock> results(device, slots);
    const gpu::TransportDecoder decode(
        device, {.block = block, .iterations = early_end ? 20 : 6, .early_end = early_end});
    suite.record(name,
                 {.symbols = slots * block.size,
                  .moves = {evened({in.data(), slots * llr.size(), out.data(), slots * block.size / 8})},
                  .work =
                      [&](cudaStream_t stream) {
                          decode(gpu::SoftBitView(in), 0, out.subspan(0, slots * block.size / 8), results, {},
                                 stream);
                      },
                  .graph = true});
}

}  // namespace

void coding_benchmarks(Suite& suite) {
    for (const double code_rate : {0.5, 0.9}) {
        for (const std::size_t slots : {1, 20}) {
            measure_decoder(suite, code_rate, false, slots);
            measure_decoder(suite, code_rate, true, slots);
        }
    }
}

}  // namespace phy::bench
