#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/core/export.hpp"
#include "phy/files/options.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"
#include "phy/receiver/description_error.hpp"
#include "phy/receiver/receiver.hpp"

namespace phy {

/// What receive_file() is told beside its two files.
struct PHY_EXPORT ReceiveOptions : SoftBitFileOptions {
    /// As in ReceiverConfig.
    Equalization equalization = Equalization::mmse;
    bool interference_rejection = false;
    TimeInterpolation time = TimeInterpolation::linear;
    float doppler_spread = 0.0F;
    float delay_spread = 0.0F;                 ///< s; 0: measured in each slot
    std::optional<float> noise_variance = {};  ///< N0 at an antenna; none: measured in each slot

    /// Timing and frequency offset are measured over the first slots and taken out of all samples before the
    /// FFT; what is left is estimated and taken out slot by slot.
    bool corrects_offsets = true;

    bool writes_llr = true;
    bool writes_symbols = false;
    bool writes_channel = false;

    /// What agrees best with the capture is searched, once its first slot is known. A warning names it where
    /// it is not the link as it is; where no slot has DM-RS or none is of the link's, the error does.
    bool diagnoses = false;
    DiagnoseOptions diagnose = {};
};

/// What a reception did and how fast it was.
struct PHY_EXPORT Reception {
    CaptureDescription capture;
    Link link;  ///< as it was used, with what the capture gave and what was found
    SoftBitFormat format = SoftBitFormat::int8;
    std::uint64_t slots = 0;              ///< that were received
    std::uint64_t resource_elements = 0;  ///< with data, of all slots
    std::uint64_t soft_bits = 0;
    std::uint64_t saturated = 0;  ///< soft bits at the limit of their format
    std::uint64_t samples = 0;    ///< of an antenna that those slots take
    double signal_seconds = 0.0;  ///< that the slots last on the air
    std::vector<SlotReport> reports;
    std::vector<SymbolSums> symbols;  ///< of slots: equalised, by decisions, without erased ones
    SlotReport mean;                  ///< over the slots that have DM-RS: powers, not decibels, are averaged
    std::optional<FoundSlot> found;   ///< where the first slot was searched
    Offsets corrected;                ///< that were taken out of all samples; reports count them in
    std::optional<std::uint64_t> bit_errors;  ///< none without codewords to compare with
    std::uint64_t compared_bits = 0;
    std::string diagnosis;              ///< what was tried and what is best, or ""
    std::vector<std::string> warnings;  ///< such as a capture that ends inside a slot
    std::vector<Place> places;
    PipelineReport pipeline;
    bool cancelled = false;
    double seconds = 0.0;  ///< from opening the output to its last byte, without before_commit
};

/// Receives the slots of a link from a capture of samples or a grid (docs/files.md) to a file of descrambled
/// soft bits, a row a slot, and reports. soft_bits may be empty: nothing is written then.
///
/// Throws FileError for what is wrong with a file, where it does not fit the link (antennas, subcarriers,
/// samples for less than a slot), and where the DM-RS are found in no slot, DescriptionError where there is
/// no link, ArgumentError for a link or options that cannot be, and what Pipeline throws.
PHY_EXPORT Reception receive_file(const std::filesystem::path& capture,
                                  const std::filesystem::path& soft_bits, const ReceiveOptions& options = {});

}  // namespace phy
