#include <cstddef>
#include <cstdint>

#include "fuzz/target.hpp"
#include "phy/capture/flat/sigmf_metadata.hpp"

/// The input is the metadata of a SigMF recording.
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's own name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto metadata =
        phy_fuzz::answer([&] { return phy::detail::parse_sigmf_metadata(phy_fuzz::text_of(data, size)); });
    if (!metadata) return 0;
    phy_fuzz::require(metadata->type.bytes > 0 && metadata->channels > 0, "samples have bytes");
    phy_fuzz::require(!metadata->segments.empty() && metadata->segments.front().first == 0,
                      "the first segment begins at sample 0");
    return 0;
}
