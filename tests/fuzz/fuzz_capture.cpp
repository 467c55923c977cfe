#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "fuzz/capture_input.hpp"
#include "fuzz/scratch_file.hpp"

/// The input is options, a byte that chooses the file's name, for SigMF the length of the metadata and the
/// metadata, and the bytes of the file, of any format but HDF5.
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's own name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const phy_fuzz::ScratchFile metadata("recording.sigmf-meta");
    static const std::array<phy_fuzz::ScratchFile, 5> files = {
        phy_fuzz::ScratchFile("recording.sigmf-data"), phy_fuzz::ScratchFile("capture"),
        phy_fuzz::ScratchFile("array.npy"), phy_fuzz::ScratchFile("grid.npy"),
        phy_fuzz::ScratchFile("samples.bin")};

    phy_fuzz::Input input(data, size);
    const phy::CaptureOptions options = phy_fuzz::choose_options(input);
    const phy_fuzz::ScratchFile& file = input.choose(files);
    if (&file == files.data()) metadata.write(input.take_bytes(input.take<std::uint16_t>()));
    const std::string_view bytes(reinterpret_cast<const char*>(input.rest().data()), input.rest().size());
    // fuzz_hdf5 reads these.
    if (bytes.find("\x89HDF") != std::string_view::npos) return 0;
    const auto& path = file.write(input.rest());
    auto reader = phy_fuzz::answer([&] { return phy::CaptureReader(path, options); });
    // What opens is there: nothing throws from here on.
    if (reader) phy_fuzz::read_some(*reader);
    return 0;
}
