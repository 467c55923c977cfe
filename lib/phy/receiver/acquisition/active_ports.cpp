#include "phy/receiver/acquisition/active_ports.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <iterator>
#include <utility>

#include "phy/numerics/elementary.hpp"
#include "phy/receiver/acquisition/samples.hpp"

namespace phy::detail {
namespace {

using Complex = std::complex<double>;

/// Min power of a port, as a share of the strongest one's.
constexpr double min_share = 0.1;
/// Standard deviations that decide.
constexpr double deviations = 6.0;

/// Sums over neighbouring code pairs of one port.
struct PortSums {
    Complex agreeing = 0.0;  ///< products of neighbours
    double energy = 0.0;
    double products = 0.0;

    [[nodiscard]] double power() const {
        return products > 0.0 ? std::sqrt(std::norm(agreeing)) / products : 0.0;
    }
    /// Of the power, without such pilots.
    [[nodiscard]] double deviation() const {
        return products > 0.0 ? energy / products / std::sqrt(products) : 0.0;
    }
};

/// A code pair: pilots of neighbouring subcarriers of a CDM group, without their sequence.
using CodePair = std::array<Complex, 2>;

/// The pilots of a range, symbol and CDM group at one antenna.
std::vector<CodePair> pairs_of(const SlotAllocation& allocation, int group, const ResourceBlocks& range,
                               const cf32* row, const cf32* pilots) {
    const int type = allocation.dmrs.type;
    const int of_block = pilots_per_resource_block(type);
    std::vector<CodePair> pairs(static_cast<std::size_t>(range.count * of_block / 2));
    for (int i = 0; i < range.count * of_block; ++i) {
        const int subcarrier = subcarriers_per_resource_block * (range.first + i / of_block) +
                               pilot_subcarrier(type, group, i % of_block);
        pairs[static_cast<std::size_t>(i / 2)][static_cast<std::size_t>(i % 2)] =
            Complex(finite(row[subcarrier])) * std::conj(Complex(pilots[i]));
    }
    return pairs;
}

class PortMeter {
public:
    PortMeter(const SlotAllocation& allocation, std::span<const cf32> grid, std::span<const int> slots,
              std::size_t antennas)
        : allocation_(allocation),
          grid_(grid),
          slots_(slots),
          antennas_(antennas),
          length_(static_cast<std::size_t>(allocation.dmrs.length)) {}

    std::vector<PortSums> operator()() {
        visit([this](int /*group*/, const std::vector<CodePair>* symbols) { add_rotation(symbols[0]); });
        // Neighbouring pairs are 4 or 6 subcarriers apart, the pilots of a pair 2 or 1.
        const double apart = allocation_.dmrs.type == 1 ? 0.5 : 1.0 / 6.0;
        back_ = elementary::phasor(apart * elementary::angle_of(rotation_));
        const int groups = allocation_.dmrs.type == 1 ? 2 : 3;
        sums_.resize(static_cast<std::size_t>(2 * groups) * length_);
        visit([this](int group, const std::vector<CodePair>* symbols) { add_ports(group, symbols); });
        return std::move(sums_);
    }

private:
    /// Calls visitor with the pairs of each range, antenna, CDM group and DM-RS: `length` arrays.
    template <typename Visitor>
    void visit(Visitor visitor);

    /// Delay rotates each pair against the next.
    void add_rotation(const std::vector<CodePair>& pairs) {
        for (std::size_t i = 0; i + 1 < pairs.size(); ++i)
            for (std::size_t k = 0; k < 2; ++k)
                rotation_ += pairs[i][k] * std::conj(pairs[i + 1][k]);
    }

    void add_ports(int group, const std::vector<CodePair>* symbols);

    const SlotAllocation& allocation_;
    std::span<const cf32> grid_;
    std::span<const int> slots_;
    std::size_t antennas_;
    std::size_t length_;
    Complex rotation_ = 0.0;
    Complex back_ = 1.0;
    std::vector<PortSums> sums_;
};

template <typename Visitor>
void PortMeter::visit(Visitor visitor) {
    const auto width = static_cast<std::size_t>(allocation_.subcarriers());
    const int groups = allocation_.dmrs.type == 1 ? 2 : 3;
    const std::vector<int>& dmrs = allocation_.dmrs.symbols;
    std::vector<cf32> pilots(dmrs_pilot_count(allocation_));
    const std::size_t of_symbol = pilots.size() / dmrs.size();
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
        dmrs_pilots(allocation_, slots_[slot], pilots);
        for (std::size_t first = 0; first + length_ <= dmrs.size(); first += length_) {
            std::size_t before = 0;
            for (const ResourceBlocks& range : allocation_.resource_blocks) {
                for (std::size_t antenna = 0; antenna < antennas_; ++antenna) {
                    for (int group = 0; group < groups; ++group) {
                        std::vector<CodePair> symbols[2];
                        for (std::size_t i = 0; i < length_; ++i) {
                            const std::size_t row = (slot * antennas_ + antenna) * symbols_per_slot +
                                                    static_cast<std::size_t>(dmrs[first + i]);
                            symbols[i] = pairs_of(allocation_, group, range, grid_.data() + row * width,
                                                  pilots.data() + (first + i) * of_symbol + before);
                        }
                        visitor(group, symbols);
                    }
                }
                before +=
                    static_cast<std::size_t>(range.count * pilots_per_resource_block(allocation_.dmrs.type));
            }
        }
    }
}

void PortMeter::add_ports(int group, const std::vector<CodePair>* symbols) {
    for (std::size_t port = 0; port < sums_.size(); ++port) {
        const DmrsPort code = dmrs_port(allocation_.dmrs.type, static_cast<int>(port));
        if (code.cdm_group != group) continue;
        const auto despread = [&](std::size_t i) {
            Complex sum = 0.0;
            for (std::size_t l = 0; l < length_; ++l)
                sum +=
                    static_cast<double>(code.in_time[l]) *
                    (symbols[l][i][0] + static_cast<double>(code.in_frequency[1]) * back_ * symbols[l][i][1]);
            return sum / static_cast<double>(2 * length_);
        };
        PortSums& sums = sums_[port];
        Complex last = 0.0;
        for (std::size_t i = 0; i < symbols[0].size(); ++i) {
            const Complex now = despread(i);
            if (i > 0) {
                sums.agreeing += last * std::conj(now);
                sums.energy += 0.5 * (std::norm(last) + std::norm(now));
                sums.products += 1.0;
            }
            last = now;
        }
    }
}

}  // namespace

std::vector<int> active_ports(const SlotAllocation& allocation, std::span<const cf32> grid,
                              std::span<const int> slots, std::size_t antennas) {
    const std::vector<PortSums> sums = PortMeter(allocation, grid, slots, antennas)();
    double strongest = 0.0;
    for (const PortSums& port : sums)
        strongest = std::max(strongest, port.power());
    const std::vector<int>& own = allocation.dmrs.ports;
    const auto is_active = [&](int port) {
        const PortSums& of_port = sums[static_cast<std::size_t>(port)];
        const double by_chance = deviations * of_port.deviation();
        if (of_port.power() > std::max(min_share * strongest, by_chance)) return true;
        const bool is_absent = of_port.power() + by_chance < min_share * strongest;
        return !is_absent && std::find(own.begin(), own.end(), port) != own.end();
    };
    std::vector<int> ports;
    std::copy_if(own.begin(), own.end(), std::back_inserter(ports), is_active);
    for (int port = 0; port < static_cast<int>(sums.size()); ++port)
        if (std::find(own.begin(), own.end(), port) == own.end() && is_active(port)) ports.push_back(port);
    if (ports.size() > static_cast<std::size_t>(max_layers)) ports.clear();
    return ports;
}

}  // namespace phy::detail
