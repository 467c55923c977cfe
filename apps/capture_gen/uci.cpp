#include "capture_gen/uci.hpp"

#include <utility>

#include <fmt/format.h>

#include "phy/coding/block_code.hpp"

namespace phy::apps {
namespace {

constexpr UciPart parts[] = {UciPart::ack, UciPart::csi1, UciPart::csi2};
constexpr const char* names[] = {"HARQ-ACK", "CSI part 1", "CSI part 2"};

}  // namespace

UciEncoder::UciEncoder(const Host& host, const Link& link, UciBits given)
    : scramble_(host),
      map_(uci_config(link)),
      modulation_(link.modulation),
      c_init_(link.scrambling.c_init()),
      given_(std::move(given)) {
    const LinkUci& uci = *link.coding->uci;
    sizes_ = {uci.ack_bits, uci.csi1_bits, uci.csi2_bits};
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
        coded_[i].resize(map_.coded_bits(parts[i]));
        if (given_[i].empty()) continue;
        if (given_[i].size() != sizes_[i])
            throw ArgumentError(fmt::format("--uci: {} bits of {}: expected {}, as the link says",
                                            given_[i].size(), names[i], sizes_[i]));
        if (sizes_[i] > max_block_code_bits)
            throw ArgumentError(fmt::format("--uci: {} bits of {}: expected none of a part of more than {}",
                                            sizes_[i], names[i], max_block_code_bits));
    }
}

void UciEncoder::operator()(const RandomSequence& random, std::span<const std::uint8_t> ul_sch,
                            std::span<std::uint8_t> codeword) {
    sent_.clear();
    std::uint64_t next = 0;
    const auto draw = [&] { return static_cast<std::uint8_t>(random.bits(next++) & 1U); };
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
        if (sizes_[i] == 0) continue;
        if (sizes_[i] > max_block_code_bits) {
            for (std::uint8_t& bit : coded_[i])
                bit = draw();
            continue;
        }
        std::vector<std::uint8_t> bits = given_[i];
        while (bits.size() < sizes_[i])
            bits.push_back(draw());
        encode_block_code({.bits = static_cast<int>(sizes_[i]), .modulation = modulation_}, bits, coded_[i]);
        sent_.insert(sent_.end(), bits.begin(), bits.end());
    }
    map_.join({ul_sch, coded_[0], coded_[1], coded_[2]}, codeword);
    scramble_(c_init_, codeword, codeword);
    resolve_placeholders(codeword);
    scramble_(c_init_, codeword, codeword);
}

}  // namespace phy::apps
