#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "phy/coding/stage.hpp"
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

inline constexpr int max_iterations = 10;  ///< of detection and decoding

/// A ReceiveStage whose soft bits are decoded, as by a TransportDecoderStage. It has the outputs of the
/// first, then those of the second.
class PHY_EXPORT ReceiveAndDecodeStage : public Stage {
public:
    struct Config {
        ReceiveStage::Config receive = {};
        TransportDecoderStage::Config decode = {};
        /// Max number of times that a block whose CRC fails is detected and decoded again, with the extrinsic
        /// LLRs of the decoder as priors of joint detection; from 0 to max_iterations. Other outputs than
        /// "payload" and "results" stay those of the first time. Needs joint_detection, and a codeword
        /// without UCI. A CPU receives only failed slots again, CUDA all of a chunk.
        int iterations = 0;
    };

    /// Throws ArgumentError as the two stages do, for iterations out of range or without what they need, and
    /// if the soft bits of a slot are not those that the decoder expects.
    explicit ReceiveAndDecodeStage(const Config& config);

    [[nodiscard]] const Config& config() const { return config_; }

    [[nodiscard]] std::string_view name() const override { return "receive_decode"; }
    [[nodiscard]] std::vector<Port> inputs() const override { return receive_.inputs(); }
    [[nodiscard]] std::vector<Port> outputs() const override;
    [[nodiscard]] std::size_t scratch_bytes(std::size_t items) const override;
    std::unique_ptr<StageRunner> on(const Place& place) override;

private:
    Config config_;
    ReceiveStage receive_;
    TransportDecoderStage decode_;
};

}  // namespace phy
