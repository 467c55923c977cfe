#include "phy/files/measure.hpp"

#include <limits>
#include <utility>

#include "phy/files/common.hpp"
#include "phy/files/measure/slots.hpp"
#include "phy/files/measure/symbols.hpp"

namespace phy {
namespace {

/// Keeps the part of a measurement that does not depend on decisions.
void clear_decisions(SymbolMeasurement& measurement) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (double SymbolMeasurement::*const number :
         {&SymbolMeasurement::gain, &SymbolMeasurement::phase_deg, &SymbolMeasurement::evm_rms,
          &SymbolMeasurement::evm_peak, &SymbolMeasurement::mer_db, &SymbolMeasurement::noise_variance,
          &SymbolMeasurement::snr_db})
        measurement.*number = nan;
}

}  // namespace

SymbolMeasurement Measured::measurement(const SymbolSums& sums) const {
    SymbolMeasurement result = measurement_of(sums, meter, format, reference);
    const double units = double{meter.gain} / double{gain};
    result.noise_variance *= units * units;
    if (!capture.modulation || !no_gain.empty()) clear_decisions(result);
    return result;
}

Measured measure_file(const std::filesystem::path& capture, const MeasureOptions& options) {
    CaptureReader reader = detail::open_to_measure(capture, options);
    if (reader.description().kind != CaptureKind::symbols)
        return detail::measure_slots(reader.description(), options);
    detail::SymbolMeasuring measuring(std::move(reader), options, options.range);
    detail::Stopwatch watch;
    watch.start();
    measuring.find_gain();
    const MeasuredPart all[] = {measuring.sum(measuring.result().range)};
    watch.stop();
    Measured result = measuring.finish(all);
    result.seconds = watch.seconds();
    return result;
}

}  // namespace phy
