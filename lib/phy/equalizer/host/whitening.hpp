#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "phy/core/format.hpp"
#include "phy/equalizer/host/kernels.hpp"

namespace phy::detail {

/// The whitening matrices of neighbouring subbands of a slot.
class SubbandWhitening {
public:
    /// What the matrices are of.
    struct Source {
        std::size_t call;  ///< tells the call from others
        std::size_t slot;
        std::size_t first;        ///< subband
        std::size_t count;        ///< of subbands
        std::size_t subcarriers;  ///< of a subband

        friend bool operator==(const Source&, const Source&) = default;
    };

    SubbandWhitening(int antennas, std::size_t most_subbands);

    /// covariance: that of the first subband. errors: noise that comes from errors of the estimates.
    void make(const Source& source, const cf32* covariance, float errors);

    /// Calls whiten(matrix, from, count) for pieces of subcarriers of one matrix each; from: from the first.
    template <class Whiten>
    void for_pieces(std::size_t first_subcarrier, std::size_t subcarriers, const Whiten& whiten) const {
        const std::size_t end = first_subcarrier + subcarriers;
        for (std::size_t at = first_subcarrier; at < end;) {
            const std::size_t matrix = matrix_at(at);
            std::size_t next = at;
            while (next < end && matrix_at(next) == matrix)
                next = std::min((next / source_.subcarriers + 1) * source_.subcarriers, end);
            whiten(WhiteningRows{&matrices_[matrix * size()], antennas_}, at - first_subcarrier, next - at);
            at = next;
        }
    }

private:
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(antennas_ * antennas_); }
    [[nodiscard]] std::size_t matrix_at(std::size_t subcarrier) const {
        return matrix_of_[subcarrier / source_.subcarriers - source_.first];
    }

    int antennas_;
    Source source_ = {};
    std::vector<cf32> matrices_;
    std::vector<std::size_t> matrix_of_;  ///< by subband: that of the first before it that is equal
};

}  // namespace phy::detail
