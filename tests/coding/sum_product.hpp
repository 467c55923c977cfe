#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "phy/coding/base_graph.hpp"

namespace phy_test {

/// Belief propagation in binary32 with all checks at a time (flooding): what a decoder is compared with.
class SumProduct {
public:
    /// columns: of the base graph that are used.
    SumProduct(phy::BaseGraph graph, int lifting_size, int columns);

    /// llr: of all bits, in nats. Returns hard decisions after at most `iterations`, or when they satisfy all
    /// checks.
    std::vector<std::uint8_t> decode(std::span<const float> llr, int iterations);

private:
    void pass(std::span<const float> llr);
    [[nodiscard]] bool is_codeword() const;

    std::vector<std::vector<std::uint32_t>> checks_;  ///< their bits
    std::vector<std::vector<float>> messages_;        ///< from checks
    std::vector<float> posteriors_;
};

}  // namespace phy_test
