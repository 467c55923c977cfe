#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "phy/capture/broadcast.hpp"
#include "phy/capture/capture.hpp"
#include "phy/capture/element_type.hpp"
#include "phy/capture/find_iq.hpp"
#include "phy/capture/input.hpp"
#include "phy/capture/iq_layout.hpp"
#include "phy/capture/iq_shape.hpp"
#include "phy/capture/number.hpp"
#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/core/file_error.hpp"
#include "phy/core/names.hpp"

namespace phy {
namespace {

using detail::file_error;
using detail::InputDataset;
using detail::InputFile;

/// Stored bytes are unpacked in blocks, so that memory does not grow with the capture and a block is still in
/// the cache when it is unpacked.
constexpr std::size_t block_bytes = std::size_t{1} << 20;

constexpr double int32_full_scale = 0x1p31;

void require_range(std::uint64_t first, std::uint64_t count, std::uint64_t size) {
    if (first > size || count > size - first)
        throw ArgumentError(std::to_string(count) + " symbols from " + std::to_string(first) +
                            ": expected a range within the capture's " + std::to_string(size));
}

std::optional<Modulation> read_modulation(const InputDataset& iq) {
    const auto name = iq.text("modulation");
    if (!name) return std::nullopt;
    try {
        return parse_modulation(*name);
    } catch (const ArgumentError& error) {
        throw file_error(iq.name(), std::string("attribute modulation: ") + error.what());
    }
}

std::optional<float> read_noise_variance(const InputDataset& iq) {
    const auto value = iq.number("noise_variance");
    return value ? std::optional(static_cast<float>(*value)) : std::nullopt;
}

/// True for a value that the demapper takes in binary32: positive and normal, with a normal reciprocal.
bool is_full_scale(double value) {
    return value >= 0x1p-126 && value <= 0x1p126;
}

std::string full_scale_problem(std::string_view what, double value) {
    return std::string(what) + " full_scale: expected a positive number from 2^-126 to 2^126, found " +
           detail::number_text(value);
}

std::optional<double> read_full_scale(const InputDataset& iq) {
    const auto value = iq.number("full_scale");
    if (value && !is_full_scale(*value)) throw file_error(iq.name(), full_scale_problem("attribute", *value));
    return value;
}

void check_options(const CaptureOptions& options) {
    if (options.kind) detail::check_enum("kind of capture", *options.kind, all_capture_kinds.back());
    if (options.modulation) detail::check_enum("modulation", *options.modulation, all_modulations.back());
    if (!options.raw.empty()) require_raw_type(options.raw);
    if (options.full_scale && !is_full_scale(*options.full_scale))
        throw ArgumentError(full_scale_problem("option", *options.full_scale));
}

CaptureDescription description_of(const InputDataset& iq, const detail::IqLayout& layout,
                                  const CaptureOptions& options) {
    const bool big_endian = layout.number.order == std::endian::big && size_of(layout.number.kind) > 1;
    CaptureDescription description;
    description.symbols = iq.size() / layout.elements_per_symbol;
    description.shape = detail::shape_of(iq, layout);
    description.format = delivered_format(layout.number.kind);
    description.is_integer = !detail::is_float(layout.number.kind);
    description.storage = detail::describe(layout) + ", " + iq.storage() + (big_endian ? ", big-endian" : "");
    description.modulation = options.modulation;
    description.noise_variance = options.noise_variance;
    description.full_scale = options.full_scale ? options.full_scale : read_full_scale(iq);
    description.sample_rate = iq.number("sample_rate");
    description.center_frequency = iq.number("center_frequency");
    return description;
}

bool looks_at_noise(const CaptureOptions& options) {
    return !options.noise_variance && !options.ignores_noise_variance;
}

/// The text of the attribute, if it is readable.
std::optional<std::string> text_if_any(const InputDataset& iq, const char* attribute) {
    try {
        return iq.text(attribute);
    } catch (const FileError&) {
        return std::nullopt;
    }
}

/// Reads attributes that only some kinds have. For other kinds they may mean anything, and so may a link of
/// symbols that is no text.
void read_attributes_of_kind(const InputDataset& iq, const CaptureOptions& options,
                             CaptureDescription& description) {
    const bool is_of_symbols = description.kind == CaptureKind::symbols;
    description.link = options.link;
    if (!options.link) description.link = is_of_symbols ? text_if_any(iq, "link") : iq.text("link");
    if (!is_of_symbols) return;
    if (!description.modulation) description.modulation = read_modulation(iq);
    if (looks_at_noise(options)) description.noise_variance = read_noise_variance(iq);
}

detail::NumberType require_noise_type(const InputDataset& noise, std::uint64_t symbols) {
    const auto& type = noise.type().number;
    if (!type || !detail::is_float(type->kind))
        throw file_error(noise.name(), "is " + detail::describe(noise.type(), noise.dimensions()) +
                                           ": expected float16, float32 or float64, one value for each of " +
                                           std::to_string(symbols) + " symbols");
    return *type;
}

/// The noise must have the shape of the symbols, or be repeatable to it.
detail::Broadcast require_noise_shape(const InputDataset& noise, const CaptureDescription& capture) {
    const detail::Dimensions symbols(capture.shape.begin(), capture.shape.end());
    if (const auto broadcast = detail::Broadcast::of(noise.dimensions(), symbols)) return *broadcast;
    throw file_error(noise.name(), "is " + detail::describe(noise.type(), noise.dimensions()) +
                                       ": expected one value for each of " + std::to_string(capture.symbols) +
                                       " symbols " + detail::describe({.text = "of"}, symbols) +
                                       ", or a shape that NumPy broadcasts to theirs");
}

/// The Qm of a dataset of transmitted bits.
std::size_t require_bits(const InputDataset& bits, std::uint64_t symbols) {
    const std::uint64_t per_symbol = bits.size() / symbols;
    const bool fits = per_symbol > 0 && per_symbol * symbols == bits.size() &&
                      (bits.dimensions().size() < 2 || bits.dimensions().back() == per_symbol);
    if (!bits.type().is_uint8 || !fits)
        throw file_error(bits.name(), "is " + detail::describe(bits.type(), bits.dimensions()) +
                                          ": expected uint8, the same number of bits for each of " +
                                          std::to_string(symbols) + " symbols");
    return per_symbol;
}

CodewordShape require_codewords(const InputDataset& codewords) {
    const detail::Dimensions& dimensions = codewords.dimensions();
    if (!codewords.type().is_uint8 || dimensions.size() != 2 || codewords.size() == 0)
        throw file_error(codewords.name(), "is " + detail::describe(codewords.type(), dimensions) +
                                               ": expected uint8 of (slots, bits of a codeword)");
    return {dimensions[0], dimensions[1]};
}

void require_zeros_and_ones(std::span<const std::uint8_t> bits, const InputDataset& dataset) {
    if (std::ranges::any_of(bits, [](std::uint8_t bit) { return bit > 1; }))
        throw file_error(dataset.name(), "expected bits of 0 and 1 only");
}

/// Throws FileError unless a file has further antennas of this capture.
void require_same(const CaptureDescription& capture, const CaptureDescription& more) {
    const auto fail = [&](const std::string& what) {
        throw FileError(more.file.string() + ": " + what + ": expected that of " + capture.file.string() +
                        ", whose further antennas it has");
    };
    if (more.kind != capture.kind)
        fail("holds " + std::string(more.kind == CaptureKind::grid ? "a grid" : to_string(more.kind)));
    if (more.format != capture.format) fail("holds " + std::string(to_string(more.format)));
    if (capture.is_integer && more.full_scale != capture.full_scale) fail("has another full_scale");
    if (more.sample_rate != capture.sample_rate) fail("has another sample_rate");
    if (more.center_frequency != capture.center_frequency) fail("has another center_frequency");
    const bool is_longer = more.symbols / more.antennas != capture.symbols / capture.antennas;
    if (capture.kind == CaptureKind::grid && (is_longer || more.shape.back() != capture.shape.back()))
        fail("is a grid of other dimensions");
}

}  // namespace

std::string_view to_string(CaptureKind kind) {
    constexpr std::array<std::string_view, all_capture_kinds.size()> names = {"symbols", "grid", "samples"};
    return names[static_cast<std::size_t>(kind)];
}

CaptureKind parse_capture_kind(std::string_view name) {
    return detail::parse_name("kind of capture", name, all_capture_kinds);
}

std::string_view default_dataset(CaptureKind kind) {
    constexpr std::array<std::string_view, all_capture_kinds.size()> paths = {"/iq", "/grid", "/samples"};
    return paths[static_cast<std::size_t>(kind)];
}

void require_raw_type(std::string_view name) {
    if (!detail::parse_sample_type(name))
        throw ArgumentError("raw " + std::string(name) + ": expected " +
                            std::string(detail::expected_sample_type));
}

struct PHY_HIDDEN CaptureReader::Impl {
    Impl(const std::filesystem::path& path, const CaptureOptions& options);

    void open_datasets_beside(const CaptureOptions& options);
    void skip_samples(const CaptureOptions& options);
    void open_more_antennas(const CaptureOptions& options);
    void read(std::uint64_t first, SymbolSpan symbols);
    void open_noise();
    [[nodiscard]] std::unique_ptr<InputDataset> open_beside(const char* name);
    void add_files(const std::vector<std::filesystem::path>& files);
    void read_noise_elements(std::uint64_t first, std::span<float> values);
    [[nodiscard]] std::span<const float> noise_from(std::uint64_t element, std::uint64_t count);

    /// Reads `count` records of `elements` each, from `first` on, and calls unpack(bytes in the file, index
    /// after first, number) for each block.
    template <typename Unpack>
    void read_blocks(const InputDataset& dataset, std::size_t elements, std::uint64_t first,
                     std::uint64_t count, Unpack unpack);

    std::unique_ptr<InputFile> file;
    detail::IqPath path;
    std::unique_ptr<InputDataset> iq;
    detail::IqLayout layout;
    CaptureDescription description;
    std::unique_ptr<InputDataset> noise;
    std::unique_ptr<InputDataset> bits;
    std::unique_ptr<InputDataset> codewords;
    detail::NumberType noise_type;
    std::optional<detail::Broadcast> noise_broadcast;
    std::vector<float> noise_window;  ///< the values that were read last
    std::uint64_t noise_window_first = 0;
    std::vector<std::byte> block;
    std::uint64_t own_antennas = 1;
    std::uint64_t own_length = 0;     ///< per antenna in this file
    std::uint64_t skipped = 0;        ///< of these
    std::vector<CaptureReader> more;  ///< of further antennas
};

CaptureReader::Impl::Impl(const std::filesystem::path& file_path, const CaptureOptions& options)
    : file(detail::open_input(file_path, options)),
      path(detail::find_iq(*file, options)),
      iq(detail::open_iq(*file, path)),
      layout(detail::require_iq(*file, *iq, options)),
      description(description_of(*iq, layout, options)) {
    iq->require_readable();
    description.file = file_path;
    add_files(file->files());
    add_files(iq->other_files());
    description.dataset = path.text();
    description.kind = detail::kind_of(path.i, options);
    description.antennas = detail::antennas_of(description.kind, *iq, layout, description.shape);
    read_attributes_of_kind(*iq, options, description);
    open_datasets_beside(options);
    own_antennas = description.antennas;
    own_length = description.symbols / description.antennas;
    skip_samples(options);
    description.lengths = {own_length - skipped};
    open_more_antennas(options);
}

void CaptureReader::Impl::skip_samples(const CaptureOptions& options) {
    if (options.skip.empty()) return;
    if (options.skip.size() != 1 + options.more_antennas.size() || description.kind != CaptureKind::samples)
        throw ArgumentError("skip: expected one number for each file of samples");
    skipped = options.skip.front();
    if (skipped >= own_length)
        throw FileError(description.file.string() + ": has " + std::to_string(own_length) +
                        " samples per antenna: expected more than the " + std::to_string(skipped) +
                        " to skip");
    description.symbols -= own_antennas * skipped;
    description.shape.back() -= skipped;
}

void CaptureReader::Impl::open_more_antennas(const CaptureOptions& options) {
    if (options.more_antennas.empty()) return;
    if (description.kind == CaptureKind::symbols)
        throw FileError(description.file.string() +
                        ": holds symbols: expected samples or a grid if further files have more antennas");
    CaptureOptions same = options;
    same.more_antennas.clear();
    for (std::size_t i = 0; i < options.more_antennas.size(); ++i) {
        const std::filesystem::path& name = options.more_antennas[i];
        if (!options.skip.empty()) same.skip = {options.skip[i + 1]};
        const CaptureDescription& other = more.emplace_back(name, same).description();
        if (std::ranges::find(description.files, other.files.front()) != description.files.end())
            throw FileError(name.string() + ": is given twice: expected a file for each antenna");
        require_same(description, other);
        description.antennas += other.antennas;
        description.lengths.push_back(other.lengths.front());
        add_files(other.files);
    }
    const std::uint64_t length = std::ranges::min(description.lengths);
    description.symbols = description.antennas * length;
    const std::size_t rank = description.kind == CaptureKind::grid ? 3 : 2;
    if (description.shape.size() < rank) description.shape.insert(description.shape.begin(), 1);
    description.shape.front() = description.antennas;
    if (description.kind == CaptureKind::samples) description.shape.back() = length;
}

void CaptureReader::Impl::add_files(const std::vector<std::filesystem::path>& files) {
    std::vector<std::filesystem::path>& all = description.files;
    all.insert(all.end(), files.begin(), files.end());
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
}

/// The dataset of that name in the group of the IQ dataset; null without one.
std::unique_ptr<InputDataset> CaptureReader::Impl::open_beside(const char* name) {
    const std::string beside = detail::path_beside(path.i, name);
    if (!file->contains(beside)) return nullptr;
    auto dataset = file->open(beside);
    dataset->require_readable();
    add_files(dataset->other_files());
    return dataset;
}

void CaptureReader::Impl::open_datasets_beside(const CaptureOptions& options) {
    if (description.kind != CaptureKind::symbols) {
        codewords = open_beside("codeword");
        if (codewords) description.codewords = require_codewords(*codewords);
        return;
    }
    if (looks_at_noise(options)) open_noise();
    bits = open_beside("bits");
    if (bits) description.bits_per_symbol = require_bits(*bits, description.symbols);
    description.has_bits = bits != nullptr;
}

void CaptureReader::Impl::open_noise() {
    noise = open_beside("noise_variance");
    if (!noise) return;
    noise_type = require_noise_type(*noise, description.symbols);
    noise_broadcast = require_noise_shape(*noise, description);
    if (noise->size() == 1 && description.symbols > 1) {
        read_noise_elements(0, std::span(&description.noise_variance.emplace(), 1));
        noise.reset();
        return;
    }
    description.has_noise_per_symbol = true;
    description.noise_dataset = detail::path_beside(path.i, "noise_variance");
}

void CaptureReader::Impl::read_noise_elements(std::uint64_t first, std::span<float> values) {
    const std::size_t stride = noise->type().bytes;
    const auto out = std::as_writable_bytes(values);
    read_blocks(*noise, 1, first, values.size(),
                [&](const std::byte* stored, std::size_t done, std::size_t count) {
                    detail::numbers_to_float(noise_type, 1.0, {stored, stride},
                                             {out.data() + done * sizeof(float), sizeof(float)}, count);
                });
}

/// Values from an element on: as many as the window has, at most count.
std::span<const float> CaptureReader::Impl::noise_from(std::uint64_t element, std::uint64_t count) {
    constexpr std::uint64_t most = std::uint64_t{1} << 16;
    const bool is_there = element >= noise_window_first && element - noise_window_first < noise_window.size();
    if (!is_there) {
        noise_window_first = element / most * most;
        noise_window.resize(std::min(most, noise->size() - noise_window_first));
        read_noise_elements(noise_window_first, noise_window);
    }
    const auto window = std::span<const float>(noise_window).subspan(element - noise_window_first);
    return window.first(std::min<std::uint64_t>(count, window.size()));
}

template <typename Unpack>
void CaptureReader::Impl::read_blocks(const InputDataset& dataset, std::size_t elements, std::uint64_t first,
                                      std::uint64_t count, Unpack unpack) {
    const std::size_t record_bytes = elements * dataset.type().bytes;
    const std::uint64_t records = std::max<std::uint64_t>(1, block_bytes / record_bytes);
    block.resize(records * record_bytes);
    for (std::uint64_t done = 0; done < count;) {
        const std::uint64_t now = std::min(records, count - done);
        dataset.read((first + done) * elements, now * elements, block.data());
        unpack(block.data(), done, now);
        done += now;
    }
}

/// Of the antennas in this file.
void CaptureReader::Impl::read(std::uint64_t first, SymbolSpan symbols) {
    if (is_delivered_as_stored(layout)) {
        iq->read(first * layout.elements_per_symbol, symbols.size() * layout.elements_per_symbol,
                 symbols.data());
        return;
    }
    const double full_scale = description.full_scale.value_or(int32_full_scale);
    const std::size_t symbol_bytes = size_of(description.format);
    read_blocks(*iq, layout.elements_per_symbol, first, symbols.size(),
                [&](const std::byte* stored, std::size_t done, std::size_t count) {
                    unpack(layout, full_scale, stored,
                           {description.format, symbols.data() + done * symbol_bytes, count});
                });
}

CaptureReader::CaptureReader(const std::filesystem::path& file, const CaptureOptions& options) {
    check_options(options);
    impl_ = std::make_unique<Impl>(file, options);
}

const CaptureDescription& CaptureReader::description() const {
    return impl_->description;
}

void CaptureReader::read(std::uint64_t first, SymbolSpan symbols) {
    const CaptureDescription& capture = impl_->description;
    detail::check_enum("sample format", symbols.format(), all_sample_formats.back());
    if (symbols.format() != capture.format)
        throw ArgumentError("symbols of " + std::string(to_string(symbols.format())) +
                            ": expected the capture's format " + std::string(to_string(capture.format)));
    require_range(first, symbols.size(), capture.symbols);

    if (impl_->more.empty() && impl_->skipped == 0) return impl_->read(first, symbols);
    const std::uint64_t length = capture.symbols / capture.antennas;
    for (std::size_t done = 0; done < symbols.size();) {
        std::uint64_t antenna = (first + done) / length;
        const std::uint64_t in_antenna = (first + done) % length;
        const auto now =
            static_cast<std::size_t>(std::min<std::uint64_t>(length - in_antenna, symbols.size() - done));
        const SymbolSpan to = symbols.subspan(done, now);
        done += now;
        if (antenna < impl_->own_antennas) {
            impl_->read(antenna * impl_->own_length + impl_->skipped + in_antenna, to);
            continue;
        }
        antenna -= impl_->own_antennas;
        auto reader = impl_->more.begin();
        for (; antenna >= reader->description().antennas; ++reader)
            antenna -= reader->description().antennas;
        const CaptureDescription& other = reader->description();
        reader->read(antenna * other.lengths.front() + in_antenna, to);
    }
}

void CaptureReader::read_noise(std::uint64_t first, std::span<float> noise) {
    if (!impl_->noise) throw ArgumentError("the capture has no N0 for each symbol");
    require_range(first, noise.size(), impl_->description.symbols);

    const bool is_repeated = impl_->noise->size() != impl_->description.symbols;
    if (!is_repeated) return impl_->read_noise_elements(first, noise);
    impl_->noise_broadcast->visit(
        first, noise.size(), [&](std::uint64_t count, std::uint64_t element, bool repeats) {
            if (repeats) {
                std::ranges::fill(noise.first(count), impl_->noise_from(element, 1).front());
                noise = noise.subspan(count);
                return;
            }
            while (count > 0) {
                const std::span<const float> values = impl_->noise_from(element, count);
                std::ranges::copy(values, noise.begin());
                noise = noise.subspan(values.size());
                element += values.size();
                count -= values.size();
            }
        });
}

void CaptureReader::read_bits(std::uint64_t first, std::span<std::uint8_t> bits) {
    if (!impl_->bits) throw ArgumentError("the capture has no transmitted bits");
    const std::size_t per_symbol = impl_->description.bits_per_symbol;
    if (bits.size() % per_symbol != 0)
        throw ArgumentError(std::to_string(bits.size()) + " bits: expected a multiple of " +
                            std::to_string(per_symbol));
    require_range(first, bits.size() / per_symbol, impl_->description.symbols);

    impl_->bits->read(first * per_symbol, bits.size(), std::as_writable_bytes(bits).data());
    require_zeros_and_ones(bits, *impl_->bits);
}

void CaptureReader::read_codeword(std::uint64_t slot, std::span<std::uint8_t> bits) {
    if (!impl_->codewords) throw ArgumentError("the capture has no codewords");
    const CodewordShape& shape = *impl_->description.codewords;
    if (slot >= shape.slots)
        throw ArgumentError("codeword of slot " + std::to_string(slot) + ": expected one of the capture's " +
                            std::to_string(shape.slots));
    if (bits.size() != shape.bits)
        throw ArgumentError(std::to_string(bits.size()) + " bits: expected a codeword of " +
                            std::to_string(shape.bits));

    impl_->codewords->read(slot * shape.bits, bits.size(), std::as_writable_bytes(bits).data());
    require_zeros_and_ones(bits, *impl_->codewords);
}

}  // namespace phy
