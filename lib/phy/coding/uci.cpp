#include "phy/coding/uci.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "phy/coding/uci_checks.hpp"
#include "phy/core/check.hpp"
#include "phy/core/integers.hpp"

namespace phy {
namespace {

constexpr std::size_t max_uci_bits = 1706;
constexpr std::size_t max_block_code_ack = 2;  ///< HARQ-ACK bits that puncture
constexpr std::size_t max_elements_of_symbol = std::size_t{275} * 12;
constexpr double scalings[] = {0.5, 0.65, 0.8, 1.0};

void check_offset(const char* what, double offset) {
    if (offset > 0.0 && offset <= 126.0) return;
    throw ArgumentError(std::string(what) + " " + detail::number_text(offset) +
                        ": expected above 0, at most 126");
}

void check_symbols(const std::vector<UciSymbol>& symbols) {
    detail::check_range("number of symbols", static_cast<long long>(symbols.size()), 1, 14);
    for (const UciSymbol& symbol : symbols)
        detail::check_range("elements", static_cast<long long>(symbol.elements), 0, max_elements_of_symbol);
    if (std::ranges::none_of(symbols, &UciSymbol::has_dmrs))
        throw ArgumentError("symbols without DM-RS: expected at least one with DM-RS");
}

void check(const UciConfig& config) {
    detail::check_enum("modulation", config.modulation, all_modulations.back());
    detail::check_range("layers", config.layers, 1, 4);
    detail::check_range("ack_bits", static_cast<long long>(config.ack_bits), 0, max_uci_bits);
    detail::check_range("csi1_bits", static_cast<long long>(config.csi1_bits), 0, max_uci_bits);
    detail::check_range("csi2_bits", static_cast<long long>(config.csi2_bits), 0, max_uci_bits);
    if (config.csi2_bits > 0 && config.csi1_bits == 0)
        throw ArgumentError("csi2_bits without csi1_bits: expected CSI part 1 with CSI part 2");
    check_offset("ack_offset", config.ack_offset);
    check_offset("csi1_offset", config.csi1_offset);
    check_offset("csi2_offset", config.csi2_offset);
    if (std::ranges::find(scalings, config.scaling) == std::end(scalings))
        throw ArgumentError("scaling " + detail::number_text(config.scaling) +
                            ": expected 0.5, 0.65, 0.8 or 1");
    detail::check_range("code_block_bits", static_cast<long long>(config.code_block_bits), 0, 1LL << 31);
    if (config.code_block_bits == 0) {
        if (!(config.code_rate > 0.0 && config.code_rate <= 1.0))
            throw ArgumentError("code_rate " + detail::number_text(config.code_rate) +
                                ": expected above 0, at most 1, without UL-SCH");
        if (config.csi1_bits == 0)
            throw ArgumentError("csi1_bits 0: expected CSI part 1 on PUSCH without UL-SCH");
    }
    check_symbols(config.symbols);
    if (config.frequency_hopping) throw ArgumentError("frequency_hopping: not supported with UCI");
}

/// The first symbol without DM-RS after the first ones with DM-RS.
std::size_t first_ack_symbol(const std::vector<UciSymbol>& symbols) {
    const auto dmrs = std::ranges::find(symbols, true, &UciSymbol::has_dmrs);
    const auto after = std::find_if(dmrs, symbols.end(), [](const UciSymbol& s) { return !s.has_dmrs; });
    return static_cast<std::size_t>(after - symbols.begin());
}

/// Resource elements for UCI in the symbols from `first` on.
std::size_t uci_room(const std::vector<UciSymbol>& symbols, std::size_t first) {
    std::size_t room = 0;
    for (std::size_t l = first; l < symbols.size(); ++l)
        room += symbols[l].has_dmrs ? 0 : symbols[l].elements;
    return room;
}

/// ceil(alpha * elements), exactly.
std::size_t scaled(const UciConfig& config, std::size_t elements) {
    const auto hundredths = static_cast<std::size_t>(std::lround(100.0 * config.scaling));
    return detail::pieces_of(hundredths * elements, 100);
}

/// The elements that the code rate asks for. Offsets are multiples of 1/8, so products are exact, and a
/// quotient that is a whole number is not rounded up.
std::size_t wanted(const UciConfig& config, std::size_t bits, double offset) {
    const double product = static_cast<double>(bits + uci_crc_length(bits)) * offset;
    if (config.code_block_bits > 0) {
        const auto room = static_cast<double>(uci_room(config.symbols, 0));
        return static_cast<std::size_t>(
            std::ceil(product * room / static_cast<double>(config.code_block_bits)));
    }
    const auto per_symbol = static_cast<double>(bits_per_symbol(config.modulation));
    return static_cast<std::size_t>(std::ceil(product / (config.code_rate * per_symbol)));
}

/// A PUSCH while its elements are given to parts.
struct Elements {
    const std::vector<UciSymbol>& symbols;
    std::vector<UciElement> all;
    std::vector<std::uint8_t> reserved;
    std::vector<std::size_t> candidates = {};

    /// Calls take(element) for `count` elements with is_free(element), from symbol `first` on: all of a
    /// symbol while they are needed, and the last ones at equal distances over their symbol.
    template <typename IsFree, typename Take>
    void place(std::size_t count, std::size_t first, IsFree&& is_free, Take&& take) {
        std::size_t begin = 0;
        for (std::size_t l = 0; l < symbols.size() && count > 0; begin += symbols[l++].elements) {
            if (l < first || symbols[l].has_dmrs) continue;
            candidates.clear();
            for (std::size_t element = begin; element < begin + symbols[l].elements; ++element)
                if (is_free(element)) candidates.push_back(element);
            const std::size_t here = std::min(count, candidates.size());
            for (std::size_t j = 0; j < here; ++j)
                take(candidates[j * (candidates.size() / here)]);
            count -= here;
        }
    }

    void place(UciPart part, std::size_t count, std::size_t first, bool in_reserved) {
        const auto is_free = [&](std::size_t e) {
            return all[e].part == UciPart::ul_sch && (in_reserved || reserved[e] == 0);
        };
        place(count, first, is_free, [&](std::size_t e) { all[e] = {part, part}; });
    }
};

}  // namespace

std::size_t uci_crc_length(std::size_t bits) {
    if (bits < 12) return 0;
    return bits < 20 ? 6 : 11;
}

std::size_t encoded_ack_bits(const UciConfig& config) {
    const bool is_padded = config.code_block_bits == 0 && config.csi1_bits > 0 && config.csi2_bits == 0;
    return is_padded ? std::max(config.ack_bits, max_block_code_ack) : config.ack_bits;
}

UciElements uci_elements(const UciConfig& config) {
    check(config);
    const bool has_ul_sch = config.code_block_bits > 0;
    const std::size_t ack_bits = encoded_ack_bits(config);
    const std::size_t ack_room = scaled(config, uci_room(config.symbols, first_ack_symbol(config.symbols)));
    const auto of_ack = [&](std::size_t bits) {
        return std::min(wanted(config, bits, config.ack_offset), ack_room);
    };
    UciElements elements = {.ack = of_ack(ack_bits)};
    if (ack_bits <= max_block_code_ack) elements.reserved = of_ack(max_block_code_ack);

    const std::size_t all = uci_room(config.symbols, 0);
    const std::size_t csi_room = has_ul_sch ? scaled(config, all) : all;
    const std::size_t left = csi_room - (ack_bits > max_block_code_ack ? elements.ack : elements.reserved);
    if (config.csi1_bits > 0) {
        const bool takes_all = !has_ul_sch && config.csi2_bits == 0;
        elements.csi1 =
            takes_all ? left : std::min(wanted(config, config.csi1_bits, config.csi1_offset), left);
    }
    if (config.csi2_bits > 0) {
        elements.csi2 = left + elements.reserved - elements.csi1;
        if (has_ul_sch)
            elements.csi2 = std::min(wanted(config, config.csi2_bits, config.csi2_offset), elements.csi2);
    }
    return elements;
}

UciMap::UciMap(const UciConfig& config)
    : bits_per_element_(bits_per_symbol(config.modulation) * static_cast<std::size_t>(config.layers)) {
    const UciElements counts = uci_elements(config);
    std::size_t size = 0;
    for (const UciSymbol& symbol : config.symbols)
        size += symbol.elements;
    Elements elements = {.symbols = config.symbols,
                         .all = std::vector<UciElement>(size),
                         .reserved = std::vector<std::uint8_t>(size)};
    const std::size_t first = first_ack_symbol(config.symbols);
    const bool punctures = encoded_ack_bits(config) <= max_block_code_ack;
    elements.place(
        counts.reserved, first, [](std::size_t) { return true; },
        [&](std::size_t e) { elements.reserved[e] = 1; });
    if (!punctures) elements.place(UciPart::ack, counts.ack, first, true);
    elements.place(UciPart::csi1, counts.csi1, 0, false);
    elements.place(UciPart::csi2, counts.csi2, 0, true);
    if (punctures)
        elements.place(
            counts.ack, first, [&](std::size_t e) { return elements.reserved[e] != 0; },
            [&](std::size_t e) { elements.all[e].part = UciPart::ack; });
    elements_ = std::move(elements.all);
    for (const UciElement& element : elements_) {
        ++elements_of_part_[static_cast<std::size_t>(element.part)];
        if (element.covered != element.part) ++elements_of_part_[static_cast<std::size_t>(element.covered)];
    }
}

std::size_t UciMap::coded_bits(UciPart part) const {
    detail::check_enum("part", part, UciPart::csi2);
    return elements_of_part_[static_cast<std::size_t>(part)] * bits_per_element_;
}

std::vector<std::int32_t> UciMap::sources(UciPart part) const {
    detail::check_enum("part", part, UciPart::csi2);
    std::vector<std::int32_t> sources;
    for (std::size_t e = 0; e < elements_.size(); ++e) {
        if (elements_[e].part == part)
            sources.push_back(static_cast<std::int32_t>(e));
        else if (elements_[e].covered == part)
            sources.push_back(-1);
    }
    return sources;
}

void UciMap::split(SoftBitView codeword, const UciSoftBits& parts) const {
    detail::check_size("codeword", codeword.size(), coded_bits());
    detail::check_uci_parts(*this, 1, codeword.format(), parts);
    const std::size_t bytes = bits_per_element_ * size_of(codeword.format());
    std::array<std::byte*, 4> to = {parts.ul_sch.data(), parts.ack.data(), parts.csi1.data(),
                                    parts.csi2.data()};
    const std::byte* from = codeword.data();
    for (const UciElement& element : elements_) {
        std::byte*& part = to[static_cast<std::size_t>(element.part)];
        part = std::copy_n(from, bytes, part);
        if (element.covered != element.part) {
            std::byte*& covered = to[static_cast<std::size_t>(element.covered)];
            covered = std::fill_n(covered, bytes, std::byte{0});
        }
        from += bytes;
    }
}

void UciMap::join(const UciCodedBits& parts, std::span<std::uint8_t> codeword) const {
    auto left = detail::by_part(parts);
    detail::check_size("codeword", codeword.size(), coded_bits());
    detail::check_uci_sizes(*this, 1, parts);
    auto to = codeword.begin();
    for (const UciElement& element : elements_) {
        auto& part = left[static_cast<std::size_t>(element.part)];
        to = std::copy_n(part.begin(), bits_per_element_, to);
        part = part.subspan(bits_per_element_);
        if (element.covered == element.part) continue;
        auto& covered = left[static_cast<std::size_t>(element.covered)];
        covered = covered.subspan(bits_per_element_);
    }
}

}  // namespace phy
