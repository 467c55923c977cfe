#include "common/bench_options.hpp"

#include "common/machine.hpp"
#include "common/signal.hpp"
#include "phy/core/version.hpp"

namespace phy::apps {

void add_signal_options(po::options_description& list, Modulation& modulation,
                        std::vector<Formats>& formats) {
    list.add_options()  //
        ("modulation", parsed(modulation, parse_modulation, "M"),
         "modulation: pi2-bpsk, bpsk, qpsk, 16qam, 64qam, 256qam (default) or 1024qam")  //
        ("formats", parsed(formats, parse_formats, "IN:OUT[,IN:OUT...]"),
         "formats of symbols (cf32, cf16, ci16, ci8) and soft bits (int8, float16, float32); default "
         "cf32:int8");
}

std::string BenchPlace::hardware() const {
    return devices.value_or(processor());
}

std::vector<Json::Member> bench_context(const BenchPlace& place, Modulation modulation) {
    return {{"date", date()},
            {"phy_version", version},
            {"backend", place.backends},
            {"device", place.devices},
            {"processor", processor()},
            {"threads", place.devices ? Json() : Json(place.threads)},
            {"modulation", to_string(modulation)},
            {"snr_db", working_snr(modulation)}};
}

}  // namespace phy::apps
