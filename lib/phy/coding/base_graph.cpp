#include "phy/coding/base_graph.hpp"

#include <iterator>
#include <string>

#include "phy/core/error.hpp"

namespace phy::detail {
namespace {

constexpr BaseGraphEntry entries_1[] = {
#include "phy/coding/base_graph_1.inc"
};
constexpr BaseGraphEntry entries_2[] = {
#include "phy/coding/base_graph_2.inc"
};
static_assert(std::size(entries_1) == max_base_entries);

constexpr BaseGraphFacts facts[] = {{.information_columns = 22, .rows = 46, .entries = entries_1},
                                    {.information_columns = 10, .rows = 42, .entries = entries_2}};
static_assert(facts[0].columns() == max_base_columns);

/// Sizes of a set are its factor times powers of 2.
constexpr int set_factors[] = {2, 3, 5, 7, 9, 11, 13, 15};

}  // namespace

const BaseGraphFacts& facts_of(BaseGraph graph) {
    return facts[static_cast<std::size_t>(graph)];
}

int lifting_size(int least) {
    int smallest = max_lifting_size;
    for (const int factor : set_factors) {
        int size = factor;
        while (size < least)
            size *= 2;
        if (size < smallest) smallest = size;
    }
    return smallest;
}

int lifting_size_set(int lifting_size) {
    for (std::size_t set = 0; set < std::size(set_factors); ++set) {
        int size = set_factors[set];
        while (size < lifting_size)
            size *= 2;
        if (size == lifting_size && size <= max_lifting_size) return static_cast<int>(set);
    }
    throw ArgumentError("lifting size " + std::to_string(lifting_size) +
                        ": expected one of TS 38.212 table 5.3.2-1");
}

}  // namespace phy::detail
