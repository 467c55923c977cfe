#include "phy/receiver/link/json_object.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/core/similar_names.hpp"

namespace phy::detail {
namespace {

constexpr std::size_t max_bytes = std::size_t{1} << 20;
constexpr int max_levels = 16;

std::string join(const std::string& path, std::string_view key) {
    return path.empty() ? one_line(key) : path + "." + one_line(key);
}

/// Checks a document while it is parsed.
class Watcher {
public:
    bool operator()(int level, Json::parse_event_t event, const Json& parsed) {
        if (level > max_levels)
            throw ArgumentError("JSON: nested too deep; expected at most " + std::to_string(max_levels) +
                                " levels");
        if (event == Json::parse_event_t::object_start) objects_.emplace_back();
        if (event == Json::parse_event_t::object_end) objects_.pop_back();
        if (event == Json::parse_event_t::key) add(parsed.get_ref<const std::string&>());
        return true;
    }

private:
    struct Object {
        std::set<std::string, std::less<>> keys;
        std::string last;
    };

    void add(const std::string& key) {
        Object& object = objects_.back();
        object.last = key;
        if (object.keys.insert(key).second) return;
        std::string path;
        for (const Object& outer : objects_)
            path = join(path, outer.last);
        throw ArgumentError(path + ": exists twice; expected each key once");
    }

    std::vector<Object> objects_;
};

/// The parser's message without the part for programmers.
std::string reason_of(const std::exception& error) {
    const std::string_view what = error.what();
    const auto end_of_tag = what.find("] ");
    return one_line(end_of_tag == std::string_view::npos ? what : what.substr(end_of_tag + 2));
}

[[noreturn]] void throw_unknown(const std::string& path, std::string_view key,
                                std::initializer_list<std::string_view> keys) {
    const std::vector<std::string_view> similar = similar_names(key, std::span(keys.begin(), keys.size()));
    const bool is_typing_error = !similar.empty();
    std::string list;
    for (const std::string_view known : is_typing_error ? similar : std::vector(keys))
        list.append(list.empty() ? "" : is_typing_error ? " or " : ", ").append(known);
    throw ArgumentError(join(path, key) + ": unknown key; " +
                        (is_typing_error ? "did you mean " + list + "?" : "expected one of " + list));
}

bool is_whole(const Json& value) {
    return value.is_number_integer() ||
           (value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>());
}

/// The number of a text such as "0x4601"; other values stay.
Json without_hexadecimal(const Json& value) {
    if (!value.is_string()) return value;
    const auto& text = value.get_ref<const std::string&>();
    std::uint32_t number = 0;
    const char* const end = text.data() + text.size();
    if (!text.starts_with("0x")) return value;
    const auto [stopped, error] = std::from_chars(text.data() + 2, end, number, 16);
    return error == std::errc() && stopped == end ? Json(number) : value;
}

}  // namespace

Json parse_json(std::string_view text) {
    if (text.size() > max_bytes)
        throw ArgumentError("JSON: " + std::to_string(text.size()) + " bytes; expected at most " +
                            std::to_string(max_bytes));
    // The parser would stop there.
    if (text.find('\0') != std::string_view::npos)
        throw ArgumentError("not JSON: it contains a byte 0; expected text");
    try {
        return Json::parse(text.begin(), text.end(), Watcher(), true, true);
    } catch (const Json::exception& error) {
        throw ArgumentError("not JSON: " + reason_of(error));
    }
}

std::string one_line(std::string_view text) {
    constexpr std::size_t longest = 120;
    std::string line(text.substr(0, longest));
    for (char& character : line) {
        if (character < ' ' || character > '~') character = '?';
    }
    return text.size() > longest ? line + "..." : line;
}

void throw_expected(const std::string& path, const Json& value, const std::string& expected) {
    const std::string found = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    throw ArgumentError(path + " is " + one_line(found) + ": expected " + expected);
}

std::int64_t whole_number(const std::string& path, const Json& given, WholeRange range) {
    const Json value = without_hexadecimal(given);
    const auto fail = [&] {
        throw_expected(
            path, given,
            "a whole number from " + std::to_string(range.first) + " to " + std::to_string(range.last) +
                (given.is_string() ? ", without quotes unless it is hexadecimal, such as \"0x4601\"" : ""));
    };
    if (!is_whole(value)) fail();
    // Unsigned 64-bit numbers may overflow signed ones. Numbers within ranges are exact in binary64.
    const auto wide = value.get<double>();
    if (!(wide >= static_cast<double>(range.first) && wide <= static_cast<double>(range.last))) fail();
    return value.is_number_float() ? static_cast<std::int64_t>(wide) : value.get<std::int64_t>();
}

std::vector<int> whole_numbers(const std::string& path, const Json& value, WholeRange range) {
    if (!value.is_array()) throw_expected(path, value, "a list of whole numbers");
    std::vector<int> numbers;
    for (std::size_t i = 0; i < value.size(); ++i)
        numbers.push_back(
            static_cast<int>(whole_number(path + "[" + std::to_string(i) + "]", value[i], range)));
    return numbers;
}

double number(const std::string& path, const Json& value) {
    if (!value.is_number() || !std::isfinite(value.get<double>())) throw_expected(path, value, "a number");
    return value.get<double>();
}

std::string text(const std::string& path, const Json& value) {
    if (!value.is_string()) throw_expected(path, value, "a string");
    return value.get<std::string>();
}

JsonObject::JsonObject(std::string path, const Json& value, std::initializer_list<std::string_view> keys)
    : path_(std::move(path)), value_(value) {
    if (!value.is_object()) throw_expected(path_.empty() ? "the link" : path_, value, "an object");
    for (const auto& item : value.items()) {
        if (std::find(keys.begin(), keys.end(), item.key()) == keys.end())
            throw_unknown(path_, item.key(), keys);
    }
}

std::string JsonObject::path(std::string_view key) const {
    return join(path_, key);
}

const Json* JsonObject::find(std::string_view key) const {
    const auto found = value_.find(std::string(key));
    return found == value_.end() ? nullptr : &*found;
}

const Json& JsonObject::at(std::string_view key) const {
    const Json* const found = find(key);
    if (found == nullptr) throw ArgumentError(path(key) + ": missing; it has no default");
    return *found;
}

std::string_view JsonObject::one_of(std::initializer_list<std::string_view> keys) const {
    std::string_view found;
    for (const std::string_view key : keys) {
        if (!has(key)) continue;
        if (!found.empty())
            throw ArgumentError(path(key) + ": given beside " + path(found) + "; expected one of them");
        found = key;
    }
    return found.empty() ? *keys.begin() : found;
}

int JsonObject::whole(std::string_view key, WholeRange range) const {
    return static_cast<int>(whole_number(path(key), at(key), range));
}

int JsonObject::whole_or(std::string_view key, WholeRange range, int otherwise) const {
    return has(key) ? whole(key, range) : otherwise;
}

double JsonObject::number_or(std::string_view key, double otherwise) const {
    const Json* const found = find(key);
    return found != nullptr ? number(path(key), *found) : otherwise;
}

bool JsonObject::boolean_or(std::string_view key, bool otherwise) const {
    const Json* const found = find(key);
    if (found == nullptr) return otherwise;
    if (!found->is_boolean()) throw_expected(path(key), *found, "true or false");
    return found->get<bool>();
}

std::size_t JsonObject::choice(std::string_view key, std::initializer_list<std::string_view> names) const {
    const Json& value = at(key);
    std::string list;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string_view name = names.begin()[i];
        if (value.is_string() && value.get_ref<const std::string&>() == name) return i;
        list += (i == 0 ? "\"" : i + 1 == names.size() ? "\" or \"" : "\", \"") + std::string(name);
    }
    throw_expected(path(key), value, list + "\"");
}

}  // namespace phy::detail
