#include "measure_mpi/part_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "phy/core/error.hpp"

namespace phy::apps {
namespace {

static_assert(std::is_trivially_copyable_v<SymbolSums>);

void append(std::string& bytes, const std::vector<SymbolSums>& sums) {
    bytes.append(reinterpret_cast<const char*>(sums.data()), sums.size() * sizeof(SymbolSums));
}

[[noreturn]] void refuse() {
    throw FileError("sums of a part: expected numbers, warnings and sums as they were written");
}

}  // namespace

std::string to_bytes(const MeasuredPart& part) {
    std::string bytes =
        fmt::format("{} {} {} {} {} {}\n", part.range.first, part.range.count, part.slots_with_dmrs,
                    part.warnings.size(), part.roots.size(), part.rows.size());
    bytes += part.settings + "\n";
    for (std::string warning : part.warnings) {
        std::ranges::replace(warning, '\n', ' ');
        bytes += warning + "\n";
    }
    append(bytes, part.roots);
    append(bytes, part.rows);
    return bytes;
}

MeasuredPart parse_part(const std::string& bytes) {
    std::istringstream in(bytes);
    MeasuredPart part;
    std::size_t warnings = 0;
    std::size_t roots = 0;
    std::size_t rows = 0;
    in >> part.range.first >> part.range.count >> part.slots_with_dmrs >> warnings >> roots >> rows;
    if (!in || in.get() != '\n') refuse();
    std::getline(in, part.settings);
    std::string warning;
    for (std::size_t i = 0; i < warnings && std::getline(in, warning); ++i)
        part.warnings.push_back(warning);
    if (!in) refuse();
    const std::size_t left = bytes.size() - static_cast<std::size_t>(in.tellg());
    const std::size_t sums = left / sizeof(SymbolSums);
    if (left % sizeof(SymbolSums) != 0 || roots > sums || rows != sums - roots) refuse();
    part.roots.resize(roots);
    part.rows.resize(rows);
    const auto read = [&in](std::vector<SymbolSums>& to) {
        in.read(reinterpret_cast<char*>(to.data()),
                static_cast<std::streamsize>(to.size() * sizeof(SymbolSums)));
    };
    read(part.roots);
    read(part.rows);
    return part;
}

}  // namespace phy::apps
