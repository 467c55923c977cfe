#include "phy/receiver/acquisition/precoded_ptrs_search.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <span>

#include "phy/core/error.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"

namespace phy::detail {
namespace {

/// PT-RS of a right link agree by at least this share of what noise leaves of them.
constexpr double min_share = 0.5;

/// In every second symbol PT-RS agree this much less where every symbol is taken.
constexpr double min_share_of_all = 0.75;

ReceiverConfig without_ptrs(ReceiverConfig config) {
    config.link.allocation.ptrs.reset();
    config.phase_tracking = false;
    return config;
}

}  // namespace

PrecodedPtrsSearch::PrecodedPtrsSearch(const Host& host, const ReceiverConfig& config)
    : allocation_(config.link.allocation),
      receive_(host, without_ptrs(config)),
      symbols_(receive_.symbols_per_slot()),
      noise_variance_(symbols_.size()) {
    constexpr int sizes[][2] = {{2, 2}, {2, 4}, {4, 2}, {4, 4}, {8, 4}};
    for (const auto& [groups, samples] : sizes) {
        for (const int time_density : {1, 2}) {
            Candidate candidate;
            candidate.allocation = allocation_;
            candidate.allocation.ptrs = PtrsConfig{.time_density = time_density,
                                                   .groups = groups,
                                                   .samples_per_group = samples,
                                                   .rnti = config.link.scrambling.rnti};
            try {
                candidate.samples = precoded_samples(candidate.allocation).ptrs;
            } catch (const ArgumentError&) {
                continue;  // they overlap in so few resource blocks
            }
            if (candidate.samples.empty()) continue;
            candidate.sequence.resize(ptrs_pilot_count(candidate.allocation));
            candidates_.push_back(std::move(candidate));
        }
    }
}

void PrecodedPtrsSearch::add(SymbolView input, std::uint64_t occasion) {
    ReceivedSlot slot;
    receive_(input, occasion,
             {.slots = std::span(&slot, 1), .symbols = symbols_, .noise_variance = noise_variance_});
    if (!(static_cast<double>(slot.estimate.coherence) >= min_coherence(allocation_))) return;
    for (const float noise : noise_variance_)
        noise_ += std::min(static_cast<double>(noise), 1.0) / static_cast<double>(symbols_.size());
    slots_ += 1.0;
    for (Candidate& candidate : candidates_) {
        ptrs_pilots(candidate.allocation, receive_.schedule().slot_in_frame(occasion), candidate.sequence);
        for (std::size_t i = 0; i < candidate.samples.size(); i += candidate.sequence.size())
            add_symbol(candidate, i);
    }
}

/// |sum of x d*|^2 over what it is if all x are d, turned: 1 over their number by chance.
void PrecodedPtrsSearch::add_symbol(Candidate& candidate, std::size_t first) const {
    std::complex<double> sum = 0.0;
    double power = 0.0;
    for (std::size_t i = 0; i < candidate.sequence.size(); ++i) {
        const std::complex<double> x = symbols_[candidate.samples[first + i]];
        sum += x * std::conj(std::complex<double>(candidate.sequence[i]));
        power += std::norm(x);
    }
    if (!(power > 0.0) || !std::isfinite(power)) return;
    candidate.agreement += std::norm(sum) / (power * static_cast<double>(candidate.sequence.size()));
    candidate.symbols += 1.0;
}

/// Shares of data, times their number, have a mean of 1 and at most the tail of a square of a normal
/// variable.
bool PrecodedPtrsSearch::Candidate::is_sure() const {
    const double limit = 1.0 + 9.0 / std::sqrt(symbols) + 30.0 / symbols;
    return symbols > 0.0 && mean() * static_cast<double>(sequence.size()) > limit;
}

bool PrecodedPtrsSearch::Candidate::is(const PtrsConfig& ptrs) const {
    return allocation.ptrs->time_density == ptrs.time_density && allocation.ptrs->groups == ptrs.groups &&
           allocation.ptrs->samples_per_group == ptrs.samples_per_group;
}

/// Of those in every symbol and in every second one of the same samples, the former if all agree.
const PrecodedPtrsSearch::Candidate* PrecodedPtrsSearch::best() const {
    const Candidate* best = nullptr;
    for (const Candidate& candidate : candidates_) {
        if (!candidate.is_sure()) continue;
        const bool has_pair =
            best != nullptr && best->allocation.ptrs->groups == candidate.allocation.ptrs->groups &&
            best->allocation.ptrs->samples_per_group == candidate.allocation.ptrs->samples_per_group;
        const double share = has_pair ? min_share_of_all : 1.0;
        if (best == nullptr || share * candidate.mean() > best->mean()) best = &candidate;
    }
    return best;
}

PtrsSigns PrecodedPtrsSearch::signs() const {
    PtrsSigns signs;
    if (slots_ == 0.0) return signs;
    const Candidate* const found = best();
    const double left = 1.0 / (1.0 + noise_ / slots_);
    if (found != nullptr && found->mean() > min_share * left &&
        !(allocation_.ptrs && found->is(*allocation_.ptrs)))
        signs.precoded = found->allocation.ptrs;
    for (const Candidate& candidate : candidates_)
        if (allocation_.ptrs && candidate.is(*allocation_.ptrs) && !signs.precoded)
            signs.are_missing = candidate.mean() < min_share * left;
    return signs;
}

}  // namespace phy::detail
