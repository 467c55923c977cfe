#include "support/parse_json.hpp"

#include <charconv>
#include <stdexcept>

namespace phy::test {
namespace {

class Parser {
public:
    explicit Parser(std::string_view text) : rest_(text) {}

    JsonValue document() {
        JsonValue result = value();
        skip_space();
        if (!rest_.empty()) fail("more after the value");
        return result;
    }

private:
    JsonValue value() {
        skip_space();
        if (take("null")) return {nullptr};
        if (take("true")) return {true};
        if (take("false")) return {false};
        if (rest_.starts_with('"')) return {string()};
        if (take("[")) return {array()};
        if (take("{")) return {object()};
        return {number()};
    }

    JsonValue::Array array() {
        JsonValue::Array result;
        if (take_after_space("]")) return result;
        do
            result.push_back(value());
        while (take_after_space(","));
        expect("]");
        return result;
    }

    JsonValue::Object object() {
        JsonValue::Object result;
        if (take_after_space("}")) return result;
        do {
            skip_space();
            const std::string name = string();
            expect(":");
            if (!result.emplace(name, value()).second) fail("the name " + name + " twice");
        } while (take_after_space(","));
        expect("}");
        return result;
    }

    std::string string() {
        expect("\"");
        std::string result;
        while (!take("\"")) {
            if (rest_.empty() || static_cast<unsigned char>(rest_.front()) < 0x20) fail("in a string");
            result += take("\\") ? escaped() : next();
        }
        return result;
    }

    char escaped() {
        const char kind = next();
        constexpr std::string_view names = "\"\\/bfnrt";
        constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        if (const auto found = names.find(kind); found != std::string_view::npos) return meanings[found];
        if (kind != 'u' || rest_.size() < 4) fail("an unknown escape");
        int code = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + 4, code, 16);
        if (error != std::errc() || end != rest_.data() + 4 || code > 0x7F) fail("a \\u escape");
        rest_.remove_prefix(4);
        return static_cast<char>(code);
    }

    double number() {
        const bool plain =
            !rest_.empty() && std::string_view("-0123456789").find(rest_.front()) != rest_.npos;
        if (!plain || rest_.starts_with("-i") || rest_.starts_with("-n")) fail("no value");
        double result = 0.0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), result);
        if (error != std::errc()) fail("a number");
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return result;
    }

    char next() {
        if (rest_.empty()) fail("the end");
        const char character = rest_.front();
        rest_.remove_prefix(1);
        return character;
    }

    void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

    bool take(std::string_view token) {
        if (!rest_.starts_with(token)) return false;
        rest_.remove_prefix(token.size());
        return true;
    }

    bool take_after_space(std::string_view token) {
        skip_space();
        return take(token);
    }

    void expect(std::string_view token) {
        if (!take_after_space(token)) fail("expected " + std::string(token));
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error("not JSON: " + what + " at '" + std::string(rest_.substr(0, 20)) + "'");
    }

    std::string_view rest_;
};

}  // namespace

JsonValue parse_json(std::string_view text) {
    return Parser(text).document();
}

}  // namespace phy::test
