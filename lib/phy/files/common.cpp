#include "phy/files/common.hpp"

#include <algorithm>
#include <cmath>

#include "phy/core/backend.hpp"
#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/machine/atomic_file.hpp"

namespace phy {

int demodulation_threads() {
    return std::max(1, Host::processors() - 2);
}

namespace detail {

std::string name_of(const CaptureDescription& capture) {
    return capture.file.string() + ": " + capture.dataset;
}

void require_symbols(const CaptureDescription& capture) {
    if (capture.kind == CaptureKind::symbols) return;
    throw FileError(name_of(capture) + " holds " +
                    (capture.kind == CaptureKind::grid ? "a grid" : "samples") + ": expected symbols");
}

void require_not_read(const std::filesystem::path& output, const CaptureDescription& capture) {
    if (output.empty()) return;
    for (const std::filesystem::path& file : capture.files)
        if (is_same_file(output, file))
            throw ArgumentError(output.string() + ": would overwrite the capture, which is still being read");
}

void require_use_of(const CaptureOptions& options, const CaptureDescription& capture) {
    if (!options.full_scale || capture.is_integer) return;
    throw ArgumentError(
        "option full_scale: " + name_of(capture) + " holds floating point numbers, " +
        (capture.kind == CaptureKind::symbols ? "which --gain divides" : "whose amplitude does not matter"));
}

ItemRange range_or_all(const std::optional<ItemRange>& range, std::uint64_t all, std::string_view items,
                       const CaptureDescription& capture) {
    if (!range) return {.first = 0, .count = all};
    if (range->count == 0)
        throw ArgumentError("range " + std::to_string(range->first) + ":0: expected at least one of the " +
                            std::string(items));
    if (range->first >= all)
        throw ArgumentError("range " + std::to_string(range->first) + ":" + std::to_string(range->count) +
                            ": " + name_of(capture) + " has only " + std::to_string(all) + " " +
                            std::string(items) + ", counted from 0");
    return {.first = range->first, .count = std::min(range->count, all - range->first)};
}

std::vector<Place> places_or_default(const std::vector<Place>& places) {
    if (!places.empty()) return places;
    return {Host({.threads = demodulation_threads()})};
}

Host fastest_host(int threads) {
    try {
        return Host({.threads = threads, .backend = Backend::parse("cpu")});
    } catch (const BackendError&) {
        return Host({.threads = threads, .backend = Backend::scalar()});
    }
}

Host host_among(const std::vector<Place>& places) {
    if (!places.empty() && !places[0].is_cuda()) return places[0].host();
    return fastest_host(demodulation_threads());
}

FullScale full_scale_of(const CaptureDescription& capture) {
    // The reader has divided int32, and delivers floating-point numbers.
    const bool is_integer = default_full_scale(capture.format) != 1.0F;
    return is_integer && capture.full_scale ? FullScale(static_cast<float>(*capture.full_scale))
                                            : FullScale();
}

std::optional<Link> link_of(const CaptureDescription& capture) {
    if (!capture.link) return std::nullopt;
    try {
        return parse_link(*capture.link);
    } catch (const ArgumentError& error) {
        throw FileError(name_of(capture) + ": attribute link: " + error.what());
    }
}

Transmitter transmitter_of(const Link& link) {
    return link.direction == Direction::uplink ? Transmitter::ue : Transmitter::base_station;
}

std::uint64_t codeword_symbols(const Link& link) {
    const SlotAllocation& allocation = link.allocation;
    return ResourceMap(allocation).elements() * static_cast<std::uint64_t>(allocation.layers());
}

std::string rounded(double value, int decimals) {
    const double unit = decimals == 0 ? 1.0 : decimals == 1 ? 10.0 : 100.0;
    return number_text(static_cast<float>(std::round(unit * value) / unit));
}

std::string list_of(const std::vector<int>& numbers) {
    std::string text;
    for (const int number : numbers)
        text += (text.empty() ? "" : ", ") + std::to_string(number);
    return text;
}

}  // namespace detail
}  // namespace phy
