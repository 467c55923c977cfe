#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/view.hpp"
#include "phy/machine/host.hpp"
#include "phy/measure/symbol_meter.hpp"
#include "phy/ofdm/demodulator.hpp"
#include "phy/receiver/acquisition/precoded_ptrs_search.hpp"
#include "phy/receiver/acquisition/ptrs_search.hpp"
#include "phy/receiver/chain/plan.hpp"
#include "phy/receiver/receiver.hpp"

/// Signs that a capture or its link is not what a receiver takes it for.
namespace phy::detail {

/// Fewer clear symbols show no error over noise: chance would decide.
inline constexpr std::uint64_t min_clear_symbols = 48;

/// Rms errors below this share of the distance between points change no bit, whatever their cause.
inline constexpr double harmless_error = 0.1;

/// Of the samples of an antenna.
struct SampleSigns {
    std::uint64_t components = 0;  ///< I and Q of all samples
    std::uint64_t at_limit = 0;    ///< components at their largest or smallest value
    double near_zero = 1.0;        ///< share of components below a quarter of the largest magnitude of a slot
    double line = 0.0;   ///< power of a line at frequency 0, over that of a subcarrier there; 0: none
    double image = 0.0;  ///< power of the mirror image, over that of the signal; 0: none
};

/// Of DM-RS and PT-RS, over slots.
struct PilotSigns {
    std::vector<int> missing;     ///< DM-RS symbols of the link that show no DM-RS, while others do
    std::vector<int> unexpected;  ///< data symbols of the link that show DM-RS
    PtrsSigns ptrs = {};
};

/// Of the equalised symbols, over slots.
struct SymbolSigns {
    /// The lowest and the highest resource block, if their symbols are not the link's.
    std::vector<int> foreign;
};

/// Examines slots one by one; a dozen are enough. Signs that chance or a right link may give with a
/// probability above about 1e-6 are none.
class Examination {
public:
    PHY_EXPORT Examination(const Host& host, const ReceiverConfig& config);

    /// input: that of a slot, as for Receiver; recorded: its samples before they were resampled to the rate
    /// of the receiver, (antennas, samples), and their rate.
    PHY_EXPORT void add(SymbolView input, std::uint64_t occasion);
    PHY_EXPORT void add(SymbolView input, std::uint64_t occasion, SymbolView recorded, double sample_rate);

    /// The worst of all antennas, member by member. Of grids: no signs.
    [[nodiscard]] PHY_EXPORT SampleSigns samples() const;
    [[nodiscard]] PHY_EXPORT PilotSigns pilots() const;
    [[nodiscard]] PHY_EXPORT SymbolSigns symbols() const;

private:
    struct BlockSums {
        int block = 0;
        bool is_uncertain = false;  ///< symbols of right links may be wrong
        SymbolSums sums = {};
    };

    /// Sums over the samples of an antenna.
    struct AntennaSums {
        float largest = 0.0F;
        float smallest = 0.0F;
        std::uint64_t at_largest = 0;
        std::uint64_t at_smallest = 0;
        std::uint64_t near_zero = 0;
        std::uint64_t samples = 0;
        std::complex<double> squares;        ///< sum of x^2
        double power = 0.0;                  ///< sum of |x|^2
        double squared_powers = 0.0;         ///< of the blocks
        std::complex<double> means;          ///< sum of the blocks' means
        std::complex<double> squared_means;  ///< sum of their mean^2
        double mean_powers = 0.0;            ///< sum of their |mean|^2
        std::uint64_t blocks = 0;
    };

    void load(SymbolView input);
    void add_samples(std::size_t stride, std::size_t length, double sample_rate);
    void add_block(AntennaSums& to, std::size_t first, std::size_t end) const;
    void add_signal(SymbolView input, std::uint64_t occasion);
    void add_pilots(SymbolView input, std::uint64_t occasion);
    void add_symbols(SymbolView input, std::uint64_t occasion);
    [[nodiscard]] double coherence(std::size_t symbol) const;
    [[nodiscard]] double best_coherence() const;
    [[nodiscard]] double line_of(const AntennaSums& sums) const;
    [[nodiscard]] double image_of(const AntennaSums& sums) const;

    ReceiverPlan plan_;
    SlotAllocation everywhere_;  ///< with DM-RS in every symbol
    /// The symbol in everywhere_ whose DM-RS sequence a symbol has.
    std::array<std::size_t, symbols_per_slot> symbol_of_sequence_;
    std::optional<OfdmDemodulator> demodulate_;
    std::optional<PtrsSearch> ptrs_;                   ///< none with transform precoding
    std::optional<PrecodedPtrsSearch> precoded_ptrs_;  ///< none without
    std::optional<Receiver> receive_;                  ///< none if symbols show nothing
    SymbolMeter meter_;
    ResourceMap map_;
    std::array<BlockSums, 3> blocks_;  ///< lowest, middle, highest
    std::vector<cf32> symbols_;        ///< of a slot
    std::vector<float> noise_variance_;
    double sample_rate_ = 0.0;  ///< of the samples that were added
    std::vector<float> re_;
    std::vector<float> im_;
    std::vector<cf32> grid_;
    std::vector<cf32> pilots_;
    std::vector<AntennaSums> antennas_;
    std::array<std::complex<double>, symbols_per_slot> correlation_ = {};
    std::array<double, symbols_per_slot> energy_ = {};
    std::array<double, symbols_per_slot> squared_energy_ = {};
};

}  // namespace phy::detail
