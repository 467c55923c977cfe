#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/view.hpp"
#include "phy/machine/host.hpp"
#include "phy/receiver/receiver.hpp"

/// What a receiver has to know of a recording before it can receive: where slots begin, and by how much the
/// recording is off in time and frequency; and where pilots do not agree with the link, what would.
namespace phy {

/// Where the DM-RS of a slot were found in samples.
struct PHY_EXPORT FoundSlot {
    std::uint64_t first_sample = 0;  ///< where the slot begins
    double correlation = 0.0;        ///< from 0 to 1: the share of the power of pilots that agrees with DM-RS
};

/// The slot that is searched: the first of Link::slots as they are listed, else
/// Link::carrier.first_slot. Where it begins the capture begins for a receiver: that is then first_sample,
/// and this the first_slot.
[[nodiscard]] PHY_EXPORT int searched_slot(const Link& link);

/// Searches samples, (antennas, samples), for the DM-RS of searched_slot(), frame by frame, and returns the
/// first slot that is there as a whole. All samples within 10 ms are correlated with up to four DM-RS symbols
/// of that slot, in time; powers are added over antennas, ports and symbols. The strongest places are then
/// looked at in the resource grid, at pilots alone, so that what is sent beside them does not matter. A place
/// counts if chance makes one as good in a frame without that slot with a probability of 1e-6 at most; where
/// none does by itself, up to eight slots of the schedule from there on count together. Of several such
/// slots in a frame (DM-RS with transform precoding are the same in every slot unless they hop) it is the
/// earliest whose correlation is at least half the best one's.
///
/// The place is that of the strongest path, to a sample where the allocation is wide; a frequency offset of
/// up to 10 % of the subcarrier spacing does no harm. Few pilots say little: one resource block of one layer
/// is found where the signal is clear of noise or several slots are there, with several layers it may take
/// two; and other QPSK symbols agree with n pilots by a chance of 4^(1-n), which matters below some 16.
///
/// Throws ArgumentError as Receiver does, for a receiver of grids, and if samples are fewer than those of a
/// slot. The result is the same on every backend and number of threads.
PHY_EXPORT std::optional<FoundSlot> find_first_slot(const Host& host, const ReceiverConfig& config,
                                                    SymbolView samples);

/// By how much a recording is off, and how sure that is.
struct PHY_EXPORT Offsets {
    double timing = 0.0;     ///< s; positive: the signal comes late. As SlotEstimate::timing_offset
    double frequency = 0.0;  ///< Hz; positive: the signal is too high
    double coherence = 0.0;  ///< of pilots: the mean over the slots that have them, 0 if none has
};

/// Measures offsets over some occasions of the schedule, the first of which is `first`: input is as
/// Receiver takes it. Link::carrier.frequency_shift less the frequency, and samples that begin so much later
/// as the timing says, take them out.
///
/// Of samples the frequency comes from cyclic prefixes, the later halves of those of the allocation's symbols
/// and subcarriers, and is unambiguous within half the subcarrier spacing to either side. Where a slot has
/// DM-RS at several times, these refine it, unless they show more than a quarter of a turn from one to the
/// next, which then is doubtful. Where a slot has them once, prefixes have to be sure of it, by four standard
/// deviations, or it is 0. Of grids it comes from DM-RS alone, and is 0 where a slot has them once.
/// Slots count by the squares of their coherence. Throws ArgumentError as Receiver does.
PHY_EXPORT Offsets measure_offsets(const Host& host, const ReceiverConfig& config, SymbolView input,
                                   std::uint64_t first);

/// Below this coherence DM-RS of an allocation count as not found. Pilots that are not those of the link have
/// it, or more, in one slot with a probability of 1e-6 where the allocation has enough of them, some 16
/// resource blocks with one DM-RS symbol or 8 with two; there it is at most 0.4, which the right ones have
/// from -2 dB on. Of fewer pilots it grows to 0.7, which wrong ones reach in a slot by chance: exp(-n / 2)
/// of n pilots.
[[nodiscard]] PHY_EXPORT double min_coherence(const SlotAllocation& allocation);

/// What diagnose() may try beside what the link says.
struct PHY_EXPORT DiagnoseOptions {
    std::vector<std::uint32_t> scrambling_ids = {};  ///< of DM-RS, beside the link's and the cell's
    std::vector<double> center_frequencies = {};     ///< f0 in Hz, beside the link's and 0
};

/// A change of a link, and what comes of it.
struct PHY_EXPORT Trial {
    std::string change;      ///< for people, such as "carrier.first_slot 3, allocation.dmrs.symbols [2]"
    Link link;               ///< with that change
    double coherence = 0.0;  ///< of all slots of its schedule together, each counting by its power
    double chance = 1.0;     ///< at most, that without such pilots the best of all tried has that coherence
    double evm = 0.0;        ///< of the equalised symbols of the slot where it is least, where that was
                             ///< looked at to decide on f0, else NaN

    /// Whether the pilots are there: the coherence is enough (see min_coherence()), and chance does not
    /// explain it, with a probability of 1e-6 at most.
    [[nodiscard]] bool is_found() const;
};

/// What a diagnosis tried, the best first; the link as it is is among them, with an empty change.
struct PHY_EXPORT Diagnosis {
    std::vector<Trial> trials;
    std::size_t tried = 0;  ///< settings, of which trials holds the ten best
};

/// Looks for what makes pilots agree, in all combinations: the number of the first slot, n_SCID and
/// scrambling identities of DM-RS, their type, and where they stand in the slot (those of every mapping type,
/// number of additional positions and length that fit into the allocation's symbols). Trials are sorted by
/// how little chance explains their coherence, which counts pilots too; of equal ones the link as it is
/// comes first. Where the best one is found and input is samples, it is also received with every other f0,
/// and the one with the smallest error vectors comes first if they are clearly smaller. With transform
/// precoding DM-RS without hopping do not depend on the slot, and n_SCID and type 2 are not tried.
///
/// input: some neighbouring slots of the capture from its first on, cut by the link's clock, whether they are
/// of the schedule or not, (slots, antennas, Receiver::input_per_slot()). Two to four are enough, unless the
/// allocation stands in few slots of a frame. Throws ArgumentError as Receiver does, and for no slot.
PHY_EXPORT Diagnosis diagnose(const Host& host, const ReceiverConfig& config, SymbolView input,
                              const DiagnoseOptions& options = {});

}  // namespace phy
