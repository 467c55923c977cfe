#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What Backend asks about this machine and this build. The rooms simd and cuda answer; without CUDA, a file
/// that says so.
namespace phy::detail {

/// A SIMD instruction set that phy knows.
struct InstructionSetFacts {
    std::string_view name;
    std::string_view description;
    bool built_in;   ///< kernels are compiled for it
    bool supported;  ///< built in, and this machine has it
};

/// Best first.
std::vector<InstructionSetFacts> list_instruction_sets();

/// How many CUDA devices this machine has, whether phy has code for them or not; 0 without a driver.
int count_cuda_devices();

/// Why phy cannot run on the device; empty if it can.
std::string why_not_on_cuda_device(int ordinal);

/// A phrase for people about a device that phy can run on.
std::string describe_cuda_device(int ordinal);

}  // namespace phy::detail
