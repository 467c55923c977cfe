#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "receiver/chain_cases.hpp"

/// Slots of PUSCH and PDSCH with random code bits by TS 38.211, bit by bit and in binary64.
namespace phy_test {

/// Tables 6.4.1.1.3-1, -2, 7.4.1.1.2-1 and -2: the index of r and the sign of a port on subcarrier k, counted
/// from the start of the sequence, in symbol l' of a DM-RS; index -1 without a pilot.
struct PortElement {
    int index = -1;
    double sign = 0.0;
};

inline PortElement port_element(int type, int port, int k, int l_prime) {
    const int ports_of_symbol = type == 1 ? 4 : 6;
    const int group = port % ports_of_symbol / 2;
    const int delta = type == 1 ? group : 2 * group;
    const int period = type == 1 ? 4 : 6;
    for (int k_prime = 0; k_prime < 2; ++k_prime) {
        const int offset = (type == 1 ? 2 : 1) * k_prime + delta;
        if (k % period != offset) continue;
        const double in_frequency = port % 2 == 1 && k_prime == 1 ? -1.0 : 1.0;
        const double in_time = port >= ports_of_symbol && l_prime == 1 ? -1.0 : 1.0;
        return {2 * (k / period) + k_prime, in_frequency * in_time};
    }
    return {};
}

/// r(n) of clauses 6.4.1.1.1.1 and 7.4.1.1.1.
inline std::vector<AirComplex> pseudo_random_dmrs(std::uint64_t id, std::uint64_t n_scid, int slot,
                                                  int symbol, std::size_t count) {
    const auto number = static_cast<std::uint64_t>(14 * slot + symbol + 1);
    const std::uint64_t c_init = ((number * (2 * id + 1) << 17U) + 2 * id + n_scid) % (1ULL << 31U);
    const std::vector<std::uint8_t> c = gold_reference(static_cast<std::uint32_t>(c_init), 2 * count);
    std::vector<AirComplex> r(count);
    for (std::size_t n = 0; n < count; ++n)
        r[n] = AirComplex(1.0 - 2.0 * c[2 * n], 1.0 - 2.0 * c[2 * n + 1]) / std::numbers::sqrt2;
    return r;
}

/// r(n) of clause 6.4.1.1.1.2, for at least 36 elements. symbol: the first of a DM-RS.
inline std::vector<AirComplex> low_papr_dmrs(std::uint32_t id, phy::SequenceHopping hopping, int slot,
                                             int symbol, int count) {
    const auto at = static_cast<std::size_t>(14 * slot + symbol);
    int group_hop = 0;
    int v = 0;
    if (hopping == phy::SequenceHopping::group) {
        const std::vector<std::uint8_t> c = gold_reference(id / 30, 8 * at + 8);
        for (std::size_t m = 0; m < 8; ++m)
            group_hop += c[8 * at + m] << m;
        group_hop %= 30;
    } else if (hopping == phy::SequenceHopping::sequence && count >= 72) {
        v = gold_reference(id, at + 1)[at];
    }
    const int u = (group_hop + static_cast<int>(id)) % 30;
    const auto is_prime = [](int number) {
        for (int divisor = 2; divisor * divisor <= number; ++divisor)
            if (number % divisor == 0) return false;
        return true;
    };
    int n_zc = count - 1;
    while (!is_prime(n_zc))
        --n_zc;
    const double q_bar = n_zc * (u + 1) / 31.0;
    const double q =
        std::floor(q_bar + 0.5) + v * (static_cast<int>(std::floor(2.0 * q_bar)) % 2 == 0 ? 1.0 : -1.0);
    std::vector<AirComplex> r;
    for (int n = 0; n < count; ++n) {
        const double m = n % n_zc;
        r.push_back(std::polar(1.0, -std::numbers::pi * std::fmod(q * m * (m + 1.0), 2.0 * n_zc) / n_zc));
    }
    return r;
}

/// Points of clauses 5.1.1 to 5.1.7.
inline std::vector<AirComplex> own_points(phy::Modulation modulation, std::span<const std::uint8_t> bits) {
    std::vector<AirComplex> points;
    if (modulation == phy::Modulation::bpsk || modulation == phy::Modulation::pi2_bpsk) {
        for (std::size_t i = 0; i < bits.size(); ++i) {
            const AirComplex point = AirComplex(1.0, 1.0) * (1.0 - 2.0 * bits[i]) / std::numbers::sqrt2;
            const bool is_turned = modulation == phy::Modulation::pi2_bpsk && i % 2 == 1;
            points.push_back(is_turned ? point * AirComplex(0.0, 1.0) : point);
        }
        return points;
    }
    const std::size_t qm = bits_per_symbol(modulation);
    const QamAxis axis(qm);
    for (std::size_t i = 0; i < bits.size(); i += qm)
        points.push_back(qam_point(axis, bits.data() + i));
    return points;
}

/// Clause 6.3.1.4, for rows of `size` points.
inline void precode(std::vector<AirComplex>& points, std::size_t size) {
    const ReferenceDft transform(size, -1.0);
    AirSamples row(size);
    AirSamples precoded;
    for (std::size_t first = 0; first < points.size(); first += size) {
        std::copy_n(points.begin() + static_cast<std::ptrdiff_t>(first), size, row.begin());
        transform(row, precoded);
        for (std::size_t k = 0; k < size; ++k)
            points[first + k] = precoded[k] / std::sqrt(static_cast<double>(size));
    }
}

/// PT-RS with transform precoding: in which symbols, which samples before the DFT, and what they are (clauses
/// 6.4.1.2.1.2 and 6.4.1.2.2.2, TS 38.214 table 6.2.3.2-2).
struct OwnPrecodedPtrs {
    std::vector<int> symbols;
    std::vector<std::size_t> samples;
    std::vector<AirComplex> values;
};

inline std::vector<std::size_t> own_ptrs_samples(int groups, int of_group, std::size_t m) {
    std::vector<std::size_t> samples;
    const auto add = [&](std::size_t first) {
        for (int k = 0; k < of_group; ++k)
            samples.push_back(first + static_cast<std::size_t>(k));
    };
    if (of_group == 2) {
        for (int s = 1; s < 2 * groups; s += 2)
            add(static_cast<std::size_t>(s) * m / static_cast<std::size_t>(2 * groups) - 1);
        return samples;
    }
    add(0);
    for (int s = 1; s <= 2 && groups == 4; ++s)
        add(static_cast<std::size_t>(s) * (m / 4) + m / 8 - 2);
    for (int s = 1; s <= 6 && groups == 8; ++s)
        add(static_cast<std::size_t>(s) * m / 8 + m / 16 - 2);
    add(m - 4);
    return samples;
}

inline OwnPrecodedPtrs own_precoded_ptrs(const phy::Link& link, int slot) {
    const phy::SlotAllocation& allocation = link.allocation;
    if (!allocation.ptrs) return {};
    const phy::PtrsConfig& ptrs = *allocation.ptrs;
    const auto m = static_cast<std::size_t>(12 * allocation.resource_blocks.front().count);
    OwnPrecodedPtrs made = {{}, own_ptrs_samples(ptrs.groups, ptrs.samples_per_group, m), {}};
    int since = 0;
    for (int l = allocation.first_symbol; l < allocation.first_symbol + allocation.symbols; ++l, ++since) {
        const std::vector<int>& dmrs = allocation.dmrs.symbols;
        if (std::find(dmrs.begin(), dmrs.end(), l) != dmrs.end())
            since = 0;
        else if (since % ptrs.time_density == 0)
            made.symbols.push_back(l);
    }
    const auto number = static_cast<std::uint64_t>(14 * slot + made.symbols.front() + 1);
    const std::uint64_t id = allocation.dmrs.scrambling_id;
    const std::vector<std::uint8_t> c =
        gold_reference(static_cast<std::uint32_t>(((number * (2 * id + 1) << 17U) + 2 * id) % (1ULL << 31U)),
                       made.samples.size());
    constexpr std::array<std::array<double, 4>, 4> w4 = {
        {{1, 1, 1, 1}, {1, -1, 1, -1}, {1, 1, -1, -1}, {1, -1, -1, 1}}};
    constexpr std::array<std::array<double, 2>, 2> w2 = {{{1, 1}, {1, -1}}};
    const double outermost[] = {1.0, 1.0, 3.0 / std::sqrt(5.0), 7.0 / std::sqrt(21.0),
                                15.0 / std::sqrt(85.0)};
    const double beta = ptrs.power_db ? std::pow(10.0, static_cast<double>(*ptrs.power_db) / 20.0)
                                      : outermost[bits_per_symbol(link.modulation) / 2];
    for (std::size_t i = 0; i < made.samples.size(); ++i) {
        const double w = ptrs.samples_per_group == 2 ? w2[link.scrambling.rnti % 2][i % 2]
                                                     : w4[link.scrambling.rnti % 4][i % 4];
        const AirComplex turn =
            std::polar(1.0, std::numbers::pi / 2.0 * static_cast<double>(made.samples[i] % 2));
        made.values.push_back(beta * w * turn * AirComplex(1.0 - 2.0 * c[i], 1.0 - 2.0 * c[i]) /
                              std::numbers::sqrt2);
    }
    return made;
}

/// Data and PT-RS as the rows of the DFT's input, one per OFDM symbol with data.
inline std::vector<AirComplex> with_ptrs(const phy::SlotAllocation& allocation, const OwnPrecodedPtrs& ptrs,
                                         const std::vector<AirComplex>& points) {
    const auto m = static_cast<std::size_t>(12 * allocation.resource_blocks.front().count);
    std::vector<AirComplex> rows;
    std::size_t taken = 0;
    for (int l = allocation.first_symbol; l < allocation.first_symbol + allocation.symbols; ++l) {
        const std::vector<int>& dmrs = allocation.dmrs.symbols;
        if (std::find(dmrs.begin(), dmrs.end(), l) != dmrs.end()) continue;
        const bool has_ptrs = std::find(ptrs.symbols.begin(), ptrs.symbols.end(), l) != ptrs.symbols.end();
        for (std::size_t i = 0; i < m; ++i) {
            const auto at = std::find(ptrs.samples.begin(), ptrs.samples.end(), i) - ptrs.samples.begin();
            const bool is_ptrs = has_ptrs && at < static_cast<std::ptrdiff_t>(ptrs.samples.size());
            rows.push_back(is_ptrs ? ptrs.values[static_cast<std::size_t>(at)] : points[taken++]);
        }
    }
    return rows;
}

/// Maps DM-RS of all ports to the grid of a case.
inline void map_dmrs(ChainCase& made, int slot) {
    const phy::SlotAllocation& allocation = made.link.allocation;
    const phy::DmrsConfig& dmrs = allocation.dmrs;
    constexpr std::array by_groups = {0.0, 3.0, 4.77};
    const double power_db = dmrs.power_db
                                ? static_cast<double>(*dmrs.power_db)
                                : by_groups[static_cast<std::size_t>(dmrs.cdm_groups_without_data - 1)];
    const double beta = std::pow(10.0, power_db / 20.0);
    const std::size_t k_count = made.carrier.subcarriers();
    for (std::size_t s = 0; s < dmrs.symbols.size(); ++s) {
        const int symbol = dmrs.symbols[s];
        const int l_prime = static_cast<int>(s) % dmrs.length;
        // Sequences count from CRB 0, low-PAPR sequences from the allocation.
        const int from = dmrs.transform_precoding ? 12 * allocation.resource_blocks.front().first
                                                  : 12 * (dmrs.reference_crb - allocation.first_crb);
        const std::vector<AirComplex> r =
            dmrs.transform_precoding
                ? low_papr_dmrs(dmrs.scrambling_id, dmrs.hopping, slot, symbol - l_prime,
                                6 * allocation.resource_blocks.front().count)
                : pseudo_random_dmrs(dmrs.scrambling_id, static_cast<std::uint64_t>(dmrs.n_scid), slot,
                                     symbol,
                                     static_cast<std::size_t>(
                                         6 * (allocation.first_crb + allocation.carrier_resource_blocks)));
        for (const phy::ResourceBlocks range : allocation.resource_blocks) {
            for (int k = 12 * range.first; k < 12 * (range.first + range.count); ++k) {
                for (std::size_t layer = 0; layer < dmrs.ports.size(); ++layer) {
                    const PortElement element = port_element(dmrs.type, dmrs.ports[layer], k - from, l_prime);
                    if (element.index < 0) continue;
                    const std::size_t at = (layer * 14 + static_cast<std::size_t>(symbol)) * k_count;
                    made.grid[at + static_cast<std::size_t>(k)] =
                        beta * element.sign * r[static_cast<std::size_t>(element.index)];
                }
            }
        }
    }
}

/// A slot of the link, which has a sample_rate, with random code bits. Elements without data or DM-RS,
/// including reserved ones, carry other symbols.
inline ChainCase random_case(const phy::Link& link, int slot, std::mt19937_64& random) {
    ChainCase made;
    made.link = link;
    const phy::SlotAllocation& allocation = link.allocation;
    made.carrier = {.spacing = link.carrier.subcarrier_spacing,
                    .resource_blocks = allocation.carrier_resource_blocks,
                    .fft_size = static_cast<std::size_t>(
                        std::lround(*link.carrier.sample_rate / link.carrier.subcarrier_spacing)),
                    .k0 = link.carrier.k0,
                    .center_frequency = *link.carrier.center_frequency,
                    .frequency_shift = link.carrier.frequency_shift};
    made.places = data_places(allocation);
    const std::size_t layers = allocation.dmrs.ports.size();
    const std::size_t k_count = made.carrier.subcarriers();
    made.grid.resize(layers * 14 * k_count);
    std::vector<bool> is_allocated(k_count);
    for (const phy::ResourceBlocks range : allocation.resource_blocks)
        std::fill_n(is_allocated.begin() + 12 * range.first, 12 * range.count, true);
    for (std::size_t i = 0; i < made.grid.size(); ++i) {
        const auto symbol = static_cast<int>(i / k_count % 14);
        const auto& dmrs_at = allocation.dmrs.symbols;
        const bool is_silent =
            is_allocated[i % k_count] && std::find(dmrs_at.begin(), dmrs_at.end(), symbol) != dmrs_at.end();
        made.grid[i] = is_silent ? 0.0 : air_gaussian(random, 1.0);
    }
    map_dmrs(made, slot);

    const OwnPrecodedPtrs ptrs =
        allocation.dmrs.transform_precoding ? own_precoded_ptrs(link, slot) : OwnPrecodedPtrs{};
    const std::size_t data = made.places.size() - ptrs.symbols.size() * ptrs.samples.size();
    const std::size_t bits = data * layers * bits_per_symbol(link.modulation);
    for (std::size_t i = 0; i < bits; ++i)
        made.codeword.push_back(static_cast<std::uint8_t>(random() >> 63U));
    const phy::ScramblingIdentity& identity = link.scrambling;
    const std::vector<std::uint8_t> c = gold_reference(
        (identity.rnti << 15U) + (static_cast<std::uint32_t>(identity.codeword) << 14U) + identity.id, bits);
    for (std::size_t i = 0; i < bits; ++i)
        made.scrambled.push_back(static_cast<std::uint8_t>(made.codeword[i] ^ c[i]));
    std::vector<AirComplex> points = own_points(link.modulation, made.scrambled);
    if (!ptrs.symbols.empty()) points = with_ptrs(allocation, ptrs, points);
    if (allocation.dmrs.transform_precoding)
        precode(points, static_cast<std::size_t>(12 * allocation.resource_blocks.front().count));
    for (std::size_t i = 0; i < points.size(); ++i) {
        const ElementPlace place = made.places[i / layers];
        made.grid[(i % layers * 14 + static_cast<std::size_t>(place.symbol)) * k_count + place.subcarrier] =
            points[i];
    }
    return made;
}

}  // namespace phy_test
