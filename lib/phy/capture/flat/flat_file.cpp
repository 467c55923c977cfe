#include "phy/capture/flat/flat_file.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "phy/capture/find_iq.hpp"
#include "phy/capture/formats.hpp"
#include "phy/core/file_error.hpp"

namespace phy::detail {

namespace {

/// Frames of several channels are read in blocks of about this many bytes.
constexpr std::uint64_t block_bytes = std::uint64_t{1} << 20;

class FlatDataset : public InputDataset {
public:
    FlatDataset(std::string name, const PosixFile& bytes, const FlatArray& array)
        : InputDataset(std::move(name), array.type, array.dimensions), bytes_(bytes), array_(array) {}

    [[nodiscard]] std::string storage() const override { return array_.storage; }
    void require_readable() const override;
    void read(std::uint64_t first, std::uint64_t count, std::byte* elements) const override;
    [[nodiscard]] std::optional<double> number(const char* attribute) const override;
    [[nodiscard]] std::optional<std::string> text(const char* attribute) const override;

private:
    template <typename Value>
    [[nodiscard]] std::optional<Value> attribute(const char* attribute, const char* expected) const;

    [[nodiscard]] std::uint64_t frames() const { return size() / array_.channels; }
    [[nodiscard]] std::uint64_t frame_bytes() const { return array_.channels * type().bytes; }

    /// Reads one channel of contiguous frames.
    void read_channel(std::uint64_t channel, std::uint64_t offset, std::uint64_t count,
                      std::byte* elements) const;

    const PosixFile& bytes_;
    const FlatArray& array_;
};

void FlatDataset::require_readable() const {
    if (size() == 0) return;
    const std::uint64_t end = bytes_.size();
    const FlatArray::Run& last = array_.runs.back();
    const std::uint64_t in_last = frames() - last.first;
    if (last.offset > end || in_last > (end - last.offset) / frame_bytes())
        throw file_error(name(), "truncated file: " + std::to_string(size()) + " elements of " +
                                     std::to_string(type().bytes) + " bytes do not fit into " +
                                     std::to_string(end) + " bytes");
}

void FlatDataset::read(std::uint64_t first, std::uint64_t count, std::byte* elements) const {
    while (count > 0) {
        const std::uint64_t frame = first % frames();
        const auto next = std::ranges::upper_bound(array_.runs, frame, {}, &FlatArray::Run::first);
        const std::uint64_t end = next == array_.runs.end() ? frames() : next->first;
        const FlatArray::Run& run = *std::prev(next);
        const std::uint64_t now = std::min(count, end - frame);
        read_channel(first / frames(), run.offset + (frame - run.first) * frame_bytes(), now, elements);
        first += now;
        count -= now;
        elements += now * type().bytes;
    }
}

void FlatDataset::read_channel(std::uint64_t channel, std::uint64_t offset, std::uint64_t count,
                               std::byte* elements) const {
    const std::size_t bytes = type().bytes;
    if (array_.channels == 1) return bytes_.read_at(offset, {elements, count * bytes});
    const std::uint64_t frames_of_block = std::max<std::uint64_t>(1, block_bytes / frame_bytes());
    std::vector<std::byte> block(std::min(count, frames_of_block) * frame_bytes());
    while (count > 0) {
        const std::uint64_t now = std::min(count, frames_of_block);
        bytes_.read_at(offset, std::span(block).first(now * frame_bytes()));
        const std::byte* from = block.data() + channel * bytes;
        for (std::uint64_t i = 0; i < now; ++i, from += frame_bytes(), elements += bytes)
            std::memcpy(elements, from, bytes);
        offset += now * frame_bytes();
        count -= now;
    }
}

template <typename Value>
std::optional<Value> FlatDataset::attribute(const char* attribute, const char* expected) const {
    const auto found = array_.attributes.find(std::string_view(attribute));
    if (found == array_.attributes.end()) return std::nullopt;
    if (const auto* const value = std::get_if<Value>(&found->second)) return *value;
    throw file_error(name(), std::string("attribute ") + attribute + ": expected " + expected);
}

std::optional<double> FlatDataset::number(const char* name) const {
    return attribute<double>(name, "one number");
}

std::optional<std::string> FlatDataset::text(const char* name) const {
    return attribute<std::string>(name, "one string");
}

class FlatFile : public InputFile {
public:
    FlatFile(std::string name, std::vector<std::filesystem::path> files, PosixFile bytes,
             std::vector<FlatArray> arrays)
        : InputFile(std::move(name), std::move(files)),
          bytes_(std::move(bytes)),
          arrays_(std::move(arrays)) {}

    [[nodiscard]] bool contains(const std::string& path) const override {
        return std::ranges::find(arrays_, path, &FlatArray::path) != arrays_.end();
    }

    [[nodiscard]] bool is_group(const std::string& /*path*/) const override { return false; }

    [[nodiscard]] std::vector<std::string> datasets() const override {
        std::vector<std::string> paths;
        for (const FlatArray& array : arrays_)
            paths.push_back(array.path);
        std::ranges::sort(paths);
        return paths;
    }

    [[nodiscard]] std::unique_ptr<InputDataset> open(const std::string& path) const override {
        const auto array = std::ranges::find(arrays_, path, &FlatArray::path);
        if (array == arrays_.end()) throw file_error(name(), "no such dataset: " + path);
        return std::make_unique<FlatDataset>(arrays_.size() == 1 ? name() : name() + ": dataset " + path,
                                             bytes_, *array);
    }

private:
    PosixFile bytes_;
    std::vector<FlatArray> arrays_;
};

}  // namespace

std::unique_ptr<InputFile> make_flat_file(std::string name, std::vector<std::filesystem::path> files,
                                          PosixFile bytes, std::vector<FlatArray> arrays) {
    return std::make_unique<FlatFile>(std::move(name), std::move(files), std::move(bytes), std::move(arrays));
}

std::string path_of_only_array(const CaptureOptions& options, CaptureKind otherwise) {
    if (options.kind || !options.dataset.empty())
        return std::string(default_dataset(kind_of(options.dataset, options)));
    return std::string(default_dataset(otherwise));
}

CaptureKind kind_of_stem(const std::filesystem::path& path) {
    return kind_of(path.stem().string(), {});
}

Dimensions shape_or_flat(const CaptureOptions& options, std::uint64_t elements, const std::string& name) {
    if (options.shape.empty()) return {elements};
    std::uint64_t product = 1;
    std::string text;
    for (const std::uint64_t length : options.shape) {
        // A product that is too large stays too large.
        product = length != 0 && product > elements / length ? elements + 1 : product * length;
        text.append(text.empty() ? "" : ", ").append(std::to_string(length));
    }
    if (product != elements)
        throw file_error(name, "has " + std::to_string(elements) +
                                   " samples: expected the number of the shape [" + text + "]");
    return options.shape;
}

std::unique_ptr<InputFile> open_raw(const std::filesystem::path& path, PosixFile bytes,
                                    const CaptureOptions& options) {
    const std::string name = path.string();
    const ElementType type = parse_sample_type(options.raw).value();
    const std::uint64_t size = bytes.size();
    if (size % type.bytes != 0)
        throw file_error(name, "has " + std::to_string(size) + " bytes, not a multiple of one sample of " +
                                   options.raw + ": the file has another type, or it is cut; its first " +
                                   std::to_string(size - size % type.bytes) + " bytes are whole samples");
    FlatArray array = {.path = path_of_only_array(options, kind_of_stem(path)),
                       .type = type,
                       .dimensions = shape_or_flat(options, size / type.bytes, name),
                       .storage = "raw",
                       .runs = {{}}};
    return make_flat_file(name, {path}, std::move(bytes), {std::move(array)});
}

}  // namespace phy::detail
