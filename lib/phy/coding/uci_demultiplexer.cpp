#include "phy/coding/uci_demultiplexer.hpp"

#include <array>
#include <cstdint>

#include "phy/coding/uci_checks.hpp"
#include "phy/machine/share.hpp"

namespace phy {

UciDemultiplexer::UciDemultiplexer(const Host& host, const Config& config) : host_(host), map_(config) {}

void UciDemultiplexer::operator()(SoftBitView llr, const UciSoftBits& parts) const {
    const std::size_t codewords = detail::checked_codewords(map_, llr, parts);
    const std::size_t bits = map_.coded_bits();
    detail::share_pieces(host_, codewords, 1, [&](std::uint64_t codeword, std::uint64_t /*end*/) {
        const auto row = [&](const SoftBitSpan& part) {
            const std::size_t of_part = part.size() / codewords;
            return part.subspan(codeword * of_part, of_part);
        };
        map_.split(llr.subspan(codeword * bits, bits),
                   {row(parts.ul_sch), row(parts.ack), row(parts.csi1), row(parts.csi2)});
    });
}

}  // namespace phy
