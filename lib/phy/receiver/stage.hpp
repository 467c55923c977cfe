#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/pipeline/stage.hpp"
#include "phy/receiver/receiver.hpp"

namespace phy {

/// A receiver for pipelines: phy::Receiver on a host, phy::gpu::Receiver on a CUDA device. An item is an
/// occasion of the link's allocation. Input per item: "input", (antennas, Receiver::input_per_slot()).
/// Outputs per item: "llr", a codeword; "slots", a ReceivedSlot; on request "symbols" with "noise_variance",
/// and "channel", each as in ReceiverOutput.
class PHY_EXPORT ReceiveStage : public Stage {
public:
    struct Config {
        ReceiverConfig receiver;
        SampleFormat format = SampleFormat::cf32;  ///< of the input
        bool symbols = false;
        bool channel = false;
    };

    /// Throws ArgumentError as Receiver does. on() throws those errors that only a channel estimator or a
    /// demapper can detect.
    explicit ReceiveStage(const Config& config);

    [[nodiscard]] const Config& config() const;

    [[nodiscard]] std::string_view name() const override { return "receive"; }
    [[nodiscard]] std::vector<Port> inputs() const override;
    [[nodiscard]] std::vector<Port> outputs() const override;
    std::unique_ptr<StageRunner> on(const Place& place) override;

private:
    struct Impl;
    detail::Owned<Impl, "ReceiveStage"> impl_;
};

}  // namespace phy
