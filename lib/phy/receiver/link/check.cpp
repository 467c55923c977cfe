#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/receiver/link.hpp"
#include "phy/receiver/link/rate.hpp"

namespace phy {
namespace {

constexpr int lowest_spacing = 15000;

[[noreturn]] void fail(const std::string& path, const std::string& value, const std::string& expected) {
    throw ArgumentError(path + " is " + value + ": expected " + expected);
}

void check_one_of(const std::string& path, int value, std::initializer_list<int> values,
                  const char* expected) {
    if (std::find(values.begin(), values.end(), value) == values.end())
        fail(path, std::to_string(value), expected);
}

void check_spacing(const LinkCarrier& carrier) {
    check_one_of("carrier.subcarrier_spacing", carrier.subcarrier_spacing, {15000, 30000, 60000, 120000},
                 "15000, 30000, 60000 or 120000");
}

void check_slot(const std::string& path, int slot, const LinkCarrier& carrier) {
    const int slots = slots_per_frame(carrier);
    if (slot < 0 || slot >= slots)
        fail(path, std::to_string(slot), "0 to " + std::to_string(slots - 1) + ", the slots of a frame");
}

void check_carrier(const LinkCarrier& carrier, int resource_blocks) {
    check_spacing(carrier);
    check_one_of("carrier.k0", carrier.k0, {-6, 0, 6}, "-6, 0 or 6");
    const int cell_id = carrier.cell_id.value_or(0);
    if (cell_id < 0 || cell_id > 1007) fail("carrier.cell_id", std::to_string(cell_id), "0 to 1007");
    check_slot("carrier.first_slot", carrier.first_slot, carrier);
    if (!std::isfinite(carrier.frequency_shift))
        fail("carrier.frequency_shift", detail::number_text(carrier.frequency_shift), "a finite number");
    const double center = carrier.center_frequency.value_or(0.0);
    if (!(center >= 0.0 && center <= 0x1p40))
        fail("carrier.center_frequency", detail::number_text(center), "hertz, from 0 to 2^40");
    if (!carrier.sample_rate) return;
    const int subcarriers = resource_blocks * subcarriers_per_resource_block;
    const bool is_wide =
        *carrier.sample_rate >= static_cast<double>(subcarriers) * carrier.subcarrier_spacing;
    if (!is_wide || !std::isfinite(*carrier.sample_rate))
        fail("carrier.sample_rate", detail::number_text(*carrier.sample_rate),
             "a rate above the bandwidth of the carrier, which has " + std::to_string(subcarriers) +
                 " subcarriers");
    if (std::abs(carrier.frequency_shift) > *carrier.sample_rate / 2)
        fail("carrier.frequency_shift", detail::number_text(carrier.frequency_shift),
             "at most half of the sample rate");
}

void check_slots(const Link& link) {
    for (std::size_t i = 0; i < link.slots.size(); ++i) {
        const std::string path = "allocation.slots[" + std::to_string(i) + "]";
        check_slot(path, link.slots[i], link.carrier);
        const auto end = link.slots.begin() + static_cast<std::ptrdiff_t>(i);
        if (std::find(link.slots.begin(), end, link.slots[i]) != end)
            fail(path, std::to_string(link.slots[i]), "each slot once");
    }
}

void check_transform_precoding(const Link& link) {
    if (!link.allocation.dmrs.transform_precoding) return;
    if (link.direction == Direction::downlink)
        fail("allocation.transform_precoding", "true", "false on the downlink");
    const int count = link.allocation.resource_blocks.front().count;
    if (!detail::has_no_prime_above_5(count))
        fail("allocation.resource_blocks", std::to_string(count) + " blocks",
             "2^a 3^b 5^c blocks with transform precoding");
    if (!link.allocation.reserved.empty())
        throw ArgumentError("allocation.reserved has " + std::to_string(link.allocation.reserved.size()) +
                            " entries: expected none with transform precoding");
}

void check_ptrs(const Link& link) {
    if (!link.allocation.ptrs) return;
    const PtrsConfig& ptrs = *link.allocation.ptrs;
    if (ptrs.rnti != link.scrambling.rnti)
        fail("allocation.ptrs.rnti", std::to_string(ptrs.rnti),
             std::to_string(link.scrambling.rnti) + ", that of the scrambling");
    if (link.direction == Direction::downlink && ptrs.ports.size() > 1)
        throw ArgumentError("allocation.ptrs.ports has " + std::to_string(ptrs.ports.size()) +
                            " elements: expected one on the downlink");
}

void check_coding(const LinkCoding& coding) {
    constexpr std::size_t max_size = std::size_t{1} << 21U;
    if (!coding.code_rate && !coding.transport_block_size)
        throw ArgumentError(
            "coding.code_rate: missing; expected it, coding.transport_block_size or allocation.mcs_index");
    const double rate = coding.code_rate.value_or(1.0);
    if (!(rate > 0.0 && rate <= 1.0))
        fail("coding.code_rate", detail::number_text(rate),
             "above 0, at most 1; that of MCS tables, R x 1024, is code_rate_x1024");
    const std::size_t size = coding.transport_block_size.value_or(8);
    if (size == 0 || size % 8 != 0 || size > max_size)
        fail("coding.transport_block_size", std::to_string(size),
             "a multiple of 8 bits up to " + std::to_string(max_size));
    if (coding.redundancy_version < 0 || coding.redundancy_version >= redundancy_versions)
        fail("coding.redundancy_version", std::to_string(coding.redundancy_version), "0 to 3");
    check_one_of("coding.overhead", coding.overhead, {0, 6, 12, 18}, "0, 6, 12 or 18");
    if (coding.limited_buffer && *coding.limited_buffer == 0)
        fail("coding.limited_buffer", "0", "bits, above 0");
}

void check_has_rate(const LinkCarrier& carrier) {
    if (carrier.sample_rate) return;
    throw ArgumentError("carrier.sample_rate: missing; samples need it or an attribute sample_rate");
}

void check_has_center(const LinkCarrier& carrier) {
    if (carrier.center_frequency) return;
    throw ArgumentError(
        "carrier.center_frequency: missing; samples need it or an attribute center_frequency");
}

/// Calls a check of one part and puts the part's path before its errors.
template <typename Check>
void check_part(const char* path, const Check& check) {
    try {
        check();
    } catch (const ArgumentError& error) {
        throw ArgumentError(std::string(path) + ": " + error.what());
    }
}

void check_uci(const Link& link) {
    const LinkUci& uci = *link.coding->uci;
    if (link.direction == Direction::downlink)
        throw ArgumentError("coding.uci: given on the downlink; expected it on the uplink alone");
    if (uci.ack_bits == 0 && uci.csi1_bits == 0 && uci.csi2_bits == 0)
        throw ArgumentError("coding.uci has no bits: expected ack_bits or csi1_bits above 0, or no uci");
    check_part("coding.uci", [&] {
        const UciElements elements = uci_elements(uci_config(link));
        const auto require = [](const char* key, std::size_t bits, std::size_t count) {
            if (bits > 0 && count == 0)
                throw ArgumentError(std::string(key) + " " + std::to_string(bits) +
                                    ": no resource element is left for them; expected less UCI, a larger "
                                    "scaling or more symbols behind the first DM-RS");
        };
        require("ack_bits", uci.ack_bits, elements.ack);
        require("csi1_bits", uci.csi1_bits, elements.csi1);
        require("csi2_bits", uci.csi2_bits, elements.csi2);
    });
    if (transport_block_config(link).coded_bits == 0)
        throw ArgumentError(
            "coding.uci leaves no resource element to the transport block: expected fewer bits, or smaller "
            "offsets or scaling");
}

}  // namespace

int slots_per_frame(const LinkCarrier& carrier) {
    check_spacing(carrier);
    return 10 * (carrier.subcarrier_spacing / lowest_spacing);
}

int fft_size(const LinkCarrier& carrier) {
    check_spacing(carrier);
    check_has_rate(carrier);
    if (const auto size = detail::fft_size_at(*carrier.sample_rate, carrier.subcarrier_spacing)) return *size;
    fail("carrier.sample_rate", detail::number_text(*carrier.sample_rate),
         "the subcarrier spacing times a multiple of 128 without prime factors above 5, up to 8192; it is " +
             detail::number_text(*carrier.sample_rate / carrier.subcarrier_spacing) + " times that");
}

void check(const Link& link) {
    detail::check_enum("direction", link.direction, Direction::downlink);
    detail::check_enum("allocation.modulation", link.modulation, all_modulations.back());
    check_part("allocation", [&] { check(link.allocation); });
    check_carrier(link.carrier, link.allocation.carrier_resource_blocks);
    check_part("allocation", [&] { static_cast<void>(link.scrambling.c_init()); });
    if (link.direction == Direction::uplink && link.scrambling.codeword != 0)
        fail("allocation.codeword", std::to_string(link.scrambling.codeword), "0 on the uplink");
    check_slots(link);
    check_transform_precoding(link);
    check_ptrs(link);
    if (!link.coding) return;
    check_coding(*link.coding);
    Link plain = link;
    plain.coding->uci.reset();
    check_part("coding", [&] { static_cast<void>(code_blocks(transport_block_config(plain))); });
    if (link.coding->uci) check_uci(link);
}

Link complete_link(Link link, std::optional<double> sample_rate, std::optional<double> center_frequency) {
    LinkCarrier& carrier = link.carrier;
    if (!carrier.sample_rate) carrier.sample_rate = sample_rate;
    check_has_rate(carrier);
    if (!carrier.center_frequency && center_frequency)
        carrier.center_frequency = *center_frequency - carrier.frequency_shift;
    check_has_center(carrier);
    check(link);
    return link;
}

OfdmConfig ofdm_config(const Link& link, int antennas) {
    const LinkCarrier& carrier = link.carrier;
    static_cast<void>(fft_size(carrier));
    check_has_center(carrier);
    const OfdmConfig config = {.resource_blocks = link.allocation.carrier_resource_blocks,
                               .subcarrier_spacing = static_cast<double>(carrier.subcarrier_spacing),
                               .sample_rate = *carrier.sample_rate,
                               .k0 = carrier.k0,
                               .center_frequency = *carrier.center_frequency,
                               .frequency_shift = carrier.frequency_shift,
                               .antennas = antennas};
    static_cast<void>(OfdmTiming(config));
    return config;
}

}  // namespace phy
