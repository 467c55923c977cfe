#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "phy/coding/stage.hpp"
#include "phy/coding/uci_demultiplexer.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/pipeline/operator_runner.hpp"

/// What a decoder does with a chunk of a pipeline.
namespace phy::detail {

/// A decoder for the streams of all buffer sets, one after another: gpu::TransportDecoder takes one at a time
/// on devices with little shared memory.
template <class Decoder>
class OneStreamAtATime {
public:
    using Config = TransportDecoderConfig;

    OneStreamAtATime(const gpu::Device& device, const Config& config)
        : decode_(device, config), decoded_(device, gpu::Event::Timing::off) {}

    void operator()(gpu::SoftBitView llr, int redundancy_version, gpu::DeviceSpan<std::uint8_t> payload,
                    gpu::DeviceSpan<DecodedBlock> results, gpu::DeviceSpan<std::int8_t> soft_buffers,
                    cudaStream_t stream, gpu::DeviceSpan<std::int8_t> extrinsic) const {
        decoded_.delay(stream);
        decode_(llr, redundancy_version, payload, results, soft_buffers, stream, extrinsic);
        decoded_.record(stream);
    }

    void decode_failed(gpu::SoftBitView llr, int redundancy_version, gpu::DeviceSpan<std::uint8_t> payload,
                       gpu::DeviceSpan<DecodedBlock> results, cudaStream_t stream,
                       gpu::DeviceSpan<std::int8_t> extrinsic) const {
        decoded_.delay(stream);
        decode_.decode_failed(llr, redundancy_version, payload, results, stream, extrinsic);
        decoded_.record(stream);
    }

private:
    Decoder decode_;
    gpu::Event decoded_;
};

/// A decoder, behind a demultiplexer if there is UCI.
template <class Decoder, class Demultiplexer, class View, class Parts, class Extrinsic>
class Decoding {
public:
    using Config = TransportDecoderStage::Config;

    template <class Where>
    Decoding(const Where& where, const Config& config) : config_(config), decode_(where, config.decoder) {
        if (config.uci) split_.emplace(where, *config.uci);
    }

    /// codewords, work: the input, and output and scratch memory of a TransportDecoderStage. extrinsic: as in
    /// TransportDecoder.
    void run(const auto& codewords, const auto& work, Extrinsic extrinsic, const auto&... device) {
        View llr(config_.decoder.format, codewords);
        if (split_) llr = split(llr, work, device...);
        decode_(llr, config_.redundancy_version, elements_of<std::uint8_t>(work.out[0], "payload"),
                elements_of<DecodedBlock>(work.out[1], "results"), {}, device.stream..., extrinsic);
    }

    /// The same for blocks that have failed. Needs a config without UCI.
    void repeat(const auto& codewords, const auto& work, Extrinsic extrinsic, const auto&... device) {
        decode_.decode_failed(View(config_.decoder.format, codewords), config_.redundancy_version,
                              elements_of<std::uint8_t>(work.out[0], "payload"),
                              elements_of<DecodedBlock>(work.out[1], "results"), device.stream..., extrinsic);
    }

private:
    /// Returns the soft bits of UL-SCH.
    View split(const View& llr, const auto& work, const auto&... device) {
        using Span = decltype(Parts::ul_sch);
        const SoftBitFormat format = config_.decoder.format;
        const UciMap& map = split_->map();
        const std::size_t of_ul_sch = work.chunk.items * map.coded_bits(UciPart::ul_sch) * size_of(format);
        std::size_t next = 2;
        const auto output = [&](UciPart part) {
            return map.coded_bits(part) > 0 ? Span(format, work.out[next++]) : Span();
        };
        // Braces, so that the outputs are taken in their order.
        const Parts parts{Span(format, work.scratch.subspan(0, of_ul_sch)), output(UciPart::ack),
                          output(UciPart::csi1), output(UciPart::csi2)};
        (*split_)(llr, parts, device.stream...);
        return parts.ul_sch;
    }

    Config config_;
    Decoder decode_;
    std::optional<Demultiplexer> split_;
};

using HostDecoding =
    Decoding<TransportDecoder, UciDemultiplexer, SoftBitView, UciSoftBits, std::span<std::int8_t>>;
using DeviceDecoding = Decoding<OneStreamAtATime<gpu::TransportDecoder>, gpu::UciDemultiplexer,
                                gpu::SoftBitView, gpu::UciSoftBits, gpu::DeviceSpan<std::int8_t>>;

}  // namespace phy::detail
