#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/view.hpp"
#include "phy/machine/host.hpp"
#include "phy/receiver/receiver.hpp"

/// Acquisition: where the slots of a recording begin, and its offsets in time and frequency. If the DM-RS do
/// not match the link, diagnose() searches for a link that they match.
namespace phy {

/// A slot whose DM-RS were found in samples.
struct PHY_EXPORT FoundSlot {
    std::uint64_t first_sample = 0;  ///< where the slot begins
    double correlation = 0.0;        ///< from 0 to 1: share of the pilots' power that matches the DM-RS
    double frequency = 0.0;          ///< Hz: the offset that was taken out to find it
};

/// The slot that find_first_slot() searches for: the first entry of Link::slots, or Link::carrier.first_slot
/// if slots is empty. A receiver treats the position where it is found as the start of the capture:
/// first_sample is that position, and first_slot is this slot.
[[nodiscard]] PHY_EXPORT int searched_slot(const Link& link);

/// Searches samples, (antennas, samples), for the DM-RS of searched_slot(), frame by frame, and returns the
/// first complete slot.
///
/// The search correlates all samples within 10 ms with up to four DM-RS symbols of that slot in time, and
/// adds powers over antennas, ports and symbols. It then examines the pilots of the strongest positions in
/// the resource grid, so other signals between the pilots do not matter. A position counts if a frame without
/// that slot has one as good with a probability of at most 1e-6. If no position passes by itself, up to eight
/// slots of the schedule from there on count together. If several positions of a frame pass (DM-RS with
/// transform precoding are the same in every slot unless they hop), the result is the earliest with at least
/// half the best correlation.
///
/// The position is that of the strongest path, exact to one sample for wide allocations. A slot counts as
/// complete if by its position it lacks at most half a cyclic prefix; the result is then the nearest position
/// where the samples hold a whole slot. A frequency offset of up to 10 % of the subcarrier spacing does no
/// harm. Small allocations are harder to find: one resource block of one layer needs a signal well above the
/// noise or several slots; with several layers it may take two resource blocks. Other QPSK symbols match n
/// pilots with a probability of 4^(1-n), which matters below about 16 pilots.
///
/// Throws ArgumentError as Receiver does, for a receiver of grids, and for fewer samples than a slot has. The
/// result does not depend on backend or number of threads.
PHY_EXPORT std::optional<FoundSlot> find_first_slot(const Host& host, const ReceiverConfig& config,
                                                    SymbolView samples);

/// Frequency offsets that samples, (antennas, samples), leave open: what their cyclic prefixes show, which is
/// known modulo the subcarrier spacing, up to three subcarriers to either side, in Hz, the smallest first.
/// Those of less than a tenth of a subcarrier are left out: a search does not need them. To correct one,
/// subtract it from Link::carrier.frequency_shift. Throws ArgumentError as Receiver does, and for a receiver
/// of grids.
[[nodiscard]] PHY_EXPORT std::vector<double> possible_offsets(const ReceiverConfig& config,
                                                              SymbolView samples);

/// Timing and frequency offset of a recording, with the coherence of its pilots.
struct PHY_EXPORT Offsets {
    double timing = 0.0;      ///< s; positive: the signal arrives late; as SlotEstimate::timing_offset
    double frequency = 0.0;   ///< Hz; positive: the signal is too high in frequency
    double coherence = 0.0;   ///< of pilots: the mean over the slots that have them; 0 if none has
    std::uint64_t slots = 0;  ///< slots that have pilots

    /// Of samples: Hz, the frequency that cyclic prefixes alone show, and its standard deviation, which is
    /// infinite if fewer than 8 symbols show it. DM-RS at several times that show another frequency are
    /// rotated against each other, as a wrong f0 does.
    double at_prefixes = 0.0;
    double deviation = 0.0;

    /// N0 of a resource element at each antenna, over the slots that have pilots; empty if none has.
    std::vector<double> noise = {};
};

/// Measures offsets over the occasions of the schedule from `first` on. input: as for Receiver. To correct
/// the offsets, subtract the frequency from Link::carrier.frequency_shift and begin the samples later by the
/// timing.
///
/// The frequency of samples comes from cyclic prefixes: from the later halves of those of the allocation's
/// symbols, on its subcarriers. Symbols that differ from the others by much more than noise does are left
/// out: a strong sample or a short burst. The frequency is unambiguous within half the subcarrier spacing to
/// either side. If a slot has DM-RS at several times, these refine it, unless they differ by more than a
/// quarter turn from one to the next. The prefixes are not used if their frequency differs from 0, and from
/// what the DM-RS show within a quarter turn, by less than four of its standard deviations; with DM-RS at one
/// time only the frequency is then 0. The frequency of grids comes from DM-RS alone; it is 0 if a slot has
/// them at one time only. Slots are weighted by the square of their coherence. Throws ArgumentError as
/// Receiver does.
PHY_EXPORT Offsets measure_offsets(const Host& host, const ReceiverConfig& config, SymbolView input,
                                   std::uint64_t first);

/// Below this coherence the DM-RS of an allocation count as not found. With about 16 resource blocks and one
/// DM-RS symbol, or 8 with two, it is at most 0.4: wrong pilots reach it in one slot with a probability of
/// 1e-6, and right ones from an SNR of -2 dB on. With fewer pilots it grows to 0.7, which n wrong pilots
/// reach in a slot with a probability of exp(-n / 2).
[[nodiscard]] PHY_EXPORT double min_coherence(const SlotAllocation& allocation);

/// Options of diagnose().
struct PHY_EXPORT DiagnoseOptions {
    /// Values to try in addition to those of the link.
    std::vector<std::uint32_t> scrambling_ids = {};  ///< of DM-RS, in addition to the link's and the cell's
    std::vector<double> center_frequencies = {};     ///< f0 in Hz, in addition to the link's and usual ones

    std::uint64_t begin = 0;  ///< of samples: the input's first sample, counted as Link::carrier.first_sample

    /// If samples were resampled: returns the sample of the recording for one of the input, for
    /// Trial::change. The order of bytes is then not tried.
    std::function<std::uint64_t(std::uint64_t sample)> recorded = {};

    /// Called before each step with the number of those done and the most there may be. An exception from it
    /// ends the search and reaches the caller.
    std::function<void(std::uint64_t done, std::uint64_t most)> progress = {};
    std::stop_token stop = {};
};

/// A changed link and how well it matches.
struct PHY_EXPORT Trial {
    std::string change = {};   ///< for people, such as "carrier.first_slot 3, allocation.dmrs.symbols [2]"
    Link link = {};            ///< with that change
    bool swaps_iq = false;     ///< I and Q of the samples are swapped, so their spectrum is inverted
    bool swaps_bytes = false;  ///< the bytes of each number are swapped
    double coherence = 0.0;    ///< of all slots of its schedule together, weighted by power
    double chance = 1.0;       ///< max probability of that coherence in the best trial without such pilots

    /// Of the equalised symbols, measured if the pilots were found.
    double excess = 1.0;  ///< their noise over what DM-RS and equaliser make expected; 1 if the link is right
    double evm = 0.0;     ///< of the median symbol: a ratio

    /// True if the pilots were found: the coherence is at least min_coherence(), and chance is at most 1e-6.
    [[nodiscard]] bool is_found() const;
    /// True if the symbols are as expected too: an excess of at most 2.5 (4 dB), or an EVM of at most 3 %.
    [[nodiscard]] bool fits() const;
};

/// The result of a diagnosis.
struct PHY_EXPORT Diagnosis {
    Trial best;              ///< an empty change: the link as it is
    Trial given;             ///< the link as it is
    std::size_t tried = 0;   ///< number of settings tried
    bool cancelled = false;  ///< stopped on request: `best` is that of the settings tried so far

    /// If the pilots were found: what of the best link the symbols confirm, and what they leave open. Nothing
    /// but decoding shows whether identities of the scrambling and the order of ports and resource blocks are
    /// right.
    std::vector<std::string> agreeing = {};
    std::vector<std::string> undecided = {};
};

/// Searches for a link that matches the capture, by one change at a time from the best so far.
///
/// First the DM-RS: it tries all combinations of the first slot's number, n_SCID and type of DM-RS, and their
/// symbols (those of every mapping type, number of additional positions and length that fit into the
/// allocation) with the input as it is; with I and Q swapped; with ports of another CDM group; with the bytes
/// of each number swapped; with up to six whole subcarriers of frequency offset to either side and with the
/// opposite frequency_shift; with slots that begin anywhere, where cyclic prefixes allow it; and with the
/// listed identities. The search ends when pilots are found: the probability that the best of all settings
/// tried agrees so well by chance is at most 1e-6. Among equals the unchanged link comes first. With
/// transform precoding DM-RS without hopping do not depend on the slot, and n_SCID and type 2 are not tried.
///
/// Then what DM-RS leave open, by the symbols of up to four slots: ports and number of layers, CDM groups
/// without data, power of the DM-RS, f0 (0, the given ones, and the nearest of usual rasters; then any) and
/// modulation. A change needs clearly better symbols. f0 shows modulo the rate of OFDM symbols, at 15 kHz
/// modulo 1.92 MHz.
///
/// input: of samples (antennas, samples), with Link::carrier.first_sample where a slot begins, or none if
/// that is unknown; they need a frame to find slots of a schedule. Of grids (slots, antennas,
/// Receiver::input_per_slot()). Uses 20 slots from the first on, whether or not they are occasions. Throws
/// ArgumentError as Receiver does, and if the input has no slot.
PHY_EXPORT Diagnosis diagnose(const Host& host, const ReceiverConfig& config, SymbolView input,
                              const DiagnoseOptions& options = {});

}  // namespace phy
