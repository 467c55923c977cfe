#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/host.hpp"
#include "phy/core/view.hpp"
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
/// up to 10 % of the subcarrier spacing does no harm. Few pilots say little: other QPSK symbols agree with
/// n of them by a chance of 4^(1-n), which matters below some 16 pilots a slot.
///
/// Throws ArgumentError as Receiver does, for a receiver of grids, and if samples are fewer than those of a
/// slot. The result is the same on every backend and number of threads.
PHY_EXPORT std::optional<FoundSlot> find_first_slot(const Host& host, const ReceiverConfig& config,
                                                    SymbolView samples);

/// By how much a recording is off, and how sure that is.
struct PHY_EXPORT Offsets {
    double timing = 0.0;     ///< s; positive: the signal comes late
    double frequency = 0.0;  ///< Hz; positive: the signal is too high
    double coherence = 0.0;  ///< of pilots: the mean over the slots
};

/// Measures offsets over some occurrences of the schedule, the first of which is `first`: input is as
/// Receiver takes it. Of samples the frequency comes from cyclic prefixes, and, where slots have DM-RS in
/// several symbols, is refined by them; of grids it comes from DM-RS alone, and is 0 where a slot has one.
/// Weighted by how sure each slot is. Throws ArgumentError as Receiver does.
PHY_EXPORT Offsets measure_offsets(const Host& host, const ReceiverConfig& config, SymbolView input,
                                   std::uint64_t first);

/// Below this coherence DM-RS of an allocation count as not found. Pilots that are not those of the link have
/// it, or more, in one slot with a probability of 1e-6 where the allocation has enough of them, some 16
/// resource blocks with one DM-RS symbol or 8 with two; there it is at most 0.4, which the right ones have
/// from -2 dB on. Of fewer pilots it grows to 0.7, which wrong ones reach in a slot by chance: exp(-n / 2)
/// of n pilots.
[[nodiscard]] PHY_EXPORT double least_coherence(const SlotAllocation& allocation);

/// What diagnose() may try beside what the link says.
struct PHY_EXPORT DiagnoseOptions {
    std::vector<std::uint32_t> scrambling_ids = {};  ///< of DM-RS
};

/// A change of a link, and what comes of it.
struct PHY_EXPORT Trial {
    std::string change;      ///< for people, such as "carrier.first_slot 3, allocation.dmrs.symbols [2]"
    Link link;               ///< with that change
    double coherence = 0.0;  ///< the mean over the slots that were looked at
    double evm = 0.0;        ///< of equalised symbols, where that decides between trials, else NaN
};

/// What a diagnosis tried, the best first; the link as it is is among them, with an empty change.
struct PHY_EXPORT Diagnosis {
    std::vector<Trial> trials;
    std::size_t tried = 0;  ///< settings, of which trials holds the ten best
};

/// Looks for what makes pilots agree: the number of the first slot, n_SCID and scrambling identities of
/// DM-RS, where DM-RS stand in the slot (those of every mapping type, number of additional positions and
/// length), and, for samples, f0 as given or 0, by the error vectors of what is then equalised. input: some
/// neighbouring slots of the capture from its first on, whether they are of the schedule or not, (slots,
/// antennas, Receiver::input_per_slot()). Throws ArgumentError as Receiver does.
PHY_EXPORT Diagnosis diagnose(const Host& host, const ReceiverConfig& config, SymbolView input,
                              const DiagnoseOptions& options = {});

}  // namespace phy
