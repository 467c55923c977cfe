#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "phy/core/export.hpp"

namespace phy {

/// What an operator or a stage runs on: the scalar reference, one SIMD instruction set of the CPU, or a CUDA
/// device. A small value: copy and compare it freely. All backends give the same bytes and differ in speed
/// only.
class PHY_EXPORT Backend {
public:
    enum class Kind { scalar, cpu, cuda };

    /// Every backend that this library was built with, fastest first, whether or not it runs on this machine.
    /// A build with CUDA lists each device of this machine, or cuda[0] if the machine has none.
    static const std::vector<Backend>& all();

    /// The backend that the environment variable PHY_BACKEND names; none if the variable is unset, empty or
    /// "auto". Throws ArgumentError for an unknown name and BackendError for a backend that does not run on
    /// this machine.
    static std::optional<Backend> forced();

    /// Throws ArgumentError if PHY_BACKEND holds an unknown name. Does not search for CUDA devices.
    static void check_variable();

    /// forced(), or else the fastest backend that works on host memory and runs on this machine. Without
    /// PHY_BACKEND it neither returns a CUDA device nor searches for one. If PHY_BACKEND is "cuda", operators
    /// on host memory, such as phy::SoftDemapper, throw BackendError.
    static Backend best();

    /// Accepts "scalar", "cpu" (the fastest instruction set that runs on this machine), "cpu[avx2]",
    /// "cpu[avx512]", "cpu[neon]", "auto" (as best()), "cuda" (as "cuda[0]") and "cuda[N]". Throws
    /// ArgumentError for an unknown name. Throws BackendError, which gives the reason, for a known backend
    /// that is not built in or does not run on this machine.
    static Backend parse(std::string_view name);

    static Backend scalar() { return {Kind::scalar, "", 0}; }

    /// The CUDA device with this ordinal. The device need not exist.
    static Backend cuda(int device) { return {Kind::cuda, "", device}; }

    [[nodiscard]] Kind kind() const { return kind_; }

    /// The name that parse() accepts: "scalar", "cpu[avx512]", "cuda[0]".
    [[nodiscard]] std::string name() const;

    /// A phrase for people, such as "AVX-512, 16 lanes of binary32". For a CUDA device that does not run: the
    /// reason.
    [[nodiscard]] std::string description() const;

    /// True if this backend runs on this machine.
    [[nodiscard]] bool supported() const;

    /// The instruction set of a cpu backend ("avx512", "avx2", "neon"); empty for other kinds.
    [[nodiscard]] std::string_view instruction_set() const { return instruction_set_; }

    /// The ordinal of a cuda backend's device; 0 for other kinds.
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
