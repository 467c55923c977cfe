#include "phy/mapper/mapper.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

#include "phy/core/check.hpp"
#include "phy/core/equations.hpp"
#include "phy/core/error.hpp"
#include "phy/machine/thread_pool.hpp"
#include "phy/mapper/points.hpp"

namespace phy::detail {
namespace {

std::int16_t quantise(double value) {
    return static_cast<std::int16_t>(std::nearbyint(std::clamp(value, -32767.0, 32767.0)));
}

}  // namespace

std::vector<ci16> make_integer_points(Modulation modulation, FullScale full_scale) {
    const double unit = axis_unit(modulation) * double{full_scale.value_for(SampleFormat::ci16)};
    std::vector<ci16> table(point_count(modulation));
    for (std::size_t n = 0; n < table.size(); ++n) {
        const PointLevels levels =
            point_levels(modulation, label_of(modulation, n), symbol_index_of(modulation, n));
        table[n] = {quantise(levels.i * unit), quantise(levels.q * unit)};
    }
    return table;
}

void check_config(const Mapper::Config& config) {
    check_enum("modulation", config.modulation, all_modulations.back());
    check_enum("bit packing", config.packing, BitPacking::packed);
}

void check_call(const Mapper::Config& config, std::size_t bits, SampleFormat format, std::size_t symbols) {
    check_enum("sample format", format, all_sample_formats.back());
    const std::size_t bit_count = symbols * bits_per_symbol(config.modulation);
    check_size("mapper: bits", bits,
               config.packing == BitPacking::packed ? packed_size(bit_count) : bit_count);
    if (format == SampleFormat::ci8) {
        throw ArgumentError("mapper: cannot write ci8 symbols: expected cf32, cf16 or ci16");
    }
    if (format == SampleFormat::ci16 && !config.full_scale) {
        throw ArgumentError(
            "mapper: ci16 symbols need a full_scale: expected the integer that stands for 1.0, such as "
            "8192, and the same for the demapper");
    }
}

}  // namespace phy::detail

namespace phy {
namespace {

using detail::period;
using detail::points;

/// Reads labels from bits that are stored one per byte.
class SingleBits {
public:
    explicit SingleBits(const std::uint8_t* bits) : next_(bits) {}

    template <std::size_t qm>
    unsigned take() {
        unsigned label = 0;
        for (std::size_t k = 0; k < qm; ++k)
            label = label << 1 | (*next_++ & 1U);
        return label;
    }

private:
    const std::uint8_t* next_;
};

/// Reads labels from packed bits. Reads no byte before one of its bits is needed.
class PackedBits {
public:
    explicit PackedBits(const std::uint8_t* bytes) : next_(bytes) {}

    template <std::size_t qm>
    unsigned take() {
        for (; held_ < qm; held_ += 8)
            window_ = window_ << 8 | *next_++;
        held_ -= qm;
        return window_ >> held_ & ((1U << qm) - 1U);
    }

private:
    const std::uint8_t* next_;
    std::uint32_t window_ = 0;
    std::size_t held_ = 0;
};

/// Stores by memcpy, because symbols may be unaligned.
template <Modulation modulation, typename Bits, typename Point>
void map(Bits bits, const Point* table, SymbolSpan symbols, std::uint64_t first_symbol) {
    constexpr std::size_t qm = bits_per_symbol(modulation);
    std::byte* out = symbols.data();
    for (std::size_t n = 0; n < symbols.size(); ++n, out += sizeof(Point)) {
        const std::size_t row = (first_symbol + n) % period(modulation);
        std::memcpy(out, &table[row << qm | bits.template take<qm>()], sizeof(Point));
    }
}

template <Modulation modulation, typename Bits>
void map(Bits bits, const std::vector<ci16>& integer_points, SymbolSpan symbols, std::uint64_t first_symbol) {
    with_constant(symbols.format(), [&](auto format) {
        using Point = SampleOf<format()>;
        if constexpr (std::is_same_v<Point, ci16>) {
            map<modulation>(bits, integer_points.data(), symbols, first_symbol);
        } else if constexpr (!std::is_same_v<Point, ci8>) {  // check_call() rejects it
            map<modulation>(bits, points<Point, modulation>.data(), symbols, first_symbol);
        }
    });
}

}  // namespace

Mapper::Mapper(const Host& host, const Config& config) : host_(host), config_(config) {
    detail::check_config(config);
    if (config.full_scale)
        integer_points_ = detail::make_integer_points(config.modulation, *config.full_scale);
}

void Mapper::operator()(std::span<const std::uint8_t> bits, SymbolSpan symbols,
                        std::uint64_t first_symbol) const {
    detail::check_call(config_, bits.size(), symbols.format(), symbols.size());
    // In every piece the packed bits begin at a byte.
    constexpr std::size_t piece = std::size_t{1} << 14;
    const std::size_t pieces = (symbols.size() + piece - 1) / piece;
    host_.pool().for_each(pieces, [&](int, std::size_t index) noexcept {
        const std::size_t first = index * piece;
        const SymbolSpan out = symbols.subspan(first, std::min(piece, symbols.size() - first));
        const std::size_t first_bit = first * bits_per_symbol(config_.modulation);
        with_constant(config_.modulation, [&](auto modulation) {
            if (config_.packing == BitPacking::packed) {
                map<modulation()>(PackedBits(bits.data() + first_bit / 8), integer_points_, out,
                                  first_symbol + first);
            } else {
                map<modulation()>(SingleBits(bits.data() + first_bit), integer_points_, out,
                                  first_symbol + first);
            }
        });
    });
}

void pack_bits(std::span<const std::uint8_t> bits, std::span<std::uint8_t> packed) {
    detail::check_size("pack_bits: packed", packed.size(), detail::packed_size(bits.size()));
    for (std::size_t n = 0; n < packed.size(); ++n) {
        const auto byte = bits.subspan(8 * n, std::min<std::size_t>(8, bits.size() - 8 * n));
        unsigned value = 0;
        for (const std::uint8_t bit : byte)
            value = value << 1 | (bit & 1U);
        packed[n] = static_cast<std::uint8_t>(value << (8 - byte.size()));
    }
}

void unpack_bits(std::span<const std::uint8_t> packed, std::span<std::uint8_t> bits) {
    detail::check_size("unpack_bits: packed", packed.size(), detail::packed_size(bits.size()));
    for (std::size_t n = 0; n < bits.size(); ++n) {
        bits[n] = static_cast<std::uint8_t>(packed[n / 8] >> (7 - n % 8) & 1);
    }
}

}  // namespace phy
