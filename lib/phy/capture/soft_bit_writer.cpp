#include <optional>
#include <utility>

#include "phy/capture/capture.hpp"
#include "phy/capture/output.hpp"
#include "phy/capture/soft_bit_attributes.hpp"
#include "phy/core/error.hpp"

namespace phy {

struct PHY_HIDDEN SoftBitWriter::Impl {
    Impl(const std::filesystem::path& path, const Config& config);

    hdf5::OutputFile file;
    std::optional<hdf5::OutputDataset> llr;  ///< none after commit()
};

SoftBitWriter::Impl::Impl(const std::filesystem::path& path, const Config& config)
    : file(path, {.overwrite = config.overwrite, .durable = config.durable},
           hdf5::total_bytes({config.symbols, bits_per_symbol(config.demapper.modulation)},
                             size_of(config.format))) {
    llr.emplace(file, "/llr", hdf5::soft_bit_type(config.format),
                hdf5::Dimensions{config.symbols, bits_per_symbol(config.demapper.modulation)});
    hdf5::write_soft_bit_attributes(*llr, config);
    file.flush();
}

SoftBitWriter::SoftBitWriter(const std::filesystem::path& file, const Config& config) {
    if (config.symbols == 0) throw ArgumentError("soft bits of 0 symbols: expected at least one symbol");
    const hdf5::Session session;
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
    const hdf5::Session session;
    impl_->file.flush();
    impl_->llr.reset();
    impl_->file.commit();
}

}  // namespace phy
