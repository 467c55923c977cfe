#include "phy/mapper/mapper.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

#include "phy/core/check_size.hpp"
#include "phy/core/error.hpp"
#include "phy/mapper/constellation.hpp"
#include "phy/mapper/equations.hpp"

namespace phy {
namespace {

/// After how many symbols the points of a label repeat.
constexpr std::size_t period(Modulation modulation) {
    return modulation == Modulation::pi2_bpsk ? 2 : 1;
}

constexpr std::size_t point_count(Modulation modulation) {
    return period(modulation) << bits_per_symbol(modulation);
}

constexpr unsigned label_of(Modulation modulation, std::size_t n) {
    return static_cast<unsigned>(n) & ((1U << bits_per_symbol(modulation)) - 1U);
}

constexpr std::size_t symbol_index_of(Modulation modulation, std::size_t n) {
    return n >> bits_per_symbol(modulation);
}

constexpr void convert(cf32 point, cf32& out) {
    out = point;
}
constexpr void convert(cf32 point, cf16& out) {
    out = {half(point.real()), half(point.imag())};
}

/// The points of a modulation at [symbol_index % period][label].
template <typename Point, Modulation modulation>
constexpr auto points = [] {
    std::array<Point, point_count(modulation)> table{};
    for (std::size_t n = 0; n < table.size(); ++n) {
        const cf32 point =
            constellation_point(modulation, label_of(modulation, n), symbol_index_of(modulation, n));
        convert(point, table[n]);
    }
    return table;
}();

std::int16_t quantise(double value) {
    return static_cast<std::int16_t>(std::nearbyint(std::clamp(value, -32767.0, 32767.0)));
}

std::vector<ci16> make_integer_points(Modulation modulation, float full_scale) {
    const double unit = axis_unit(modulation) * static_cast<double>(full_scale);
    std::vector<ci16> table(point_count(modulation));
    for (std::size_t n = 0; n < table.size(); ++n) {
        const PointLevels levels =
            point_levels(modulation, label_of(modulation, n), symbol_index_of(modulation, n));
        table[n] = {quantise(levels.i * unit), quantise(levels.q * unit)};
    }
    return table;
}

/// Takes labels from bits that are stored one a byte.
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

/// Takes labels from packed bits; touches no byte before one of its bits is needed.
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

/// Stores through memcpy because the symbols may be unaligned.
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
    switch (symbols.format()) {
        case SampleFormat::cf32:
            return map<modulation>(bits, points<cf32, modulation>.data(), symbols, first_symbol);
        case SampleFormat::cf16:
            return map<modulation>(bits, points<cf16, modulation>.data(), symbols, first_symbol);
        case SampleFormat::ci16:
            return map<modulation>(bits, integer_points.data(), symbols, first_symbol);
        case SampleFormat::ci8:
            throw ArgumentError("mapper: cannot write ci8 symbols: expected cf32, cf16 or ci16");
    }
}

/// Calls visit(std::integral_constant<Modulation, ...>) with the modulation as a constant.
template <typename Visitor>
void with_constant(Modulation modulation, Visitor visit) {
    using enum Modulation;
    switch (modulation) {
        case pi2_bpsk:
            return visit(std::integral_constant<Modulation, pi2_bpsk>());
        case bpsk:
            return visit(std::integral_constant<Modulation, bpsk>());
        case qpsk:
            return visit(std::integral_constant<Modulation, qpsk>());
        case qam16:
            return visit(std::integral_constant<Modulation, qam16>());
        case qam64:
            return visit(std::integral_constant<Modulation, qam64>());
        case qam256:
            return visit(std::integral_constant<Modulation, qam256>());
        case qam1024:
            return visit(std::integral_constant<Modulation, qam1024>());
    }
}

constexpr std::size_t packed_size(std::size_t bits) {
    return bits / 8 + (bits % 8 != 0 ? 1 : 0);
}

}  // namespace

Mapper::Mapper(const Config& config) : config_(config) {
    if (!std::isfinite(config.full_scale) || config.full_scale <= 0.0F) {
        throw ArgumentError("mapper: full_scale is " + std::to_string(config.full_scale) +
                            ": expected a finite positive number");
    }
    integer_points_ = make_integer_points(config.modulation, config.full_scale);
}

void Mapper::operator()(std::span<const std::uint8_t> bits, SymbolSpan symbols,
                        std::uint64_t first_symbol) const {
    const bool packed = config_.packing == BitPacking::packed;
    const std::size_t bit_count = symbols.size() * bits_per_symbol(config_.modulation);
    detail::check_size("mapper: bits", bits.size(), packed ? packed_size(bit_count) : bit_count);
    with_constant(config_.modulation, [&](auto modulation) {
        if (packed) {
            map<modulation()>(PackedBits(bits.data()), integer_points_, symbols, first_symbol);
        } else {
            map<modulation()>(SingleBits(bits.data()), integer_points_, symbols, first_symbol);
        }
    });
}

void pack_bits(std::span<const std::uint8_t> bits, std::span<std::uint8_t> packed) {
    detail::check_size("pack_bits: packed", packed.size(), packed_size(bits.size()));
    for (std::size_t n = 0; n < packed.size(); ++n) {
        const auto byte = bits.subspan(8 * n, std::min<std::size_t>(8, bits.size() - 8 * n));
        unsigned value = 0;
        for (const std::uint8_t bit : byte)
            value = value << 1 | (bit & 1U);
        packed[n] = static_cast<std::uint8_t>(value << (8 - byte.size()));
    }
}

void unpack_bits(std::span<const std::uint8_t> packed, std::span<std::uint8_t> bits) {
    detail::check_size("unpack_bits: packed", packed.size(), packed_size(bits.size()));
    for (std::size_t n = 0; n < bits.size(); ++n) {
        bits[n] = static_cast<std::uint8_t>(packed[n / 8] >> (7 - n % 8) & 1);
    }
}

}  // namespace phy
