#include "phy/files/receive/uci.hpp"

#include <algorithm>
#include <array>

#include "phy/files/common.hpp"
#include "phy/scrambling/gold_sequence.hpp"

namespace phy::detail {
namespace {

/// Nats; below it one word in ten is wrong at best. The median of noise is 0.5 for 3 bits or more, 2 for
/// fewer.
constexpr float min_median_margin = 2.5F;
constexpr std::size_t min_slots = 4;

/// Nats.
constexpr float min_soft_bit = 5.0F;

struct PartOfSlot {
    UciPart part;
    const char* name;
    const char* text;
    std::optional<DecodedWord> SlotUci::*word;
    std::size_t LinkUci::*bits;
};

constexpr PartOfSlot parts_of_slot[] = {
    {UciPart::ack, "ack", "HARQ-ACK", &SlotUci::ack, &LinkUci::ack_bits},
    {UciPart::csi1, "csi1", "CSI part 1", &SlotUci::csi1, &LinkUci::csi1_bits},
    {UciPart::csi2, "csi2", "CSI part 2", &SlotUci::csi2, &LinkUci::csi2_bits},
};

/// The scrambling sequence of each part, one bit per byte.
std::array<std::vector<std::int8_t>, all_uci_parts.size()> scrambling_of(const Link& link,
                                                                         const UciMap& map) {
    std::vector<std::uint32_t> words((map.coded_bits() + 31) / 32);
    gold_sequence(link.scrambling.c_init(), 0, words);
    std::vector<std::int8_t> bits(map.coded_bits());
    for (std::size_t bit = 0; bit < bits.size(); ++bit)
        bits[bit] = static_cast<std::int8_t>(words[bit / 32] >> bit % 32 & 1U);
    std::array<std::vector<std::int8_t>, all_uci_parts.size()> parts;
    for (const UciPart part : all_uci_parts)
        parts[static_cast<std::size_t>(part)].resize(map.coded_bits(part));
    map.split(bits, {parts[0], parts[1], parts[2], parts[3]});
    return parts;
}

}  // namespace

UciReader::UciReader(const Link& link, const ReceiveOptions& options)
    : modulation_(link.modulation), format_(options.format), scale_(options.llr.scale) {
    if (!options.decodes || !link.coding || !link.coding->uci) return;
    const UciMap map(uci_config(link));
    const auto scrambling = scrambling_of(link, map);
    for (const PartOfSlot& part : parts_of_slot) {
        const std::size_t bits = (*link.coding->uci).*part.bits;
        if (bits == 0) continue;
        const auto& of_part = scrambling[static_cast<std::size_t>(part.part)];
        parts_.push_back({.word = part.word,
                          .rows = {.name = part.name,
                                   .bits = bits <= max_block_code_bits ? bits : 0,
                                   .coded_bits = map.coded_bits(part.part)},
                          .scrambling = {of_part.begin(), of_part.end()}});
    }
}

std::vector<UciRows> UciReader::rows() const {
    std::vector<UciRows> all;
    for (const Part& part : parts_)
        all.push_back(part.rows);
    return all;
}

void UciReader::take(std::size_t slots, std::span<const std::span<const std::byte>> soft_bits,
                     SlotWriter* writer) {
    if (parts_.empty()) return;
    const std::size_t before = slots_.size();
    slots_.resize(before + slots);
    for (std::size_t index = 0; index < parts_.size(); ++index) {
        const Part& part = parts_[index];
        const std::size_t bytes = soft_bits[index].size() / slots;
        std::vector<std::uint8_t> bits;
        std::vector<float> margins;
        for (std::size_t slot = 0; slot < slots && part.rows.bits > 0; ++slot) {
            const DecodedWord word =
                decode_block_code({.bits = static_cast<int>(part.rows.bits), .modulation = modulation_},
                                  {format_, soft_bits[index].subspan(slot * bytes, bytes)},
                                  {.scale = scale_, .scrambling = part.scrambling});
            slots_[before + slot].*part.word = word;
            bits.insert(bits.end(), word.bits.begin(),
                        word.bits.begin() + static_cast<std::ptrdiff_t>(part.rows.bits));
            margins.push_back(word.margin);
        }
        if (writer != nullptr) writer->append_uci(index, soft_bits[index], bits, margins);
    }
}

void warn_of_uci(Reception& result) {
    // Soft bits that end early leave little of any margin.
    if (result.format == SoftBitFormat::int8 &&
        static_cast<float>(result.llr.clip) < min_soft_bit * result.llr.scale)
        return;
    for (const PartOfSlot& part : parts_of_slot) {
        std::vector<float> margins;
        // Other slots may lack the grant, or have faded.
        for (std::size_t slot = 0; slot < result.uci.size(); ++slot) {
            const auto& word = result.uci[slot].*part.word;
            if (word && result.transport_blocks[slot].crc == 1) margins.push_back(word->margin);
        }
        if (margins.size() < min_slots) continue;
        const auto middle = margins.begin() + static_cast<std::ptrdiff_t>(margins.size() / 2);
        std::ranges::nth_element(margins, middle);
        if (*middle >= min_median_margin) continue;
        result.warnings.push_back(name_of(result.capture) + ": the bits of " + part.text +
                                  " are doubtful, with a median margin of " +
                                  rounded(static_cast<double>(*middle), 1) +
                                  " nats, though transport blocks have a valid CRC: coding.uci may be wrong");
    }
}

}  // namespace phy::detail
