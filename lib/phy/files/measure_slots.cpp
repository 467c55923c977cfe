#include "phy/files/measure_slots.hpp"

#include <string>
#include <utility>

#include "phy/core/error.hpp"
#include "phy/files/receive.hpp"

namespace phy::detail {
namespace {

void check_options(const MeasureOptions& options) {
    const auto require = [](bool holds, const char* what) {
        if (!holds) throw ArgumentError(std::string(what) + " for a grid or samples");
    };
    require(!options.gain, "a gain: expected none");
    require(options.reference == SymbolReference::decisions,
            "the symbols that were sent: expected decisions");
    require(options.by == MeasureBy::whole || options.by == MeasureBy::slot,
            "rows by symbols: expected slots");
}

ReceiveOptions receive_options(const CaptureDescription& capture, const MeasureOptions& options) {
    ReceiveOptions receive = {.capture = options.capture,
                              .link = options.link,
                              .places = options.places,
                              .pipeline = options.pipeline,
                              .progress = options.progress,
                              .stop = options.stop};
    receive.capture.dataset = capture.dataset;
    receive.capture.kind = capture.kind;
    receive.capture.noise_variance.reset();
    return receive;
}

}  // namespace

Measured measure_slots(const CaptureDescription& capture, const MeasureOptions& options) {
    check_options(options);
    Reception received = receive_file(capture.file, {}, receive_options(capture, options));
    Measured result;
    result.capture = std::move(received.capture);
    result.capture.modulation = received.link.modulation;
    result.meter.modulation = received.link.modulation;
    result.places = std::move(received.places);
    result.pipeline = std::move(received.pipeline);
    result.warnings = std::move(received.warnings);
    result.cancelled = received.cancelled;
    result.seconds = received.seconds;
    if (result.cancelled) return result;
    result.symbols =
        received.resource_elements * static_cast<std::uint64_t>(received.link.allocation.layers());
    SymbolSums all;
    for (const SymbolSums& slot : received.symbols)
        all = join(all, slot);
    result.whole = result.measurement(all);
    if (options.by == MeasureBy::slot) {
        result.row = result.symbols / received.slots;
        result.rows = std::move(received.symbols);
    }
    return result;
}

}  // namespace phy::detail
