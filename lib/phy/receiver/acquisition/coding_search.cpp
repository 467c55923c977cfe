#include "phy/receiver/acquisition/coding_search.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "phy/coding/code_block_decoder.hpp"
#include "phy/coding/uci.hpp"
#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/machine/thread_pool.hpp"
#include "phy/receiver/link/mcs.hpp"

namespace phy {
namespace {

constexpr std::uint32_t rntis = 65536;  // with those of paging and system information
constexpr std::uint32_t ids = 1024;
constexpr int overheads[] = {0, 6, 12, 18};
constexpr int iterations = 10;
/// Of shorter code blocks some hold with a wrong scrambling, so that two must.
constexpr std::size_t long_block = 256;

struct Candidate {
    ScramblingIdentity scrambling;
    int redundancy_version;
};

/// Own scrambling, with all redundancy versions.
std::vector<Candidate> versions_of(const Link& link) {
    std::vector<Candidate> candidates;
    for (int step = 0; step < redundancy_versions; ++step)
        candidates.push_back(
            {link.scrambling, (link.coding->redundancy_version + step) % redundancy_versions});
    return candidates;
}

std::vector<Candidate> codewords_of(const Link& link) {
    std::vector<Candidate> candidates = versions_of(link);
    if (link.direction == Direction::uplink) return candidates;
    Link other = link;
    other.scrambling.codeword = 1 - other.scrambling.codeword;
    for (const Candidate& candidate : versions_of(other))
        candidates.push_back(candidate);
    return candidates;
}

std::vector<Candidate> identities_of(const Link& link) {
    std::vector<Candidate> candidates;
    const Candidate own = {link.scrambling, link.coding->redundancy_version};
    for (std::uint32_t id = 0; id < ids; ++id) {
        candidates.push_back(own);
        candidates.back().scrambling.id = id;
    }
    for (std::uint32_t rnti = 0; rnti < rntis; ++rnti) {
        candidates.push_back(own);
        candidates.back().scrambling.rnti = rnti;
    }
    return candidates;
}

/// Codings with the same code blocks.
struct Variant {
    int changes = 0;  ///< values that differ from the link's
    CodeBlocks blocks = {};
    std::vector<LinkCoding> codings = {};
};

void add(std::vector<Variant>& variants, Link link, const LinkCoding& coding, int changes) {
    link.coding = coding;
    CodeBlocks blocks;
    try {
        const TransportBlockConfig block = transport_block_config(link);
        if (changes > 0 && block.size >= block.coded_bits) return;
        blocks = code_blocks(block);
    } catch (const ArgumentError&) {
        return;  // no such transport block
    }
    const auto same = std::ranges::find(variants, blocks, &Variant::blocks);
    if (same == variants.end())
        variants.push_back({.changes = changes, .blocks = blocks, .codings = {coding}});
    else if (same->changes == changes && std::ranges::find(same->codings, coding) == same->codings.end())
        same->codings.push_back(coding);
}

/// The link's own first, then those with one change.
std::vector<Variant> variants_of(const Link& link) {
    const LinkCoding& own = *link.coding;
    std::vector<double> rates;
    for (const detail::McsIndex& mcs : detail::mcs_indices(link))
        if (mcs.code_rate != own.code_rate) rates.push_back(mcs.code_rate);
    std::ranges::sort(rates);
    rates.erase(std::unique(rates.begin(), rates.end()), rates.end());
    std::vector<Variant> variants;
    add(variants, link, own, 0);
    for (const double rate : rates) {
        LinkCoding of_size = own;
        of_size.code_rate = rate;
        add(variants, link, of_size, 1);
    }
    const auto with = [&](std::optional<double> rate, int overhead) {
        LinkCoding coding = own;
        coding.transport_block_size.reset();
        coding.code_rate = rate;
        coding.overhead = overhead;
        return coding;
    };
    for (const double rate : rates)
        add(variants, link, with(rate, own.overhead), 1);
    for (const int overhead : overheads)
        add(variants, link, with(own.code_rate, overhead), 1);
    for (const int overhead : overheads)
        for (const double rate : rates)
            add(variants, link, with(rate, overhead), 2);
    return variants;
}

/// How codewords with UCI are split; none: they are UL-SCH alone.
std::optional<UciMap> map_of(const Link& link) {
    return link.coding && link.coding->uci ? std::optional<UciMap>(uci_config(link)) : std::nullopt;
}

/// The codeword's bits of the first ones of UL-SCH. Punctured ones, whose soft bits are 0, have any.
std::vector<std::uint32_t> places_of(const std::optional<UciMap>& map, std::size_t bits) {
    std::vector<std::uint32_t> places(bits);
    std::iota(places.begin(), places.end(), 0U);
    if (!map) return places;
    const std::vector<std::int32_t> sources = map->sources(UciPart::ul_sch);
    const std::size_t each = map->bits_per_element();
    for (std::size_t bit = 0; bit < bits; ++bit)
        places[bit] = static_cast<std::uint32_t>(
            static_cast<std::size_t>(std::max(sources[bit / each], 0)) * each + bit % each);
    return places;
}

/// Of UL-SCH.
std::vector<std::int8_t> soft_bits_of(const UciMap& map, std::span<const std::int8_t> codeword) {
    std::vector<std::int8_t> parts[all_uci_parts.size()];
    for (const UciPart part : all_uci_parts)
        parts[static_cast<std::size_t>(part)].resize(map.coded_bits(part));
    map.split(codeword, {parts[0], parts[1], parts[2], parts[3]});
    return parts[0];
}

/// Decodes the first code block of codewords with other scrambling than they were descrambled with.
class Trials {
public:
    Trials(const Host& host, const Link& link, float scale)
        : host_(host),
          decode_(host.backend(),
                  {.block = transport_block_config(link), .scale = scale, .iterations = iterations}),
          map_(map_of(link)),
          places_(places_of(map_, decode_.matching().symbols_of(0) * decode_.matching().bits_per_symbol)),
          known_(*std::ranges::max_element(places_) / 32 + 1),
          parts_(static_cast<std::size_t>(host.pool().size()), Part{decode_.workspace(), known_, {}}) {
        gold_sequence(link.scrambling.c_init(), 0, known_);
        for (Part& part : parts_)
            part.llr.resize(transport_block_config(link).coded_bits);
    }

    [[nodiscard]] std::size_t block_bits() const { return decode_.blocks().bits; }

    /// The first candidate from `first` on with which the first code block of the codeword holds; the number
    /// of candidates: none.
    std::size_t find(std::span<const Candidate> candidates, std::size_t first,
                     std::span<const std::int8_t> codeword, const std::stop_token& stop) {
        const std::vector<std::int8_t> llr = ul_sch_of(codeword);
        std::atomic<std::size_t> found = candidates.size();
        host_.pool().for_each(candidates.size() - first, [&](int part, std::size_t i) noexcept {
            const std::size_t index = first + i;
            if (stop.stop_requested() || index > found.load(std::memory_order_relaxed) ||
                !holds(parts_[static_cast<std::size_t>(part)], candidates[index], llr))
                return;
            std::size_t before = found.load(std::memory_order_relaxed);
            while (index < before && !found.compare_exchange_weak(before, index, std::memory_order_relaxed)) {
            }
        });
        return found.load(std::memory_order_relaxed);
    }

    bool holds(const Candidate& candidate, std::span<const std::int8_t> codeword) {
        return holds(parts_.front(), candidate, ul_sch_of(codeword));
    }

private:
    struct Part {
        detail::DecoderWorkspace work;
        std::vector<std::uint32_t> words;
        std::vector<std::int8_t> llr;
    };

    [[nodiscard]] std::vector<std::int8_t> ul_sch_of(std::span<const std::int8_t> codeword) const {
        return map_ ? soft_bits_of(*map_, codeword) : std::vector(codeword.begin(), codeword.end());
    }

    bool holds(Part& part, const Candidate& candidate, std::span<const std::int8_t> llr) {
        gold_sequence(candidate.scrambling.c_init(), 0, part.words);
        for (std::size_t word = 0; word < part.words.size(); ++word)
            part.words[word] ^= known_[word];
        for (std::size_t bit = 0; bit < places_.size(); ++bit) {
            const std::uint32_t place = places_[bit];
            const auto flips =
                static_cast<std::int8_t>(-static_cast<int>(part.words[place / 32] >> place % 32 & 1U));
            part.llr[bit] = static_cast<std::int8_t>((llr[bit] ^ flips) - flips);
        }
        const detail::DecodedCodeBlock decoded =
            decode_(part.work, part.llr, 0, candidate.redundancy_version, {}, {});
        // Zeros have the CRC of nothing.
        return decoded.crc_holds &&
               std::ranges::any_of(part.work.packed, [](std::uint8_t byte) { return byte != 0; });
    }

    Host host_;
    detail::CodeBlockDecoder decode_;
    std::optional<UciMap> map_;
    std::vector<std::uint32_t> places_;  ///< in the codeword, of the first code block
    std::vector<std::uint32_t> known_;   ///< the link's sequence
    std::vector<Part> parts_;            ///< per thread
};

/// Codewords of a link, whose first one is searched.
class CodingSearch {
public:
    CodingSearch(const Host& host, const Link& link, std::span<const std::int8_t> llr, std::size_t codeword,
                 float scale, const std::stop_token& stop)
        : host_(host), link_(link), llr_(llr), codeword_(codeword), scale_(scale), stop_(stop) {}

    /// The first of the candidates that the codewords prove.
    std::optional<FoundCoding> operator()(const Variant& variant, const std::vector<Candidate>& candidates) {
        Link with = link_;
        with.coding = variant.codings.front();
        Trials trials(host_, with, scale_);
        const int needed = trials.block_bits() < long_block ? 2 : 1;
        for (std::size_t index = 0; index < candidates.size(); ++index) {
            index = trials.find(candidates, index, llr_.first(codeword_), stop_);
            if (index == candidates.size() || stop_.stop_requested()) break;
            FoundCoding found = {.scrambling = candidates[index].scrambling, .codings = variant.codings};
            for (LinkCoding& coding : found.codings)
                coding.redundancy_version = candidates[index].redundancy_version;
            for (std::size_t first = 0; first < llr_.size(); first += codeword_) {
                ++found.codewords;
                if (trials.holds(candidates[index], llr_.subspan(first, codeword_))) ++found.proofs;
            }
            if (found.proofs >= needed) return found;
        }
        return std::nullopt;
    }

private:
    const Host& host_;
    const Link& link_;
    std::span<const std::int8_t> llr_;
    std::size_t codeword_;  ///< soft bits
    float scale_;
    std::stop_token stop_;
};

}  // namespace

std::optional<FoundCoding> find_coding(const Host& host, const Link& link, std::span<const std::int8_t> llr,
                                       float scale, const std::stop_token& stop) {
    const std::optional<UciMap> map = map_of(link);
    const std::size_t codeword = map ? map->coded_bits() : transport_block_config(link).coded_bits;
    if (llr.empty() || llr.size() % codeword != 0)
        throw ArgumentError("llr has " + std::to_string(llr.size()) + " elements: expected a multiple of " +
                            std::to_string(codeword) + ", those of a codeword");
    CodingSearch search(host, link, llr, codeword, scale, stop);
    const std::vector<Variant> variants = variants_of(link);
    if (auto found = search(variants.front(), codewords_of(link))) return found;
    for (const Variant& variant : variants)
        if (auto found = search(variant, versions_of(link))) return found;
    return search(variants.front(), identities_of(link));
}

}  // namespace phy
