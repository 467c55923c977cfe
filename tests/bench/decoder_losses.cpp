// What the LDPC decoder loses against sum-product decoding in white Gaussian noise: the SNR at which a tenth
// of the blocks fails, for both base graphs and some code rates. Prints JSON. Arguments: blocks per point,
// threads.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "bench/turns.hpp"
#include "coding/losses.hpp"

namespace {

using phy_test::DecoderLosses;

constexpr double step_db = 0.1;
constexpr int points = 9;

struct Curve {
    phy::BaseGraph graph;
    double rate;
    double first_db;  ///< of the points
    std::vector<DecoderLosses::Failures> failures = std::vector<DecoderLosses::Failures>(points);
};

/// Where the rate of failures crosses a tenth, on a logarithmic scale between points.
double threshold(const Curve& curve, int DecoderLosses::Failures::*of) {
    for (std::size_t i = 1; i < curve.failures.size(); ++i) {
        const auto rate = [&](std::size_t point) {
            const DecoderLosses::Failures& failures = curve.failures[point];
            return std::max(failures.*of, 1) / static_cast<double>(failures.blocks);
        };
        if (rate(i) > 0.1 || rate(i - 1) <= 0.1) continue;
        const double part =
            (std::log(rate(i - 1)) - std::log(0.1)) / (std::log(rate(i - 1)) - std::log(rate(i)));
        return curve.first_db + step_db * (static_cast<double>(i - 1) + part);
    }
    return std::nan("");
}

std::string json_of(const Curve& curve) {
    const double decoder = threshold(curve, &DecoderLosses::Failures::decoder);
    const double reference = threshold(curve, &DecoderLosses::Failures::sum_product);
    std::string rows;
    for (std::size_t i = 0; i < curve.failures.size(); ++i) {
        const DecoderLosses::Failures& failures = curve.failures[i];
        rows += fmt::format("{}[{:.2f}, {}, {}, {}, {:.2f}]", i == 0 ? "" : ", ",
                            curve.first_db + step_db * static_cast<double>(i), failures.blocks,
                            failures.decoder, failures.sum_product,
                            static_cast<double>(failures.iterations) / std::max(failures.blocks, 1));
    }
    return fmt::format(
        "{{\"base_graph\": {}, \"code_rate\": {:.3f}, \"snr_db\": {:.3f}, \"sum_product_snr_db\": {:.3f}, "
        "\"loss_db\": {:.3f},\n     \"points_snr_blocks_failed_sum_product_iterations\": [{}]}}",
        static_cast<int>(curve.graph) + 1, curve.rate, decoder, reference, decoder - reference, rows);
}

}  // namespace

int main(int count, char** arguments) {
    const int blocks = count > 1 ? std::atoi(arguments[1]) : 200;
    const int threads = count > 2 ? std::atoi(arguments[2]) : 1;
    // Real symbols: 3 dB below those of QPSK.
    std::vector<Curve> curves = {{phy::BaseGraph::bg1, 1.0 / 3, -4.9}, {phy::BaseGraph::bg1, 0.4, -3.9},
                                 {phy::BaseGraph::bg1, 0.5, -2.5},     {phy::BaseGraph::bg1, 0.6, -1.3},
                                 {phy::BaseGraph::bg1, 2.0 / 3, -0.4}, {phy::BaseGraph::bg1, 0.75, 0.6},
                                 {phy::BaseGraph::bg1, 5.0 / 6, 1.8},  {phy::BaseGraph::bg1, 0.9, 3.0},
                                 {phy::BaseGraph::bg2, 0.2, -7.5},     {phy::BaseGraph::bg2, 1.0 / 3, -4.9},
                                 {phy::BaseGraph::bg2, 0.5, -2.4},     {phy::BaseGraph::bg2, 0.6, -1.2}};
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < curves.size() * points; i = next++) {
            Curve& curve = curves[i / points];
            const auto point = static_cast<double>(i % points);
            curve.failures[i % points] = DecoderLosses(curve.graph, curve.rate)
                                             .run(curve.first_db + step_db * point, blocks, 1000 + i);
        }
    };
    std::vector<std::jthread> pool;
    for (int thread = 0; thread < threads; ++thread)
        pool.emplace_back(work);
    pool.clear();
    phy::bench::print_context({});
    std::printf("  \"iterations\": 20, \"sum_product_iterations\": 50, \"curves\": [\n");
    for (std::size_t i = 0; i < curves.size(); ++i)
        std::printf("    %s%s\n", json_of(curves[i]).c_str(), i + 1 < curves.size() ? "," : "");
    std::printf("]}\n");
}
