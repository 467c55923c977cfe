#include "capture/options.hpp"

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace phy::apps {

namespace {

/// Checks the name before a file is opened: a wrong one is a usage error.
std::string parse_raw(const std::string& text) {
    require_raw_type(text);
    return text;
}

std::vector<std::uint64_t> parse_shape(const std::string& list) {
    std::vector<std::uint64_t> shape;
    for (const std::string& text : split(list)) {
        const std::optional<std::uint64_t> length = parse_number<std::uint64_t>(text);
        if (!length || *length == 0)
            throw ArgumentError(
                fmt::format("--shape {}: expected whole numbers from 1 on, with commas between", list));
        shape.push_back(*length);
    }
    return shape;
}

/// Decimal, or hexadecimal after 0x.
std::optional<std::uint32_t> parse_whole(std::string_view text) {
    if (!text.starts_with("0x")) return parse_number<std::uint32_t>(text);
    const std::string_view digits = text.substr(2);
    std::uint32_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, value, 16);
    return error == std::errc() && stopped == end ? std::optional(value) : std::nullopt;
}

ItemRange parse_range(const std::string& text) {
    const std::size_t colon = text.find(':');
    const auto first = parse_number<std::uint64_t>(text.substr(0, colon));
    const auto count = parse_number<std::uint64_t>(colon == std::string::npos ? "" : text.substr(colon + 1));
    if (!first || !count || *count == 0)
        throw ArgumentError(
            fmt::format("--range {}: expected FIRST:COUNT, the index of the first item, counted from 0, and "
                        "the number of items, such as 20000:10000",
                        text));
    return {.first = *first, .count = *count};
}

}  // namespace

void add_capture_options(CaptureOptions& options, po::options_description& list) {
    list.add_options()  //
        ("dataset", text(options.dataset, "PATH[,PATH]"),
         "dataset of IQ samples, or one of I and one of Q; default: /iq, else /grid or /samples, else the "
         "only dataset that looks like IQ")  //
        ("from", parsed(options.kind, parse_capture_kind, "KIND"),
         "kind of capture: symbols, grid or samples; default: from the name of the dataset or file; with "
         "--raw "
         "and a link that has a sample rate, samples")                               //
        ("interleaved", flag(options.interleaved), "flat dataset: I, Q, I, Q, ...")  //
        ("raw", parsed(options.raw, parse_raw, "TYPE"),
         "sample format of a file without a header: cf32, cf16, ci16, ci8, cu8, ...; big-endian: with _be at "
         "the end")  //
        ("shape", parsed(options.shape, parse_shape, "N[,N...]"),
         "dimensions of a raw file or a SigMF recording; default: one dimension, SigMF: (channels, "
         "samples)")  //
        ("external-files", flag(options.external_files),
         "follow an HDF5 dataset into other files of its folder")  //
        ("full-scale",
         number_within<double>(options.full_scale, "--full-scale", "X",
                               {0x1p-126, 0x1p126, "a number from 2^-126 to 2^126"}),
         "integer samples: the integer that stands for 1.0; default: the attribute, else 2^(bits-1)")  //
        ("modulation", parsed(options.modulation, parse_modulation, "M"),
         "modulation: pi2-bpsk, bpsk, qpsk, 16qam, 64qam, 256qam or 1024qam; default: the attribute");
}

void add_range_options(std::optional<ItemRange>& range, std::string& survey, po::options_description& list) {
    list.add_options()  //
        ("range", parsed(range, parse_range, "FIRST:COUNT"),
         "a part of the capture: at most COUNT of its slots, or of its symbols, from FIRST on, counted from "
         "0; what is measured first is measured over the whole capture; default: all")  //
        ("survey", text(survey, "FILE"),
         "samples and grids: what is measured over the whole capture is read from FILE if that exists, else "
         "measured and written there; for several runs with --range");
}

void choose_kind(CaptureOptions& options, const std::string& file, const std::optional<Link>& link) {
    const std::string name = std::filesystem::path(file).stem().string();
    const bool says_kind = name == "symbols" || name == "iq" || name == "grid" || name == "samples";
    if (!options.kind && !options.raw.empty() && !says_kind && link && link->carrier.sample_rate)
        options.kind = CaptureKind::samples;
}

std::optional<float> parse_gain(const std::string& text) {
    if (text == "auto") return std::nullopt;
    const std::optional<float> value = parse_number<float>(text);
    if (!value || !(*value >= 0x1p-40F && *value <= 0x1p40F))
        throw ArgumentError(fmt::format("--gain {}: expected a number from 2^-40 to 2^40, or 'auto'", text));
    return value;
}

ScramblingIdentity parse_scrambling(const char* option, const std::string& text) {
    const std::vector<std::string> parts = split(text);
    const auto number = [&](std::size_t index, std::uint32_t most) -> std::optional<std::uint32_t> {
        if (index >= parts.size()) return index == 2 ? std::optional(0U) : std::nullopt;
        const auto value = parse_whole(parts[index]);
        return value && *value <= most ? value : std::nullopt;
    };
    const auto rnti = number(0, 65535);
    const auto id = number(1, 1023);
    const auto codeword = number(2, 1);
    if (parts.size() > 3 || !rnti || !id || !codeword)
        throw ArgumentError(fmt::format(
            "{} {}: expected n_RNTI,n_ID or n_RNTI,n_ID,q, whole numbers up to 65535, 1023 and 1, "
            "such as 17921 or 0x4601",
            option, text));
    return {.rnti = *rnti, .id = *id, .codeword = static_cast<int>(*codeword)};
}

}  // namespace phy::apps
