#include "demod/advice.hpp"

#include <cmath>

#include <fmt/format.h>

namespace phy::apps {
namespace {

std::string percent(double ratio) {
    return fmt::format("{:.3g} %", 100.0 * ratio);
}

/// Suggests the full scale or gain that fits the power.
std::string power_advice(const Demodulation& done) {
    if (done.check.mean_power == 0.0) return "is the right dataset read?";
    if (done.measured) return "are all of them symbols of one constellation, and is --modulation right?";
    const std::string measures = "--gain auto measures their amplitude";
    if (!done.capture.is_integer || done.gain != 1.0F)
        return fmt::format("{}, --gain {:.4g} fixes it", measures,
                           double{done.gain} * done.check.amplitude());
    // int32 is read as floating point.
    const float of_format = default_full_scale(done.capture.format);
    const double full_scale = done.capture.full_scale.value_or(of_format == 1.0F ? 0x1p31F : of_format);
    return fmt::format("{}, --full-scale {:.4g} fixes it", measures, full_scale * done.check.amplitude());
}

std::string noise_advice(const DemodOptions& options) {
    if (!options.symbols.gain && options.symbols.estimate_noise) return "is --modulation right?";
    return "--gain auto --noise-variance estimate measures the amplitude and N0, if --modulation is right";
}

}  // namespace

std::optional<std::string> advice_of(const Demodulation& done, const DemodOptions& options) {
    const SymbolCheck& check = done.check;
    const std::string name = fmt::format("{}: {}", done.capture.file.string(), done.capture.dataset);
    switch (check.mismatch) {
        case SymbolMismatch::none:
            break;
        case SymbolMismatch::no_constellation:
            return fmt::format(
                "{}: the symbols are spread like noise and show no constellation: if they are samples in "
                "time, --from samples --link FILE receives them",
                name);
        case SymbolMismatch::power:
            return fmt::format("{}: the mean power of the symbols is {:.3g} ({:+.1f} dB), expected 1: {}",
                               name, check.mean_power, 10.0 * std::log10(check.mean_power),
                               power_advice(done));
        case SymbolMismatch::noise_variance:
            return fmt::format("{}: the EVM is {}, expected {} from N0: {}", name, percent(check.evm),
                               percent(check.expected_evm), noise_advice(options));
    }
    return std::nullopt;
}

}  // namespace phy::apps
