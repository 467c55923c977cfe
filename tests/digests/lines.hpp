#pragma once

#include <map>
#include <string>
#include <utility>

#include "digests/section.hpp"
#include "digests/variants.hpp"

/// Adds all lines of a section from one Outputs.
namespace phy_test {

/// Caches signals, because making them takes longer than demapping.
class Signals {
public:
    const Signal& get(const std::string& modulation, const std::string& format, std::size_t symbols) {
        const auto [found, is_new] = signals_.try_emplace({modulation + "/" + format, symbols});
        if (is_new) found->second = make_signal(modulation, format, symbols);
        return found->second;
    }

private:
    std::map<std::pair<std::string, std::size_t>, Signal> signals_;
};

template <typename Demap>
void add_soft_lines(Section& section, Outputs& way, const std::vector<SoftLine>& lines, Demap demap) {
    Signals signals;
    for (const SoftLine& line : lines) {
        const Signal& signal = signals.get(line.call.modulation, line.call.input, line.symbols);
        section.add(line.name, (way.*demap)(line.call, signal), way.name());
    }
}

inline void add_batch_lines(Section& section, Outputs& way, const std::vector<BatchLine>& lines) {
    for (const BatchLine& line : lines) {
        std::vector<Signal> signals;
        for (std::size_t n = 0; n < line.calls.size(); ++n)
            signals.push_back(make_signal(line.calls[n].modulation, line.calls[n].input, line.symbols[n]));
        section.add(line.name, way.batch(line.calls, signals), way.name());
    }
}

inline void add_map_lines(Section& section, Outputs& way, const std::vector<MapLine>& lines) {
    const std::vector<std::uint8_t> bits = make_bits(10 * usual_symbols);
    for (const MapLine& line : lines)
        section.add(line.name, way.mapped(line.call, bits), way.name());
}

}  // namespace phy_test
