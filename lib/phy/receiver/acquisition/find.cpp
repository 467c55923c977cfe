#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/dmrs/dmrs.hpp"
#include "phy/numerics/elementary.hpp"
#include "phy/ofdm/demodulator.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"
#include "phy/receiver/acquisition/correlator.hpp"
#include "phy/receiver/acquisition/evidence.hpp"
#include "phy/receiver/chain/plan.hpp"

namespace phy {
namespace {

using detail::AntennaSamples;
using detail::Evidence;

/// Max probability that the search of a frame without the slot finds one.
constexpr double false_alarm = 1e-6;
/// Positions of a frame with the strongest correlation that are examined in the grid.
constexpr std::size_t max_candidates = 48;
/// Positions where further slots are examined if no position passes by itself, and the number of slots.
constexpr std::size_t max_reexamined = 12;
constexpr std::size_t max_occasions = 8;
/// Min correlation of an earlier position, as a share of the best one's.
constexpr double min_correlation_share = 0.5;

struct Candidate {
    std::int64_t position = 0;
    float share = 0.0F;        ///< of the power in time
    double log_chance = 0.0;   ///< ln of the probability without the slot
    double correlation = 0.0;  ///< of pilots
};

std::size_t distance(const Candidate& a, const Candidate& b) {
    return static_cast<std::size_t>(std::max(a.position, b.position) - std::min(a.position, b.position));
}

bool by_chance(const Candidate& a, const Candidate& b) {
    return a.log_chance < b.log_chance;
}

/// Searches a recording for a slot of a schedule, and for those that follow it.
class Search {
public:
    Search(const Host& host, const detail::ReceiverPlan& plan, SymbolView samples);

    std::optional<FoundSlot> operator()();

private:
    [[nodiscard]] std::vector<Candidate> strongest(std::int64_t first,
                                                   const std::vector<float>& shares) const;
    void look_closely(Candidate& candidate, std::size_t occasions);
    void add_slot(std::uint64_t slot, std::int64_t position, Evidence& evidence);
    [[nodiscard]] bool is_whole(std::uint64_t slot, std::int64_t position, std::int64_t lacking = 0) const;
    [[nodiscard]] std::uint64_t next_slot(std::uint64_t slot) const;
    [[nodiscard]] std::vector<Candidate> convincing(const std::vector<Candidate>& candidates,
                                                    std::size_t positions) const;
    [[nodiscard]] std::optional<Candidate> earliest(std::vector<Candidate> convincing) const;
    std::optional<Candidate> find(std::int64_t first, std::size_t positions);

    const Link& link_;
    std::uint64_t slot_;
    AntennaSamples samples_;
    OfdmDemodulator demodulate_;
    const OfdmTiming& timing_;
    std::size_t slot_samples_;
    detail::DmrsCorrelator correlate_;
    std::vector<cf32> slot_copy_;  ///< (antennas, slot)
    std::vector<float> re_;
    std::vector<float> im_;
    std::vector<cf32> grid_;
    std::vector<cf32> pilots_;
};

Search::Search(const Host& host, const detail::ReceiverPlan& plan, SymbolView samples)
    : link_(plan.config.link),
      slot_(static_cast<std::uint64_t>(searched_slot(link_))),
      samples_{.all = samples, .antennas = plan.antennas, .length = samples.size() / plan.antennas},
      demodulate_(host, *plan.demodulator),
      timing_(demodulate_.timing()),
      slot_samples_(timing_.slot_samples(slot_)),
      correlate_(detail::make_references(host, link_, plan.demodulator->ofdm, searched_slot(link_))),
      slot_copy_(plan.antennas * timing_.slot_samples(0)),
      re_(timing_.slot_samples(0)),
      im_(timing_.slot_samples(0)),
      grid_(plan.grid),
      pilots_(plan.pilots) {
    if (samples.size() % plan.antennas != 0)
        throw ArgumentError("samples has " + std::to_string(samples.size()) +
                            " elements: expected the same number for each of " +
                            std::to_string(plan.antennas) + " antennas");
    if (samples_.length < slot_samples_)
        throw ArgumentError("samples has " + std::to_string(samples_.length) +
                            " elements per antenna: expected at least " + std::to_string(slot_samples_) +
                            ", the elements of a slot");
}

/// The strongest positions of short stretches, without those on the slope of another.
std::vector<Candidate> Search::strongest(std::int64_t first, const std::vector<float>& shares) const {
    const std::size_t stretch = timing_.fft_size() / 8;
    std::vector<Candidate> all;
    for (std::size_t begin = 0; begin < shares.size(); begin += stretch) {
        const auto from = shares.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto to = from + static_cast<std::ptrdiff_t>(std::min(stretch, shares.size() - begin));
        const auto largest = std::max_element(from, to);
        all.push_back({.position = first + (largest - shares.begin()), .share = *largest});
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Candidate& a, const Candidate& b) { return a.share > b.share; });
    std::vector<Candidate> kept;
    for (const Candidate& candidate : all) {
        const auto is_near = [&](const Candidate& other) { return distance(candidate, other) < stretch / 2; };
        if (kept.size() == max_candidates) break;
        if (candidate.share > 0.0F && std::none_of(kept.begin(), kept.end(), is_near))
            kept.push_back(candidate);
    }
    return kept;
}

std::uint64_t Search::next_slot(std::uint64_t slot) const {
    if (link_.slots.empty()) return slot + 1;
    const auto of_frame = static_cast<std::uint64_t>(slots_per_frame(link_.carrier));
    const auto is_used = [&](std::uint64_t number) {
        return std::find(link_.slots.begin(), link_.slots.end(), static_cast<int>(number % of_frame)) !=
               link_.slots.end();
    };
    do
        ++slot;
    while (!is_used(slot));
    return slot;
}

void Search::add_slot(std::uint64_t slot, std::int64_t position, Evidence& evidence) {
    const std::size_t count = timing_.slot_samples(slot);
    for (std::size_t antenna = 0; antenna < samples_.antennas; ++antenna) {
        samples_.read(antenna, position, count, re_.data(), im_.data());
        for (std::size_t i = 0; i < count; ++i)
            slot_copy_[antenna * count + i] = {re_[i], im_[i]};
    }
    demodulate_(std::span(slot_copy_).first(samples_.antennas * count), {.first = slot}, grid_);
    dmrs_pilots(link_.allocation, static_cast<int>(slot % timing_.slots_per_frame()), pilots_);
    evidence.add(link_.allocation, grid_, pilots_);
}

/// lacking: samples that the slot may lack at either end.
bool Search::is_whole(std::uint64_t slot, std::int64_t position, std::int64_t lacking) const {
    const auto end = position + static_cast<std::int64_t>(timing_.slot_samples(slot));
    return position >= -lacking && end <= static_cast<std::int64_t>(samples_.length) + lacking;
}

void Search::look_closely(Candidate& candidate, std::size_t occasions) {
    Evidence evidence;
    std::uint64_t slot = slot_;
    for (std::size_t i = 0; i < occasions; ++i, slot = next_slot(slot)) {
        const std::uint64_t distance = timing_.slot_start(slot) - timing_.slot_start(slot_);
        const std::int64_t position = candidate.position + static_cast<std::int64_t>(distance);
        if (i > 0 && !is_whole(slot, position)) break;
        add_slot(slot, position, evidence);
        if (i == 0) candidate.correlation = evidence.correlation();
    }
    candidate.log_chance = std::min(candidate.log_chance, evidence.log_chance());
}

std::vector<Candidate> Search::convincing(const std::vector<Candidate>& candidates,
                                          std::size_t positions) const {
    // Neighbouring positions are alike if the allocation is narrower than the samples' band.
    int subcarriers = 0;
    for (const ResourceBlocks& range : link_.allocation.resource_blocks)
        subcarriers += range.count * subcarriers_per_resource_block;
    const double share = subcarriers / static_cast<double>(timing_.fft_size());
    const double trials = std::max(share * static_cast<double>(positions), 1.0);
    std::vector<Candidate> result;
    for (const Candidate& candidate : candidates)
        if (candidate.log_chance + detail::elementary::log(trials) < detail::elementary::log(false_alarm))
            result.push_back(candidate);
    return result;
}

/// Among neighbours less than a slot apart the most certain counts: a DM-RS symbol matches another one of the
/// same slot. Among complete slots it is the first that is not far below the best.
std::optional<Candidate> Search::earliest(std::vector<Candidate> convincing) const {
    std::stable_sort(convincing.begin(), convincing.end(), by_chance);
    std::vector<Candidate> kept;
    for (const Candidate& candidate : convincing) {
        const auto is_near = [&](const Candidate& other) {
            return distance(candidate, other) + timing_.fft_size() / 2 < slot_samples_;
        };
        if (std::none_of(kept.begin(), kept.end(), is_near)) kept.push_back(candidate);
    }
    // The strongest path may be late, and the position off.
    const auto lacking = static_cast<std::int64_t>(timing_.prefix_samples(slot_, 1) / 2);
    std::erase_if(kept,
                  [&](const Candidate& candidate) { return !is_whole(slot_, candidate.position, lacking); });
    if (kept.empty()) return {};
    const double least = min_correlation_share * kept.front().correlation;
    std::erase_if(kept, [&](const Candidate& candidate) { return candidate.correlation < least; });
    return *std::min_element(kept.begin(), kept.end(),
                             [](const Candidate& a, const Candidate& b) { return a.position < b.position; });
}

/// Searches neighbouring positions.
std::optional<Candidate> Search::find(std::int64_t first, std::size_t positions) {
    std::vector<Candidate> candidates = strongest(first, correlate_(samples_, first, positions));
    for (Candidate& candidate : candidates)
        look_closely(candidate, 1);
    std::vector<Candidate> sure = convincing(candidates, positions);
    if (sure.empty()) {
        std::stable_sort(candidates.begin(), candidates.end(), by_chance);
        candidates.resize(std::min(candidates.size(), max_reexamined));
        for (Candidate& candidate : candidates)
            look_closely(candidate, max_occasions);
        sure = convincing(candidates, positions);
    }
    return earliest(sure);
}

std::optional<FoundSlot> Search::operator()() {
    // Pilots repeat within a symbol, so positions up to half a symbol away match in part. The search includes
    // positions with a truncated slot, so that such a neighbour is not taken instead.
    const std::size_t margin = timing_.fft_size();
    const std::size_t frame = timing_.slot_start(timing_.slots_per_frame());
    const std::size_t all = samples_.length - slot_samples_ + 1 + 2 * margin;
    for (std::size_t first = 0; first < all; first += frame) {
        const std::size_t positions = std::min(frame + margin, all - first);
        const auto position = static_cast<std::int64_t>(first) - static_cast<std::int64_t>(margin);
        const std::optional<Candidate> found = find(position, positions);
        const auto last = static_cast<std::int64_t>(samples_.length - slot_samples_);
        if (found)
            return FoundSlot{.first_sample = static_cast<std::uint64_t>(
                                 std::clamp<std::int64_t>(found->position, 0, last)),
                             .correlation = found->correlation};
    }
    return {};
}

}  // namespace

int searched_slot(const Link& link) {
    return link.slots.empty() ? link.carrier.first_slot : link.slots.front();
}

std::optional<FoundSlot> find_first_slot(const Host& host, const ReceiverConfig& config, SymbolView samples) {
    if (config.input != ReceiverInput::samples)
        throw ArgumentError("input is a grid: expected samples to search for slots");
    const detail::ReceiverPlan plan(config);
    return Search(host, plan, samples)();
}

}  // namespace phy
