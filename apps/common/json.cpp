#include "common/json.hpp"

#include <cmath>

#include <fmt/format.h>

namespace phy::apps {
namespace {

template <std::floating_point T>
std::string number(T value) {
    return std::isfinite(value) ? fmt::format("{}", value) : "null";
}

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char character : text) {
        if (character == '"' || character == '\\') {
            result += '\\';
            result += character;
        } else if (static_cast<unsigned char>(character) < 0x20) {
            result += fmt::format("\\u{:04x}", static_cast<unsigned>(character));
        } else {
            result += character;
        }
    }
    return result += '"';
}

}  // namespace

Json::Json(float value) : text_(number(value)) {}
Json::Json(double value) : text_(number(value)) {}
Json::Json(std::string_view text) : text_(quoted(text)) {}

Json Json::object(const std::vector<Member>& members) {
    Json result;
    result.text_ = "{";
    for (const auto& [name, value] : members) {
        if (result.text_.size() > 1) result.text_ += ", ";
        result.text_ += quoted(name) + ": " + value.text_;
    }
    result.text_ += "}";
    return result;
}

Json Json::with_first(std::string_view name, const Json& value) const {
    Json result;
    const std::string_view others = std::string_view(text_).substr(1);
    result.text_ = fmt::format("{{{}: {}{}{}", quoted(name), value.text_, others == "}" ? "" : ", ", others);
    return result;
}

Json Json::array(const std::vector<Json>& elements) {
    Json result;
    result.text_ = "[";
    for (const Json& element : elements) {
        if (result.text_.size() > 1) result.text_ += ", ";
        result.text_ += element.text_;
    }
    result.text_ += "]";
    return result;
}

}  // namespace phy::apps
