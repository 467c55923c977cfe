#include "phy/capture/write/soft_bit_attributes.hpp"

#include <cstdint>
#include <span>
#include <string_view>

#include "phy/capture/hdf5/attribute.hpp"
#include "phy/capture/hdf5/hdf5_type.hpp"
#include "phy/core/check_demapper_config.hpp"
#include "phy/core/version.hpp"

namespace phy::hdf5 {

void check_enums(SoftBitFormat format, const DemapperConfig& demapper) {
    detail::check_enum("soft-bit format", format, all_soft_bit_formats.back());
    detail::check_enums(demapper);
}

TypeHandle soft_bit_type(SoftBitFormat format) {
    const NumberKind kind =
        with_constant(format, [](auto constant) { return number_kind_of<SoftBitOf<constant()>>; });
    return hdf5_type({.kind = kind});
}

void write_soft_bit_attributes(const OutputDataset& llr, const SoftBitWriter::Config& config) {
    const auto write = [&](const char* name, auto value) {
        write_attribute(llr.id(), name, value, llr.name());
    };
    write("modulation", to_string(config.demapper.modulation));
    if (!config.hard) write("llr_sign", std::string_view("positive_is_zero"));
    if (!config.hard && config.format == SoftBitFormat::int8) {
        write("llr_scale", config.demapper.llr_scale);
        write("llr_clip", config.demapper.llr_clip);
    }
    if (config.noise_variance) write("noise_variance", *config.noise_variance);
    if (!config.noise_dataset.empty())
        write("noise_variance_dataset", std::string_view(config.noise_dataset));
    if (config.descrambled_c_init) write("descrambled_c_init", static_cast<int>(*config.descrambled_c_init));
    write("method", to_string(config.demapper.method));
    write("source", std::string_view(config.source));
    if (config.source_shape) write("source_shape", std::span<const std::uint64_t>(*config.source_shape));
    if (config.sample_rate) write("sample_rate", *config.sample_rate);
    if (config.center_frequency) write("center_frequency", *config.center_frequency);
    write("phy_version", std::string_view(version));
}

}  // namespace phy::hdf5
