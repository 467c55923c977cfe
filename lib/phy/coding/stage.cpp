#include "phy/coding/stage.hpp"

#include <cstddef>
#include <cstdint>

#include "phy/coding/decoder_checks.hpp"
#include "phy/coding/uci_checks.hpp"
#include "phy/coding/uci_demultiplexer.hpp"
#include "phy/core/check.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/pipeline/operator_runner.hpp"

namespace phy {
namespace {

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
                    cudaStream_t stream) const {
        decoded_.delay(stream);
        decode_(llr, redundancy_version, payload, results, soft_buffers, stream);
        decoded_.record(stream);
    }

private:
    Decoder decode_;
    gpu::Event decoded_;
};

/// A decoder, behind a demultiplexer if there is UCI.
template <class Decoder, class Demultiplexer, class View, class Parts>
class Decoding {
public:
    using Config = TransportDecoderStage::Config;

    template <class Where>
    Decoding(const Where& where, const Config& config) : config_(config), decode_(where, config.decoder) {
        if (config.uci) split_.emplace(where, *config.uci);
    }

    void run(const auto& work, const auto&... device) {
        View llr(config_.decoder.format, work.in[0]);
        if (split_) llr = split(llr, work, device...);
        decode_(llr, config_.redundancy_version, detail::elements_of<std::uint8_t>(work.out[0], "payload"),
                detail::elements_of<DecodedBlock>(work.out[1], "results"), {}, device.stream...);
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

using HostDecoding = Decoding<TransportDecoder, UciDemultiplexer, SoftBitView, UciSoftBits>;
using DeviceDecoding = Decoding<OneStreamAtATime<gpu::TransportDecoder>, gpu::UciDemultiplexer,
                                gpu::SoftBitView, gpu::UciSoftBits>;

}  // namespace

TransportDecoderStage::TransportDecoderStage(const Config& config) : config_(config) {
    const TransportDecoderConfig& decoder = detail::checked(config.decoder);
    detail::check_sizes(decoder, code_blocks(decoder.block), config.redundancy_version, decoder.format, {});
    if (!config.uci) return;
    map_.emplace(*config.uci);
    detail::check_size("ul_sch", map_->coded_bits(UciPart::ul_sch), decoder.block.coded_bits);
}

std::vector<Port> TransportDecoderStage::inputs() const {
    const TransportDecoderConfig& decoder = config_.decoder;
    const std::size_t bits = map_ ? map_->coded_bits() : decoder.block.coded_bits;
    return {{.name = "llr", .bytes = bits * size_of(decoder.format)}};
}

std::vector<Port> TransportDecoderStage::outputs() const {
    std::vector<Port> ports = {{.name = "payload", .bytes = config_.decoder.block.size / 8},
                               {.name = "results", .bytes = sizeof(DecodedBlock)}};
    if (!map_) return ports;
    for (const UciPart part : {UciPart::ack, UciPart::csi1, UciPart::csi2})
        if (const std::size_t bits = map_->coded_bits(part); bits > 0)
            ports.push_back({.name = detail::uci_part_names[static_cast<std::size_t>(part)],
                             .bytes = bits * size_of(config_.decoder.format)});
    return ports;
}

std::size_t TransportDecoderStage::scratch_bytes(std::size_t items) const {
    return map_ ? items * config_.decoder.block.coded_bits * size_of(config_.decoder.format) : 0;
}

std::unique_ptr<StageRunner> TransportDecoderStage::on(const Place& place) {
    return detail::operator_runner<HostDecoding, DeviceDecoding>(
        place, config_,
        [](auto& decoding, const auto& work, const auto&... device) { decoding.run(work, device...); });
}

}  // namespace phy
