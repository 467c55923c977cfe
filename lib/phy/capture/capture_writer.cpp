#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "phy/capture/attribute.hpp"
#include "phy/capture/capture.hpp"
#include "phy/capture/number.hpp"
#include "phy/capture/output.hpp"
#include "phy/core/error.hpp"
#include "phy/core/names.hpp"

namespace phy {

namespace {

constexpr std::array all_capture_layouts = {CaptureLayout::compound, CaptureLayout::trailing,
                                            CaptureLayout::interleaved, CaptureLayout::chunked,
                                            CaptureLayout::gzip};

/// Symbols of a chunk: at most 640 KiB of any dataset here, which HDF5's chunk cache of 1 MiB holds.
constexpr hsize_t chunk_symbols = hsize_t{1} << 16;

hdf5::NumberKind number_kind(SampleFormat format) {
    return with_constant(format, [](auto constant) { return hdf5::number_kind_of<ComponentOf<constant()>>; });
}

bool is_real(CaptureLayout layout) {
    return layout == CaptureLayout::trailing || layout == CaptureLayout::interleaved;
}

hdf5::TypeHandle iq_type(CaptureLayout layout, SampleFormat format) {
    hdf5::TypeHandle number = hdf5::hdf5_type({.kind = number_kind(format)});
    if (is_real(layout)) return number;
    hdf5::TypeHandle compound(H5Tcreate(H5T_COMPOUND, size_of(format)));
    H5Tinsert(compound, "r", 0, number);
    H5Tinsert(compound, "i", size_of(format) / 2, number);
    return compound;
}

hdf5::Dimensions iq_dimensions(CaptureLayout layout, std::uint64_t symbols) {
    if (layout == CaptureLayout::trailing) return {symbols, 2};
    if (layout == CaptureLayout::interleaved) return {2 * symbols};
    return {symbols};
}

hdf5::Storage iq_storage(CaptureLayout layout) {
    switch (layout) {
        case CaptureLayout::chunked:
            return {.rows_per_chunk = chunk_symbols, .gzip = false};
        case CaptureLayout::gzip:
            return {.rows_per_chunk = chunk_symbols, .gzip = true};
        case CaptureLayout::compound:
        case CaptureLayout::trailing:
        case CaptureLayout::interleaved:
            break;
    }
    return {};
}

/// What is written, apart from what is compressed.
std::uint64_t uncompressed_bytes(const CaptureWriter::Config& config) {
    std::size_t symbol_bytes = config.layout == CaptureLayout::gzip ? 0 : size_of(config.format);
    if (config.noise_per_symbol) symbol_bytes += sizeof(float);
    return symbol_bytes == 0 ? 0 : hdf5::total_bytes(config.symbols, symbol_bytes);
}

void write_attributes(const hdf5::OutputDataset& iq, const CaptureWriter::Config& config) {
    const auto write = [&](const char* name, auto value) {
        hdf5::write_attribute(iq.id(), name, value, iq.name());
    };
    write("modulation", to_string(config.modulation));
    if (config.noise_variance) write("noise_variance", *config.noise_variance);
    if (config.full_scale) write("full_scale", *config.full_scale);
}

}  // namespace

std::string_view to_string(CaptureLayout layout) {
    constexpr std::array<std::string_view, all_capture_layouts.size()> names = {
        "compound", "trailing", "interleaved", "chunked", "gzip"};
    return names[static_cast<std::size_t>(layout)];
}

CaptureLayout parse_capture_layout(std::string_view name) {
    return detail::parse_name("capture layout", name, all_capture_layouts);
}

struct PHY_HIDDEN CaptureWriter::Impl {
    Impl(const std::filesystem::path& path, const Config& config);

    void require_open() const;
    void append_to(std::optional<hdf5::OutputDataset>& dataset, std::string_view name,
                   std::span<const std::byte> rows) const;

    hdf5::OutputFile file;
    SampleFormat format;
    bool committed = false;
    std::optional<hdf5::OutputDataset> iq;
    std::optional<hdf5::OutputDataset> noise;
    std::optional<hdf5::OutputDataset> bits;
};

CaptureWriter::Impl::Impl(const std::filesystem::path& path, const Config& config)
    : file(path, config.overwrite, uncompressed_bytes(config)), format(config.format) {
    const std::uint64_t symbols = config.symbols;
    iq.emplace(file, "/iq", iq_type(config.layout, format), iq_dimensions(config.layout, symbols),
               iq_storage(config.layout));
    if (config.noise_per_symbol)
        noise.emplace(file, "/noise_variance", H5T_NATIVE_FLOAT, hdf5::Dimensions{symbols});
    if (config.bits)
        bits.emplace(file, "/bits", H5T_NATIVE_UINT8,
                     hdf5::Dimensions{symbols, bits_per_symbol(config.modulation)},
                     hdf5::Storage{.rows_per_chunk = chunk_symbols, .gzip = true});
    write_attributes(*iq, config);
    file.flush();
}

void CaptureWriter::Impl::require_open() const {
    if (committed) throw ArgumentError(file.name() + ": is committed already");
}

void CaptureWriter::Impl::append_to(std::optional<hdf5::OutputDataset>& dataset, std::string_view name,
                                    std::span<const std::byte> rows) const {
    require_open();
    if (!dataset) throw ArgumentError(file.name() + ": is configured without " + std::string(name));
    hdf5::silence_errors();
    dataset->append(rows);
}

CaptureWriter::CaptureWriter(const std::filesystem::path& file, const Config& config) {
    if (config.symbols == 0) throw ArgumentError("a capture of 0 symbols: expected at least one symbol");
    hdf5::silence_errors();
    impl_ = std::make_unique<Impl>(file, config);
}

CaptureWriter::~CaptureWriter() = default;
CaptureWriter::CaptureWriter(CaptureWriter&&) noexcept = default;
CaptureWriter& CaptureWriter::operator=(CaptureWriter&&) noexcept = default;

void CaptureWriter::append(SymbolView symbols) {
    if (symbols.format() != impl_->format)
        throw ArgumentError("symbols of " + std::string(to_string(symbols.format())) +
                            ": expected the capture's format " + std::string(to_string(impl_->format)));
    impl_->append_to(impl_->iq, "IQ", {symbols.data(), symbols.size() * size_of(symbols.format())});
}

void CaptureWriter::append_noise(std::span<const float> noise) {
    impl_->append_to(impl_->noise, "a noise variance for each symbol", std::as_bytes(noise));
}

void CaptureWriter::append_bits(std::span<const std::uint8_t> bits) {
    if (std::ranges::any_of(bits, [](std::uint8_t bit) { return bit > 1; }))
        throw ArgumentError(impl_->file.name() + ": transmitted bits: expected 0 and 1 only");
    impl_->append_to(impl_->bits, "transmitted bits", std::as_bytes(bits));
}

void CaptureWriter::commit() {
    impl_->require_open();
    for (auto* dataset : {&impl_->iq, &impl_->noise, &impl_->bits}) {
        if (*dataset) (*dataset)->require_complete();
    }
    hdf5::silence_errors();
    impl_->file.flush();
    for (auto* dataset : {&impl_->iq, &impl_->noise, &impl_->bits})
        dataset->reset();
    impl_->committed = true;
    impl_->file.commit();
}

}  // namespace phy
