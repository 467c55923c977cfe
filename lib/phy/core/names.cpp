#include "phy/core/names.hpp"

#include "phy/core/format.hpp"
#include "phy/core/modulation.hpp"

namespace phy {

Modulation parse_modulation(std::string_view name) {
    return detail::parse_name("modulation", name, all_modulations);
}

SampleFormat parse_sample_format(std::string_view name) {
    return detail::parse_name("sample format", name, all_sample_formats);
}

SoftBitFormat parse_soft_bit_format(std::string_view name) {
    return detail::parse_name("soft-bit format", name, all_soft_bit_formats);
}

}  // namespace phy
