#include <optional>
#include <utility>

#include "phy/capture/attribute.hpp"
#include "phy/capture/capture.hpp"
#include "phy/capture/number.hpp"
#include "phy/capture/output.hpp"
#include "phy/core/error.hpp"
#include "phy/core/version.hpp"

namespace phy {

namespace {

hdf5::NumberKind number_kind(SoftBitFormat format) {
    return with_constant(format, [](auto constant) { return hdf5::number_kind_of<SoftBitOf<constant()>>; });
}

void write_attributes(const hdf5::OutputDataset& llr, const SoftBitWriter::Config& config) {
    const auto write = [&](const char* name, auto value) {
        hdf5::write_attribute(llr.id(), name, value, llr.name());
    };
    write("modulation", to_string(config.demapper.modulation));
    write("llr_sign", std::string_view("positive_is_zero"));
    if (config.format == SoftBitFormat::int8) {
        write("llr_scale", config.demapper.llr_scale);
        write("llr_clip", config.demapper.llr_clip);
    }
    if (config.noise_variance) write("noise_variance", *config.noise_variance);
    if (config.descrambled_c_init) write("descrambled_c_init", static_cast<int>(*config.descrambled_c_init));
    write("method", to_string(config.demapper.method));
    write("source", std::string_view(config.source));
    if (config.sample_rate) write("sample_rate", *config.sample_rate);
    if (config.center_frequency) write("center_frequency", *config.center_frequency);
    write("phy_version", std::string_view(version));
}

}  // namespace

struct PHY_HIDDEN SoftBitWriter::Impl {
    Impl(const std::filesystem::path& path, const Config& config);

    hdf5::OutputFile file;
    std::optional<hdf5::OutputDataset> llr;  ///< none after commit()
};

SoftBitWriter::Impl::Impl(const std::filesystem::path& path, const Config& config)
    : file(path, config.overwrite,
           hdf5::total_bytes(config.symbols,
                             bits_per_symbol(config.demapper.modulation) * size_of(config.format))) {
    llr.emplace(file, "/llr", hdf5::hdf5_type({.kind = number_kind(config.format)}),
                hdf5::Dimensions{config.symbols, bits_per_symbol(config.demapper.modulation)});
    write_attributes(*llr, config);
    file.flush();
}

SoftBitWriter::SoftBitWriter(const std::filesystem::path& file, const Config& config) {
    if (config.symbols == 0) throw ArgumentError("soft bits of 0 symbols: expected at least one symbol");
    hdf5::silence_errors();
    impl_ = std::make_unique<Impl>(file, config);
}

SoftBitWriter::~SoftBitWriter() = default;
SoftBitWriter::SoftBitWriter(SoftBitWriter&&) noexcept = default;
SoftBitWriter& SoftBitWriter::operator=(SoftBitWriter&&) noexcept = default;

void SoftBitWriter::append(std::span<const std::byte> llr) {
    if (!impl_->llr) throw ArgumentError(impl_->file.name() + ": append after commit");
    impl_->llr->append(llr);
}

void SoftBitWriter::commit() {
    if (!impl_->llr) throw ArgumentError(impl_->file.name() + ": commit after commit");
    impl_->llr->require_complete();
    hdf5::silence_errors();
    impl_->file.flush();
    impl_->llr.reset();
    impl_->file.commit();
}

}  // namespace phy
