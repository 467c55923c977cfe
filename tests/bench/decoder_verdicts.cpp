// Code blocks in noise at which many fail: counts those whose CRC holds for wrong bits. Prints JSON.
// Argument: code blocks per SNR.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bench/decoder_verdicts_kernels.hpp"
#include "bench/turns.hpp"
#include "coding/coding_cases.hpp"
#include "phy/cuda/buffer.hpp"

namespace {

using phy::bench::VerdictCounts;
using phy::gpu::DeviceBuffer;

constexpr std::size_t words = 64;          // different codewords
constexpr std::size_t of_launch = 20'000;  // transport blocks, each of one code block

class Soak {
public:
    Soak()
        : decode_(device_, {.block = config_}),
          llr_(device_, of_launch * config_.coded_bits),
          payload_(device_, of_launch * config_.size / 8),
          results_(device_, of_launch) {
        phy::TransportEncoder encode(phy::Host(), config_);
        std::vector<std::uint8_t> payloads;
        std::vector<std::uint8_t> codewords;
        for (std::uint32_t word = 0; word < words; ++word) {
            const std::vector<std::uint8_t> payload = phy_test::payload_of(config_.size, word + 1);
            std::vector<std::uint8_t> codeword(config_.coded_bits);
            encode(payload, 0, codeword);
            payloads.insert(payloads.end(), payload.begin(), payload.end());
            codewords.insert(codewords.end(), codeword.begin(), codeword.end());
        }
        sent_ = phy::gpu::detail::upload(device_, payloads);
        codewords_ = phy::gpu::detail::upload(device_, codewords);
    }

    VerdictCounts run(double snr_db, std::size_t blocks) {
        DeviceBuffer<VerdictCounts> counts(device_, 1);
        phy::gpu::fill_async(counts, 0, stream_);
        const auto n0 = static_cast<float>(std::pow(10.0, -snr_db / 10.0));
        for (std::size_t done = 0; done < blocks; done += of_launch) {
            phy::bench::receive(job_, codewords_.data(), n0, ++seed_, llr_.data(), stream_);
            decode_(phy::gpu::SoftBitView(llr_), 0, payload_, results_, {}, stream_);
            phy::bench::compare(job_, sent_.data(), payload_.data(), results_.data(), counts.data(), stream_);
            phy::gpu::check(cudaGetLastError());
        }
        std::vector<VerdictCounts> result(1);
        phy::gpu::copy_async(result, counts, stream_);
        stream_.synchronize();
        return result.front();
    }

    [[nodiscard]] const phy::TransportBlockConfig& config() const { return config_; }

private:
    phy::TransportBlockConfig config_ = {.size = 3848,
                                         .code_rate = 0.8,
                                         .coded_bits = 4840,
                                         .modulation = phy::Modulation::qam256,
                                         .layers = 1};
    phy::bench::VerdictJob job_ = {.blocks = of_launch,
                                   .words = words,
                                   .coded_bits = config_.coded_bits,
                                   .payload_bytes = config_.size / 8};
    phy::gpu::Device device_;
    phy::gpu::Stream stream_{device_};
    phy::gpu::TransportDecoder decode_;
    DeviceBuffer<std::int8_t> llr_;
    DeviceBuffer<std::uint8_t> payload_;
    DeviceBuffer<phy::DecodedBlock> results_;
    DeviceBuffer<std::uint8_t> sent_;
    DeviceBuffer<std::uint8_t> codewords_;
    std::uint64_t seed_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
    const std::size_t wanted = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1'000'000;
    const std::size_t blocks = (wanted + of_launch - 1) / of_launch * of_launch;
    Soak soak;
    phy::bench::print_context({{"gpu", phy::gpu::Device().name()}});
    std::printf("  \"transport_block_bits\": %zu, \"coded_bits\": %zu, \"iterations\": 20, \"points\": [\n",
                soak.config().size, soak.config().coded_bits);
    constexpr double snrs_db[] = {0.0, 1.4, 1.8};
    for (const double snr_db : snrs_db) {
        const VerdictCounts counts = soak.run(snr_db, blocks);
        std::printf(
            "    {\"snr_db\": %.1f, \"blocks\": %zu, \"crc_holds\": %llu, \"of_these_wrong\": %llu}%s\n",
            snr_db, blocks, counts.holding, counts.wrong, snr_db == snrs_db[2] ? "" : ",");
    }
    std::printf("]}\n");
}
