#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "phy/core/export.hpp"

namespace phy {

/// What executes a stage: the scalar reference, one SIMD instruction set of the CPU, or a CUDA device. A
/// small value that can be compared and copied. All backends give the same bytes; they differ in speed only.
class PHY_EXPORT Backend {
public:
    enum class Kind { scalar, cpu, cuda };

    /// Every backend built into this library, fastest first, whether it runs on this machine or not. With
    /// CUDA: one for each device of this machine, or cuda[0] alone, which does not run, where there is none.
    static const std::vector<Backend>& all();

    /// The backend that the environment variable PHY_BACKEND names; none where that is not set, empty or
    /// "auto". Throws ArgumentError for a name that there is not, BackendError if it does not run here.
    static std::optional<Backend> forced();

    /// Throws ArgumentError if PHY_BACKEND holds a name that there is not. No device is looked for.
    static void check_variable();

    /// forced(), or else the fastest that works on host memory and runs on this machine: never a CUDA device,
    /// and none is looked for. Where PHY_BACKEND is "cuda", what works on host memory, such as
    /// phy::SoftDemapper, throws BackendError.
    static Backend best();

    /// Takes "scalar", "cpu" (the best instruction set that runs here), "cpu[avx2]", "cpu[avx512]",
    /// "cpu[neon]", "auto" (as best()), "cuda" (as "cuda[0]") and "cuda[N]". Throws ArgumentError for an
    /// unknown name and BackendError, which says why, for one that is known but not built in or does not run
    /// here.
    static Backend parse(std::string_view name);

    static Backend scalar() { return {Kind::scalar, "", 0}; }

    /// A CUDA device by its ordinal, whether it is there or not.
    static Backend cuda(int device) { return {Kind::cuda, "", device}; }

    [[nodiscard]] Kind kind() const { return kind_; }

    /// "scalar", "cpu[avx512]", "cuda[0]": what parse() takes.
    [[nodiscard]] std::string name() const;

    /// A phrase for people, such as "AVX-512, 16 lanes of binary32"; of a cuda backend that does not run,
    /// why.
    [[nodiscard]] std::string description() const;

    /// True if this machine can run it.
    [[nodiscard]] bool supported() const;

    /// The instruction set of a cpu backend ("avx512", "avx2", "neon"), else empty.
    [[nodiscard]] std::string_view instruction_set() const { return instruction_set_; }

    /// The ordinal of a cuda backend's device, else 0.
    [[nodiscard]] int device() const { return device_; }

    friend bool operator==(const Backend&, const Backend&) = default;

private:
    Backend(Kind kind, std::string_view instruction_set, int device)
        : kind_(kind), instruction_set_(instruction_set), device_(device) {}

    static const std::vector<Backend>& all_of_host();

    Kind kind_;
    std::string_view instruction_set_;
    int device_;
};

}  // namespace phy
