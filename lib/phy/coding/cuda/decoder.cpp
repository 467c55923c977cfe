#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "phy/coding/cuda/launch.hpp"
#include "phy/coding/decoder_checks.hpp"
#include "phy/coding/ldpc_plan.hpp"
#include "phy/coding/transport_decoder.hpp"
#include "phy/core/check.hpp"
#include "phy/cuda/buffer.hpp"

namespace phy::gpu {
namespace {

using phy::detail::Crc;
using phy::detail::LdpcPlan;

/// D^n modulo the polynomial, for n from 0 to count - 1.
std::vector<std::uint32_t> powers_of(const Crc& crc, std::size_t count) {
    std::vector<std::uint32_t> powers;
    const std::uint32_t highest = 1U << static_cast<unsigned>(crc.length - 1);
    std::uint32_t power = 1;
    while (powers.size() < count) {
        powers.push_back(power);
        const bool carries = (power & highest) != 0;
        power = (power & (highest - 1)) << 1U ^ (carries ? crc.polynomial : 0U);
    }
    return powers;
}

/// The remainders of bits of a block by their place.
std::vector<std::uint32_t> remainders_of(const Crc& crc, std::size_t bits) {
    std::vector<std::uint32_t> powers = powers_of(crc, bits);
    std::ranges::reverse(powers);
    return powers;
}

/// D^n for the bits behind each code block.
std::vector<std::uint32_t> later_bits(const Crc& crc, std::size_t blocks, std::size_t bits) {
    const std::vector<std::uint32_t> powers = powers_of(crc, blocks * bits);
    std::vector<std::uint32_t> of_blocks;
    for (std::size_t block = 0; block < blocks; ++block)
        of_blocks.push_back(powers[(blocks - 1 - block) * bits]);
    return of_blocks;
}

struct PlanInMemory {
    PlanInMemory(const Device& device, const LdpcPlan& plan) {
        const auto size = static_cast<std::uint32_t>(plan.lifting_size);
        std::vector<std::uint32_t> of_edges;
        for (const phy::detail::LdpcEdge& edge : plan.edges)
            of_edges.push_back(detail::packed_edge(edge.column * size, edge.shift));
        std::vector<std::uint32_t> of_layers;
        for (const phy::detail::LdpcLayer& layer : plan.layers)
            of_layers.push_back(layer.degree);
        edges = detail::upload(device, of_edges);
        degrees = detail::upload(device, of_layers);
        view = {.edges = edges.data(),
                .degrees = degrees.data(),
                .edge_count = static_cast<std::uint32_t>(of_edges.size()),
                .layer_count = static_cast<std::uint32_t>(of_layers.size()),
                .bits = static_cast<std::uint32_t>(plan.columns) * size};
    }

    DeviceBuffer<std::uint32_t> edges;
    DeviceBuffer<std::uint32_t> degrees;
    detail::DeviceLdpcPlan view;
};

/// Of the kernels themselves.
constexpr std::size_t static_shared_memory = 1024;

/// Blocks of threads on a multiprocessor whose messages lie in device memory.
constexpr std::size_t blocks_with_scratch = 4;

}  // namespace

struct PHY_HIDDEN TransportDecoder::Impl {
    Impl(const Device& on, const Config& given);

    void prepare();
    /// The arrays of a call.
    struct Call {
        SoftBitView llr;
        int redundancy_version;
        DeviceSpan<std::uint8_t> payload;
        DeviceSpan<DecodedBlock> results;
        DeviceSpan<std::int8_t> soft_buffers;
        DeviceSpan<std::int8_t> extrinsic;
    };
    void decode(const Call& call, bool only_failed, cudaStream_t stream) const;

    Device device;
    Config config;
    CodeBlocks blocks;
    std::vector<PlanInMemory> plans;  ///< see make_plans()
    DeviceBuffer<std::uint32_t> of_block;
    DeviceBuffer<std::uint32_t> of_data;
    DeviceBuffer<std::uint32_t> of_later_data;
    DeviceBuffer<std::int8_t> scratch;
    detail::DecodeJob job;  ///< without the members that each call sets
};

TransportDecoder::Impl::Impl(const Device& on, const Config& given)
    : device(on), config(phy::detail::checked(given)), blocks(phy::code_blocks(given.block)) {
    const CurrentDevice current(device);
    job.matching = phy::detail::rate_matching(config.block, blocks);
    for (const LdpcPlan& plan : phy::detail::make_plans(blocks, job.matching))
        plans.emplace_back(device, plan);
    const Crc crc = phy::detail::transport_block_crc(blocks);
    const std::size_t data_bits = blocks.bits - static_cast<std::size_t>(blocks.code_block_crc);
    of_block = detail::upload(device, remainders_of(phy::detail::crc24b, blocks.bits));
    of_data = detail::upload(device, remainders_of(crc, data_bits));
    of_later_data = detail::upload(device, later_bits(crc, blocks.count, data_bits));
    job.crc = {.of_block = of_block.data(),
               .of_data = of_data.data(),
               .of_later_data = of_later_data.data(),
               .polynomial = crc};
    job.size = static_cast<std::uint32_t>(blocks.lifting_size);
    job.code_blocks = static_cast<std::uint32_t>(blocks.count);
    job.code_block_bits = static_cast<std::uint32_t>(blocks.bits);
    job.information_bits = static_cast<std::uint32_t>(blocks.information_bits);
    job.data_bytes = static_cast<std::uint32_t>(data_bits / 8);
    job.coded_bits = config.block.coded_bits;
    job.payload_bytes = config.block.size / 8;
    job.iterations = static_cast<std::uint32_t>(config.iterations);
    job.early_end = config.early_end;
    job.format = config.format;
    job.units = phy::detail::units_of(config);
    prepare();
}

/// Messages lie in shared memory if that has room.
void TransportDecoder::Impl::prepare() {
    const detail::DeviceLdpcPlan& largest = plans.back().view;
    const std::size_t with_messages = detail::shared_bytes(largest, job.size, true);
    const bool has_room = with_messages + static_shared_memory <= device.shared_memory_per_block();
    job.resident_blocks = std::numeric_limits<std::int32_t>::max();
    if (!has_room) {
        job.resident_blocks = static_cast<std::uint32_t>(blocks_with_scratch *
                                                         static_cast<std::size_t>(device.multiprocessors()));
        scratch = DeviceBuffer<std::int8_t>(device, job.resident_blocks * with_messages);
        job.scratch = scratch.data();
    }
    detail::prepare_decode();
}

void TransportDecoder::Impl::decode(const Call& call, bool only_failed, cudaStream_t stream) const {
    phy::detail::check_sizes(config, blocks, call.redundancy_version, call.llr.format(),
                             {.llr = call.llr.size(),
                              .payload = call.payload.size(),
                              .results = call.results.size(),
                              .soft_buffers = call.soft_buffers.size(),
                              .extrinsic = call.extrinsic.size()});
    if (call.results.empty()) return;
    const auto version = static_cast<std::size_t>(call.redundancy_version);
    detail::DecodeJob now = job;
    now.plan = (call.soft_buffers.empty() ? plans[version] : plans.back()).view;
    now.first_rank = now.matching.first_ranks[version];
    now.llr = call.llr.data();
    now.soft_buffers = call.soft_buffers.empty() ? nullptr : call.soft_buffers.data();
    now.extrinsic = call.extrinsic.empty() ? nullptr : call.extrinsic.data();
    now.payload = call.payload.data();
    now.results = call.results.data();
    now.only_failed = only_failed;
    now.blocks = call.results.size();
    const CurrentDevice current(device);
    detail::launch(now, stream);
}

TransportDecoder::TransportDecoder(const Device& device, const Config& config)
    : impl_(std::make_unique<Impl>(device, config)) {}

const CodeBlocks& TransportDecoder::code_blocks() const {
    return impl_->blocks;
}

std::size_t TransportDecoder::soft_buffer_size() const {
    return impl_->blocks.count * impl_->blocks.buffer_size;
}

void TransportDecoder::operator()(SoftBitView llr, int redundancy_version, DeviceSpan<std::uint8_t> payload,
                                  DeviceSpan<DecodedBlock> results, DeviceSpan<std::int8_t> soft_buffers,
                                  cudaStream_t stream, DeviceSpan<std::int8_t> extrinsic) const {
    impl_->decode({llr, redundancy_version, payload, results, soft_buffers, extrinsic}, false, stream);
}

void TransportDecoder::decode_failed(SoftBitView llr, int redundancy_version,
                                     DeviceSpan<std::uint8_t> payload, DeviceSpan<DecodedBlock> results,
                                     cudaStream_t stream, DeviceSpan<std::int8_t> extrinsic) const {
    impl_->decode({llr, redundancy_version, payload, results, {}, extrinsic}, true, stream);
}

const Device& TransportDecoder::device() const {
    return impl_->device;
}

const TransportDecoder::Config& TransportDecoder::config() const {
    return impl_->config;
}

}  // namespace phy::gpu
