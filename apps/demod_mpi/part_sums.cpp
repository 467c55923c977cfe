#include "demod_mpi/part_sums.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <variant>

#include "common/number.hpp"
#include "phy/core/error.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"

namespace phy::apps {
namespace {

PartSums sums_of(const Demodulation& done) {
    return {.soft_bits = done.soft_bits,
            .saturated = done.counters.saturated,
            .bit_errors = done.bit_errors.value_or(0),
            .compared_bits = done.compared_bits,
            .warnings = done.warnings};
}

PartSums sums_of(const Reception& done) {
    const double least = min_coherence(done.link.allocation);
    const auto has_dmrs = [least](const SlotReport& report) { return report.coherence >= least; };
    return {.slots = done.slots,
            .slots_with_dmrs = static_cast<std::uint64_t>(std::ranges::count_if(done.reports, has_dmrs)),
            .soft_bits = done.soft_bits,
            .saturated = done.saturated,
            .bit_errors = done.bit_errors.value_or(0),
            .compared_bits = done.compared_bits,
            .transport_blocks = done.transport_blocks.size(),
            .valid_transport_blocks = done.valid_transport_blocks,
            .warnings = done.warnings};
}

/// Numbers of the sums in the order of their lines.
template <typename Sums, typename Visit>
void visit_numbers(Sums& sums, Visit visit) {
    visit(sums.slots);
    visit(sums.slots_with_dmrs);
    visit(sums.soft_bits);
    visit(sums.saturated);
    visit(sums.bit_errors);
    visit(sums.compared_bits);
    visit(sums.transport_blocks);
    visit(sums.valid_transport_blocks);
}

}  // namespace

void PartSums::add(const PartSums& other) {
    std::vector<std::uint64_t> numbers;
    visit_numbers(other, [&](std::uint64_t number) { numbers.push_back(number); });
    auto next = numbers.begin();
    visit_numbers(*this, [&](std::uint64_t& number) { number += *next++; });
    for (const std::string& warning : other.warnings)
        if (std::ranges::find(warnings, warning) == warnings.end()) warnings.push_back(warning);
}

PartSums sums_of(const Demodulated& done) {
    return std::visit([](const auto& result) { return sums_of(result); }, done);
}

std::string to_text(const PartSums& sums) {
    std::string text;
    visit_numbers(sums, [&](std::uint64_t number) { text += std::to_string(number) + "\n"; });
    for (std::string warning : sums.warnings) {
        std::ranges::replace(warning, '\n', ' ');
        text += warning + "\n";
    }
    return text;
}

PartSums parse_sums(const std::string& text) {
    std::istringstream in(text);
    PartSums sums;
    std::string line;
    visit_numbers(sums, [&](std::uint64_t& number) {
        const bool is_there = static_cast<bool>(std::getline(in, line));
        const auto value = is_there ? parse_number<std::uint64_t>(line) : std::nullopt;
        if (!value) throw FileError("sums of a part: expected whole numbers, one in a line");
        number = *value;
    });
    while (std::getline(in, line))
        sums.warnings.push_back(line);
    return sums;
}

}  // namespace phy::apps
