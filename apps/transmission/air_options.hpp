#pragma once

#include "common/app.hpp"
#include "transmission/channel_model.hpp"

namespace phy::apps {

/// --channel, --antennas, --timing-offset and --frequency-offset: the channel between transmitter and
/// receiver. `options` has members with these names, each a value or an optional.
template <typename Options>
void add_air_options(Options& options, po::options_description& list) {
    list.add_options()  //
        ("channel", parsed(options.channel, parse_channel, "CHANNEL"),
         "channel model: awgn (default), flat (Rayleigh fading) or tdl:DELAY_SPREAD_NS (TDL-A of TR 38.901; "
         "tdl-b:, tdl-c:) or taps:NS:DB[,NS:DB...] (delay and relative power of each tap); fading is "
         "independent from slot to slot")  //
        ("antennas",
         number_within<int>(options.antennas, "--antennas", "N", {1, 16, "a whole number from 1 to 16"}),
         "receive antennas; default: one per layer")  //
        ("timing-offset",
         number_within<double>(options.timing_offset_ns, "--timing-offset", "NS",
                               {-1e6, 1e6, "a number from -1e6 to 1e6"}),
         "timing offset; positive: the signal arrives late; default 0")  //
        ("frequency-offset",
         number_within<double>(options.frequency_offset, "--frequency-offset", "HZ",
                               {-1e5, 1e5, "a number from -1e5 to 1e5"}),
         "frequency offset; positive: the signal is too high; default 0");
}

}  // namespace phy::apps
