#include "digests/variants.hpp"

#include <array>
#include <optional>
#include <utility>

namespace phy_test {
namespace {

using Names = std::vector<std::string>;

const Names inputs = {"cf32", "cf16", "ci16", "ci8"};
const Names outputs = {"int8", "float16", "float32"};
const Names methods = {"maxlog", "logmap"};
const Names evaluators = {"auto", "arithmetic", "table"};

struct Noise {
    std::string name;
    std::optional<float> variance;
};

const Noise at_10_db = {"n0-10db", 0.1F};
const Noise at_25_db = {"n0-25db", 0.00316227766F};
const Noise of_each = {"n0-per-symbol", {}};

std::string joined(const Names& parts) {
    std::string name;
    for (const std::string& part : parts)
        name += (name.empty() ? "" : "/") + part;
    return name;
}

SoftLine soft_line(const std::string& kind, SoftCall call, const Noise& noise) {
    call.noise = noise.variance;
    std::string name =
        joined({kind, call.modulation, call.input, call.output, noise.name, call.method, call.evaluator});
    return {.name = std::move(name), .call = std::move(call), .symbols = usual_symbols};
}

/// With the evaluator that phy chooses.
std::vector<SoftLine> automatic_lines(const std::string& kind, const std::vector<Noise>& noises) {
    std::vector<SoftLine> lines;
    for (const std::string& modulation : modulations())
        for (const std::string& method : methods)
            for (const std::string& output : outputs)
                for (const Noise& noise : noises)
                    for (const std::string input : {"cf32", "ci16"})
                        lines.push_back(soft_line(
                            kind,
                            {.modulation = modulation, .input = input, .output = output, .method = method},
                            noise));
    return lines;
}

/// Allocations of every modulation and format, long and short ones.
BatchLine batch_line(const std::string& output, const std::string& method, const std::string& evaluator) {
    constexpr std::array<std::size_t, 9> lengths = {257, 1000, 0, 64, 1, 2049, 17, 640, 3};
    BatchLine line{.name = joined({"batch", output, method, evaluator}), .calls = {}, .symbols = {}};
    for (const std::string& modulation : modulations())
        for (const std::string& input : inputs)
            for (const Noise& noise : {at_10_db, of_each}) {
                const std::size_t n = line.calls.size();
                line.symbols.push_back(lengths[n % lengths.size()]);
                line.calls.push_back({.modulation = modulation,
                                      .input = input,
                                      .output = output,
                                      .method = method,
                                      .evaluator = evaluator,
                                      .noise = noise.variance,
                                      .first_symbol = n});
            }
    return line;
}

}  // namespace

const std::vector<std::string>& modulations() {
    static const Names names = {"pi2-bpsk", "bpsk", "qpsk", "16qam", "64qam", "256qam", "1024qam"};
    return names;
}

std::vector<SoftLine> soft_lines(const std::string& modulation) {
    std::vector<SoftLine> lines;
    for (const std::string& method : methods)
        for (const std::string& evaluator : evaluators)
            for (const std::string& output : outputs)
                for (const Noise& noise : {at_10_db, at_25_db, of_each})
                    for (const std::string& input : inputs)
                        lines.push_back(soft_line("soft",
                                                  {.modulation = modulation,
                                                   .input = input,
                                                   .output = output,
                                                   .method = method,
                                                   .evaluator = evaluator,
                                                   .first_symbol = odd_first_symbol},
                                                  noise));
    return lines;
}

std::vector<SoftLine> scaled_lines() {
    const std::array<std::pair<std::string, std::optional<float>>, 3> scales = {
        {{"cf32", {}}, {"ci16", 8192.0F}, {"ci8", 40.0F}}};
    std::vector<SoftLine> lines;
    for (const std::string& modulation : modulations())
        for (const std::string& method : methods)
            for (const auto& [input, full_scale] : scales)
                lines.push_back(soft_line("scaled",
                                          {.modulation = modulation,
                                           .input = input,
                                           .output = "int8",
                                           .method = method,
                                           .llr_scale = 2.5F,
                                           .llr_clip = 31,
                                           .full_scale = full_scale},
                                          at_10_db));
    return lines;
}

std::vector<SoftLine> gain_lines() {
    struct Amplitude {
        std::string input;
        std::optional<float> full_scale;
        float gain;
    };
    const std::array<Amplitude, 4> amplitudes = {
        {{"cf32", {}, 0.7F}, {"cf16", {}, 1.3F}, {"ci16", 8192.0F, 3.7F}, {"ci8", {}, 0.9F}}};
    std::vector<SoftLine> lines;
    for (const std::string& modulation : modulations())
        for (const std::string& method : methods)
            for (const std::string output : {"int8", "float32"})
                for (const Amplitude& amplitude : amplitudes)
                    lines.push_back(soft_line("gain",
                                              {.modulation = modulation,
                                               .input = amplitude.input,
                                               .output = output,
                                               .method = method,
                                               .full_scale = amplitude.full_scale,
                                               .gain = amplitude.gain},
                                              at_10_db));
    return lines;
}

std::vector<SoftLine> large_lines() {
    constexpr std::size_t bytes = 17 << 20;
    const std::array<std::pair<std::string, std::size_t>, 4> bits_of = {
        {{"16qam", 4}, {"64qam", 6}, {"256qam", 8}, {"1024qam", 10}}};
    std::vector<SoftLine> lines;
    for (const auto& [modulation, bits] : bits_of) {
        lines.push_back(soft_line(
            "large", {.modulation = modulation, .input = "cf32", .output = "float32", .method = "maxlog"},
            at_10_db));
        lines.back().symbols = bytes / (bits * sizeof(float));
    }
    return lines;
}

std::vector<SoftLine> slot_lines() {
    return automatic_lines("slot", {at_25_db, of_each});
}

std::vector<SoftLine> stage_lines() {
    return automatic_lines("stage", {at_10_db, of_each});
}

std::vector<SoftLine> descrambled_lines() {
    return automatic_lines("descrambled", {at_10_db, of_each});
}

std::vector<BatchLine> batch_lines() {
    std::vector<BatchLine> lines;
    for (const std::string& method : methods)
        for (const std::string& evaluator : evaluators)
            for (const std::string& output : outputs)
                lines.push_back(batch_line(output, method, evaluator));
    return lines;
}

std::vector<MapLine> map_lines() {
    std::vector<MapLine> lines;
    for (const std::string& modulation : modulations())
        for (const bool packed : {false, true})
            for (const std::string output : {"cf32", "cf16", "ci16"})
                lines.push_back({joined({"map", modulation, packed ? "packed" : "one-per-byte", output}),
                                 {.modulation = modulation, .packed = packed, .output = output}});
    return lines;
}

}  // namespace phy_test
