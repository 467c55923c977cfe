#include "phy/core/machine.hpp"

namespace phy::detail {

int count_cuda_devices() {
    return 0;
}

std::string why_not_on_cuda_device(int /*ordinal*/) {
    return "this build of phy has no CUDA";
}

std::string describe_cuda_device(int ordinal) {
    return why_not_on_cuda_device(ordinal);
}

void push_range(const char* /*name*/) {}

void pop_range() {}

}  // namespace phy::detail
