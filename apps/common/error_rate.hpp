#pragma once

#include <cstdint>
#include <string>

namespace phy::apps {

/// A measured error rate with an interval of 95 % confidence for the probability of an error. All are NaN if
/// nothing was tried.
///
/// The interval is that of E. B. Wilson ("Probable inference, the law of succession, and statistical
/// inference", J. Amer. Statist. Assoc. 22, 1927). Without errors, and without anything else, one end is
/// exact and the interval one-sided: after n trials without an error the rate is at most 1 - 0.05^(1/n),
/// about 3/n (C. J. Clopper and E. S. Pearson, Biometrika 26, 1934).
struct ErrorRate {
    double rate;
    double low;
    double high;
};

/// The rate of independent trials.
ErrorRate error_rate(std::uint64_t errors, std::uint64_t trials);

/// Sums over slots, from which the spread of their errors follows. They are exact up to 2^53.
struct BitErrorSums {
    std::uint64_t slots = 0;  ///< with at least one bit
    double bits = 0.0;
    double errors = 0.0;
    double bits_squared = 0.0;
    double errors_squared = 0.0;
    double product = 0.0;  ///< of bits and errors

    friend bool operator==(const BitErrorSums&, const BitErrorSums&) = default;
};

/// The sums of one slot.
BitErrorSums bit_error_sums(std::uint64_t errors, std::uint64_t bits);

/// Joins two neighbours, the left one first.
BitErrorSums join(const BitErrorSums& left, const BitErrorSums& right);

/// The trials that are independent, whatever the errors of slots look like.
enum class Independent {
    bits,   ///< noise alone makes errors
    slots,  ///< a slot can have a channel of its own, in which most bits are wrong
};

/// The rate of bits whose errors come together in slots, with Wilson's interval of an effective number of
/// bits, which is that of independent bits with the variance of the rate over slots (the ratio estimator for
/// clusters in W. G. Cochran, "Sampling Techniques", 1977; E. L. Korn and B. I. Graubard, Survey Methodology
/// 24, 1998).
///
/// If slots are what is independent, Student's distribution replaces the normal one. It has one degree of
/// freedom less than there are effective slots with errors, (sum e)^2 / sum e^2 (L. Kish, "Survey Sampling",
/// 1965). That measures how far few slots with many errors make the rate, and with it the variance. The
/// interval is never wider than that of so many slots which are wrong as a whole or not at all, which holds
/// for any distribution of their errors. With fewer than two effective slots it is that one.
ErrorRate error_rate(const BitErrorSums& sums, Independent independent);

/// The rate, or without errors the bound: "0.001572", "< 3.1e-06".
std::string rate_text(const ErrorRate& rate);

/// Such as "0.00144 to 0.00172".
std::string interval_text(const ErrorRate& rate);

}  // namespace phy::apps
