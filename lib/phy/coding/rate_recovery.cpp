#include "phy/coding/rate_recovery.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "phy/coding/kernels.hpp"

namespace phy::detail {
namespace {

float finite_or_zero(float x) {
    return std::fabs(x) <= std::numeric_limits<float>::max() ? x : 0.0F;
}

/// A soft bit at any address.
template <typename T>
T load(const std::byte* soft_bits, std::size_t index) {
    T soft_bit;
    std::memcpy(&soft_bit, soft_bits + index * sizeof(T), sizeof(T));
    return soft_bit;
}

template <typename T>
float number(T soft_bit) {
    return finite_or_zero(static_cast<float>(soft_bit));
}
float number(std::int8_t soft_bit) {
    return static_cast<float>(std::max(soft_bit, std::int8_t{-127}));
}

/// Calls visit() with the type of the format's soft bits.
template <typename Visitor>
void with_type(SoftBitFormat format, const Visitor& visit) {
    switch (format) {
        case SoftBitFormat::int8:
            return visit(std::type_identity<std::int8_t>());
        case SoftBitFormat::float16:
            return visit(std::type_identity<half>());
        case SoftBitFormat::float32:
            return visit(std::type_identity<float>());
    }
}

std::int8_t rounded(float llr) {
    constexpr float whole = 0x1.8p23F;  // whose last place is 1
    const float limit = max_llr;
    return static_cast<std::int8_t>(std::clamp(llr, -limit, limit) + whole - whole);
}

}  // namespace

RateRecovery::RateRecovery(const RateMatching& matching, float units, Deinterleave deinterleave)
    : matching_(matching), units_(units), deinterleave_(deinterleave) {
    for (int byte = 0; byte < 256; ++byte)
        of_int8_[byte] = rounded(number(static_cast<std::int8_t>(byte)) * units);
}

/// LLRs in the order in which rate matching selected their bits.
template <typename T>
void RateRecovery::select(const std::byte* soft_bits, std::uint32_t symbols, std::int8_t* selected) const {
    const std::uint32_t per_symbol = matching_.bits_per_symbol;
    if constexpr (std::is_same_v<T, std::int8_t>) {
        const bool is_in_units = units_ == 1.0F;
        deinterleave_(reinterpret_cast<const std::int8_t*>(soft_bits), symbols, per_symbol,
                      is_in_units ? max_llr : std::int8_t{127}, selected);
        if (is_in_units) return;
        for (std::uint32_t i = 0; i < symbols * per_symbol; ++i)
            selected[i] = of_int8_[static_cast<std::uint8_t>(selected[i])];
    } else {
        for (std::uint32_t bit = 0; bit < per_symbol; ++bit) {
            for (std::uint32_t symbol = 0; symbol < symbols; ++symbol)
                *selected++ = rounded(number(load<T>(soft_bits, symbol * per_symbol + bit)) * units_);
        }
    }
}

/// Writes LLRs from a rank on, around the end of the buffer.
void RateRecovery::place(std::span<const std::int8_t> llr, std::uint32_t rank, std::int8_t* buffer) const {
    while (!llr.empty()) {
        const std::uint32_t end = rank < matching_.filler_begin ? matching_.filler_begin : matching_.usable();
        const std::size_t here = std::min<std::size_t>(llr.size(), end - rank);
        std::memcpy(buffer + matching_.place_of(rank), llr.data(), here);
        llr = llr.subspan(here);
        rank = end == matching_.usable() ? 0 : end;
    }
}

template <typename T>
void RateRecovery::add_repeated(const std::byte* soft_bits, std::uint32_t symbols, std::uint32_t first,
                                std::int8_t* buffer) const {
    const std::uint32_t sent = symbols * matching_.bits_per_symbol;
    for (std::uint32_t index = 0; index < matching_.usable(); ++index) {
        float sum = 0.0F;
        for (std::uint32_t k = index; k < sent; k += matching_.usable())
            sum += number(load<T>(soft_bits, k % symbols * matching_.bits_per_symbol + k / symbols));
        buffer[matching_.place_of((first + index) % matching_.usable())] =
            rounded(finite_or_zero(sum) * units_);
    }
}

void RateRecovery::operator()(SoftBitView soft_bits, std::size_t symbols, int redundancy_version,
                              std::span<std::int8_t> buffer, std::int8_t* scratch) const {
    const std::uint32_t first = matching_.first_ranks[static_cast<std::size_t>(redundancy_version)];
    const auto count = static_cast<std::uint32_t>(symbols);
    std::ranges::fill(buffer, std::int8_t{0});
    with_type(soft_bits.format(), [&]<typename T>(std::type_identity<T>) {
        const std::uint32_t sent = count * matching_.bits_per_symbol;
        if (sent <= matching_.usable()) {
            select<T>(soft_bits.data(), count, scratch);
            place({scratch, sent}, first, buffer.data());
        } else
            add_repeated<T>(soft_bits.data(), count, first, buffer.data());
    });
}

/// The LLR of a bit that was sent once.
template <typename T>
std::int8_t RateRecovery::llr_of(const std::byte* soft_bits, std::size_t index) const {
    if constexpr (std::is_same_v<T, std::int8_t>)
        return of_int8_[static_cast<std::uint8_t>(soft_bits[index])];
    else
        return rounded(number(load<T>(soft_bits, index)) * units_);
}

void RateRecovery::write_extrinsic(SoftBitView soft_bits, int redundancy_version,
                                   std::span<const std::int8_t> posteriors,
                                   std::span<std::int8_t> extrinsic) const {
    const std::size_t per_symbol = matching_.bits_per_symbol;
    std::uint32_t rank = matching_.first_ranks[static_cast<std::size_t>(redundancy_version)];
    with_type(soft_bits.format(), [&]<typename T>(std::type_identity<T>) {
        for (std::size_t bit = 0; bit < per_symbol; ++bit) {
            for (std::size_t index = bit; index < extrinsic.size();) {
                const std::uint32_t end =
                    rank < matching_.filler_begin ? matching_.filler_begin : matching_.usable();
                const std::int8_t* posterior = posteriors.data() + matching_.place_of(rank);
                for (; rank < end && index < extrinsic.size(); ++rank, index += per_symbol)
                    extrinsic[index] = static_cast<std::int8_t>(
                        std::clamp(*posterior++ - llr_of<T>(soft_bits.data(), index), -127, 127));
                if (rank == matching_.usable()) rank = 0;
            }
        }
    });
}

}  // namespace phy::detail
