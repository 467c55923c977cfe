#include <fstream>
#include <string>

#include "phy/core/machine.hpp"

namespace phy::detail {
namespace {

namespace fs = std::filesystem;

std::string first_word(const fs::path& file) {
    std::string word;
    std::ifstream(file) >> word;
    return word;
}

bool is_nvidia_gpu(const fs::path& pci_device) {
    constexpr const char* nvidia = "0x10de";
    constexpr const char* display_controller = "0x03";  // the first byte of the class
    return first_word(pci_device / "vendor") == nvidia &&
           first_word(pci_device / "class").starts_with(display_controller);
}

}  // namespace

bool has_nvidia_gpu(const fs::path& root) {
    std::error_code error;
    if (fs::exists(root / "dev/nvidiactl", error)) return true;
    for (fs::directory_iterator device(root / "sys/bus/pci/devices", error), end; !error && device != end;
         device.increment(error)) {
        if (is_nvidia_gpu(device->path())) return true;
    }
    return false;
}

}  // namespace phy::detail
