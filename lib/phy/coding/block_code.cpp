#include "phy/coding/block_code.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "phy/core/check.hpp"
#include "phy/core/demapper_config.hpp"

namespace phy {
namespace {

constexpr double max_float = std::numeric_limits<float>::max();

/// Table 5.3.3.3-1: bit k of row i is M_{i,k}.
constexpr std::uint16_t rows_of_table[] = {0x403, 0x607, 0x749, 0x50D, 0x48F, 0x5D3, 0x755, 0x599,
                                           0x69B, 0x65D, 0x6E5, 0x567, 0x7A9, 0x6AB, 0x4B1, 0x6F3,
                                           0x277, 0x139, 0x0FB, 0x061, 0x445, 0x60B, 0x591, 0x717,
                                           0x3DF, 0x4E3, 0x32D, 0x3AF, 0x175, 0x1FD, 0x7FF, 0x001};

struct CodedBit {
    std::uint16_t row = 0;         ///< the information bits whose sum it is; 0 for x
    std::uint8_t placeholder = 0;  ///< 0 for none
};

/// The N coded bits before rate matching.
struct Code {
    std::array<CodedBit, std::size(rows_of_table)> coded = {};
    std::size_t size = 0;

    [[nodiscard]] const CodedBit& at(std::size_t sent) const { return coded[sent % size]; }
};

/// Tables 5.3.3.1-1 and 5.3.3.2-1: symbols of Qm bits that begin with coded bits and go on with placeholders.
Code short_code(int bits, std::size_t per_symbol) {
    constexpr std::uint16_t sums_of_two[] = {0b01, 0b10, 0b11};  // c0, c1, c2
    Code code = {.size = bits == 1 ? per_symbol : 3 * per_symbol};
    std::size_t next = 0;
    for (std::size_t i = 0; i < code.size; ++i) {
        const std::size_t in_symbol = i % per_symbol;
        if (in_symbol > 1)
            code.coded[i] = {.row = 0, .placeholder = placeholder_x};
        else if (bits == 1)
            code.coded[i] = {.row = 1, .placeholder = in_symbol == 1 ? placeholder_y : std::uint8_t{0}};
        else
            code.coded[i] = {.row = sums_of_two[next++ % std::size(sums_of_two)]};
    }
    return code;
}

Code code_of(const BlockCode& config) {
    detail::check_range("bits", config.bits, 1, max_block_code_bits);
    detail::check_enum("modulation", config.modulation, all_modulations.back());
    if (config.bits <= 2) return short_code(config.bits, bits_per_symbol(config.modulation));
    Code code = {.size = std::size(rows_of_table)};
    const std::uint32_t used = (1U << static_cast<unsigned>(config.bits)) - 1;
    for (std::size_t i = 0; i < code.size; ++i)
        code.coded[i].row = static_cast<std::uint16_t>(rows_of_table[i] & used);
    return code;
}

/// Sums over soft bits, in steps.
struct Sums {
    /// First of soft bits by their row; then, by word, of soft bits with the signs that its bits have.
    std::array<double, std::size_t{1} << static_cast<unsigned>(max_block_code_bits)> correlations = {};
    double squares = 0.0;
    std::size_t count = 0;
};

template <typename T>
void add(const Code& code, SoftBitView llr, std::span<const std::uint8_t> scrambling, Sums& sums) {
    for (std::size_t i = 0; i < llr.size(); ++i) {
        const CodedBit& bit = code.at(i);
        const bool repeats = bit.placeholder == placeholder_y;
        if (bit.row == 0 || (repeats && scrambling.empty())) continue;
        T soft_bit;
        std::memcpy(&soft_bit, llr.data() + i * sizeof(T), sizeof(T));
        double value = static_cast<float>(soft_bit);
        if (value == 0.0 || !(std::fabs(value) <= max_float)) continue;
        if (repeats && ((scrambling[i] ^ scrambling[i - 1]) & 1U) != 0) value = -value;
        sums.correlations[bit.row] += value;
        sums.squares += value * value;
        ++sums.count;
    }
}

void add(const Code& code, SoftBitView llr, std::span<const std::uint8_t> scrambling, Sums& sums) {
    switch (llr.format()) {
        case SoftBitFormat::int8:
            return add<std::int8_t>(code, llr, scrambling, sums);
        case SoftBitFormat::float16:
            return add<half>(code, llr, scrambling, sums);
        case SoftBitFormat::float32:
            return add<float>(code, llr, scrambling, sums);
    }
}

/// The Walsh-Hadamard transform: from rows to words.
void transform(std::span<double> values) {
    for (std::size_t step = 1; step < values.size(); step *= 2) {
        for (std::size_t first = 0; first < values.size(); first += 2 * step) {
            for (std::size_t i = first; i < first + step; ++i) {
                const double sum = values[i] + values[i + step];
                values[i + step] = values[i] - values[i + step];
                values[i] = sum;
            }
        }
    }
}

/// LLRs with the signs of the sent word have a variance of twice their mean. If theirs is greater, they are
/// that many times too large.
double trust(double mean, double mean_square) {
    const double variance = mean_square - mean * mean;
    return variance > 2.0 * mean ? 2.0 * mean / variance : 1.0;
}

}  // namespace

void encode_block_code(const BlockCode& code, std::span<const std::uint8_t> bits,
                       std::span<std::uint8_t> coded) {
    const Code sent = code_of(code);
    detail::check_size("bits", bits.size(), static_cast<std::size_t>(code.bits));
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < bits.size(); ++k)
        word |= (bits[k] & 1U) << k;
    for (std::size_t i = 0; i < coded.size(); ++i) {
        const CodedBit& bit = sent.at(i);
        const int sum = std::popcount(word & bit.row) % 2;
        coded[i] = bit.placeholder != 0 ? bit.placeholder : static_cast<std::uint8_t>(sum);
    }
}

void resolve_placeholders(std::span<std::uint8_t> scrambled) {
    for (std::size_t i = 0; i < scrambled.size(); ++i) {
        if ((scrambled[i] & placeholder_x) != 0)
            scrambled[i] = 1;
        else if ((scrambled[i] & placeholder_y) != 0)
            scrambled[i] = i == 0 ? std::uint8_t{0} : scrambled[i - 1];
    }
}

DecodedWord decode_block_code(const BlockCode& code, SoftBitView llr, const BlockDecoding& decoding) {
    detail::check_llr({.scale = decoding.scale});
    detail::check_enum("soft-bit format", llr.format(), all_soft_bit_formats.back());
    if (!decoding.scrambling.empty())
        detail::check_size("scrambling", decoding.scrambling.size(), llr.size());
    Sums sums;
    add(code_of(code), llr, decoding.scrambling, sums);
    const std::span words =
        std::span(sums.correlations).first(std::size_t{1} << static_cast<unsigned>(code.bits));
    transform(words);

    const auto best = std::ranges::max_element(words);
    const auto word = static_cast<unsigned>(best - words.begin());
    double second = -std::numeric_limits<double>::infinity();
    for (std::size_t other = 0; other < words.size(); ++other)
        if (other != word) second = std::max(second, words[other]);

    DecodedWord decoded;
    for (int k = 0; k < code.bits; ++k)
        decoded.bits[static_cast<std::size_t>(k)] =
            static_cast<std::uint8_t>(word >> static_cast<unsigned>(k) & 1U);
    if (sums.count == 0) return decoded;
    const double nats = llr.format() == SoftBitFormat::int8 ? 1.0 / static_cast<double>(decoding.scale) : 1.0;
    const auto count = static_cast<double>(sums.count);
    const double trusted = trust(*best / count * nats, sums.squares / count * nats * nats);
    decoded.margin = static_cast<float>(std::min(trusted * (*best - second) / 2.0 * nats, max_float));
    return decoded;
}

}  // namespace phy
