#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "digests/signal.hpp"

/// Outputs of phy. All calls of phy are in outputs.cpp and outputs_cuda.cpp, so nothing else in these tests
/// changes with its interface. Modulations, formats, methods, evaluators and backends are given by name.
namespace phy_test {

inline constexpr std::size_t usual_symbols = 3001;
inline constexpr std::uint64_t odd_first_symbol = 12345;
inline constexpr std::uint32_t descrambling_c_init = 0x2468ACE1;

struct SoftCall {
    std::string modulation = {};
    std::string input = {};
    std::string output = {};
    std::string method = {};
    std::string evaluator = "auto";
    std::optional<float> noise = {};  ///< N0 of all symbols; none: one per symbol
    float llr_scale = 6.0F;
    int llr_clip = 127;
    std::optional<float> full_scale = {};  ///< none: that of the format
    float gain = 1.0F;
    std::uint64_t first_symbol = 0;
};

struct MapCall {
    std::string modulation;
    bool packed;  ///< else one bit per byte
    std::string output;
};

/// A backend with a number of threads, or a GPU. Throws if a call with counters gives other bytes.
class Outputs {
public:
    virtual ~Outputs() = default;

    [[nodiscard]] virtual std::string name() const = 0;

    /// The soft bits, then the counters of erasures and saturated soft bits.
    virtual Bytes soft(const SoftCall& call, const Signal& signal) = 0;

    /// The soft bits of all calls in order, then the counters. Calls differ only in modulation, input, noise
    /// and first symbol. Each takes all symbols of its signal.
    virtual Bytes batch(const std::vector<SoftCall>& calls, const std::vector<Signal>& signals) = 0;

    /// The soft bits. call.first_symbol is 0.
    virtual Bytes slot(const SoftCall& call, const Signal& signal) = 0;

    /// Through a pipeline in chunks of an odd size: the soft bits, then the counters. call.first_symbol is 0.
    virtual Bytes stage(const SoftCall& call, const Signal& signal) = 0;

    /// The soft bits, descrambled in the same call by the sequence of descrambling_c_init, then the counters.
    virtual Bytes descrambled(const SoftCall& call, const Signal& signal) = 0;

    /// Symbols from odd_first_symbol on. bits: at least one byte per bit.
    virtual Bytes mapped(const MapCall& call, const std::vector<std::uint8_t>& bits) = 0;
};

/// The outputs of a CPU, which also demaps to bits.
class HostOutputs : public Outputs {
public:
    /// Bits from odd_first_symbol on.
};

/// Each CPU backend of this machine with each of these numbers of threads, even with fewer processors.
std::vector<std::unique_ptr<HostOutputs>> host_outputs(const std::vector<int>& threads);

/// The first GPU, which must exist. Only in builds with CUDA.
std::unique_ptr<Outputs> gpu_outputs();

}  // namespace phy_test
