#include "digests/signal.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <stdexcept>
#include <string>

namespace phy_test {
namespace {

/// SplitMix64.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t operator()() {
        state_ += 0x9E3779B97F4A7C15U;
        std::uint64_t word = state_;
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
        word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
        return word ^ (word >> 31);
    }

    std::uint64_t below(std::uint64_t end) { return (*this)() % end; }

private:
    std::uint64_t state_;
};

// Components are integers until they are stored: 2^30 stands for 1.
constexpr int fraction_bits = 30;

struct Constellation {
    std::string_view name;
    std::uint64_t levels;  ///< of an axis
    std::int64_t unit;     ///< the smallest level
    bool on_diagonal;      ///< I equals Q
};

constexpr std::array<Constellation, 7> constellations = {{{"pi2-bpsk", 2, 759250125, false},
                                                          {"bpsk", 2, 759250125, true},
                                                          {"qpsk", 2, 759250125, false},
                                                          {"16qam", 4, 339546978, false},
                                                          {"64qam", 8, 165681961, false},
                                                          {"256qam", 16, 82352240, false},
                                                          {"1024qam", 32, 41115692, false}}};

std::uint32_t to_binary32(std::int64_t component) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(component) * 0x1p-30F);
}

/// Rounds towards zero.
std::uint32_t to_binary16(std::int64_t component) {
    const std::uint32_t sign = component < 0 ? 0x8000U : 0U;
    const auto magnitude = static_cast<std::uint64_t>(component < 0 ? -component : component);
    const int exponent = static_cast<int>(std::bit_width(magnitude)) - 1 - fraction_bits;
    if (exponent < -14) return sign | static_cast<std::uint32_t>(magnitude >> (fraction_bits - 24));
    const std::uint64_t mantissa = (magnitude << 10) >> (exponent + fraction_bits);
    return sign | (static_cast<std::uint32_t>(exponent + 15) << 10) |
           static_cast<std::uint32_t>(mantissa & 0x3FFU);
}

/// The largest integer stands for just below 1.
template <int bits>
std::uint32_t to_integer(std::int64_t component) {
    constexpr std::int64_t end = std::int64_t{1} << (bits - 1);
    constexpr int shift = fraction_bits - (bits - 1);
    const std::int64_t rounded = (component + (std::int64_t{1} << (shift - 1))) >> shift;
    return static_cast<std::uint32_t>(std::clamp(rounded, -end, end - 1));
}

// NaNs, infinities, zeros, huge values, tiny ones.
constexpr std::array<std::uint32_t, 16> awkward_binary32 = {
    0x7FC00000, 0xFFC00001, 0x7F800001, 0x7F800000, 0xFF800000, 0x00000000, 0x80000000, 0x7F7FFFFF,
    0xFF7FFFFF, 0x60AD78EC, 0xE0AD78EC, 0x477FE000, 0x00800000, 0x80000001, 0x007FFFFF, 0x33800000};
constexpr std::array<std::uint32_t, 12> awkward_binary16 = {0x7E00, 0xFE01, 0x7D00, 0x7C00, 0xFC00, 0x0000,
                                                            0x8000, 0x7BFF, 0xFBFF, 0x0400, 0x0001, 0x83FF};
constexpr std::array<std::uint32_t, 5> awkward_int16 = {0x0000, 0x8000, 0x7FFF, 0xFFFF, 0x0001};
constexpr std::array<std::uint32_t, 5> awkward_int8 = {0x00, 0x80, 0x7F, 0xFF, 0x01};

struct Storage {
    std::string_view name;
    int bytes;  ///< of a component
    std::uint32_t (*convert)(std::int64_t component);
    std::span<const std::uint32_t> awkward;
};

const std::array<Storage, 4> storages = {{{"cf32", 4, to_binary32, awkward_binary32},
                                          {"cf16", 2, to_binary16, awkward_binary16},
                                          {"ci16", 2, to_integer<16>, awkward_int16},
                                          {"ci8", 1, to_integer<8>, awkward_int8}}};

template <typename Entries>
const auto& entry_of(const Entries& entries, std::string_view name) {
    const auto found = std::ranges::find(entries, name, [](const auto& entry) { return entry.name; });
    if (found == entries.end()) throw std::invalid_argument("no signal for " + std::string(name));
    return *found;
}

std::int64_t level(const Constellation& constellation, Random& random) {
    const auto odd = static_cast<std::int64_t>(2 * random.below(constellation.levels) + 1);
    return (odd - static_cast<std::int64_t>(constellation.levels)) * constellation.unit;
}

/// A sum of four uniform numbers, which is nearly Gaussian, with a standard deviation of 0.07.
std::int64_t noise(Random& random) {
    const std::uint64_t word = random();
    std::int64_t sum = 0;
    for (int part = 0; part < 4; ++part)
        sum += static_cast<std::int64_t>((word >> (16 * part)) & 0xFFFFU) - 0x8000;
    return sum * 2011;
}

void append(Bytes& bytes, std::uint32_t word, int count) {
    for (int n = 0; n < count; ++n, word >>= 8)
        bytes.push_back(static_cast<std::byte>(word & 0xFFU));
}

/// From 2^-10 to 1, and some that are no N0 or extreme ones.
float noise_variance(Random& random) {
    constexpr std::array<std::uint32_t, 10> awkward = {0x7FC00000, 0x7F800000, 0xFF800000, 0x00000000,
                                                       0x80000000, 0xBE800000, 0x00000001, 0x0DA24260,
                                                       0x7149F2CA, 0x7F7FFFFF};
    if (random.below(30) == 0) return std::bit_cast<float>(awkward[random.below(awkward.size())]);
    const auto exponent = static_cast<std::uint32_t>(117 + random.below(10));
    return std::bit_cast<float>((exponent << 23) | static_cast<std::uint32_t>(random() >> 41));
}

}  // namespace

Signal make_signal(std::string_view modulation, std::string_view format, std::size_t symbols) {
    const Constellation& constellation = entry_of(constellations, modulation);
    const Storage& storage = entry_of(storages, format);
    Random random(0x5EED);
    Signal signal{.symbols = symbols, .samples = {}, .noise = {}};
    for (std::size_t n = 0; n < symbols; ++n) {
        const std::int64_t i = level(constellation, random);
        const std::int64_t q = constellation.on_diagonal ? i : level(constellation, random);
        for (const std::int64_t point : {i, q}) {
            const std::uint32_t word = storage.convert(point + noise(random));
            const bool is_awkward = random.below(40) == 0;
            append(signal.samples, is_awkward ? storage.awkward[random.below(storage.awkward.size())] : word,
                   storage.bytes);
        }
        signal.noise.push_back(noise_variance(random));
    }
    return signal;
}

std::vector<std::uint8_t> make_bits(std::size_t bytes) {
    Random random(0xB175);
    std::vector<std::uint8_t> bits(bytes);
    for (std::uint8_t& byte : bits)
        byte = static_cast<std::uint8_t>(random() >> 56);
    return bits;
}

std::uint64_t digest_of(const Bytes& bytes) {
    std::uint64_t digest = 0xCBF29CE484222325U;
    for (const std::byte byte : bytes)
        digest = (digest ^ static_cast<std::uint64_t>(byte)) * 0x100000001B3U;
    return digest;
}

}  // namespace phy_test
