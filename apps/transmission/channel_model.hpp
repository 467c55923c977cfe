#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Channel models, by name.
namespace phy::apps {

enum class ChannelKind {
    awgn,  ///< no fading
    flat,  ///< Rayleigh fading, the same on all subcarriers
    tdl,   ///< tapped delay lines of TR 38.901 clause 7.7.2, all taps Rayleigh
    taps,  ///< taps as given, all Rayleigh
};

/// A tap of ChannelKind::taps.
struct GivenTap {
    double delay_ns = 0.0;  ///< positive: late
    double power_db = 0.0;  ///< mean, relative to that of the other taps

    friend bool operator==(const GivenTap&, const GivenTap&) = default;
};

struct ChannelModel {
    ChannelKind kind = ChannelKind::awgn;
    char profile = 'a';            ///< tdl: 'a', 'b' or 'c'
    double delay_spread_ns = 0.0;  ///< tdl: rms
    std::vector<GivenTap> taps = {};

    friend bool operator==(const ChannelModel&, const ChannelModel&) = default;
};

/// "awgn", "flat", "tdl-a:300", "taps:0:-6,700:0" (ns:dB). The parser also takes "tdl:300", which is TDL-A.
/// It throws an ArgumentError with what it expected.
std::string to_string(const ChannelModel& model);
ChannelModel parse_channel(const std::string& text);

/// One path of a channel.
struct Tap {
    double delay = 0.0;  ///< s
    double power = 1.0;  ///< mean; the sum over all taps is 1
};

/// The paths of a fading channel; for AWGN one path without delay.
std::vector<Tap> taps_of(const ChannelModel& model);

}  // namespace phy::apps
