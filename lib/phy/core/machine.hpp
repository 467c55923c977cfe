#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// What Backend asks about this machine and this build, and marks for profilers. The rooms simd and cuda
/// define these functions; in a build without CUDA, cuda/no_cuda.cpp does.
namespace phy::detail {

/// A SIMD instruction set that phy knows.
struct InstructionSetFacts {
    std::string_view name;
    std::string_view description;
    bool built_in;   ///< kernels are compiled for it
    bool supported;  ///< built in, and this machine has it
};

/// Fastest first.
std::vector<InstructionSetFacts> list_instruction_sets();

/// Number of CUDA devices of this machine, whether or not phy has code for them; 0 without a driver.
int count_cuda_devices();

/// True if this machine has an NVIDIA GPU, with or without a driver. root: the folder that stands for "/".
bool has_nvidia_gpu(const std::filesystem::path& root);

/// The reason why phy cannot run on the device; empty if it can.
std::string why_not_on_cuda_device(int ordinal);

/// A phrase for people about a device that phy can run on.
std::string describe_cuda_device(int ordinal);

/// Begin and end a named range of the calling thread in NVIDIA's profilers. Both do nothing without CUDA.
void push_range(const char* name);
void pop_range();

}  // namespace phy::detail
