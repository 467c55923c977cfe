#include <cstddef>
#include <cstdint>
#include <vector>

#include "fuzz/capture_input.hpp"
#include "fuzz/scratch_file.hpp"

/// The input is options and the bytes of an HDF5 file; beside it is one of other bytes, "external.bin".
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's own name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const phy_fuzz::ScratchFile file("capture.h5");
    static const phy_fuzz::ScratchFile external("external.bin");
    static const auto& is_written = external.write(std::vector<std::byte>(1024, std::byte{1}));
    static_cast<void>(is_written);

    phy_fuzz::Input input(data, size);
    const phy::CaptureOptions options = phy_fuzz::choose_options(input);
    const auto& path = file.write(input.rest());
    phy_fuzz::answer([&] {
        phy::CaptureReader reader(path, options);
        phy_fuzz::read_some(reader);
    });
    return 0;
}
