#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace phy::apps {

/// A JSON value as text. Numbers read back exactly; NaN and infinities become null.
class Json {
public:
    using Member = std::pair<std::string_view, Json>;

    Json(std::nullptr_t = nullptr) : text_("null") {}
    template <std::integral T>
    Json(T value) : text_(fmt::format("{}", value)) {}
    Json(float value);
    Json(double value);

    /// text is UTF-8.
    Json(std::string_view text);
    Json(const std::string& text) : Json(std::string_view(text)) {}
    Json(const char* text) : Json(std::string_view(text)) {}

    template <typename T>
    Json(const std::optional<T>& value) : Json(value ? Json(*value) : Json()) {}

    static Json object(const std::vector<Member>& members);
    static Json array(const std::vector<Json>& elements);

    /// This object with a member before the others.
    [[nodiscard]] Json with_first(std::string_view name, const Json& value) const;

    /// One line without a final line break.
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
};

}  // namespace phy::apps
