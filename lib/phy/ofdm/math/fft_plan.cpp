#include "phy/ofdm/math/fft_plan.hpp"

#include <bit>

#include "phy/ofdm/math/turn.hpp"

namespace phy::detail {

bool has_small_factors(std::size_t number) {
    for (const std::size_t factor : {2U, 3U, 5U})
        while (number % factor == 0)
            number /= factor;
    return number == 1;
}

FftPlan::FftPlan(std::size_t size, std::size_t spread_passes) {
    fft_.size = static_cast<std::uint32_t>(size);
    int twos = std::countr_zero(size);
    std::size_t odd = size >> twos;
    while (twos > 0) {
        const int of_radix = twos >= 3 && twos != 4 ? 3 : 2;
        add_pass(1U << of_radix);
        twos -= of_radix;
    }
    for (const std::uint32_t radix : {3U, 5U})
        for (; odd % radix == 0; odd /= radix)
            add_pass(radix);
    for (std::uint32_t i = 0; i < fft_.passes; ++i)
        add_factors(fft_.pass[i], i < spread_passes);
    fft_.table = table_.data();
}

void FftPlan::add_pass(std::uint32_t radix) {
    FftPass& pass = fft_.pass[fft_.passes];
    const FftPass* const before = fft_.passes == 0 ? nullptr : &fft_.pass[fft_.passes - 1];
    pass.radix = radix;
    pass.stride = before == nullptr ? 1 : before->stride * before->radix;
    pass.groups = fft_.size / pass.stride / radix;
    ++fft_.passes;
}

void FftPlan::add_factors(FftPass& pass, bool spread) {
    const double length = static_cast<double>(pass.groups) * pass.radix;
    const auto factor = [&](std::uint32_t p, std::uint32_t k) {
        return turn(-static_cast<double>(p * k) / length);
    };
    pass.factors = static_cast<std::uint32_t>(table_.size());
    for (std::uint32_t p = 0; p < pass.groups; ++p) {
        for (std::uint32_t k = 1; k < pass.radix; ++k) {
            table_.push_back(static_cast<float>(factor(p, k).real()));
            table_.push_back(static_cast<float>(factor(p, k).imag()));
        }
    }
    if (!spread) return;
    table_.resize((table_.size() + 15) / 16 * 16);
    pass.spread_factors = static_cast<std::uint32_t>(table_.size());
    for (std::uint32_t k = 1; k < pass.radix; ++k) {
        for (std::uint32_t i = 0; i < pass.stride * pass.groups; ++i)
            table_.push_back(static_cast<float>(factor(i / pass.stride, k).real()));
        for (std::uint32_t i = 0; i < pass.stride * pass.groups; ++i)
            table_.push_back(static_cast<float>(factor(i / pass.stride, k).imag()));
    }
}

}  // namespace phy::detail
