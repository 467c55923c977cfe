#include <array>

#include "phy/core/names.hpp"
#include "phy/pipeline/pipeline.hpp"

namespace phy {
namespace {

constexpr std::array all_issue_orders = {IssueOrder::sequential, IssueOrder::parallel, IssueOrder::serial};

}  // namespace

std::string_view to_string(IssueOrder order) {
    constexpr std::array<std::string_view, all_issue_orders.size()> names = {"sequential", "parallel",
                                                                             "serial"};
    return names[static_cast<std::size_t>(order)];
}

IssueOrder parse_issue_order(std::string_view name) {
    return detail::parse_name("order", name, all_issue_orders);
}

}  // namespace phy
