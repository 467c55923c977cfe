#include "phy/receiver/acquisition/precoded_ptrs_search.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <span>

#include "phy/core/error.hpp"
#include "phy/dmrs/pilots.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"

namespace phy::detail {
namespace {

/// PT-RS of a right link agree by at least this share of what noise leaves of them.
constexpr double min_share = 0.5;

/// If PT-RS are in every second symbol, all symbols together agree by less than this share of those.
constexpr double min_share_of_all = 0.75;

ReceiverConfig of_all_samples(ReceiverConfig config) {
    config.link.allocation = without_ptrs(config.link.allocation);
    config.phase_tracking = false;
    return config;
}

}  // namespace

PrecodedPtrsSearch::PrecodedPtrsSearch(const Host& host, const ReceiverConfig& config)
    : allocation_(config.link.allocation),
      receive_(host, of_all_samples(config)),
      symbols_(receive_.symbols_per_slot()),
      noise_variance_(symbols_.size()) {
    for (const PtrsGroups& groups : ptrs_groups)
        for (const int time_density : {1, 2})
            add_candidates(
                {.time_density = time_density, .groups = groups.count, .samples_per_group = groups.samples});
}

void PrecodedPtrsSearch::add_candidates(const PtrsConfig& ptrs) {
    Candidate candidate;
    candidate.allocation = allocation_;
    candidate.allocation.ptrs = ptrs;
    try {
        candidate.samples = precoder_input(candidate.allocation).ptrs;
    } catch (const ArgumentError&) {
        return;  // they overlap in so few resource blocks
    }
    if (candidate.samples.empty()) return;
    candidate.sequence.resize(ptrs_pilot_count(candidate.allocation));
    for (int row = 0; row < ptrs.samples_per_group; ++row) {
        candidate.allocation.ptrs->rnti = static_cast<std::uint32_t>(row);
        candidates_.push_back(candidate);
    }
}

void PrecodedPtrsSearch::add(SymbolView input, std::uint64_t occasion) {
    ReceivedSlot slot;
    receive_(input, occasion,
             {.slots = std::span(&slot, 1), .symbols = symbols_, .noise_variance = noise_variance_});
    if (!(static_cast<double>(slot.estimate.coherence) >= min_coherence(allocation_))) return;
    for (const float noise : noise_variance_) {
        if (!std::isfinite(noise)) continue;
        noise_ += static_cast<double>(noise);
        samples_ += 1.0;
    }
    for (Candidate& candidate : candidates_) {
        ptrs_pilots(candidate.allocation, receive_.schedule().slot_in_frame(occasion), candidate.sequence);
        for (std::size_t i = 0; i < candidate.samples.size(); i += candidate.sequence.size())
            add_symbol(candidate, i);
    }
}

/// |sum of x d*|^2 over what it is if all x are d, rotated: 1 over their number by chance.
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
double PrecodedPtrsSearch::Candidate::sure_power() const {
    return 1.0 + 9.0 / std::sqrt(symbols) + 30.0 / symbols;
}

bool PrecodedPtrsSearch::Candidate::is(const PtrsConfig& ptrs) const {
    const PtrsConfig& mine = *allocation.ptrs;
    return mine.time_density == ptrs.time_density && mine.groups == ptrs.groups &&
           mine.samples_per_group == ptrs.samples_per_group &&
           mine.rnti == ptrs.rnti % static_cast<std::uint32_t>(ptrs.samples_per_group);
}

/// By how many samples are PT-RS: those of few groups may be some of those of many. Then by the symbols.
const PrecodedPtrsSearch::Candidate* PrecodedPtrsSearch::best() const {
    const Candidate* best = nullptr;
    for (const Candidate& candidate : candidates_)
        if (candidate.power() > candidate.sure_power() &&
            (best == nullptr || candidate.power() > best->power()))
            best = &candidate;
    if (best == nullptr || best->allocation.ptrs->time_density == 1) return best;
    PtrsConfig in_all = *best->allocation.ptrs;
    in_all.time_density = 1;
    for (const Candidate& candidate : candidates_)
        if (candidate.is(in_all) && candidate.power() > candidate.sure_power() &&
            candidate.power() > min_share_of_all * best->power())
            return &candidate;
    return best;
}

PtrsSigns PrecodedPtrsSearch::signs() const {
    PtrsSigns signs;
    if (samples_ == 0.0) return signs;
    const Candidate* const found = best();
    const double left = 1.0 / (1.0 + noise_ / samples_);
    if (found != nullptr && found->mean() > min_share * left &&
        !(allocation_.ptrs && found->is(*allocation_.ptrs)))
        signs.precoded = found->allocation.ptrs;
    if (!allocation_.ptrs || signs.precoded) return signs;
    for (const Candidate& candidate : candidates_) {
        const auto count = static_cast<double>(candidate.sequence.size());
        const bool would_be_sure = left * count > candidate.sure_power();
        if (candidate.is(*allocation_.ptrs) && candidate.symbols > 0.0 && would_be_sure)
            signs.are_missing = candidate.mean() < min_share * left;
    }
    return signs;
}

}  // namespace phy::detail
