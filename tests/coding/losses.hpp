#pragma once

#include <cstdint>
#include <random>

#include "coding/coding_cases.hpp"
#include "coding/sum_product.hpp"

namespace phy_test {

/// Blocks of the longest code of a base graph, without filler bits, in white Gaussian noise.
class DecoderLosses {
public:
    DecoderLosses(phy::BaseGraph graph, double rate);

    struct Failures {
        int blocks = 0;
        int decoder = 0;      ///< of 20 iterations: blocks that do not hold
        int sum_product = 0;  ///< of 50 iterations in binary32
        std::uint64_t iterations = 0;
        int wrong_verdicts = 0;
    };

    /// snr_db: E_s / N0 of real symbols of energy 1, whose noise has the variance N0 / 2.
    [[nodiscard]] Failures run(double snr_db, int blocks, std::uint64_t seed,
                               bool with_sum_product = true) const;

    [[nodiscard]] double rate() const {
        return static_cast<double>(blocks_.information_bits) / static_cast<double>(config_.coded_bits);
    }

private:
    phy::TransportBlockConfig config_;
    phy::CodeBlocks blocks_;
};

}  // namespace phy_test
