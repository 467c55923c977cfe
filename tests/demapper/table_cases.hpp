#pragma once

#include <cstddef>

#include "phy/demapper/demapper.hpp"
#include "phy/demapper/math/table.hpp"

/// Tables of the sizes that the CUDA kernels treat differently. The planner decides the size, without a GPU.
namespace phy_test {

/// Where a table lies on a GPU with 228 KiB of shared memory per multiprocessor and 227 KiB per block. A
/// block uses up to 80 KiB for other data.
enum class TableRoom {
    several_blocks,  ///< at least two blocks of a multiprocessor have a copy each
    one_block,       ///< one large block has the only copy
    global_memory,   ///< no block has room for it
};

struct TableCase {
    const char* name;
    phy::Modulation modulation;
    phy::Method method;
    phy::SoftBitFormat format;
    float noise;
    TableRoom room;

    [[nodiscard]] phy::DemapperConfig config() const {
        return {.modulation = modulation, .llr = {.method = method, .evaluator = phy::Evaluator::table}};
    }
};

inline constexpr TableCase table_cases[] = {
    {"16qam_small_int8", phy::Modulation::qam16, phy::Method::log_map, phy::SoftBitFormat::int8, 0.05F,
     TableRoom::several_blocks},
    {"64qam_small_int8", phy::Modulation::qam64, phy::Method::log_map, phy::SoftBitFormat::int8, 0.01F,
     TableRoom::several_blocks},
    {"256qam_small_float16", phy::Modulation::qam256, phy::Method::log_map, phy::SoftBitFormat::float16,
     0.01F, TableRoom::several_blocks},
    {"1024qam_small_float32", phy::Modulation::qam1024, phy::Method::log_map, phy::SoftBitFormat::float32,
     0.1F, TableRoom::several_blocks},
    {"16qam_large_int8", phy::Modulation::qam16, phy::Method::max_log, phy::SoftBitFormat::int8, 0.0003F,
     TableRoom::one_block},
    {"16qam_large_float16", phy::Modulation::qam16, phy::Method::log_map, phy::SoftBitFormat::float16,
     0.0007F, TableRoom::one_block},
    {"16qam_large_float32", phy::Modulation::qam16, phy::Method::log_map, phy::SoftBitFormat::float32,
     0.0007F, TableRoom::one_block},
    {"64qam_large_float16", phy::Modulation::qam64, phy::Method::log_map, phy::SoftBitFormat::float16,
     0.0015F, TableRoom::one_block},
    {"64qam_large_float32", phy::Modulation::qam64, phy::Method::log_map, phy::SoftBitFormat::float32,
     0.0015F, TableRoom::one_block},
    {"256qam_large_float16", phy::Modulation::qam256, phy::Method::log_map, phy::SoftBitFormat::float16,
     0.0026F, TableRoom::one_block},
    {"256qam_large_float32", phy::Modulation::qam256, phy::Method::log_map, phy::SoftBitFormat::float32,
     0.0026F, TableRoom::one_block},
    {"1024qam_large_float16", phy::Modulation::qam1024, phy::Method::log_map, phy::SoftBitFormat::float16,
     0.0042F, TableRoom::one_block},
    {"1024qam_large_float32", phy::Modulation::qam1024, phy::Method::log_map, phy::SoftBitFormat::float32,
     0.0042F, TableRoom::one_block},
    {"16qam_in_global_memory", phy::Modulation::qam16, phy::Method::log_map, phy::SoftBitFormat::float16,
     0.0003F, TableRoom::global_memory},
    {"64qam_in_global_memory", phy::Modulation::qam64, phy::Method::log_map, phy::SoftBitFormat::float32,
     0.0007F, TableRoom::global_memory},
    {"256qam_in_global_memory", phy::Modulation::qam256, phy::Method::log_map, phy::SoftBitFormat::float16,
     0.0007F, TableRoom::global_memory},
    {"1024qam_in_global_memory", phy::Modulation::qam1024, phy::Method::log_map, phy::SoftBitFormat::float32,
     0.0007F, TableRoom::global_memory},
};

/// The size of the table on a device.
inline std::size_t table_bytes(const phy::DemapperConfig& config, phy::SoftBitFormat format, float noise) {
    const phy::detail::LlrTable table({.bits = static_cast<int>(phy::bits_per_axis(config.modulation)),
                                       .method = config.llr.method,
                                       .format = format,
                                       .noise = noise,
                                       .llr_scale = config.llr.scale,
                                       .llr_clip = config.llr.clip});
    return format == phy::SoftBitFormat::int8 ? table.packed_bytes().size() : table.lines().size_bytes();
}

/// True if a table of this size goes there.
inline bool has_room(TableRoom room, std::size_t bytes) {
    const auto kib = static_cast<double>(bytes) / 1024.0;
    switch (room) {
        case TableRoom::several_blocks:
            return kib <= 50.0;
        case TableRoom::one_block:
            return kib > 114.0 && kib <= 140.0;
        case TableRoom::global_memory:
            return kib > 227.0;
    }
    return false;
}

}  // namespace phy_test
