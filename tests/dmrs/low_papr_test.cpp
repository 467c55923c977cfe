#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <set>
#include <string>

#include "phy/core/error.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "scrambling/gold_reference.hpp"
#include "support/fewer_cases.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::cf32;
using Complex = std::complex<double>;
using std::numbers::pi;

constexpr unsigned seed = 522;

std::vector<cf32> sequence_of(int u, int v, int length) {
    std::vector<cf32> sequence(static_cast<std::size_t>(length));
    phy::low_papr_sequence(u, v, sequence);
    return sequence;
}

int largest_prime_below(int number) {
    for (int n = number - 1;; --n) {
        bool is_prime = true;
        for (int divisor = 2; divisor < n; ++divisor)
            is_prime &= n % divisor != 0;
        if (is_prime) return n;
    }
}

/// x_q(n mod N_ZC) as clause 5.2.2.1 writes it.
std::vector<Complex> zadoff_chu(int u, int v, int length) {
    const int n_zc = largest_prime_below(length);
    const double q_bar = n_zc * (u + 1) / 31.0;
    const double q = std::floor(q_bar + 0.5) + v * std::pow(-1.0, std::floor(2 * q_bar));
    std::vector<Complex> sequence;
    for (int n = 0; n < length; ++n) {
        const double m = n % n_zc;
        sequence.push_back(std::polar(1.0, -pi * std::fmod(q * m * (m + 1), 2.0 * n_zc) / n_zc));
    }
    return sequence;
}

void expect_near(const std::vector<cf32>& sequence, const std::vector<Complex>& expected) {
    ASSERT_EQ(sequence.size(), expected.size());
    for (std::size_t n = 0; n < sequence.size(); ++n)
        ASSERT_LE(std::abs(Complex(sequence[n]) - expected[n]), 2e-7) << n;
}

TEST(LowPaprSequence, LongOnesAreExtendedZadoffChuSequences) {
    for (const auto i : fewer_indices(270)) {
        const int length = 36 + 6 * static_cast<int>(i);
        for (const int u : {0, 1, 14, 15, 28, 29}) {
            for (int v = 0; v <= (length < 72 ? 0 : 1); ++v) {
                SCOPED_TRACE(std::to_string(length) + ", " + std::to_string(u) + ", " + std::to_string(v));
                expect_near(sequence_of(u, v, length), zadoff_chu(u, v, length));
            }
        }
    }
}

TEST(LowPaprSequence, OfLength30FollowsItsFormula) {
    for (int u = 0; u < 30; ++u) {
        std::vector<Complex> expected;
        for (int n = 0; n < 30; ++n)
            expected.push_back(std::polar(1.0, -pi * (u + 1) * (n + 1) * (n + 2) / 31.0));
        SCOPED_TRACE(u);
        expect_near(sequence_of(u, 0, 30), expected);
    }
}

TEST(LowPaprSequence, ZadoffChuHasNoCyclicAutocorrelation) {
    for (const int length : {36, 72, 150, 1638}) {
        const int n_zc = largest_prime_below(length);
        for (const int u : {0, 17, 29}) {
            const auto r = sequence_of(u, 0, length);
            for (int n = 0; n < length; ++n)
                ASSERT_EQ(r[static_cast<std::size_t>(n)], r[static_cast<std::size_t>(n % n_zc)]);
            for (const int lag : {1, 2, n_zc / 2, n_zc - 1}) {
                Complex sum;
                for (int n = 0; n < n_zc; ++n)
                    sum += Complex(r[static_cast<std::size_t>(n)]) *
                           std::conj(Complex(r[static_cast<std::size_t>((n + lag) % n_zc)]));
                ASSERT_LE(std::abs(sum), 1e-4) << length << ", " << u << ", " << lag;
            }
        }
    }
}

TEST(LowPaprSequence, ShortOnesAreThoseOfTheTables) {
    struct Row {
        int u;
        std::vector<int> phi;
    };
    const Row rows[] = {
        {0, {-3, -1, 3, 3, -1, -3}},
        {14, {1, 1, 1, -3, 3, -1}},
        {29, {1, 1, -3, 1, -1, -1}},
        {0, {-3, 1, -3, -3, -3, 3, -3, -1, 1, 1, 1, -3}},
        {14, {1, 3, -3, 1, 3, 3, 3, 1, -1, 1, -1, 3}},
        {29, {-3, 3, -3, 3, -3, -3, 3, -1, -1, 1, 3, -3}},
        {0, {-1, 3, -1, -3, 3, 1, -3, -1, 3, -3, -1, -1, 1, 1, 1, -1, -1, -1}},
        {15, {3, 1, -3, 1, -3, 3, 3, -1, -3, -3, -1, -3, -3, 3, -3, -1, 1, 3}},
        {29, {-3, 3, 1, -1, -1, -1, -1, 1, -1, 3, 3, -3, -1, 1, 3, -1, 3, -1}},
        {0, {-1, -3, 3, -1, 3, 1, 3, -1, 1, -3, -1, -3, -1, 1, 3, -3, -1, -3, 3, 3, 3, -3, -3, -3}},
        {16, {-3, -3, 1, -1, 3, 3, -3, -1, 1, -1, -1, 1, 1, -1, -1, 3, -3, 1, -3, 1, -1, -1, -1, -3}},
        {29, {3, -3, -1, 1, 3, -1, -1, -3, -1, 3, -1, -3, -1, -3, 3, -1, 3, 1, 1, -3, 3, -3, -3, -3}},
    };
    for (const Row& row : rows) {
        std::vector<Complex> expected;
        for (const int phi : row.phi)
            expected.push_back(std::polar(1.0, phi * pi / 4));
        SCOPED_TRACE(std::to_string(row.phi.size()) + ", " + std::to_string(row.u));
        expect_near(sequence_of(row.u, 0, static_cast<int>(row.phi.size())), expected);
    }
}

/// Peak over mean power, in dB, of the waveform whose subcarriers the sequence stands on.
double papr_db(const std::vector<cf32>& sequence) {
    const std::size_t samples = 16 * sequence.size();
    double peak = 0.0;
    for (std::size_t t = 0; t < samples; ++t) {
        Complex sum;
        for (std::size_t n = 0; n < sequence.size(); ++n)
            sum += Complex(sequence[n]) *
                   std::polar(1.0, 2 * pi * static_cast<double>(n * t) / static_cast<double>(samples));
        peak = std::max(peak, std::norm(sum));
    }
    return 10 * std::log10(peak / static_cast<double>(sequence.size()));
}

TEST(LowPaprSequence, ShortOnesAreDistinctAndHaveLowPeaks) {
    for (const int length : {6, 12, 18, 24}) {
        std::set<std::vector<int>> all;
        for (int u = 0; u < 30; ++u) {
            const auto sequence = sequence_of(u, 0, length);
            // Hardly any sequence with a wrong element stays below this.
            EXPECT_LE(papr_db(sequence), length == 6 ? 3.8 : 2.9) << length << ", " << u;
            std::vector<int> quadrants;
            for (const cf32& element : sequence) {
                EXPECT_NEAR(std::abs(element), 1.0, 1e-7);
                quadrants.push_back((element.real() > 0 ? 1 : 0) + (element.imag() > 0 ? 2 : 0));
            }
            all.insert(quadrants);
        }
        EXPECT_EQ(all.size(), 30U) << length;
    }
}

/// (u, v) of a symbol by 6.4.1.1.1.2.
std::pair<int, int> group_and_number(const phy::DmrsConfig& dmrs, int slot, int symbol, std::size_t length) {
    const int n_id = static_cast<int>(dmrs.scrambling_id);
    int hop = 0;
    int v = 0;
    const auto place = static_cast<std::size_t>(14 * slot + symbol);
    if (dmrs.hopping == phy::SequenceHopping::group) {
        const auto c = gold_reference(static_cast<std::uint32_t>(n_id / 30), 8 * place + 8);
        for (std::size_t m = 0; m < 8; ++m)
            hop += c[8 * place + m] << m;
    }
    if (dmrs.hopping == phy::SequenceHopping::sequence && length >= 72)
        v = gold_reference(static_cast<std::uint32_t>(n_id), place + 1)[place];
    return {(hop % 30 + n_id) % 30, v};
}

TEST(DmrsPilots, WithTransformPrecodingAreLowPaprSequences) {
    std::mt19937 random(seed);
    const auto pick = [&](int first, int last) {
        return std::uniform_int_distribution<int>(first, last)(random);
    };
    std::set<int> numbers;
    std::set<int> groups;
    for (int trial = 0; trial < fewer_times(300); ++trial) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", trial " + std::to_string(trial));
        phy::SlotAllocation allocation;
        allocation.carrier_resource_blocks = 275;
        const int first = pick(0, 274);
        allocation.resource_blocks = {{first, pick(1, trial % 2 == 0 ? 275 - first : 1)}};
        phy::DmrsConfig& dmrs = allocation.dmrs;
        dmrs.transform_precoding = true;
        dmrs.hopping = static_cast<phy::SequenceHopping>(pick(0, 2));
        dmrs.scrambling_id = static_cast<std::uint32_t>(pick(0, 1007));
        dmrs.ports = {pick(0, 3)};
        dmrs.length = pick(1, 2);
        if (dmrs.length == 2) dmrs.symbols = {2, 3, 10, 11};
        const int slot = pick(0, 159);

        std::vector<cf32> pilots(phy::dmrs_pilot_count(allocation));
        phy::dmrs_pilots(allocation, slot, pilots);
        const std::size_t length = pilots.size() / dmrs.symbols.size();
        ASSERT_EQ(length, 6U * static_cast<std::size_t>(allocation.resource_blocks[0].count));
        for (std::size_t i = 0; i < dmrs.symbols.size(); ++i) {
            const int first_symbol = dmrs.length == 2 && i % 2 == 1 ? dmrs.symbols[i - 1] : dmrs.symbols[i];
            const auto [u, v] = group_and_number(dmrs, slot, first_symbol, length);
            numbers.insert(v);
            groups.insert(u);
            const auto expected = sequence_of(u, v, static_cast<int>(length));
            ASSERT_TRUE(std::equal(expected.begin(), expected.end(),
                                   pilots.begin() + static_cast<std::ptrdiff_t>(i * length)));
        }
    }
    EXPECT_EQ(numbers.size(), 2U);
    EXPECT_GE(groups.size(), 20U);
}

TEST(LowPaprSequence, RefusesWhatIsNone) {
    for (const int length : {1, 5, 7, 29, 35, 37, 70})
        EXPECT_THROW(sequence_of(0, 0, length), phy::ArgumentError) << length;
    EXPECT_THROW(sequence_of(0, 0, 0), phy::ArgumentError);
    EXPECT_THROW(sequence_of(-1, 0, 36), phy::ArgumentError);
    EXPECT_THROW(sequence_of(30, 0, 36), phy::ArgumentError);
    EXPECT_THROW(sequence_of(0, 1, 66), phy::ArgumentError);
    EXPECT_THROW(sequence_of(0, -1, 72), phy::ArgumentError);
    EXPECT_THROW(sequence_of(0, 2, 72), phy::ArgumentError);
}

}  // namespace
