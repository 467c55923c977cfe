#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "phy/coding/transport_block.hpp"
#include "phy/coding/uci.hpp"
#include "phy/core/export.hpp"
#include "phy/core/modulation.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/ofdm/ofdm_config.hpp"
#include "phy/resampler/resampler.hpp"
#include "phy/scrambling/gold_sequence.hpp"

/// The link: everything that a receiver must know to demodulate a resource grid or baseband samples, and its
/// text form.
///
/// The text is JSON with optional comments (// and /* */). docs/link.md describes its keys. An error is one
/// line that begins with the path of the key at fault, such as "carrier.cell_idd: unknown key; did you mean
/// cell_id?".
namespace phy {

/// A carrier without its number of resource blocks, which is part of the allocation.
struct PHY_EXPORT LinkCarrier {
    int subcarrier_spacing = 30000;          ///< Hz: 15000, 30000, 60000 or 120000
    int k0 = 0;                              ///< -6, 0 or 6 (TS 38.211 clause 5.3.1)
    std::optional<int> cell_id = {};         ///< N_ID^cell, from 0 to 1007
    std::optional<double> sample_rate = {};  ///< Hz; none: taken from the capture
    std::optional<double> center_frequency =
        {};  ///< Hz, f0 of TS 38.211 clause 5.4; none: the capture's less frequency_shift
    double frequency_shift = 0.0;  ///< Hz: centre of the recording less centre of the carrier
    int first_slot = 0;            ///< the capture's first slot: its number in the frame
    std::optional<std::uint64_t> first_sample = 0;  ///< where that slot begins; none: searched for

    friend bool operator==(const LinkCarrier&, const LinkCarrier&) = default;
};

/// UCI on the PUSCH beside the transport block (TS 38.212 clause 6.3.2), as in UciConfig. The default offsets
/// are those that a UE uses if RRC gives none (TS 38.331, BetaOffsets: indices 11 and 13).
struct PHY_EXPORT LinkUci {
    std::size_t ack_bits = 0;  ///< without CRC, from 0 to 1706, the same in all slots
    std::size_t csi1_bits = 0;
    std::size_t csi2_bits = 0;
    double ack_offset = 20.0;
    double csi1_offset = 6.25;
    double csi2_offset = 6.25;
    double scaling = 1.0;

    friend bool operator==(const LinkUci&, const LinkUci&) = default;
};

/// How the transport block of the codeword is coded (TS 38.212 clauses 6.2 and 7.2). Needs a code rate or a
/// size.
struct PHY_EXPORT LinkCoding {
    std::optional<double> code_rate = {};  ///< R of the MCS, above 0, at most 1; none: size over coded bits
    std::optional<std::size_t> transport_block_size = {};  ///< bits; none: by TS 38.214 clause 5.1.3.2
    int redundancy_version = 0;                            ///< from 0 to 3
    int overhead = 0;                                      ///< N_oh^PRB, xOverhead of RRC: 0, 6, 12 or 18
    std::optional<std::size_t> limited_buffer = {};        ///< TBS_LBRM in bits; none: not limited
    std::optional<LinkUci> uci = {};                       ///< uplink only; none: the PUSCH carries none

    friend bool operator==(const LinkCoding&, const LinkCoding&) = default;
};

/// A carrier and one allocation of PUSCH or PDSCH on it, with one codeword.
struct PHY_EXPORT Link {
    Direction direction = Direction::uplink;
    LinkCarrier carrier;
    SlotAllocation allocation;
    ScramblingIdentity scrambling;
    Modulation modulation = Modulation::qpsk;
    std::vector<int> slots = {};            ///< slots of each frame that hold the allocation; empty: all
    std::optional<LinkCoding> coding = {};  ///< none: there are soft bits, but no transport blocks

    friend bool operator==(const Link&, const Link&) = default;
};

/// Slots per frame: 10, 20, 40 or 80.
[[nodiscard]] PHY_EXPORT int slots_per_frame(const LinkCarrier& carrier);

/// N = sample rate / subcarrier spacing. Throws ArgumentError if the carrier has no sample rate, or unless N
/// is a multiple of 128 without prime factors above 5, up to 8192.
[[nodiscard]] PHY_EXPORT int fft_size(const LinkCarrier& carrier);

/// Throws ArgumentError if a value is out of its range or contradicts another: as check() of SlotAllocation
/// and ScramblingIdentity::c_init() do, for a slot number that no frame has, for a sample rate below the
/// bandwidth of the carrier, for more than 4 layers, for transform precoding on the downlink or with a
/// number of resource blocks that has a prime factor above 5, for a coding without code rate and size or with
/// which code_blocks() throws, and for UCI on the downlink, without bits, with which UciMap throws, that has
/// a part for which no resource element is left, or that leaves none to the transport block.
PHY_EXPORT void check(const Link& link);

/// Reads the text form. Scrambling identities that the text omits are the cell's identity. Values may be in
/// the words of RRC and DCI, such as an RIV. Throws ArgumentError for invalid JSON, for unknown, missing,
/// duplicate or contradicting keys, for values of a wrong type, and as check() does.
[[nodiscard]] PHY_EXPORT Link parse_link(std::string_view json);

/// parse_link() of a file's text. Throws FileError, which names the file.
[[nodiscard]] PHY_EXPORT Link read_link(const std::filesystem::path& file);

/// The text form of a link that passes check(). parse_link() of it gives the same link.
[[nodiscard]] PHY_EXPORT std::string to_json(const Link& link);

/// The link, completed by the attributes of a capture of samples, both in Hz. A missing
/// Link::carrier.sample_rate becomes sample_rate. A missing Link::carrier.center_frequency becomes
/// center_frequency less the frequency shift. Throws ArgumentError if either is still missing, and as check()
/// does. Samples at a rate that is no fft_size() are resampled first: see resampler_config().
[[nodiscard]] PHY_EXPORT Link complete_link(Link link, std::optional<double> sample_rate,
                                            std::optional<double> center_frequency);

/// From the link's sample rate to one that a receiver takes. It passes the carrier and a frequency offset of
/// up to three subcarriers, as far as the link's rate allows. The output rate is the link's if that has an
/// fft_size(); the bandwidth is then 0 if it leaves less than 0.9 % for a filter's transition. At
/// other rates that throws ArgumentError, and so does a missing sample rate.
[[nodiscard]] PHY_EXPORT ResamplerConfig resampler_config(const Link& link);

/// The OFDM configuration of the link. Throws ArgumentError as complete_link() and OfdmTiming do.
[[nodiscard]] PHY_EXPORT OfdmConfig ofdm_config(const Link& link, int antennas);

/// The coding of the transport block in a slot of a link that passes check(). Its coded bits are the soft
/// bits of a slot, with those of erased subcarriers; with UCI they are those of UL-SCH. Throws ArgumentError
/// if the link has no coding.
[[nodiscard]] PHY_EXPORT TransportBlockConfig transport_block_config(const Link& link);

/// The UCI in a slot of a link that passes check(). Throws ArgumentError if the link has no coding with UCI.
[[nodiscard]] PHY_EXPORT UciConfig uci_config(const Link& link);

}  // namespace phy
