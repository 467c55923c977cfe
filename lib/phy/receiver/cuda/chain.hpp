#pragma once

#include <optional>

#include "phy/cuda/buffer.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/detector/detector.hpp"
#include "phy/equalizer/equalizer.hpp"
#include "phy/estimator/estimator.hpp"
#include "phy/measure/symbol_meter.hpp"
#include "phy/ofdm/demodulator.hpp"
#include "phy/ofdm/transform_deprecoder.hpp"
#include "phy/receiver/chain/plan.hpp"
#include "phy/receiver/receiver.hpp"
#include "phy/tracker/tracker.hpp"

namespace phy::gpu::detail {

/// All operators of the chain on a device, the tables that slots share, and the buffers between steps.
class DeviceChain {
public:
    DeviceChain(const Device& device, const ReceiverConfig& config, std::size_t max_slots);

    /// slots: from 1 to max_slots. Expects checked arguments and the device as the current one.
    void operator()(SymbolView input, std::uint64_t first, std::size_t slots, const ReceiverOutput& output,
                    DeviceSpan<const std::int8_t> priors, cudaStream_t stream);

    [[nodiscard]] const phy::detail::ReceiverPlan& plan() const { return plan_; }
    [[nodiscard]] const Device& device() const { return device_; }
    [[nodiscard]] std::size_t max_slots() const { return estimate_.max_slots(); }

private:
    /// Equalised symbols: in the caller's output if requested, else in the workspace.
    struct Symbols {
        DeviceSpan<cf32> symbols;
        DeviceSpan<float> noise_variance;
    };

    /// The samples of a call.
    struct Samples {
        SymbolView input;
        std::uint64_t first;
        std::size_t slots;
    };

    void upload_constants();
    void add_workspace();
    void load_code();

    /// Demodulates into the grid; symbols as in OfdmSlots.
    void demodulate(const Samples& samples, std::uint32_t symbols, cudaStream_t stream);

    /// Demodulates DM-RS symbols on the stream and all others beside it; only the equaliser needs those.
    void demodulate_beside(const Samples& samples, cudaStream_t stream);

    void erase_disturbed(std::size_t slots, cudaStream_t stream);
    /// Equalises slots, and undoes transform precoding.
    void equalise(SymbolView grid, const Symbols& all, std::size_t slots, cudaStream_t stream);
    void take(DeviceSpan<const std::uint32_t> samples, const Symbols& to, std::size_t slots,
              cudaStream_t stream);
    /// Follows the phases of OFDM symbols, by PT-RS too where there are some. index: of the first slot in the
    /// schedule.
    void track(SymbolView grid, std::size_t index, const Symbols& all, std::size_t slots,
               cudaStream_t stream);
    /// index: as for track().
    PtrsSymbols ptrs_of(SymbolView grid, std::size_t index, std::size_t slots, cudaStream_t stream);
    void measure(const Symbols& all, DeviceSpan<ReceivedSlot> received, cudaStream_t stream);
    void demap(const Symbols& all, SoftBitSpan llr, std::size_t slots, DeviceSpan<const std::int8_t> priors,
               cudaStream_t stream);
    void write_channel(DeviceSpan<cf32> mean, std::size_t slots, cudaStream_t stream);

    Device device_;
    phy::detail::ReceiverPlan plan_;
    ChannelEstimator estimate_;
    Equalizer equalize_;
    std::optional<Equalizer> equalize_ptrs_;
    SymbolMeter meter_;
    std::optional<PhaseTracker> track_;
    std::optional<SoftDemapper> demap_;  ///< none: soft bits come from the detector
    std::optional<JointDetector> detect_;
    std::optional<OfdmDemodulator> demodulate_;
    std::optional<TransformDeprecoder> deprecode_;
    Stream beside_;  ///< measures slots while they are demapped
    Event dmrs_there_;
    Event grid_there_;
    Event equalized_;
    Event measured_;
    std::uint32_t dmrs_symbols_;
    bool restarts_ = false;  ///< the symbol count restarts in each slot

    DeviceBuffer<cf32> pilots_;             ///< for max_slots slots from any index of the schedule on
    DeviceBuffer<cf32> ptrs_pilots_;        ///< the same
    DeviceBuffer<std::uint32_t> signs_;     ///< of max_slots codewords, without gaps
    DeviceBuffer<std::uint8_t> allocated_;  ///< by resource block of the carrier

    DeviceBuffer<cf32> grid_;
    DeviceBuffer<float> channel_;
    DeviceBuffer<SlotEstimate> estimates_;
    DeviceBuffer<cf32> covariance_;  ///< empty without interference rejection
    DeviceBuffer<std::byte> equalizer_workspace_;
    DeviceBuffer<cf32> symbols_;
    DeviceBuffer<float> noise_variance_;
    DeviceBuffer<LayerPair> pairs_;  ///< empty without joint detection
    DeviceBuffer<cf32> deprecoded_;  ///< data and PT-RS, until each has its array
    DeviceBuffer<float> deprecoded_noise_variance_;
    DeviceBuffer<std::uint32_t> data_samples_;  ///< as in PrecoderInput
    DeviceBuffer<std::uint32_t> ptrs_samples_;
    DeviceBuffer<cf32> ptrs_;  ///< empty without PT-RS or phase tracking
    DeviceBuffer<float> ptrs_noise_variance_;
    DeviceBuffer<std::byte> tracker_workspace_;  ///< empty without phase tracking
    DeviceBuffer<SymbolSums> sums_;
    DeviceBuffer<std::byte> meter_workspace_;
};

}  // namespace phy::gpu::detail
