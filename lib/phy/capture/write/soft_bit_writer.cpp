#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/capture/write/output.hpp"
#include "phy/core/error.hpp"

namespace phy {

namespace {

using Config = SoftBitWriter::Config;

void check(const Config& config) {
    hdf5::check_enums(config.format, config.modulation, config.llr_config);
    if (config.symbols == 0) throw ArgumentError("soft bits of 0 symbols: expected at least one symbol");
    if (config.keep_shape && !config.source_shape)
        throw ArgumentError("soft bits: no shape is given that could be kept");
    if (config.keep_shape && config.part)
        throw ArgumentError("soft bits: a part has no shape that could be kept");
    hdf5::check_part(config.part, config.symbols);
    if (!config.source_shape) return;
    const hdf5::Dimensions shape(config.source_shape->begin(), config.source_shape->end());
    if (config.keep_shape && shape.size() >= H5S_MAX_RANK)
        throw ArgumentError("soft bits of " + std::to_string(shape.size()) +
                            " dimensions and bits: expected at most 31 dimensions");
    const std::uint64_t all = config.part ? config.part->all : config.symbols;
    if (hdf5::total_bytes(shape, 1) != all)
        throw ArgumentError("soft bits of " + std::to_string(all) +
                            " symbols: expected the number of the source's shape");
}

std::size_t bits_of_symbol(const Config& config) {
    return bits_per_symbol(config.modulation);
}

hdf5::Dimensions dimensions_of(const Config& config) {
    if (!config.keep_shape) return {config.symbols, bits_of_symbol(config)};
    hdf5::Dimensions dimensions(config.source_shape->begin(), config.source_shape->end());
    dimensions.push_back(bits_of_symbol(config));
    return dimensions;
}

std::size_t bytes_of_bit(const Config& config) {
    return config.hard ? 1 : size_of(config.format);
}

/// Decides each soft bit: 1 if L < 0. The highest bit of a number is its sign; negative_zero is the one
/// number with that bit that is not below 0.
template <typename Word>
void take_decisions(std::span<const std::byte> llr, std::optional<Word> negative_zero,
                    std::vector<std::uint8_t>& bits) {
    constexpr auto sign = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
    bits.resize(llr.size() / sizeof(Word));
    for (std::size_t n = 0; n < bits.size(); ++n) {
        Word word = 0;
        std::memcpy(&word, llr.data() + n * sizeof(Word), sizeof(Word));
        bits[n] = (word & sign) != 0 && word != negative_zero ? 1 : 0;
    }
}

}  // namespace

struct PHY_HIDDEN SoftBitWriter::Impl {
    Impl(const std::filesystem::path& path, const Config& config_of_user);

    void append_decisions(std::span<const std::byte> soft_bits);

    Config config;
    hdf5::OutputFile file;
    std::optional<hdf5::OutputDataset> llr;  ///< none after commit()
    std::vector<std::uint8_t> bits;          ///< the hard bits of a piece
};

SoftBitWriter::Impl::Impl(const std::filesystem::path& path, const Config& config_of_user)
    : config(config_of_user),
      file(path, {.overwrite = config.overwrite, .durable = config.durable},
           hdf5::total_bytes(dimensions_of(config), bytes_of_bit(config)), output_format(path)) {
    const hdf5::TypeHandle type =
        config.hard ? hdf5::TypeHandle(H5Tcopy(H5T_STD_U8LE)) : hdf5::soft_bit_type(config.format);
    llr.emplace(file, config.hard ? "/bits" : "/llr", type, dimensions_of(config), hdf5::Storage(),
                bits_of_symbol(config));
    if (file.format() == OutputFormat::hdf5) hdf5::write_soft_bit_attributes(*llr, config);
    hdf5::write_part(file, config.part);
    file.flush();
}

void SoftBitWriter::Impl::append_decisions(std::span<const std::byte> soft_bits) {
    constexpr std::size_t piece = std::size_t{1} << 20;
    const std::size_t of_symbol = bits_of_symbol(config) * size_of(config.format);
    if (soft_bits.size() % of_symbol != 0)
        throw ArgumentError(llr->name() + ": " + std::to_string(soft_bits.size()) +
                            " bytes of soft bits, expected a multiple of " + std::to_string(of_symbol));
    llr->require_appendable(soft_bits.first(soft_bits.size() / size_of(config.format)));
    const std::size_t step = piece / of_symbol * of_symbol;
    for (std::size_t first = 0; first < soft_bits.size(); first += step) {
        const std::span part = soft_bits.subspan(first, std::min(step, soft_bits.size() - first));
        if (config.format == SoftBitFormat::int8) {
            take_decisions<std::uint8_t>(part, {}, bits);
        } else if (config.format == SoftBitFormat::float16) {
            take_decisions<std::uint16_t>(part, 0x8000U, bits);
        } else {
            take_decisions<std::uint32_t>(part, 0x80000000U, bits);
        }
        llr->append(std::as_bytes(std::span(bits)));
    }
}

SoftBitWriter::SoftBitWriter(const std::filesystem::path& file, const Config& config) {
    check(config);
    const hdf5::Session session;
    impl_ = std::make_unique<Impl>(file, config);
}

void SoftBitWriter::append(std::span<const std::byte> llr) {
    if (!impl_->llr) throw ArgumentError(impl_->file.name() + ": append after commit");
    if (impl_->config.hard) {
        impl_->append_decisions(llr);
    } else {
        impl_->llr->append(llr);
    }
}

void SoftBitWriter::commit() {
    if (!impl_->llr) throw ArgumentError(impl_->file.name() + ": commit after commit");
    impl_->llr->require_complete();
    const hdf5::Session session;
    impl_->file.flush();
    impl_->llr.reset();
    impl_->file.commit();
}

}  // namespace phy
