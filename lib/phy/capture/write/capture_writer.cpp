#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "phy/capture/capture.hpp"
#include "phy/capture/formats.hpp"
#include "phy/capture/hdf5/attribute.hpp"
#include "phy/capture/hdf5/hdf5_type.hpp"
#include "phy/capture/write/output.hpp"
#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/core/names.hpp"

namespace phy {

namespace {

using Config = CaptureWriter::Config;

constexpr std::array all_capture_layouts = {CaptureLayout::compound, CaptureLayout::trailing,
                                            CaptureLayout::interleaved, CaptureLayout::chunked,
                                            CaptureLayout::gzip};

/// Symbols per chunk: at most 640 KiB in any dataset here, which fits into HDF5's chunk cache of 1 MiB.
constexpr hsize_t chunk_symbols = hsize_t{1} << 16;

bool is_real(CaptureLayout layout) {
    return layout == CaptureLayout::trailing || layout == CaptureLayout::interleaved;
}

hdf5::TypeHandle iq_type(const Config& config) {
    return is_real(config.layout) ? hdf5::hdf5_type({.kind = hdf5::number_kind(config.format)})
                                  : hdf5::iq_type(config.format);
}

hdf5::Dimensions shape_of(const Config& config) {
    if (config.shape.empty()) return {config.symbols};
    return {config.shape.begin(), config.shape.end()};
}

hdf5::Dimensions iq_dimensions(const Config& config) {
    hdf5::Dimensions dimensions = shape_of(config);
    if (config.layout == CaptureLayout::trailing) dimensions.push_back(2);
    if (config.layout == CaptureLayout::interleaved) dimensions.back() *= 2;
    return dimensions;
}

bool has_antennas(const Config& config) {
    const std::size_t rank = config.shape.size();
    return (config.kind == CaptureKind::grid && rank == 3) ||
           (config.kind == CaptureKind::samples && rank == 2);
}

/// A chunk has one antenna. Antennas may be filled in parallel, each across a border of two chunks.
hdf5::Storage iq_storage(const Config& config) {
    if (config.layout != CaptureLayout::chunked && config.layout != CaptureLayout::gzip) return {};
    hdf5::Storage storage = {.chunk = shape_of(config), .gzip = config.layout == CaptureLayout::gzip};
    if (has_antennas(config)) {
        storage.open_chunks = 2 * storage.chunk.front();
        storage.chunk.front() = 1;
    }
    hsize_t left = chunk_symbols;
    for (std::size_t i = storage.chunk.size(); i-- > 0;) {
        storage.chunk[i] = std::min(storage.chunk[i], left);
        left /= storage.chunk[i];
    }
    return storage;
}

/// Of rows of bytes, one per slot.
hdf5::Storage row_storage(std::uint64_t bytes) {
    constexpr hsize_t chunk_bytes = hsize_t{1} << 19;
    return {.chunk = {std::max<hsize_t>(1, chunk_bytes / bytes), bytes}, .gzip = true};
}

/// Bytes of all datasets that are not compressed.
std::uint64_t uncompressed_bytes(const Config& config) {
    std::size_t symbol_bytes = config.layout == CaptureLayout::gzip ? 0 : size_of(config.format);
    if (config.noise_per_symbol) symbol_bytes += sizeof(float);
    return symbol_bytes == 0 ? 0 : hdf5::total_bytes({config.symbols}, symbol_bytes);
}

void write_attributes(const hdf5::OutputDataset& iq, const Config& config) {
    const auto write = [&](const char* name, auto value) {
        hdf5::write_attribute(iq.id(), name, value, iq.name());
    };
    if (config.kind == CaptureKind::symbols) write("modulation", to_string(config.modulation));
    if (config.noise_variance) write("noise_variance", *config.noise_variance);
    if (config.full_scale) write("full_scale", *config.full_scale);
    if (config.sample_rate) write("sample_rate", *config.sample_rate);
    if (config.center_frequency) write("center_frequency", *config.center_frequency);
    if (!config.link.empty()) write("link", std::string_view(config.link));
}

void require_shape(const Config& config) {
    if (config.symbols == 0) throw ArgumentError("a capture of 0 symbols: expected at least one symbol");
    std::uint64_t product = 1;
    for (const std::uint64_t length : config.shape) {
        if (length != 0 && product > config.symbols / length) product = 0;
        product *= length;
    }
    if (!config.shape.empty() && product != config.symbols)
        throw ArgumentError("shape of a capture: expected dimensions whose product is " +
                            std::to_string(config.symbols) + ", the number of symbols");
    const std::size_t rank = shape_of(config).size();
    if (config.kind == CaptureKind::grid && rank != 2 && rank != 3)
        throw ArgumentError("shape of a grid: expected 2 or 3 dimensions, found " + std::to_string(rank));
    if (config.kind == CaptureKind::samples && rank > 2)
        throw ArgumentError("shape of samples: expected 1 or 2 dimensions, found " + std::to_string(rank));
}

/// A capture under another format's name could not be read by that format's programs.
void require_name(const std::filesystem::path& path) {
    if (output_format(path) != OutputFormat::hdf5 || detail::is_sigmf(path))
        throw ArgumentError(path.string() + ": a capture is written as HDF5; expected a name such as " +
                            std::filesystem::path(path).replace_extension(".h5").string());
}

void check(const Config& config) {
    detail::check_enum("sample format", config.format, all_sample_formats.back());
    detail::check_enum("capture layout", config.layout, all_capture_layouts.back());
    detail::check_enum("modulation", config.modulation, all_modulations.back());
    detail::check_enum("kind of capture", config.kind, all_capture_kinds.back());
    require_shape(config);
    if (config.kind == CaptureKind::symbols) {
        if (config.codewords) throw ArgumentError("a capture of symbols has no codewords");
    } else if (config.noise_per_symbol || config.bits) {
        throw ArgumentError("a capture of " +
                            std::string(config.kind == CaptureKind::grid ? "a grid" : "samples") +
                            " has neither noise nor bits per symbol");
    }
    if (config.codewords && (config.codewords->slots == 0 || config.codewords->bits == 0))
        throw ArgumentError("codewords of a capture: expected at least one slot of at least one bit");
    if (config.transport_block_bytes > 0 && !config.codewords)
        throw ArgumentError("transport blocks of a capture: expected codewords too");
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
    void require_format(SampleFormat of) const;
    void append_to(std::optional<hdf5::OutputDataset>& dataset, std::string_view name,
                   std::span<const std::byte> rows) const;
    void append_bits_to(std::optional<hdf5::OutputDataset>& dataset, std::string_view name,
                        std::span<const std::uint8_t> bits) const;
    auto datasets() { return std::array{&iq, &noise, &bits, &codewords, &blocks}; }

    hdf5::OutputFile file;
    SampleFormat format;
    bool committed = false;
    std::optional<hdf5::OutputDataset> iq;
    std::optional<hdf5::OutputDataset> noise;
    std::optional<hdf5::OutputDataset> bits;
    std::optional<hdf5::OutputDataset> codewords;
    std::optional<hdf5::OutputDataset> blocks;
};

CaptureWriter::Impl::Impl(const std::filesystem::path& path, const Config& config)
    : file(path, {.overwrite = config.overwrite, .durable = config.durable}, uncompressed_bytes(config)),
      format(config.format) {
    const std::uint64_t symbols = config.symbols;
    iq.emplace(file, std::string(default_dataset(config.kind)), iq_type(config), iq_dimensions(config),
               iq_storage(config), is_real(config.layout) ? 2 : 1);
    if (config.noise_per_symbol)
        noise.emplace(file, "/noise_variance", H5T_NATIVE_FLOAT, hdf5::Dimensions{symbols});
    if (config.bits) {
        const hsize_t qm = bits_per_symbol(config.modulation);
        bits.emplace(file, "/bits", H5T_NATIVE_UINT8, hdf5::Dimensions{symbols, qm},
                     hdf5::Storage{.chunk = {chunk_symbols, qm}, .gzip = true});
    }
    if (config.codewords)
        codewords.emplace(file, "/codeword", H5T_NATIVE_UINT8,
                          hdf5::Dimensions{config.codewords->slots, config.codewords->bits},
                          row_storage(config.codewords->bits));
    if (config.transport_block_bytes > 0)
        blocks.emplace(file, "/transport_block", H5T_NATIVE_UINT8,
                       hdf5::Dimensions{config.codewords->slots, config.transport_block_bytes},
                       row_storage(config.transport_block_bytes));
    write_attributes(*iq, config);
    file.flush();
}

void CaptureWriter::Impl::require_open() const {
    if (committed) throw ArgumentError(file.name() + ": is already committed");
}

void CaptureWriter::Impl::require_format(SampleFormat of) const {
    detail::check_enum("sample format", of, all_sample_formats.back());
    if (of != format)
        throw ArgumentError("symbols of " + std::string(to_string(of)) + ": expected the capture's format " +
                            std::string(to_string(format)));
}

void CaptureWriter::Impl::append_to(std::optional<hdf5::OutputDataset>& dataset, std::string_view name,
                                    std::span<const std::byte> rows) const {
    require_open();
    if (!dataset) throw ArgumentError(file.name() + ": is configured without " + std::string(name));
    const hdf5::Session session;
    dataset->append(rows);
}

void CaptureWriter::Impl::append_bits_to(std::optional<hdf5::OutputDataset>& dataset, std::string_view name,
                                         std::span<const std::uint8_t> values) const {
    if (std::ranges::any_of(values, [](std::uint8_t bit) { return bit > 1; }))
        throw ArgumentError(file.name() + ": " + std::string(name) + ": expected 0 and 1 only");
    append_to(dataset, name, std::as_bytes(values));
}

CaptureWriter::CaptureWriter(const std::filesystem::path& file, const Config& config) {
    check(config);
    require_name(file);
    const hdf5::Session session;
    impl_ = std::make_unique<Impl>(file, config);
}

void CaptureWriter::append(SymbolView symbols) {
    impl_->require_format(symbols.format());
    impl_->append_to(impl_->iq, "IQ", {symbols.data(), symbols.size() * size_of(symbols.format())});
}

void CaptureWriter::write(std::uint64_t first, SymbolView symbols) {
    impl_->require_format(symbols.format());
    impl_->require_open();
    const hdf5::Session session;
    impl_->iq->write(first, {symbols.data(), symbols.size() * size_of(symbols.format())});
}

void CaptureWriter::append_noise(std::span<const float> noise) {
    impl_->append_to(impl_->noise, "an N0 for each symbol", std::as_bytes(noise));
}

void CaptureWriter::append_bits(std::span<const std::uint8_t> bits) {
    impl_->append_bits_to(impl_->bits, "transmitted bits", bits);
}

void CaptureWriter::append_codewords(std::span<const std::uint8_t> bits) {
    impl_->append_bits_to(impl_->codewords, "codewords", bits);
}

void CaptureWriter::append_transport_blocks(std::span<const std::uint8_t> bytes) {
    impl_->append_to(impl_->blocks, "transport blocks", std::as_bytes(bytes));
}

void CaptureWriter::commit() {
    impl_->require_open();
    for (const auto* dataset : impl_->datasets()) {
        if (*dataset) (*dataset)->require_complete();
    }
    const hdf5::Session session;
    impl_->file.flush();
    for (auto* dataset : impl_->datasets())
        dataset->reset();
    impl_->committed = true;
    impl_->file.commit();
}

}  // namespace phy
