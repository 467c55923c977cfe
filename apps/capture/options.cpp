#include "capture/options.hpp"

#include <fmt/format.h>

namespace phy::apps {

void add_capture_options(CaptureOptions& options, po::options_description& list) {
    list.add_options()  //
        ("dataset", text(options.dataset, "PATH"),
         "the IQ samples; default /iq, else the only dataset that looks like IQ")  //
        ("from", parsed(options.kind, parse_capture_kind, "KIND"),
         "what the capture is of: symbols, grid or samples; default: as the dataset's name says")  //
        ("interleaved", flag(options.interleaved), "the dataset is flat: I, Q, I, Q, ...")         //
        ("full-scale",
         number_within<double>(options.full_scale, "--full-scale", "X",
                               {0x1p-126, 0x1p126, "a number from 2^-126 to 2^126"}),
         "integer samples: the value of 1.0; default: the attribute, else 2^(bits-1)")  //
        ("modulation", parsed(options.modulation, parse_modulation, "M"),
         "pi2-bpsk, bpsk, qpsk, 16qam, 64qam, 256qam or 1024qam; default: the attribute");
}

std::optional<float> parse_gain(const std::string& text) {
    if (text == "auto") return std::nullopt;
    const std::optional<float> value = parse_number<float>(text);
    if (!value || !(*value >= 0x1p-40F && *value <= 0x1p40F))
        throw ArgumentError(fmt::format("--gain {}: expected a number from 2^-40 to 2^40, or 'auto'", text));
    return value;
}

}  // namespace phy::apps
