#include "phy/files/receive/diagnose_coding.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "phy/core/check.hpp"
#include "phy/files/common.hpp"
#include "phy/receiver/acquisition/coding_search.hpp"
#include "phy/receiver/link/mcs.hpp"

namespace phy::detail {
namespace {

constexpr std::size_t max_slots = 4;

/// The occasions with the highest SNR, the best first.
std::vector<std::uint64_t> clearest_of(const std::vector<SlotReport>& reports, const CaptureSlots& slots) {
    std::vector<std::size_t> clearest(reports.size());
    std::iota(clearest.begin(), clearest.end(), std::size_t{0});
    const std::size_t count = std::min(max_slots, clearest.size());
    std::ranges::partial_sort(clearest, clearest.begin() + static_cast<std::ptrdiff_t>(count), {},
                              [&](std::size_t index) { return -reports[index].snr_db; });
    clearest.resize(count);
    std::vector<std::uint64_t> occasions;
    for (const std::size_t index : clearest)
        occasions.push_back(slots.occasion_from(reports[index].slot));
    return occasions;
}

std::vector<std::int8_t> soft_bits_of(const Host& host, ReceiverConfig config, CaptureSlots& slots,
                                      const std::vector<std::uint64_t>& occasions) {
    config.format = SoftBitFormat::int8;
    config.llr = {};
    config.joint_detection = can_detect_jointly(config);
    Receiver receive(host, config);
    std::vector<std::byte> input(slots.bytes_per_slot());
    std::vector<std::int8_t> llr(occasions.size() * receive.soft_bits_per_slot());
    for (std::size_t slot = 0; slot < occasions.size(); ++slot) {
        slots.read(occasions[slot], 1, input);
        receive(SymbolView(slots.format(), input), occasions[slot],
                {.llr = std::span(llr).subspan(slot * receive.soft_bits_per_slot(),
                                               receive.soft_bits_per_slot())});
    }
    return llr;
}

std::string hexadecimal(std::uint32_t number) {
    std::array<char, 8> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number, 16);
    return "0x" + std::string(text.data(), end);
}

/// The link with which the diagnosis by symbols is right, if its slots are those of the given one.
std::optional<Link> link_by_symbols(const Link& given, const Diagnosis& diagnosis) {
    const Trial& best = diagnosis.best;
    if (best.change.empty() || !best.fits() || best.swaps_iq || best.swaps_bytes ||
        best.link.carrier != diagnosis.given.link.carrier)
        return std::nullopt;
    Link link = given;
    link.allocation = best.link.allocation;
    link.modulation = best.link.modulation;
    return link;
}

void append(std::string& list, const std::string& separator, const std::string& text) {
    if (!text.empty()) list += (list.empty() ? "" : separator) + text;
}

/// A code rate, and where the MCS tables have it.
std::string name_of_rate(const Link& link, double code_rate) {
    std::string indices;
    for (const McsIndex& mcs : mcs_indices(link))
        if (mcs.code_rate == code_rate)
            append(indices, ", ",
                   (indices.empty() ? "allocation.mcs_index " : "") + std::to_string(mcs.index) +
                       " of mcs_table \"" + mcs.table->name + "\"");
    return "coding.code_rate_x1024 " + number_text(1024.0 * code_rate) + " (" + indices + ")";
}

/// What differs from the link's coding, but for the redundancy version.
std::string changes_of(const Link& link, const LinkCoding& found) {
    const LinkCoding& own = *link.coding;
    std::string text;
    if (found.code_rate != own.code_rate) append(text, ", ", name_of_rate(link, *found.code_rate));
    if (found.overhead != own.overhead)
        append(text, ", ", "coding.overhead " + std::to_string(found.overhead));
    if (found.transport_block_size == own.transport_block_size) return text;
    Link with = link;
    with.coding = found;
    append(text, ", ", "coding.transport_block_size " + std::to_string(transport_block_config(with).size));
    return text;
}

/// What differs from the link, with the names of its keys.
std::string changes_of(const Link& link, const FoundCoding& found) {
    std::string text;
    const auto add = [&](bool differs, const std::string& change) {
        if (differs) append(text, ", ", change);
    };
    const ScramblingIdentity& is = found.scrambling;
    add(is.rnti != link.scrambling.rnti, "allocation.rnti " + hexadecimal(is.rnti));
    add(is.id != link.scrambling.id, "allocation.scrambling_id " + std::to_string(is.id));
    add(is.codeword != link.scrambling.codeword, "allocation.codeword " + std::to_string(is.codeword));
    const int version = found.codings.front().redundancy_version;
    add(version != link.coding->redundancy_version, "coding.redundancy_version " + std::to_string(version));
    std::string codings;
    for (const LinkCoding& coding : found.codings)
        append(codings, " or ", changes_of(link, coding));
    append(text, ", ", codings);
    return text;
}

}  // namespace

void diagnose_coding(const Host& host, const ReceiverConfig& given, CaptureSlots& slots,
                     const Diagnosis& diagnosis, const std::stop_token& stop, Reception& result) {
    if (result.transport_blocks.empty() || result.valid_transport_blocks > 0) return;
    ReceiverConfig config = given;
    const std::optional<Link> by_symbols = link_by_symbols(given.link, diagnosis);
    if (by_symbols) config.link = *by_symbols;
    const std::vector<std::uint64_t> occasions = clearest_of(result.reports, slots);
    const std::vector<std::int8_t> llr = soft_bits_of(host, config, slots, occasions);
    const auto found = find_coding(host, config.link, llr, LlrConfig{}.scale, stop);
    if (stop.stop_requested()) return;
    const bool is_elsewhere = !diagnosis.best.change.empty() && diagnosis.best.fits() && !by_symbols;
    if (!found && is_elsewhere) {
        result.diagnosis += "; the coding is not searched with that: correct it and run again";
        return;
    }
    if (!found) {
        result.diagnosis +=
            "; no rnti, scrambling_id, codeword, redundancy_version, mcs_index with this modulation or "
            "overhead alone makes a CRC of a code block valid";
        return;
    }
    const std::string proof = "code blocks of " + std::to_string(found->proofs) + " of " +
                              std::to_string(found->codewords) + " slots have a valid CRC";
    std::string changes = by_symbols ? diagnosis.best.change : "";
    append(changes, ", ", changes_of(config.link, *found));
    if (changes.empty()) {
        result.diagnosis += "; first " + proof + ", so what fails are later ones";
        return;
    }
    // Without another change by symbols, what they said is about the link as it is.
    result.diagnosis = (by_symbols ? result.diagnosis + "; " : "") + "with " + changes + " first " + proof;
    result.warnings.push_back(name_of(result.capture) + ": with " + changes + " first " + proof);
}

}  // namespace phy::detail
