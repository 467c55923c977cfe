#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace phy::test {

/// A JSON value. Access as another type throws.
struct JsonValue {
    using Array = std::vector<JsonValue>;
    using Object = std::map<std::string, JsonValue>;

    std::variant<std::nullptr_t, bool, double, std::string, Array, Object> value;

    [[nodiscard]] bool is_null() const { return std::holds_alternative<std::nullptr_t>(value); }
    [[nodiscard]] bool boolean() const { return std::get<bool>(value); }
    [[nodiscard]] double number() const { return std::get<double>(value); }
    [[nodiscard]] const std::string& string() const { return std::get<std::string>(value); }
    [[nodiscard]] const Array& array() const { return std::get<Array>(value); }
    [[nodiscard]] const Object& object() const { return std::get<Object>(value); }
    [[nodiscard]] bool has(const std::string& name) const { return object().contains(name); }
    const JsonValue& operator[](const std::string& name) const { return object().at(name); }
};

/// Reads exactly one JSON value, with optional white space around it; throws std::runtime_error for anything
/// else. Strict, but takes \u escapes of ASCII only.
JsonValue parse_json(std::string_view text);

}  // namespace phy::test
