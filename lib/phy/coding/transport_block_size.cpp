#include "phy/coding/transport_block_size.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"

namespace phy {
namespace {

constexpr int elements_of_symbol = 12;
constexpr int max_elements_per_block = 156;
constexpr double max_tabulated_bits = 3824.0;

/// Table 5.1.3.2-1.
constexpr std::uint16_t tabulated_sizes[] = {
    24,   32,   40,   48,   56,   64,   72,   80,   88,   96,   104,  112,  120,  128,  136,  144,
    152,  160,  168,  176,  184,  192,  208,  224,  240,  256,  272,  288,  304,  320,  336,  352,
    368,  384,  408,  432,  456,  480,  504,  528,  552,  576,  608,  640,  672,  704,  736,  768,
    808,  848,  888,  928,  984,  1032, 1064, 1128, 1160, 1192, 1224, 1256, 1288, 1320, 1352, 1416,
    1480, 1544, 1608, 1672, 1736, 1800, 1864, 1928, 2024, 2088, 2152, 2216, 2280, 2408, 2472, 2536,
    2600, 2664, 2728, 2792, 2856, 2976, 3104, 3240, 3368, 3496, 3624, 3752, 3824};

/// N'_RE.
int elements_per_block(const TransportBlockResources& resources) {
    return elements_of_symbol * resources.symbols - resources.dmrs_elements - resources.overhead;
}

void check(const TransportBlockResources& resources) {
    detail::check_enum("modulation", resources.modulation, all_modulations.back());
    detail::check_range("resource_blocks", resources.resource_blocks, 1, 275);
    detail::check_range("symbols", resources.symbols, 1, 14);
    detail::check_range("dmrs_elements", resources.dmrs_elements, 0, elements_of_symbol * resources.symbols);
    detail::check_range("layers", resources.layers, 1, 8);
    if (resources.overhead % 6 != 0 || resources.overhead < 0 || resources.overhead > 18)
        throw ArgumentError("overhead " + std::to_string(resources.overhead) + ": expected 0, 6, 12 or 18");
    if (!(resources.code_rate > 0.0 && resources.code_rate <= 1.0))
        throw ArgumentError("code_rate " + detail::number_text(resources.code_rate) +
                            ": expected above 0, at most 1");
    if (resources.scaling != 1.0 && resources.scaling != 0.5 && resources.scaling != 0.25)
        throw ArgumentError("scaling " + detail::number_text(resources.scaling) +
                            ": expected 1, 0.5 or 0.25");
    if (elements_per_block(resources) < 1)
        throw ArgumentError("overhead " + std::to_string(resources.overhead) + ": DM-RS take " +
                            std::to_string(resources.dmrs_elements) + " of the " +
                            std::to_string(elements_of_symbol * resources.symbols) +
                            " elements of a resource block; expected less than the rest");
}

/// N_info, exact for R that are multiples of 1/2048: it has less than 53 bits.
double information_bits(const TransportBlockResources& resources) {
    const int elements =
        std::min(elements_per_block(resources), max_elements_per_block) * resources.resource_blocks;
    return resources.scaling * elements * resources.code_rate *
           static_cast<double>(bits_per_symbol(resources.modulation)) * resources.layers;
}

/// Step 3.
std::size_t tabulated_size(double information) {
    const int shift = std::max(3, std::ilogb(information) - 6);
    const double quantized = std::ldexp(std::floor(std::ldexp(information, -shift)), shift);
    return *std::lower_bound(std::begin(tabulated_sizes), std::end(tabulated_sizes), quantized);
}

/// Step 4.
std::size_t computed_size(double information, double code_rate) {
    constexpr std::uint64_t crc = 24;
    constexpr std::uint64_t least = 3840;
    const double bits = information - static_cast<double>(crc);
    const int shift = std::ilogb(bits) - 5;
    const double rounded = std::floor(std::ldexp(bits, -shift) + 0.5);
    const auto quantized = std::max(least, static_cast<std::uint64_t>(std::ldexp(rounded, shift)));
    const auto divided = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
    constexpr std::uint64_t longest_at_low_rate = 3816;
    constexpr std::uint64_t longest = 8424;
    std::uint64_t blocks = 1;
    if (code_rate <= 0.25)
        blocks = divided(quantized + crc, longest_at_low_rate);
    else if (quantized > longest)
        blocks = divided(quantized + crc, longest);
    return 8 * blocks * divided(quantized + crc, 8 * blocks) - crc;
}

}  // namespace

std::size_t transport_block_size(const TransportBlockResources& resources) {
    check(resources);
    const double information = information_bits(resources);
    return information <= max_tabulated_bits ? tabulated_size(information)
                                             : computed_size(information, resources.code_rate);
}

}  // namespace phy
