#include "coding/sum_product.hpp"

#include <algorithm>
#include <cmath>

namespace phy_test {
namespace {

/// Its own inverse: -ln tanh(x / 2).
float phi(float x) {
    const float e = std::exp(-std::clamp(x, 1e-6F, 30.0F));
    return std::log1p(2.0F * e / (1.0F - e));
}

}  // namespace

SumProduct::SumProduct(phy::BaseGraph graph, int lifting_size, int columns) {
    const phy::detail::BaseGraphFacts& facts = phy::detail::facts_of(graph);
    const auto size = static_cast<std::uint32_t>(lifting_size);
    const auto set = static_cast<std::size_t>(phy::detail::lifting_size_set(lifting_size));
    const auto rows = static_cast<std::uint32_t>(columns - facts.information_columns);
    checks_.resize(std::size_t{rows} * size);
    for (const phy::detail::BaseGraphEntry& entry : facts.entries) {
        if (entry.row >= rows) continue;
        for (std::uint32_t i = 0; i < size; ++i)
            checks_[entry.row * size + i].push_back(entry.column * size + (i + entry.shifts[set]) % size);
    }
    for (const std::vector<std::uint32_t>& check : checks_)
        messages_.emplace_back(check.size());
}

void SumProduct::pass(std::span<const float> llr) {
    std::vector<float> next(llr.begin(), llr.end());
    std::vector<float> inputs;
    for (std::size_t check = 0; check < checks_.size(); ++check) {
        const std::vector<std::uint32_t>& bits = checks_[check];
        std::vector<float>& messages = messages_[check];
        inputs.resize(bits.size());
        float sum = 0.0F;
        bool odd = false;
        for (std::size_t edge = 0; edge < bits.size(); ++edge) {
            inputs[edge] = posteriors_[bits[edge]] - messages[edge];
            sum += phi(std::fabs(inputs[edge]));
            odd ^= inputs[edge] < 0.0F;
        }
        for (std::size_t edge = 0; edge < bits.size(); ++edge) {
            const float size = phi(sum - phi(std::fabs(inputs[edge])));
            messages[edge] = odd ^ (inputs[edge] < 0.0F) ? -size : size;
            next[bits[edge]] += messages[edge];
        }
    }
    posteriors_ = std::move(next);
}

bool SumProduct::is_codeword() const {
    return std::ranges::all_of(checks_, [&](const std::vector<std::uint32_t>& bits) {
        bool odd = false;
        for (const std::uint32_t bit : bits)
            odd ^= posteriors_[bit] < 0.0F;
        return !odd;
    });
}

std::vector<std::uint8_t> SumProduct::decode(std::span<const float> llr, int iterations) {
    posteriors_.assign(llr.begin(), llr.end());
    for (std::vector<float>& messages : messages_)
        std::ranges::fill(messages, 0.0F);
    for (int done = 0; done < iterations; ++done) {
        pass(llr);
        if (is_codeword()) break;
    }
    std::vector<std::uint8_t> bits;
    for (const float posterior : posteriors_)
        bits.push_back(posterior < 0.0F ? 1 : 0);
    return bits;
}

}  // namespace phy_test
