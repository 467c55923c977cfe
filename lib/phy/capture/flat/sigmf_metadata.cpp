#include "phy/capture/flat/sigmf_metadata.hpp"

#include <array>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "phy/core/error.hpp"

namespace phy::detail {

namespace {

using Json = nlohmann::json;

constexpr int max_levels = 32;
constexpr std::uint64_t max_channels = 1024;

/// No file is larger, and sums of such numbers do not overflow.
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 62U;

[[noreturn]] void throw_expected(std::string_view key, std::string_view expected) {
    throw ArgumentError(std::string(key) + ": expected " + std::string(expected));
}

const Json* find(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
}

const Json& require(const Json& object, const char* key, bool (Json::*is_type)() const noexcept,
                    std::string_view expected) {
    const Json* const value = find(object, key);
    if (value == nullptr) throw ArgumentError(std::string(key) + ": missing");
    if (!(value->*is_type)()) throw_expected(key, expected);
    return *value;
}

std::optional<std::uint64_t> whole(const Json& object, const char* key, std::uint64_t most = max_bytes) {
    const Json* const value = find(object, key);
    if (value == nullptr) return std::nullopt;
    // Some programs write whole numbers as 1.0 or 1e6.
    if (value->is_number_float()) {
        const auto number = value->get<double>();
        if (number >= 0.0 && number <= static_cast<double>(most) && std::floor(number) == number)
            return static_cast<std::uint64_t>(number);
    }
    if (!value->is_number_unsigned() || value->get<std::uint64_t>() > most)
        throw_expected(key, "a whole number from 0 to " + std::to_string(most));
    return value->get<std::uint64_t>();
}

void add_number(Attributes& attributes, const char* attribute, const Json& object, const char* key) {
    const Json* const value = find(object, key);
    if (value == nullptr) return;
    // An attribute of another type is an error only if it is read.
    if (value->is_number()) {
        attributes.insert_or_assign(attribute, value->get<double>());
    } else {
        attributes.insert_or_assign(attribute, value->dump(-1, ' ', true, Json::error_handler_t::replace));
    }
}

void add_text(Attributes& attributes, const char* attribute, const Json& object, const char* key) {
    const Json* const value = find(object, key);
    if (value == nullptr) return;
    if (value->is_number()) {
        attributes.insert_or_assign(attribute, value->get<double>());
    } else {
        attributes.insert_or_assign(
            attribute, value->is_string() ? value->get<std::string>()
                                          : value->dump(-1, ' ', true, Json::error_handler_t::replace));
    }
}

/// Overrides attributes by those of an object.
void add_attributes(Attributes& attributes, const Json& object) {
    add_number(attributes, "sample_rate", object, "core:sample_rate");
    add_number(attributes, "center_frequency", object, "core:frequency");
    add_number(attributes, "noise_variance", object, "phy:noise_variance");
    add_number(attributes, "full_scale", object, "phy:full_scale");
    add_text(attributes, "modulation", object, "phy:modulation");
    add_text(attributes, "link", object, "phy:link");
}

SigmfMetadata::Segment segment_of(const Json& capture, std::uint64_t offset, Attributes attributes) {
    if (!capture.is_object()) throw_expected("captures", "a list of objects");
    const std::optional<std::uint64_t> start = whole(capture, "core:sample_start");
    if (!start) throw ArgumentError("core:sample_start: missing in a capture");
    if (*start < offset) throw_expected("core:sample_start", "at least core:offset");
    add_attributes(attributes, capture);
    return {.first = *start - offset,
            .header_bytes = whole(capture, "core:header_bytes").value_or(0),
            .global_index = whole(capture, "core:global_index"),
            .attributes = std::move(attributes)};
}

std::vector<SigmfMetadata::Segment> segments_of(const Json& root, const Json& global) {
    const std::uint64_t offset = whole(global, "core:offset").value_or(0);
    Attributes of_all;
    add_attributes(of_all, global);
    std::vector<SigmfMetadata::Segment> segments;
    if (const Json* const captures = find(root, "captures")) {
        if (!captures->is_array()) throw_expected("captures", "a list");
        for (const Json& capture : *captures) {
            SigmfMetadata::Segment segment = segment_of(capture, offset, of_all);
            if (!segments.empty() && segment.first < segments.back().first)
                throw_expected("captures", "a list in the order of core:sample_start");
            segments.push_back(std::move(segment));
        }
    }
    // Nothing is known about samples before the first capture.
    if (segments.empty() || segments.front().first != 0)
        segments.insert(segments.begin(), SigmfMetadata::Segment{.attributes = of_all});
    return segments;
}

ElementType type_of(const Json& global) {
    const auto name = require(global, "core:datatype", &Json::is_string, "a string").get<std::string>();
    const std::optional<ElementType> type = parse_sample_type(name);
    if (!type) throw_expected("core:datatype", expected_sample_type);
    return *type;
}

Dimensions shape_of(const Json& global) {
    const Json* const shape = find(global, "phy:shape");
    if (shape == nullptr) return {};
    Dimensions dimensions;
    if (shape->is_array() && !shape->empty()) {
        for (const Json& length : *shape) {
            if (!length.is_number_unsigned()) throw_expected("phy:shape", "whole numbers");
            dimensions.push_back(length.get<std::uint64_t>());
        }
        return dimensions;
    }
    throw_expected("phy:shape", "a list of whole numbers");
}

Json parse(std::string_view text) {
    // The parser would stop there.
    if (text.find('\0') != std::string_view::npos)
        throw ArgumentError("not JSON: it contains a byte 0; expected text");
    const auto watch = [](int level, Json::parse_event_t /*event*/, const Json& /*parsed*/) {
        if (level > max_levels)
            throw ArgumentError("JSON: nested too deep; expected at most " + std::to_string(max_levels) +
                                " levels");
        return true;
    };
    try {
        return Json::parse(text.begin(), text.end(), watch);
    } catch (const Json::parse_error& error) {
        throw ArgumentError("not JSON: at byte " + std::to_string(error.byte));
    } catch (const Json::exception&) {
        throw ArgumentError("not JSON: a number in it is too large");
    }
}

}  // namespace

SigmfMetadata parse_sigmf_metadata(std::string_view text) {
    const Json root = parse(text);
    if (!root.is_object()) throw ArgumentError("expected a JSON object with global and captures");
    const Json& global = require(root, "global", &Json::is_object, "an object");
    if (const Json* const only = find(global, "core:metadata_only"); only != nullptr && *only == true)
        throw ArgumentError("core:metadata_only: the recording has no samples");
    SigmfMetadata metadata;
    metadata.type = type_of(global);
    metadata.channels = whole(global, "core:num_channels", max_channels).value_or(1);
    if (metadata.channels == 0) throw_expected("core:num_channels", "a whole number from 1 on");
    metadata.trailing_bytes = whole(global, "core:trailing_bytes").value_or(0);
    if (find(global, "core:dataset") != nullptr)
        metadata.dataset =
            require(global, "core:dataset", &Json::is_string, "the name of a file").get<std::string>();
    metadata.shape = shape_of(global);
    metadata.segments = segments_of(root, global);
    return metadata;
}

}  // namespace phy::detail
