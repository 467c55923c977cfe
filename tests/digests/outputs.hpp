#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "digests/signal.hpp"

/// What phy makes of an input. All calls of phy are in outputs.cpp and outputs_cuda.cpp: nothing else of
/// these tests changes with its interface. Modulations, formats, methods, evaluators and backends go by their
/// names.
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
    std::optional<float> noise = {};  ///< N0 of all symbols; none: each has its own
    float llr_scale = 6.0F;
    int llr_clip = 127;
    float full_scale = 0.0F;
    std::uint64_t first_symbol = 0;
};

struct MapCall {
    std::string modulation;
    bool packed;  ///< else one bit a byte
    std::string output;
};

/// One way to have the work done: a backend with a number of threads, or a GPU. A call that gives other bytes
/// when it counts throws.
class Outputs {
public:
    virtual ~Outputs() = default;

    [[nodiscard]] virtual std::string name() const = 0;

    /// The soft bits, and after them the counters of erasures and saturated soft bits.
    virtual Bytes soft(const SoftCall& call, const Signal& signal) = 0;

    /// The soft bits of all calls, which differ in modulation, input, noise and first symbol only, one after
    /// the other, and after them the counters. Of each signal as many symbols as it has.
    virtual Bytes batch(const std::vector<SoftCall>& calls, const std::vector<Signal>& signals) = 0;

    /// The soft bits. call.first_symbol is 0.
    virtual Bytes slot(const SoftCall& call, const Signal& signal) = 0;

    /// Through a pipeline in chunks of an odd size: the soft bits, and after them the counters.
    /// call.first_symbol is 0.
    virtual Bytes stage(const SoftCall& call, const Signal& signal) = 0;

    /// The soft bits, descrambled on their way by the sequence of descrambling_c_init from its beginning on,
    /// and after them the counters.
    virtual Bytes descrambled(const SoftCall& call, const Signal& signal) = 0;

    /// Symbols, of which the first is odd_first_symbol. bits has a byte for each bit or more.
    virtual Bytes mapped(const MapCall& call, const std::vector<std::uint8_t>& bits) = 0;
};

/// A processor also demaps to bits.
class HostOutputs : public Outputs {
public:
    /// Bits, of which the first is of odd_first_symbol.
    virtual Bytes hard(const std::string& modulation, const std::string& input, const Signal& signal) = 0;
};

/// Each backend of this machine's processor with each of these numbers of threads, however few processors
/// there are.
std::vector<std::unique_ptr<HostOutputs>> host_outputs(const std::vector<int>& threads);

/// The first GPU, of which there must be one. Only where phy is built with CUDA.
std::unique_ptr<Outputs> gpu_outputs();

}  // namespace phy_test
