#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "phy/core/view.hpp"
#include "phy/machine/host.hpp"
#include "phy/receiver/acquisition/ptrs_search.hpp"
#include "phy/receiver/receiver.hpp"

namespace phy::detail {

/// Looks for PT-RS among the samples before transform precoding, by their sequences: each OFDM symbol by
/// itself, whose phase is not known. Tries all numbers of groups and samples, in every symbol and in every
/// second one, with the signs of each n_RNTI.
class PrecodedPtrsSearch {
public:
    PrecodedPtrsSearch(const Host& host, const ReceiverConfig& config);

    /// input: that of a slot, as for Receiver.
    void add(SymbolView input, std::uint64_t occasion);

    /// PT-RS that chance shows with a probability above about 1e-8 are not found.
    [[nodiscard]] PtrsSigns signs() const;

private:
    /// PT-RS as they may be.
    struct Candidate {
        SlotAllocation allocation;
        std::vector<std::uint32_t> samples;  ///< see PrecoderInput::ptrs
        std::vector<cf32> sequence;          ///< in an OFDM symbol of the slot
        double agreement = 0.0;              ///< sum over OFDM symbols of a share from 0 to 1
        double symbols = 0.0;                ///< their number

        [[nodiscard]] double mean() const { return symbols > 0.0 ? agreement / symbols : 0.0; }
        /// The number of samples that are PT-RS, if all of them are; 1 by chance.
        [[nodiscard]] double power() const { return mean() * static_cast<double>(sequence.size()); }
        [[nodiscard]] double sure_power() const;
        [[nodiscard]] bool is(const PtrsConfig& ptrs) const;
    };

    void add_candidates(const PtrsConfig& ptrs);
    void add_symbol(Candidate& candidate, std::size_t first) const;
    [[nodiscard]] const Candidate* best() const;

    SlotAllocation allocation_;  ///< of the link
    Receiver receive_;           ///< of all samples as data
    std::vector<cf32> symbols_;  ///< of a slot
    std::vector<float> noise_variance_;
    std::vector<Candidate> candidates_;
    double noise_ = 0.0;    ///< sum over samples of N0
    double samples_ = 0.0;  ///< their number
};

}  // namespace phy::detail
