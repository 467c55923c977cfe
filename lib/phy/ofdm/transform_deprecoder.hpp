#pragma once

#include <span>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/machine/host.hpp"

namespace phy {

struct PHY_EXPORT TransformDeprecoderConfig {
    int subcarriers = 0;  ///< M, as in TransformPrecoderConfig
    bool mmse = true;     ///< what equalised the subcarriers; false: zero forcing

    friend bool operator==(const TransformDeprecoderConfig&, const TransformDeprecoderConfig&) = default;
};

/// Undoes transform precoding of PUSCH (TS 38.211 clause 6.3.1.4) behind an equaliser: equalised subcarriers
/// and their noise variances to symbols of the codeword and theirs.
///
/// The DFT spreads a symbol over all M subcarriers of an OFDM symbol, so that each symbol gets the same share
/// of every subcarrier and of its noise. Subcarrier k comes as x_k, unbiased, with noise variance n_k, or
/// erased: x_k = 0 and n_k infinite. It is given the weight m_k. Its symbols are the inverse DFT of m_k x_k
/// over q, the mean of m_k, and what the weights leave of other symbols counts as noise:
///
///     MMSE          m_k = 1 / (1 + n_k), which is 0 where erased      N0 = (1 - q) / q
///     zero forcing  m_k = 1, or 0 where erased                        N0 = (1 - q + v / q) / q
///
/// with v = (1 / M) times the sum of n_k over what is not erased. If all subcarriers are erased, all symbols
/// are 0 and their noise variance is infinite; so is a symbol that is not finite.
///
/// Every backend, number of threads and way to cut symbols into calls gives the same bytes. The threads of
/// the host share a call. One call at a time on one deprecoder.
class PHY_EXPORT TransformDeprecoder {
public:
    using Config = TransformDeprecoderConfig;

    /// Throws ArgumentError if subcarriers is not such a number.
    TransformDeprecoder(const Host& host, const Config& config);
    ~TransformDeprecoder();
    TransformDeprecoder(TransformDeprecoder&&) noexcept;
    TransformDeprecoder& operator=(TransformDeprecoder&&) noexcept;

    /// Replaces symbols and noise_variance, which are (OFDM symbols, subcarriers). Throws ArgumentError, and
    /// has written nothing, if they do not have whole OFDM symbols or differ in size. Allocates nothing.
    void operator()(std::span<cf32> symbols, std::span<float> noise_variance);

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "TransformDeprecoder"> impl_;
};

}  // namespace phy
