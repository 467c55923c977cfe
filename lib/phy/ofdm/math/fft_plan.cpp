#include "phy/ofdm/math/fft_plan.hpp"

#include <bit>
#include <complex>
#include <cstring>

#include "phy/numerics/elementary.hpp"

namespace phy::detail {
namespace {

/// exp(-j 2 pi p k / (groups radix))
std::complex<float> factor_of(const FftPass& pass, std::uint32_t p, std::uint32_t k) {
    const double length = static_cast<double>(pass.groups) * pass.radix;
    return std::complex<float>(elementary::turn(-static_cast<double>(p * k) / length));
}

}  // namespace

bool has_small_factors(std::size_t number) {
    for (const std::size_t factor : {2U, 3U, 5U})
        while (number % factor == 0)
            number /= factor;
    return number == 1;
}

FftPlan::FftPlan(std::size_t size, FactorOrder order) {
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
    for (std::uint32_t i = 0; i + 1 < fft_.passes; ++i) {
        if (order != FactorOrder::vectors || i > 0) add_factors(fft_.pass[i], order);
        if (order == FactorOrder::vectors && i < 2)
            add_side_by_side(fft_.pass[i], i == 0 ? first_together : second_together);
    }
    lines_.resize((table_.size() + line_numbers - 1) / line_numbers);
    std::memcpy(lines_.data(), table_.data(), table_.size() * sizeof(float));
    fft_.table = lines_.front().numbers;
}

void FftPlan::add_pass(std::uint32_t radix) {
    FftPass& pass = fft_.pass[fft_.passes];
    const FftPass* const before = fft_.passes == 0 ? nullptr : &fft_.pass[fft_.passes - 1];
    pass.radix = radix;
    pass.stride = before == nullptr ? 1 : before->stride * before->radix;
    pass.groups = fft_.size / pass.stride / radix;
    pass.radix_reciprocal = reciprocal_of(radix);
    pass.groups_reciprocal = reciprocal_of(pass.groups);
    ++fft_.passes;
}

void FftPlan::add_factors(FftPass& pass, FactorOrder order) {
    pass.factors = static_cast<std::uint32_t>(table_.size());
    const auto add = [&](std::uint32_t p, std::uint32_t k) {
        const std::complex<float> factor = factor_of(pass, p, k);
        table_.insert(table_.end(), {factor.real(), factor.imag()});
    };
    if (order == FactorOrder::threads) {
        for (std::uint32_t k = 1; k < pass.radix; ++k)
            for (std::uint32_t p = 0; p < pass.groups; ++p)
                add(p, k);
        return;
    }
    for (std::uint32_t p = 0; p < pass.groups; ++p)
        for (std::uint32_t k = 1; k < pass.radix; ++k)
            add(p, k);
}

void FftPlan::add_side_by_side(FftPass& pass, std::uint32_t together) {
    table_.resize((table_.size() + line_numbers - 1) / line_numbers * line_numbers);
    pass.side_by_side = static_cast<std::uint32_t>(table_.size());
    for (std::uint32_t first = 0; first < pass.groups; first += together) {
        for (std::uint32_t k = 1; k < pass.radix; ++k) {
            for (std::uint32_t p = first; p < first + together; ++p)
                table_.push_back(factor_of(pass, p, k).real());
            for (std::uint32_t p = first; p < first + together; ++p)
                table_.push_back(factor_of(pass, p, k).imag());
        }
    }
}

}  // namespace phy::detail
