#include "phy/capture/formats.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "phy/capture/flat/flat_file.hpp"
#include "phy/capture/flat/sigmf_metadata.hpp"
#include "phy/core/error.hpp"
#include "phy/core/file_error.hpp"

namespace phy::detail {

namespace {

constexpr std::string_view metadata_extension = ".sigmf-meta";
constexpr std::string_view samples_extension = ".sigmf-data";
constexpr std::uint64_t max_metadata = std::uint64_t{1} << 26;

using Segment = SigmfMetadata::Segment;

std::filesystem::path with_extension(std::filesystem::path path, std::string_view extension) {
    return path.replace_extension(extension);
}

SigmfMetadata read_metadata(const std::filesystem::path& path) {
    const std::string name = path.string();
    const PosixFile file = open_regular_file(path);
    if (file.size() > max_metadata)
        throw file_error(name, "has " + std::to_string(file.size()) +
                                   " bytes of metadata: expected at most " + std::to_string(max_metadata));
    std::string text(file.size(), ' ');
    file.read_at(0, std::as_writable_bytes(std::span(text)));
    try {
        return parse_sigmf_metadata(text);
    } catch (const ArgumentError& error) {
        throw file_error(name, error.what());
    }
}

std::filesystem::path samples_path(const std::filesystem::path& metadata_path,
                                   const SigmfMetadata& metadata) {
    if (metadata.dataset.empty()) return with_extension(metadata_path, samples_extension);
    const std::filesystem::path name = metadata.dataset;
    if (name.filename() != name || name == "..")
        throw file_error(metadata_path.string(),
                         "core:dataset: expected the name of a file, without folders");
    return metadata_path.parent_path() / name;
}

/// The layout of a recording's samples in their file.
struct Location {
    std::uint64_t frames = 0;               ///< samples per channel
    std::vector<FlatArray::Run> runs = {};  ///< one per segment
};

Location locate(const SigmfMetadata& metadata, std::uint64_t size, const std::string& name) {
    const std::uint64_t frame_bytes = metadata.channels * metadata.type.bytes;
    std::uint64_t others = metadata.trailing_bytes;
    for (const Segment& segment : metadata.segments)
        others = std::min(others + segment.header_bytes, size + 1);
    if (others > size || (size - others) % frame_bytes != 0)
        throw file_error(name, "has " + std::to_string(size) + " bytes, not a multiple of one sample of " +
                                   metadata.type.text + " in " + std::to_string(metadata.channels) +
                                   " channels: the file is truncated or has another type");
    Location samples = {.frames = (size - others) / frame_bytes};
    std::uint64_t headers = 0;
    for (const Segment& segment : metadata.segments) {
        headers += segment.header_bytes;
        if (segment.first > samples.frames)
            throw file_error(name, "truncated file: has " + std::to_string(samples.frames) +
                                       " samples, but a capture begins at " + std::to_string(segment.first));
        samples.runs.push_back({segment.first, headers + segment.first * frame_bytes});
    }
    return samples;
}

/// True if the second continues the first without a gap or a change.
bool continues(const Segment& first, const Segment& second) {
    const bool has_indices = first.global_index && second.global_index;
    const bool has_gap = has_indices && *second.global_index < *first.global_index;
    const bool follows = !has_indices || (!has_gap && *second.global_index - *first.global_index ==
                                                          second.first - first.first);
    return follows && first.attributes == second.attributes;
}

Dimensions dimensions_of(const SigmfMetadata& metadata, const CaptureOptions& options, std::uint64_t frames,
                         const std::string& name) {
    CaptureOptions shaped = options;
    if (shaped.shape.empty()) shaped.shape = metadata.shape;
    if (metadata.channels == 1) return shape_or_flat(shaped, frames, name);
    if (!shaped.shape.empty())
        throw file_error(name, "has " + std::to_string(metadata.channels) + " channels: expected no shape");
    return {metadata.channels, frames};
}

std::string storage_of(const SigmfMetadata& metadata) {
    return metadata.channels == 1 ? "SigMF"
                                  : "SigMF, " + std::to_string(metadata.channels) + " channels interleaved";
}

Attributes attributes_of_first_samples(const SigmfMetadata& metadata, const Location& samples) {
    std::size_t i = 0;
    while (i + 1 < samples.runs.size() && samples.runs[i + 1].first == 0)
        ++i;
    return metadata.segments[i].attributes;
}

/// All samples as one array; each segment must continue the previous one.
FlatArray whole_array(const SigmfMetadata& metadata, const Location& samples, const CaptureOptions& options,
                      const std::string& name) {
    return {.path = path_of_only_array(options, CaptureKind::samples),
            .type = metadata.type,
            .dimensions = dimensions_of(metadata, options, samples.frames, name),
            .storage = storage_of(metadata),
            .channels = metadata.channels,
            .runs = samples.runs,
            .attributes = attributes_of_first_samples(metadata, samples)};
}

/// One array per segment that has samples.
std::vector<FlatArray> segment_arrays(const SigmfMetadata& metadata, const Location& samples,
                                      const CaptureOptions& options) {
    std::vector<FlatArray> arrays;
    const std::string last_name = path_of_only_array(options, CaptureKind::samples);
    for (std::size_t i = 0; i < samples.runs.size(); ++i) {
        const std::uint64_t end = i + 1 < samples.runs.size() ? samples.runs[i + 1].first : samples.frames;
        const std::uint64_t frames = end - samples.runs[i].first;
        if (frames == 0) continue;
        arrays.push_back({.path = "/captures/" + std::to_string(i) + last_name,
                          .type = metadata.type,
                          .dimensions = metadata.channels == 1 ? Dimensions{frames}
                                                               : Dimensions{metadata.channels, frames},
                          .storage = storage_of(metadata),
                          .channels = metadata.channels,
                          .runs = {{0, samples.runs[i].offset}},
                          .attributes = metadata.segments[i].attributes});
    }
    return arrays;
}

}  // namespace

bool is_sigmf(const std::filesystem::path& path) {
    return path.extension() == metadata_extension || path.extension() == samples_extension;
}

std::unique_ptr<InputFile> open_sigmf(const std::filesystem::path& path, const CaptureOptions& options) {
    const std::filesystem::path metadata_path = with_extension(path, metadata_extension);
    const SigmfMetadata metadata = read_metadata(metadata_path);
    const std::filesystem::path data_path = samples_path(metadata_path, metadata);
    const std::string name = data_path.string();
    PosixFile bytes = open_regular_file(data_path);
    const Location samples = locate(metadata, bytes.size(), name);

    std::vector<FlatArray> arrays = segment_arrays(metadata, samples, options);
    const auto breaks = std::ranges::adjacent_find(metadata.segments, std::not_fn(continues));
    if (breaks == metadata.segments.end() || arrays.size() == 1) {
        FlatArray whole = whole_array(metadata, samples, options, name);
        if (arrays.size() < 2) arrays.clear();
        arrays.insert(arrays.begin(), std::move(whole));
    }
    return make_flat_file(name, {metadata_path, data_path}, std::move(bytes), std::move(arrays));
}

}  // namespace phy::detail
