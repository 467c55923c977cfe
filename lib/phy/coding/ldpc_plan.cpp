#include "phy/coding/ldpc_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace phy::detail {
namespace {

using Row = std::span<const BaseGraphEntry>;

std::vector<Row> rows_of(const BaseGraphFacts& facts, int count) {
    std::vector<Row> rows;
    Row rest = facts.entries;
    for (int row = 0; row < count; ++row) {
        const auto end = std::find_if(rest.begin(), rest.end(),
                                      [&](const BaseGraphEntry& entry) { return entry.row != row; });
        const auto degree = static_cast<std::size_t>(end - rest.begin());
        rows.push_back(rest.first(degree));
        rest = rest.subspan(degree);
    }
    return rows;
}

std::ptrdiff_t punctured_in(Row row) {
    return std::count_if(row.begin(), row.end(),
                         [](const BaseGraphEntry& entry) { return entry.column < punctured_columns; });
}

}  // namespace

LdpcPlan::LdpcPlan(BaseGraph graph, int size, int used_columns)
    : lifting_size(size),
      columns(used_columns),
      information_columns(facts_of(graph).information_columns),
      frames(static_cast<std::size_t>(used_columns)) {
    const auto period = static_cast<std::uint32_t>(size);
    const auto set = static_cast<std::size_t>(lifting_size_set(size));
    std::vector<Row> rows = rows_of(facts_of(graph), used_columns - information_columns);
    std::reverse(rows.begin(), rows.end());
    std::stable_sort(rows.begin(), rows.end(),
                     [](Row a, Row b) { return punctured_in(a) < punctured_in(b); });
    for (const Row row : rows) {
        layers.push_back({.first_edge = static_cast<std::uint32_t>(edges.size()),
                          .degree = static_cast<std::uint32_t>(row.size())});
        for (const BaseGraphEntry& entry : row) {
            const std::uint32_t shift = entry.shifts[set] % period;
            edges.push_back({.column = entry.column, .shift = shift, .turn = 0, .from_frame = 0});
            frames[entry.column] = shift;
        }
    }
    std::vector<std::uint32_t> last = frames;
    for (LdpcEdge& edge : edges) {
        edge.turn = (edge.shift + period - last[edge.column]) % period;
        edge.from_frame = (edge.shift + period - frames[edge.column]) % period;
        last[edge.column] = edge.shift;
    }
}

}  // namespace phy::detail
