#include "phy/capture/flat/python_literal.hpp"

#include <algorithm>
#include <charconv>

namespace phy::detail {

namespace {

constexpr int max_levels = 8;

class Parser {
public:
    explicit Parser(std::string_view text) : rest_(text) {}

    /// False if there is no value, or if something follows it.
    bool parse_all(PythonLiteral& value) {
        if (!parse(value, 0)) return false;
        skip_space();
        return rest_.empty();
    }

private:
    using Kind = PythonLiteral::Kind;

    void skip_space() {
        const auto end = rest_.find_first_not_of(" \n");
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
    }

    bool take(std::string_view token) {
        skip_space();
        if (!rest_.starts_with(token)) return false;
        rest_.remove_prefix(token.size());
        return true;
    }

    bool parse(PythonLiteral& value, int level) {
        if (level > max_levels) return false;
        if (take("(")) return parse_items(value, Kind::tuple, ")", level);
        if (take("[")) return parse_items(value, Kind::list, "]", level);
        if (take("{")) return parse_entries(value, level);
        if (take("'")) return parse_text(value, '\'');
        if (take("\"")) return parse_text(value, '"');
        return parse_word(value);
    }

    bool parse_word(PythonLiteral& value) {
        if (take("None")) return true;
        value.kind = Kind::boolean;
        value.boolean = take("True");
        if (value.boolean || take("False")) return true;
        value.kind = Kind::whole;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value.whole);
        if (error != std::errc()) return false;
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        take("L");  // as Python 2 ends large numbers
        return true;
    }

    bool parse_text(PythonLiteral& value, char quote) {
        const auto end = rest_.find(quote);
        if (end == std::string_view::npos) return false;
        value.kind = Kind::text;
        value.text = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return value.text.find('\\') == std::string::npos;
    }

    bool parse_items(PythonLiteral& value, Kind kind, std::string_view end, int level) {
        value.kind = kind;
        while (!take(end)) {
            if (!value.items.empty() && !take(",")) return false;
            if (take(end)) return !value.items.empty();
            if (!parse(value.items.emplace_back(), level + 1)) return false;
        }
        return true;
    }

    bool parse_entries(PythonLiteral& value, int level) {
        value.kind = Kind::dictionary;
        while (!take("}")) {
            if (!value.entries.empty() && !take(",")) return false;
            if (take("}")) return !value.entries.empty();
            PythonLiteral key;
            if (!parse(key, level + 1) || key.kind != Kind::text || !take(":")) return false;
            if (!parse(value.entries.emplace_back(key.text, PythonLiteral()).second, level + 1)) return false;
        }
        return true;
    }

    std::string_view rest_;
};

}  // namespace

const PythonLiteral* PythonLiteral::find(std::string_view key) const {
    const auto found = std::ranges::find(entries, key, &std::pair<std::string, PythonLiteral>::first);
    return found == entries.end() ? nullptr : &found->second;
}

std::optional<PythonLiteral> parse_python_literal(std::string_view text) {
    PythonLiteral value;
    if (!Parser(text).parse_all(value)) return std::nullopt;
    return value;
}

}  // namespace phy::detail
