#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/modulation.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/ofdm/ofdm_config.hpp"
#include "phy/scrambling/gold_sequence.hpp"

/// The link: all that is needed to demodulate a resource grid or samples of an antenna, and its text form.
///
/// The text is JSON, in which comments (// and /* */) may stand. Its keys, and what they mean, are those of
/// docs/link.md. Errors are one line that begins with the path of the key at fault, such as
/// "carrier.cell_idd: unknown key; did you mean cell_id?".
namespace phy {

/// What a carrier has beside its resource blocks, which the allocation counts.
struct PHY_EXPORT LinkCarrier {
    int subcarrier_spacing = 30000;          ///< Hz: 15000, 30000, 60000 or 120000
    int k0 = 0;                              ///< -6, 0 or 6 (TS 38.211 clause 5.3.1)
    std::optional<int> cell_id = {};         ///< N_ID^cell, from 0 to 1007
    std::optional<double> sample_rate = {};  ///< Hz; none: the capture's
    std::optional<double> center_frequency =
        {};  ///< Hz, f0 of TS 38.211 clause 5.4; none: the capture's less frequency_shift
    double frequency_shift = 0.0;                   ///< Hz: the recording's centre less the carrier's
    int first_slot = 0;                             ///< number in its frame of the first slot of the capture
    std::optional<std::uint64_t> first_sample = 0;  ///< where that slot begins; none: to be searched

    friend bool operator==(const LinkCarrier&, const LinkCarrier&) = default;
};

/// A carrier, and PUSCH or PDSCH of one codeword on it.
struct PHY_EXPORT Link {
    Direction direction = Direction::uplink;
    LinkCarrier carrier;
    SlotAllocation allocation;
    ScramblingIdentity scrambling;
    Modulation modulation = Modulation::qpsk;
    std::vector<int> slots = {};  ///< numbers in every frame of slots with the allocation; empty: all

    friend bool operator==(const Link&, const Link&) = default;
};

/// Slots of a frame: 10, 20, 40 or 80.
[[nodiscard]] PHY_EXPORT int slots_per_frame(const LinkCarrier& carrier);

/// N, the sample rate over the subcarrier spacing. Throws ArgumentError if there is no sample rate, or unless
/// N is a multiple of 128 without prime factors above 5, up to 8192.
[[nodiscard]] PHY_EXPORT int fft_size(const LinkCarrier& carrier);

/// Throws ArgumentError if a value is out of its range or does not go with the others: as check() of
/// SlotAllocation and ScramblingIdentity::c_init() do, if there is no such slot in a frame, if the FFT is
/// smaller than the carrier, for more than 4 layers, and for transform precoding on the downlink or of
/// a number of resource blocks that has a prime factor above 5.
PHY_EXPORT void check(const Link& link);

/// Reads the text form. The scrambling identities are that of the cell unless the text has them, and DM-RS
/// symbols may be given by a mapping type. Throws ArgumentError for what is no JSON, for keys that are
/// unknown, missing or there twice, for values of another type, and as check() does.
[[nodiscard]] PHY_EXPORT Link parse_link(std::string_view json);

/// parse_link() of a file. Throws FileError, which names the file.
[[nodiscard]] PHY_EXPORT Link read_link(const std::filesystem::path& file);

/// The text form: parse_link() of it gives the same link. The link is one that check() lets pass.
[[nodiscard]] PHY_EXPORT std::string to_json(const Link& link);

/// The link for a capture of samples that has these attributes, in hertz: they are the sample rate and, less
/// the frequency shift, the center frequency where the link has none. Throws ArgumentError if one is missing
/// in both, and as check() does.
[[nodiscard]] PHY_EXPORT Link complete_link(Link link, std::optional<double> sample_rate,
                                            std::optional<double> center_frequency);

/// How samples of the link belong to its resource elements, with the window of the FFT in the middle of the
/// shorter prefix, so that a receiver may be off by half of it to either side. Throws ArgumentError as
/// complete_link() does, and as OfdmTiming.
[[nodiscard]] PHY_EXPORT OfdmConfig ofdm_config(const Link& link, int antennas);

}  // namespace phy
