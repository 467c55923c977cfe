#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "phy/demapper/stage.hpp"
#include "phy/scrambling/signs.hpp"

namespace phy::detail {

/// Counts of all runners of a stage, in completed runs.
class SharedDemapCounters {
public:
    void add(const DemapCounters& counters) {
        const std::lock_guard lock(mutex_);
        sum_.erasures += counters.erasures;
        sum_.saturated += counters.saturated;
    }

    [[nodiscard]] DemapCounters sum() const {
        const std::lock_guard lock(mutex_);
        return sum_;
    }

private:
    mutable std::mutex mutex_;
    DemapCounters sum_;
};

/// Words that hold one bit per soft bit of so many symbols.
inline std::size_t sign_words(const SoftDemapStage::Config& config, std::size_t symbols) {
    return (symbols * bits_per_symbol(config.demapper.modulation) + 31) / 32;
}

/// Calls write(SignBits) for the part of each codeword in a chunk.
template <typename Write>
void for_codewords(const SoftDemapStage::Config& config, const Chunk& chunk, const Write& write) {
    const Descrambling& descramble = *config.descramble;
    const std::uint64_t qm = bits_per_symbol(config.demapper.modulation);
    const std::optional<std::uint64_t>& codeword = descramble.codeword_symbols;
    for (std::uint64_t done = 0; done < chunk.items;) {
        const std::uint64_t index = descramble.first_symbol + chunk.first + done;
        const std::uint64_t in_codeword = codeword ? index % *codeword : index;
        const std::uint64_t left = chunk.items - done;
        const std::uint64_t now = codeword ? std::min(left, *codeword - in_codeword) : left;
        write(SignBits{.begin = done * qm, .count = now * qm, .first = in_codeword * qm});
        done += now;
    }
}

/// The configuration and the counters must outlive the runner.
std::unique_ptr<StageRunner> make_demap_on_device(const SoftDemapStage::Config& config, int device,
                                                  SharedDemapCounters& total);

}  // namespace phy::detail
