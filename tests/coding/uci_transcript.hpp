#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <vector>

/// Clauses 6.3.2.4 and 6.2.7 of TS 38.212 step by step, with the names there, in whole numbers. Shares no
/// code with the library. Without frequency hopping.
namespace phy_test {

struct UciNumbers {
    std::int64_t ack_bits = 0;
    std::int64_t csi1_bits = 0;
    std::int64_t csi2_bits = 0;
    std::int64_t ack_offset = 8;  ///< times 8
    std::int64_t csi1_offset = 8;
    std::int64_t csi2_offset = 8;
    std::int64_t scaling = 100;        ///< percent
    std::int64_t code_block_bits = 0;  ///< 0: without UL-SCH
    std::int64_t code_rate = 0;        ///< times 1024
    std::int64_t per_symbol = 2;
    std::int64_t layers = 1;
    std::vector<std::int64_t> elements;  ///< for UL-SCH, by symbol
    std::vector<bool> has_dmrs;
};

struct TranscribedSizes {
    std::int64_t ack = 0;
    std::int64_t reserved = 0;
    std::int64_t csi1 = 0;
    std::int64_t csi2 = 0;
};

/// A coded bit: its part (0 UL-SCH, 1 HARQ-ACK, 2 CSI part 1, 3 CSI part 2) and its index there.
struct TranscribedBit {
    int part = -1;
    std::int64_t index = -1;

    friend bool operator==(const TranscribedBit&, const TranscribedBit&) = default;
};

struct Transcript {
    std::vector<TranscribedBit> codeword;
    std::int64_t coded_bits[4] = {};
};

inline std::int64_t ceil_of(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

inline std::int64_t with_crc(std::int64_t bits) {
    if (bits >= 360) return bits + 11;
    return bits <= 11 ? bits : bits <= 19 ? bits + 6 : bits + 11;
}

/// Clause 6.3.2.1.1.
inline std::int64_t padded_ack(const UciNumbers& n) {
    if (n.code_block_bits == 0 && n.csi1_bits > 0 && n.csi2_bits == 0 && n.ack_bits < 2) return 2;
    return n.ack_bits;
}

inline std::size_t symbol_after_dmrs(const UciNumbers& n) {
    std::size_t l = 0;
    while (!n.has_dmrs[l])
        ++l;
    while (l < n.has_dmrs.size() && n.has_dmrs[l])
        ++l;
    return l;
}

inline TranscribedSizes transcribed_sizes(const UciNumbers& n) {
    std::int64_t all = 0;
    std::int64_t after = 0;
    for (std::size_t l = 0; l < n.elements.size(); ++l) {
        if (n.has_dmrs[l]) continue;
        all += n.elements[l];
        if (l >= symbol_after_dmrs(n)) after += n.elements[l];
    }
    const bool ul_sch = n.code_block_bits > 0;
    const auto first_term = [&](std::int64_t bits, std::int64_t offset) {
        return ul_sch ? ceil_of(with_crc(bits) * offset * all, 8 * n.code_block_bits)
                      : ceil_of(with_crc(bits) * offset * 1024, 8 * n.code_rate * n.per_symbol);
    };
    const auto of_ack = [&](std::int64_t bits) {
        return std::min(first_term(bits, n.ack_offset), ceil_of(n.scaling * after, 100));
    };
    const std::int64_t ack_bits = padded_ack(n);
    TranscribedSizes q;
    if (ack_bits > 0) q.ack = of_ack(ack_bits);
    if (ack_bits <= 2) q.reserved = of_ack(2);
    const std::int64_t limit = ul_sch ? ceil_of(n.scaling * all, 100) : all;
    if (n.csi1_bits > 0) {
        q.csi1 = limit - (ack_bits > 2 ? q.ack : q.reserved);
        if (ul_sch || n.csi2_bits > 0) q.csi1 = std::min(q.csi1, first_term(n.csi1_bits, n.csi1_offset));
    }
    if (n.csi2_bits > 0) {
        q.csi2 = limit - (ack_bits > 2 ? q.ack : 0) - q.csi1;
        if (ul_sch) q.csi2 = std::min(q.csi2, first_term(n.csi2_bits, n.csi2_offset));
    }
    return q;
}

using ElementSet = std::set<std::int64_t>;

inline std::int64_t member(const ElementSet& set, std::int64_t index) {
    return *std::next(set.begin(), index);
}

inline ElementSet without(const ElementSet& set, const ElementSet& removed) {
    ElementSet left;
    std::ranges::set_difference(set, removed, std::inserter(left, left.end()));
    return left;
}

/// Steps 1 to 6 of clause 6.2.7 for N_hop = 1.
class Multiplexing {
public:
    explicit Multiplexing(const UciNumbers& n) : n_(n), nlqm_(n.layers * n.per_symbol) {
        for (std::size_t l = 0; l < n.elements.size(); ++l) {
            ElementSet all;
            for (std::int64_t k = 0; k < n.elements[l]; ++k)
                all.insert(k);
            ul_sch_.push_back(all);
            uci_.push_back(n.has_dmrs[l] ? ElementSet() : all);
            rvd_.emplace_back();
        }
    }

    Transcript run() {
        const std::vector<ElementSet> phi = ul_sch_;
        const TranscribedSizes q = transcribed_sizes(n_);
        const std::int64_t o_ack = padded_ack(n_);
        if (o_ack <= 2) reserve(q.reserved * nlqm_);                               // step 1
        if (o_ack > 2) map(1, q.ack * nlqm_, symbol_after_dmrs(n_), false);        // step 2
        if (n_.csi1_bits > 0) map(2, q.csi1 * nlqm_, first_without_dmrs(), true);  // step 3
        if (n_.csi2_bits > 0) map(3, q.csi2 * nlqm_, first_without_dmrs(), false);
        Transcript transcript;
        transcript.coded_bits[3] = q.csi2 * nlqm_;
        if (n_.code_block_bits > 0) transcript.coded_bits[0] = map_ul_sch();  // step 4
        if (o_ack > 0 && o_ack <= 2) puncture(q.ack * nlqm_);                 // step 5
        for (std::size_t l = 0; l < phi.size(); ++l)                          // step 6
            for (const std::int64_t k : phi[l])
                for (std::int64_t v = 0; v < nlqm_; ++v)
                    transcript.codeword.push_back(g_[{l, k, v}]);
        return transcript;
    }

private:
    [[nodiscard]] std::size_t first_without_dmrs() const {
        std::size_t l = 0;
        while (l < n_.has_dmrs.size() && n_.has_dmrs[l])
            ++l;
        return l;
    }

    struct Spread {
        std::int64_t d;
        std::int64_t elements;
    };

    /// For m_sc elements and so many bits that are left.
    [[nodiscard]] Spread spread(std::int64_t m_sc, std::int64_t bits_left) const {
        if (bits_left >= m_sc * nlqm_) return {1, m_sc};
        return {m_sc * nlqm_ / bits_left, ceil_of(bits_left, nlqm_)};
    }

    void write(std::size_t l, std::int64_t k, int part, std::int64_t& count) {
        for (std::int64_t v = 0; v < nlqm_; ++v)
            g_[{l, k, v}] = {part, count++};
    }

    void reserve(std::int64_t bits) {
        std::int64_t count = 0;
        for (std::size_t l = symbol_after_dmrs(n_); count < bits; ++l) {
            const auto m_sc = static_cast<std::int64_t>(uci_.at(l).size());
            if (m_sc == 0) continue;
            const Spread s = spread(m_sc, bits - count);
            for (std::int64_t j = 0; j < s.elements; ++j, count += nlqm_)
                rvd_[l].insert(member(ul_sch_[l], j * s.d));
        }
    }

    void map(int part, std::int64_t bits, std::size_t l, bool outside_rvd) {
        for (std::int64_t count = 0; count < bits; ++l) {
            const ElementSet temp = outside_rvd ? without(uci_.at(l), rvd_.at(l)) : uci_.at(l);
            if (temp.empty()) continue;
            const Spread s = spread(static_cast<std::int64_t>(temp.size()), bits - count);
            ElementSet used;
            for (std::int64_t j = 0; j < s.elements; ++j) {
                write(l, member(temp, j * s.d), part, count);
                used.insert(member(temp, j * s.d));
            }
            uci_[l] = without(uci_[l], used);
            ul_sch_[l] = without(ul_sch_[l], used);
        }
    }

    std::int64_t map_ul_sch() {
        std::int64_t count = 0;
        for (std::size_t l = 0; l < ul_sch_.size(); ++l)
            for (const std::int64_t k : ul_sch_[l])
                write(l, k, 0, count);
        return count;
    }

    void puncture(std::int64_t bits) {
        std::int64_t count = 0;
        for (std::size_t l = symbol_after_dmrs(n_); count < bits; ++l) {
            if (rvd_.at(l).empty()) continue;
            const Spread s = spread(static_cast<std::int64_t>(rvd_[l].size()), bits - count);
            for (std::int64_t j = 0; j < s.elements; ++j)
                write(l, member(rvd_[l], j * s.d), 1, count);
        }
    }

    UciNumbers n_;
    std::int64_t nlqm_;
    std::vector<ElementSet> ul_sch_;  ///< the sets with a bar
    std::vector<ElementSet> uci_;
    std::vector<ElementSet> rvd_;
    std::map<std::tuple<std::size_t, std::int64_t, std::int64_t>, TranscribedBit> g_;
};

inline Transcript transcribe(const UciNumbers& numbers) {
    return Multiplexing(numbers).run();
}

}  // namespace phy_test
