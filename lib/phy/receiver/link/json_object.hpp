#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

/// JSON values of required types. Errors are ArgumentError and name the path of the value.
namespace phy::detail {

using Json = nlohmann::json;

/// From first to last.
struct WholeRange {
    std::int64_t first;
    std::int64_t last;
};

/// Reads exactly one value; allows comments. Throws for invalid JSON, more than 1 MiB, values nested too
/// deeply, and duplicate keys.
Json parse_json(std::string_view text);

/// A key or value as printable text of limited length.
std::string one_line(std::string_view text);

[[noreturn]] void throw_expected(const std::string& path, const Json& value, const std::string& expected);

std::int64_t whole_number(const std::string& path, const Json& value, WholeRange range);
std::vector<int> whole_numbers(const std::string& path, const Json& value, WholeRange range);
double number(const std::string& path, const Json& value);
std::string text(const std::string& path, const Json& value);

/// An object with known keys only.
class JsonObject {
public:
    /// Throws if the value is no object or has other keys. The value must outlive this.
    JsonObject(std::string path, const Json& value, std::initializer_list<std::string_view> keys);

    [[nodiscard]] std::string path(std::string_view key) const;
    [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
    [[nodiscard]] const Json* find(std::string_view key) const;

    /// Throws if it is missing.
    [[nodiscard]] const Json& at(std::string_view key) const;

    /// The key that it has of keys that exclude each other; the first if it has none. Throws if it has two.
    [[nodiscard]] std::string_view one_of(std::initializer_list<std::string_view> keys) const;

    [[nodiscard]] int whole(std::string_view key, WholeRange range) const;
    [[nodiscard]] int whole_or(std::string_view key, WholeRange range, int otherwise) const;
    [[nodiscard]] double number_or(std::string_view key, double otherwise) const;
    [[nodiscard]] bool boolean_or(std::string_view key, bool otherwise) const;

    /// The index of its text among the names.
    [[nodiscard]] std::size_t choice(std::string_view key,
                                     std::initializer_list<std::string_view> names) const;

private:
    std::string path_;
    const Json& value_;
};

}  // namespace phy::detail
