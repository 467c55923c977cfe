#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/scratch_file.hpp"
#include "fuzz/target.hpp"
#include "phy/capture/formats.hpp"

/// The input is a .npy file.
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's own name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const phy_fuzz::ScratchFile file("array.npy");
    if (!phy::detail::is_npy({reinterpret_cast<const char*>(data), size})) return 0;
    const auto& path = file.write(std::as_bytes(std::span(data, size)));
    const auto opened = phy_fuzz::answer([&] {
        return phy::detail::open_npy(path, phy::detail::PosixFile(path, O_RDONLY, 0, path.string()), {});
    });
    if (!opened) return 0;
    // The array is known to be in the file: nothing throws from here on.
    const auto array = (*opened)->open((*opened)->datasets().front());
    array->require_readable();
    if (array->size() == 0) return 0;
    std::vector<std::byte> element(array->type().bytes);
    array->read(array->size() - 1, 1, element.data());
    return 0;
}
