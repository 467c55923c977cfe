#include "phy/core/names.hpp"

#include <array>

#include "phy/core/demapper_config.hpp"
#include "phy/core/format.hpp"
#include "phy/core/modulation.hpp"

namespace phy {
namespace {

constexpr std::array all_methods = {Method::max_log, Method::log_map};
constexpr std::array all_evaluators = {Evaluator::automatic, Evaluator::arithmetic, Evaluator::table};

}  // namespace

Modulation parse_modulation(std::string_view name) {
    return detail::parse_name("modulation", name, all_modulations);
}

SampleFormat parse_sample_format(std::string_view name) {
    return detail::parse_name("sample format", name, all_sample_formats);
}

SoftBitFormat parse_soft_bit_format(std::string_view name) {
    return detail::parse_name("soft-bit format", name, all_soft_bit_formats);
}

std::string_view to_string(Method method) {
    return method == Method::max_log ? "maxlog" : "logmap";
}

std::string_view to_string(Evaluator evaluator) {
    constexpr std::array<std::string_view, all_evaluators.size()> names = {"auto", "arithmetic", "table"};
    return names[static_cast<std::size_t>(evaluator)];
}

Method parse_method(std::string_view name) {
    return detail::parse_name("method", name, all_methods);
}

Evaluator parse_evaluator(std::string_view name) {
    return detail::parse_name("evaluator", name, all_evaluators);
}

}  // namespace phy
